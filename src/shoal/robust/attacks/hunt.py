"""The hunt of Carlini–Wagner: Adam on all examples at once, each with a search of its own.

An example goes on to its next constant as soon as its loss no longer falls, whatever the others do,
so that few steps are lost on what has settled; one that is through is left out.

As published, x′ = tanh(w) moved into the bounds, and every search starts at the original. Pixels at
the bounds, most of those of a drawn digit, then need hundreds of steps to get away from where tanh
is flat. Otherwise x′ = sin(w): they leave at once. Until one succeeds, a search goes on from where
the last one ended, moved a little, as that may have met a ridge between two other classes. The last
search starts at the best example and slows down at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from shoal.robust import draws
from shoal.robust.attacks.attack import excess, gradient, wide
from shoal.robust.attacks.constants import GREATEST, Constants
from shoal.robust.classifier import Classifier
from shoal.support.progress import report

if TYPE_CHECKING:
    from shoal.robust.attacks.carlini_wagner import CarliniWagner

_INSIDE = 0.999999  # of the way to the bounds: at the bounds the variable has no way back
_EPSILON = 1e-12  # of Adam: where the variable is flat, slopes are far below the usual 1e-8
_EVERY = 25  # steps between two looks at the losses
_TENTHS = 10  # looks in a search, as published
_FALL = 1e-3  # of the loss, that it must have fallen by since the last look
_FINE_FALL = 1e-4  # the same as published, and in the last search
_GUESS = 0.1  # of the constant that would do if the logits were linear, to begin with
_KICK = 0.8  # how far at most a search is moved after others have failed
_CLOSE = 4  # times the greatest constant that failed: no better one is searched
_SLOWER = 0.3  # what the rate falls to, twice, before the last search ends
_FULL = 0.8  # share of places at work, below which the others are left out


class Change(NamedTuple):
    """A change of variables: between −1 and 1 and the variable, and how the former moves."""

    of: Callable[[Tensor], Tensor]
    to: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor]


TANH = Change(torch.tanh, torch.atanh, lambda variable: 1 - torch.tanh(variable).square())
SINE = Change(torch.sin, torch.asin, torch.cos)


def objective(squares: Tensor, leads: Tensor, constants: Tensor, confidence: float) -> Tensor:
    """(networks, rows) the squared length plus c times how much another class leads, from −κ up."""
    return squares + constants * leads.clamp(min=-confidence)


def squared_lengths(perturbed: Tensor, originals: Tensor) -> Tensor:
    """(networks, rows) ‖x′ − x‖²."""
    return (perturbed - originals).flatten(2).square().sum(dim=2)


def leads_enough(leads: Tensor, confidence: float) -> Tensor:
    """Return where the goal leads by the confidence, or leads at all if the confidence is 0."""
    return leads <= -confidence if confidence else leads < 0


class Hunt:
    """Examples at work.

    squares, adversarial: (networks, rows, …) the best examples so far; infinite without any.
    live: (networks, places) rows at work; where a network has fewer than another, some stand there
    that are through and no longer `real`. The tensors of `state` have these two axes in front.
    """

    def __init__(
        self,
        attack: CarliniWagner,
        model: Classifier,
        originals: Tensor,
        goals: Tensor,
        targeted: bool,
    ) -> None:
        self.attack, self.model, self.targeted = attack, model, targeted
        self.change = TANH if attack.published else SINE
        looks = _TENTHS if attack.published else -(-attack.steps // _EVERY)
        self.between = max(1, attack.steps // looks)
        size = (model.networks, len(originals))
        self.adversarial = model.spread(originals).clone()
        self.squares = torch.full(size, torch.inf, device=model.device, dtype=originals.dtype)
        self.live = torch.arange(size[1], device=model.device).expand(size)
        self.real = torch.ones(size, dtype=torch.bool, device=model.device)
        seeds = torch.arange(attack.searches + 1, device=model.device)
        drawn = draws.uniforms(seeds, count=originals.shape[1:].numel())
        sizes = _KICK * seeds / attack.searches  # the more searches have failed, the greater
        kicks = sizes.unsqueeze(1) * (2 * drawn - 1)
        self.kicks = kicks.view(len(seeds), *originals.shape[1:])
        self.state = self._beginning(goals.expand(size))

    def _beginning(self, goals: Tensor) -> dict[str, Tensor]:
        origin = self.adversarial.clone()
        start = self._variable(origin)
        if self.attack.published:
            origin = self._picture(start)
        endless, false = self.squares.clone(), ~self.real
        return {
            "variable": start,
            "origin": origin,
            "first": torch.zeros_like(start),
            "second": torch.zeros_like(start),
            "age": torch.zeros_like(endless),  # steps in this search
            "rate": torch.full_like(endless, self.attack.rate),
            "goals": goals,
            **Constants.beginning(self._first_constants(origin, goals))._asdict(),
            "tried": torch.zeros_like(self.live),  # searches that ended
            "last": false,  # whether this search is the last
            "met": false,  # whether the goal was, since the last look (published: in this search)
            "squares": endless,
            "found": self.adversarial.clone(),
            "least": endless,
            "before": endless,
        }

    def _first_constants(self, origin: Tensor, goals: Tensor) -> Tensor:
        given = torch.full_like(self.squares, self.attack.constant)
        if self.attack.published:
            return given
        model, targeted = self.model, self.targeted
        leads, slope = gradient(origin, lambda x: excess(model.logits(x), goals, targeted))
        steep = slope.flatten(2).square().sum(dim=2)
        enough = 2 * (leads + self.attack.confidence) / steep  # where the logits are linear
        usable = (steep > 0) & enough.isfinite()
        return torch.where(usable, (_GUESS * enough).clamp(max=GREATEST), given).maximum(given)

    def run(self) -> None:
        """Take steps until every example is through."""
        total = self.attack.searches * self.attack.steps
        for step in range(total):
            if step % self.between == 0:
                report(self.attack.name, step, total)
                if step and not self._look():
                    return
            self._step()
        self._keep()

    def _variable(self, picture: Tensor) -> Tensor:
        low, high = self.model.bounds
        return self.change.to((2 * picture - low - high) / (high - low) * _INSIDE)

    def _picture(self, variable: Tensor) -> Tensor:
        low, high = self.model.bounds
        return self.change.of(variable) * ((high - low) / 2) + (low + high) / 2

    def _step(self) -> None:
        """Remember what is nearest, and descend once by Adam."""
        state, attack = self.state, self.attack
        picture = self._picture(state["variable"]).requires_grad_()
        leads = excess(self.model.logits(picture), state["goals"], self.targeted)
        squares = squared_lengths(picture, state["origin"])
        losses = objective(squares, leads, state["now"], attack.confidence)
        (slope,) = torch.autograd.grad(losses.sum(), picture)
        with torch.no_grad():
            met = leads_enough(leads, attack.confidence)
            closer = met & (squares < state["squares"])
            state["met"] = state["met"] | met
            state["squares"] = torch.where(closer, squares, state["squares"])
            state["found"] = torch.where(wide(closer, picture), picture, state["found"])
            state["least"] = torch.minimum(state["least"], losses)
            self._descend(slope * self.change.slope(state["variable"]))

    def _descend(self, slope: Tensor) -> None:
        """Move by Adam; a factor that all slopes of an example share makes no difference to it."""
        state = self.state
        state["age"] = state["age"] + 1
        first = state["first"].lerp_(slope, 0.1)
        second = state["second"].mul_(0.999).addcmul_(slope, slope, value=0.001)
        size = state["rate"] / (1 - 0.9 ** state["age"])
        spread = second.sqrt().mul_(wide((1 - 0.999 ** state["age"]).rsqrt(), slope))
        state["variable"] -= (first / spread.add_(_EPSILON)).mul_(wide(size, slope))

    def _look(self) -> bool:
        """See which searches have ended, and begin the next; False once all are through."""
        state, attack = self.state, self.attack
        before = state["before"]
        exact = state["last"] | attack.published
        fall = torch.where(exact, _FINE_FALL, _FALL)
        settled = state["least"] >= before - fall * before.abs().nan_to_num(posinf=0.0)
        state["before"] = state["least"]
        ended = state["age"] + self.between > attack.steps
        if attack.abort_early:
            slow = state["rate"] < attack.rate * _SLOWER * 0.99
            slower = settled & state["last"] & ~slow
            state["rate"] = torch.where(slower, state["rate"] * _SLOWER, state["rate"])
            ended = ended | (settled & ~slower)
        state["tried"] = state["tried"] + ended.long()
        through = ended & (state["last"] | (state["tried"] >= attack.searches))
        self._keep()
        self.real = self.real & ~through
        self._go_on(ended)
        return self._leave_out()

    def _go_on(self, ended: Tensor) -> None:
        """Choose the next constant, and where to start, for searches that have ended."""
        state, attack = self.state, self.attack
        constants = Constants(state["now"], state["lower"], state["upper"])
        after = constants.after(state["met"], forgiving=not attack.published)
        start = self._variable(state["origin"])
        if not attack.published:
            succeeded = after.upper.isfinite()
            close = (after.lower > 0) & (after.upper <= _CLOSE * after.lower)
            last = succeeded & (close | (state["tried"] >= attack.searches - 1))
            after = after._replace(now=torch.where(last, after.upper, after.now))
            state["last"] = torch.where(ended, last, state["last"])
            moved = state["variable"] + self.kicks[state["tried"].clamp(max=attack.searches)]
            start = torch.where(wide(succeeded, start), start, moved)
            start = torch.where(wide(last, start), self._variable(state["found"]), start)
            state["met"] = torch.zeros_like(ended)
        fresh = {
            **after._asdict(),
            "variable": start,
            **dict.fromkeys(("first", "second", "age"), 0.0),
            "rate": attack.rate,
            "met": False,
            **dict.fromkeys(("least", "before"), torch.inf),
        }
        for name, value in fresh.items():
            old = state[name]
            state[name] = torch.where(wide(ended, old), value, old)

    def _leave_out(self) -> bool:
        """Keep only examples that are at work, once many are through."""
        most = int(self.real.sum(dim=1).max())
        if 0 < most <= _FULL * self.live.shape[1]:
            order = (~self.real).to(torch.int8).argsort(dim=1, stable=True)[:, :most]
            nets = torch.arange(len(order), device=order.device).unsqueeze(1)
            self.live, self.real = self.live.gather(1, order), self.real.gather(1, order)
            self.state = {name: value[nets, order] for name, value in self.state.items()}
        return most > 0

    def _keep(self) -> None:
        """Write what was found back to its row."""
        nets, places = self.real.nonzero(as_tuple=True)
        rows = self.live[nets, places]
        self.squares[nets, rows] = self.state["squares"][nets, places]
        self.adversarial[nets, rows] = self.state["found"][nets, places]
