"""Carlini–Wagner: the smallest perturbation, in length, that the logits answer with the target.

Minimizes ‖x′ − x‖² + c · max(max_{i≠t} Z(x′)_i − Z(x′)_t, −κ) by Adam over w, with x′ = tanh(w)
moved into the bounds, for a c that is searched by halving, example by example. An example whose
loss no longer falls is left out of the work that remains.
Carlini & Wagner, "Towards evaluating the robustness of neural networks", S&P 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from shoal.core.progress import report
from shoal.robust.attacks.attack import Examples, excess, prepared
from shoal.robust.attacks.constants import Constants
from shoal.robust.classifier import Classifier, repeatable

_INSIDE = 0.999999  # of the way to the bounds: at the bounds tanh has no way back
_EPSILON = 1e-12  # of Adam: where tanh is flat, slopes are far below the usual 1e-8
_CHECKS = 10  # how often in a search it is asked whether the loss still falls


@dataclass(frozen=True, kw_only=True)
class CarliniWagner:
    """The attack in Euclidean length.

    steps: of Adam for each constant.
    searches: constants tried for each example.
    rate: Adam's.
    confidence: κ, by how much the target must lead.
    constant: c to begin with.
    abort_early: whether an example is left alone once its loss no longer falls.
    shorten: halvings, at the end, of the way back to the original; 0 is the attack as published.
    """

    name: ClassVar[str] = "carlini-wagner"
    steps: int = 1000
    searches: int = 9
    rate: float = 0.01
    confidence: float = 0.0
    constant: float = 1e-3
    abort_early: bool = True
    shorten: int = 0

    def run(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Search every example against its own network."""
        originals, goals = prepared(model, originals, goals)
        size = (model.networks, len(originals))
        constants = Constants(self.constant, size, model.device)
        best = model.spread(originals).clone()
        least = torch.full(size, torch.inf, device=model.device)
        with repeatable():
            for search in range(self.searches):
                hunt = _Hunt(self, model, originals, goals, constants.now, targeted)
                found, adversarial = hunt.run(search)
                closer = found < least
                least = torch.where(closer, found, least)
                best[closer] = adversarial[closer]
                constants.update(found.isfinite())
            best = self._shortened(model, originals, goals, best, targeted)
        total = self.searches * self.steps
        report(self.name, total, total)
        return Examples(originals, goals, best, least.isfinite(), targeted)

    def _shortened(
        self, model: Classifier, originals: Tensor, goals: Tensor, found: Tensor, targeted: bool
    ) -> Tensor:
        """Go back toward the original as far as the goal is still met."""
        wide = [1] * (originals.ndim - 1)
        near = torch.zeros(found.shape[:2], device=found.device)
        far = torch.ones_like(near)
        best = found
        for _ in range(self.shorten):
            middle = (near + far) / 2
            tried = originals + middle.view(*near.shape, *wide) * (found - originals)
            with torch.no_grad():
                met = _met(excess(model.logits(tried), goals, targeted), self.confidence)
            near, far = torch.where(met, near, middle), torch.where(met, middle, far)
            best = torch.where(met.view(*near.shape, *wide), tried, best)
        return best


def _met(leads: Tensor, confidence: float) -> Tensor:
    """Tell where the goal leads by the confidence, or, for none, leads at all."""
    return leads <= -confidence if confidence else leads < 0


def objective(squares: Tensor, leads: Tensor, constants: Tensor, confidence: float) -> Tensor:
    """(networks, rows) the squared length plus c times how much another class leads, from −κ up."""
    return squares + constants * leads.clamp(min=-confidence)


def squared_lengths(perturbed: Tensor, originals: Tensor) -> Tensor:
    """(networks, rows) ‖x′ − x‖²."""
    return (perturbed - originals).flatten(2).square().sum(dim=2)


