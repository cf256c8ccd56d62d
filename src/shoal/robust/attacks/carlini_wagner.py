"""Carlini–Wagner: the shortest perturbation for which the target has the highest logit.

Minimizes ‖x′ − x‖² + c · max(max_{i≠t} Z(x′)_i − Z(x′)_t, −κ) by Adam over a variable that keeps x′
inside the bounds; c is searched example by example. All examples run at once (`AdamSearch`):

    step     Adam on the variable of each active example
    check    an example whose loss no longer falls continues with its next constant, independently
             of the others
    remove   finished examples leave the arrays

As published, x′ = tanh(w), scaled to the bounds, and every search starts at the original. Pixels at
the bounds, which are most pixels of a drawn digit, then need hundreds of steps to leave the range
where tanh is flat. The default is x′ = sin(w), which they leave immediately. Until a search
succeeds, the next one starts where the last one ended, with a small displacement, because that may
have reached a ridge between two other classes. The last search starts at the best example and
lowers its rate at the end. Carlini & Wagner, "Towards evaluating the robustness of neural
networks", S&P 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from shoal.robust import draws
from shoal.robust.attacks.attack import (
    MAX_CONSTANT,
    Constants,
    Examples,
    excess,
    gradient,
    in_parts,
    wide,
)
from shoal.robust.classifier import Classifier, repeatable
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report


@dataclass(frozen=True, kw_only=True)
class CarliniWagner:
    """The attack that minimizes the Euclidean length.

    Parameters:
        steps: Maximum number of Adam steps for each constant.
        searches: Maximum number of constants to try for each example.
        rate: Learning rate of Adam.
        confidence: κ, the lead that the target's logit must have.
        constant: First value of c; increased where the gradient at the original shows that it is
            too small.
        abort_early: Whether the search of an example ends once its loss no longer falls.
        shorten: Number of bisections at the end, between the example and its original; ignored if
            `published`.
        published: Whether to search as published: with tanh, every search from the original, all
            constants.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> attack = CarliniWagner(steps=5, searches=2)
    >>> attack.run(network, torch.rand(3, 1, 2, 2), torch.tensor([0, 1, 1])).success.shape
    torch.Size([1, 3])
    """

    name: ClassVar[str] = "carlini-wagner"
    steps: int = 1000
    searches: int = 9
    rate: float = 0.01
    confidence: float = 0.0
    constant: float = 1e-3
    abort_early: bool = True
    shorten: int = 10
    published: bool = False

    def __post_init__(self) -> None:
        check_whole("steps", self.steps, 1)
        check_whole("searches", self.searches, 1)
        check_whole("shorten", self.shorten, 0)
        check_range("rate", self.rate, 0, above=True)
        check_range("constant", self.constant, 0, above=True)
        check_range("confidence", self.confidence, 0)

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Search an example for every row and network.

        Parameters and result are those of `Attack.run`.
        """
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        with repeatable():
            search = AdamSearch(self, model, originals, goals, targeted)
            search.run()
            best = search.adversarial
            if not self.published:
                best = self._shortened(model, originals, goals, best, targeted)
        total = self.searches * self.steps
        report(self.name, total, total)
        success = search.squares.isfinite()
        return Examples(originals, goals, best, success, targeted, model.bounds)

    def _shortened(
        self, model: Classifier, originals: Tensor, goals: Tensor, found: Tensor, targeted: bool
    ) -> Tensor:
        """Move each example toward its original as far as the goal is still met."""
        near = torch.zeros(found.shape[:2], device=found.device)
        far = torch.ones_like(near)
        best = found
        for _ in range(self.shorten):
            middle = (near + far) / 2
            tried = originals + wide(middle, found) * (found - originals)
            with torch.no_grad():
                leads = excess(model.logits(tried), goals, targeted)
            met = leads_enough(leads, self.confidence)
            near, far = torch.where(met, near, middle), torch.where(met, middle, far)
            best = torch.where(wide(met, found), tried, best)
        return best


_MAX_SHARE = 0.999999  # of the distance to the bounds, where the variable has no gradient
_EPSILON = 1e-12  # of Adam: where the variable is flat, gradients are far below the usual 1e-8
_STEPS_PER_CHECK = 25  # steps between two checks of the losses
_PUBLISHED_CHECKS = 10  # checks in a search, as published
_MIN_FALL = 1e-3  # share by which the loss must fall between two checks
_MIN_FINE_FALL = 1e-4  # the same as published, and in the last search
_FIRST_SHARE = 0.1  # the first constant relative to the one that suffices for linear logits
_MAX_DISPLACEMENT = 0.8  # of the variable, after other searches have failed
_CLOSE_RATIO = 4  # between the constants that succeeded and failed, at which the search ends
_RATE_FACTOR = 0.3  # applied to the rate, twice, before the last search ends
_MIN_ACTIVE = 0.8  # share of active slots, below which the others are removed


class Change(NamedTuple):
    """A change of variables: x = of(w) in [−1, 1], w = to(x), and the derivative of `of` at w."""

    of: Callable[[Tensor], Tensor]
    to: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor]


TANH = Change(torch.tanh, torch.atanh, lambda variable: 1 - torch.tanh(variable).square())
SINE = Change(torch.sin, torch.asin, torch.cos)


def objective(squares: Tensor, leads: Tensor, constants: Tensor, confidence: float) -> Tensor:
    """Return (networks, rows) squared length + c · lead of another class, the lead at least −κ."""
    return squares + constants * leads.clamp(min=-confidence)


def squared_lengths(perturbed: Tensor, originals: Tensor) -> Tensor:
    """Return (networks, rows) ‖x′ − x‖²."""
    return (perturbed - originals).flatten(2).square().sum(dim=2)


def leads_enough(leads: Tensor, confidence: float) -> Tensor:
    """Return (networks, rows) whether the goal leads by the confidence, or at all if that is 0."""
    return leads <= -confidence if confidence else leads < 0


class AdamSearch:
    """The state of the search for all examples.

    adversarial: (networks, rows, *shape) the best example so far, the original without any.
    squares: (networks, rows) its squared length, infinite without any.
    rows: (networks, slots) the row in each slot.
    active: (networks, slots) whether the slot's example is unfinished; networks with fewer active
        examples than others have inactive slots.
    state: tensors with the axes (networks, slots) first.
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
        checks = _PUBLISHED_CHECKS if attack.published else -(-attack.steps // _STEPS_PER_CHECK)
        self.between = max(1, attack.steps // checks)  # steps between two checks
        size = (model.networks, len(originals))
        self.adversarial = model.spread(originals).clone()
        self.squares = torch.full(size, torch.inf, device=model.device, dtype=originals.dtype)
        self.rows = torch.arange(size[1], device=model.device).expand(size)
        self.active = torch.ones(size, dtype=torch.bool, device=model.device)
        seeds = torch.arange(attack.searches + 1, device=model.device)
        drawn = draws.uniforms(seeds, count=originals.shape[1:].numel())
        sizes = _MAX_DISPLACEMENT * seeds / attack.searches  # grow with each failed search
        displacements = sizes.unsqueeze(1) * (2 * drawn - 1)
        self.displacements = displacements.view(len(seeds), *originals.shape[1:])
        self.state = self._initial_state(goals.expand(size))

    def _initial_state(self, goals: Tensor) -> dict[str, Tensor]:
        origin = self.adversarial.clone()
        start = self._variable(origin)
        if self.attack.published:
            origin = self._picture(start)
        infinite, false = self.squares.clone(), ~self.active
        return {
            "variable": start,
            "origin": origin,
            "first": torch.zeros_like(start),  # first moment of Adam
            "second": torch.zeros_like(start),  # second moment of Adam
            "age": torch.zeros_like(infinite),  # steps in this search
            "rate": torch.full_like(infinite, self.attack.rate),
            "goals": goals,
            **Constants.start(self._first_constants(origin, goals))._asdict(),
            "tried": torch.zeros_like(self.rows),  # number of finished searches
            "last": false,  # whether this search is the last
            "met": false,  # whether the goal was met since the last check (published: the start)
            "squares": infinite,  # squared length of `found`
            "found": self.adversarial.clone(),  # the shortest example so far
            "least": infinite,  # lowest loss in this search
            "before": infinite,  # the same at the last check
        }

    def _first_constants(self, origin: Tensor, goals: Tensor) -> Tensor:
        given = torch.full_like(self.squares, self.attack.constant)
        if self.attack.published:
            return given
        model, targeted = self.model, self.targeted
        leads, slopes = gradient(origin, lambda x: excess(model.logits(x), goals, targeted))
        steepness = slopes.flatten(2).square().sum(dim=2)
        enough = 2 * (leads + self.attack.confidence) / steepness  # if the logits are linear
        usable = (steepness > 0) & enough.isfinite()
        return torch.where(usable, (_FIRST_SHARE * enough).clamp(max=MAX_CONSTANT), given).maximum(
            given
        )

    def run(self) -> None:
        """Take steps until every example is finished."""
        total = self.attack.searches * self.attack.steps
        for step in range(total):
            if step % self.between == 0:
                report(self.attack.name, step, total)
                if step and not self._check():
                    return
            self._step()
        self._store()

    def _variable(self, picture: Tensor) -> Tensor:
        low, high = self.model.bounds
        return self.change.to((2 * picture - low - high) / (high - low) * _MAX_SHARE)

    def _picture(self, variable: Tensor) -> Tensor:
        low, high = self.model.bounds
        return self.change.of(variable) * ((high - low) / 2) + (low + high) / 2

    def _step(self) -> None:
        """Update the shortest examples, and take one step by Adam."""
        state, attack = self.state, self.attack
        picture = self._picture(state["variable"]).requires_grad_()
        leads = excess(self.model.logits(picture), state["goals"], self.targeted)
        squares = squared_lengths(picture, state["origin"])
        losses = objective(squares, leads, state["now"], attack.confidence)
        (slopes,) = torch.autograd.grad(losses.sum(), picture)
        with torch.no_grad():
            met = leads_enough(leads, attack.confidence)
            closer = met & (squares < state["squares"])
            state["met"] = state["met"] | met
            state["squares"] = torch.where(closer, squares, state["squares"])
            state["found"] = torch.where(wide(closer, picture), picture, state["found"])
            state["least"] = torch.minimum(state["least"], losses)
            self._descend(slopes * self.change.slope(state["variable"]))

    def _descend(self, slopes: Tensor) -> None:
        """Take a step by Adam; a common factor of an example's gradients does not change it."""
        state = self.state
        state["age"] = state["age"] + 1
        first = state["first"].lerp_(slopes, 0.1)
        second = state["second"].mul_(0.999).addcmul_(slopes, slopes, value=0.001)
        size = state["rate"] / (1 - 0.9 ** state["age"])
        spread = second.sqrt().mul_(wide((1 - 0.999 ** state["age"]).rsqrt(), slopes))
        state["variable"] -= (first / spread.add_(_EPSILON)).mul_(wide(size, slopes))

    def _check(self) -> bool:
        """End converged searches and start the next; return whether any example is active."""
        state, attack = self.state, self.attack
        # a search ends when its loss no longer falls or its steps run out; the last search of an
        # example first lowers its rate, twice, before it may end
        before = state["before"]
        exact = state["last"] | attack.published
        fall = torch.where(exact, _MIN_FINE_FALL, _MIN_FALL)
        settled = state["least"] >= before - fall * before.abs().nan_to_num(posinf=0.0)
        state["before"] = state["least"]
        ended = state["age"] + self.between > attack.steps
        if attack.abort_early:
            slow = state["rate"] < attack.rate * _RATE_FACTOR * 0.99
            slower = settled & state["last"] & ~slow
            state["rate"] = torch.where(slower, state["rate"] * _RATE_FACTOR, state["rate"])
            ended = ended | (settled & ~slower)
        state["tried"] = state["tried"] + ended.long()
        finished = ended & (state["last"] | (state["tried"] >= attack.searches))
        self._store()
        self.active = self.active & ~finished
        self._start_next(ended)
        return self._remove_finished()

    def _start_next(self, ended: Tensor) -> None:
        """Choose the next constant and the starting point of searches that ended."""
        state, attack = self.state, self.attack
        constants = Constants(state["now"], state["lower"], state["upper"])
        after = constants.after(state["met"], forgiving=not attack.published)
        start = self._variable(state["origin"])
        if not attack.published:
            succeeded = after.upper.isfinite()
            close = (after.lower > 0) & (after.upper <= _CLOSE_RATIO * after.lower)
            last = succeeded & (close | (state["tried"] >= attack.searches - 1))
            after = after._replace(now=torch.where(last, after.upper, after.now))
            state["last"] = torch.where(ended, last, state["last"])
            moved = (
                state["variable"] + self.displacements[state["tried"].clamp(max=attack.searches)]
            )
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

    def _remove_finished(self) -> bool:
        """Remove finished examples once there are many; return whether any example is active."""
        # every network keeps as many slots as the one with the most active examples: arrays are
        # rectangular, and the inactive rest of a network is computed for nothing
        most = int(self.active.sum(dim=1).max())
        if 0 < most <= _MIN_ACTIVE * self.rows.shape[1]:
            order = (~self.active).to(torch.int8).argsort(dim=1, stable=True)[:, :most]
            nets = torch.arange(len(order), device=order.device).unsqueeze(1)
            self.rows, self.active = self.rows.gather(1, order), self.active.gather(1, order)
            self.state = {name: value[nets, order] for name, value in self.state.items()}
        return most > 0

    def _store(self) -> None:
        """Write the shortest examples back to their rows."""
        nets, slots = self.active.nonzero(as_tuple=True)
        rows = self.rows[nets, slots]
        self.squares[nets, rows] = self.state["squares"][nets, slots]
        self.adversarial[nets, rows] = self.state["found"][nets, slots]