class _Hunt:
    """One search for given constants: Adam on the examples that still improve.

    live: (networks, places) rows at work; where a network has fewer than another, some stand twice
    and are not `real`. Every other tensor has these two axes in front.
    """

    def __init__(
        self,
        attack: CarliniWagner,
        model: Classifier,
        originals: Tensor,
        goals: Tensor,
        constants: Tensor,
        targeted: bool,
    ) -> None:
        self.attack, self.model, self.targeted = attack, model, targeted
        low, high = model.bounds
        self.middle, self.half = (low + high) / 2, (high - low) / 2
        start = torch.atanh((model.spread(originals) - self.middle) / self.half * _INSIDE)
        size = constants.shape
        self.squares = torch.full(size, torch.inf, device=model.device)
        self.adversarial = model.spread(originals).clone()
        self.live = torch.arange(size[1], device=model.device).expand(size)
        self.real = torch.ones(size, dtype=torch.bool, device=model.device)
        self.state = {
            "variable": start,
            "origin": self._picture(start),
            "first": torch.zeros_like(start),
            "second": torch.zeros_like(start),
            "goals": goals.expand(size),
            "constants": constants,
            "squares": self.squares.clone(),
            "found": self.adversarial.clone(),
            "least": torch.full(size, torch.inf, device=model.device),
            "before": torch.full(size, torch.inf, device=model.device),
        }

    def run(self, search: int) -> tuple[Tensor, Tensor]:
        """Return (networks, rows) squared lengths, endless where nothing is found, and examples."""
        steps = self.attack.steps
        between = max(1, -(-steps // _CHECKS))
        for step in range(steps):
            if step % between == 0:
                report(self.attack.name, search * steps + step, self.attack.searches * steps)
                if step and self.attack.abort_early and not self._drop_settled():
                    break
            self._step(step + 1)
        self._keep()
        return self.squares, self.adversarial

    def _picture(self, variable: Tensor) -> Tensor:
        return self.middle + self.half * torch.tanh(variable)

    def _step(self, count: int) -> None:
        """Descend once by Adam, and remember what is nearest."""
        state = self.state
        variable = state["variable"].requires_grad_()
        perturbed = self._picture(variable)
        leads = excess(self.model.logits(perturbed), state["goals"], self.targeted)
        squares = squared_lengths(perturbed, state["origin"])
        losses = objective(squares, leads, state["constants"], self.attack.confidence)
        (slope,) = torch.autograd.grad(losses.sum(), variable)
        with torch.no_grad():
            self._remember(perturbed, leads, squares, losses)
            state["first"] = first = torch.lerp(slope, state["first"], 0.9)
            state["second"] = second = torch.lerp(slope.square(), state["second"], 0.999)
            spread = (second / (1 - 0.999**count)).sqrt() + _EPSILON
            moved = self.attack.rate / (1 - 0.9**count) * first / spread
            state["variable"] = variable.detach() - moved

    def _remember(self, perturbed: Tensor, leads: Tensor, squares: Tensor, losses: Tensor) -> None:
        state = self.state
        closer = _met(leads, self.attack.confidence) & (squares < state["squares"])
        state["squares"] = torch.where(closer, squares, state["squares"])
        wide = closer.view(*closer.shape, *[1] * (perturbed.ndim - 2))
        state["found"] = torch.where(wide, perturbed, state["found"])
        state["least"] = torch.minimum(state["least"], losses)

    def _drop_settled(self) -> bool:
        """Leave out examples whose least loss has not fallen since the last check."""
        state = self.state
        before = state["before"]
        falls = state["least"] < before - 1e-4 * before.abs().nan_to_num(posinf=0.0)
        state["before"] = state["least"].clone()
        self._keep()
        self.real = self.real & falls
        most = int(self.real.sum(dim=1).max())
        if 0 < most < self.live.shape[1]:
            order = (~self.real).to(torch.int8).argsort(dim=1, stable=True)[:, :most]
            self.live, self.real = self.live.gather(1, order), self.real.gather(1, order)
            nets = torch.arange(len(order), device=order.device).unsqueeze(1)
            self.state = {name: value[nets, order] for name, value in state.items()}
        return most > 0

    def _keep(self) -> None:
        """Write what was found back to its row."""
        nets, places = self.real.nonzero(as_tuple=True)
        rows = self.live[nets, places]
        self.squares[nets, rows] = self.state["squares"][nets, places]
        self.adversarial[nets, rows] = self.state["found"][nets, places]
