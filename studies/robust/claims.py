"""The claims of Liang (2020) on networks that vote and answer from noisy inputs."""

from __future__ import annotations

from studies.claims import Claim, Rows
from studies.robust import answers, own_answers, published
from studies.robust.appendix import claims_on_samples
from studies.robust.attackers import ATTACKERS, SETTINGS
from studies.robust.figures import percent

_SUMS = {1: "One network's example", 2: "Sums of two", 3: "Sums of three"}
_VOTES = {1: ("Table 4.3", "Table 4.4"), 2: ("Table 4.6",) * 2, 3: ("Table 4.8",) * 2}


def claims_for(data: str) -> tuple[Claim[Rows], ...]:
    """Return all claims on one set of pictures.

    data: mnist or cifar10, whose published figures they quote.
    """
    samples = claims_on_samples(data)
    return (*_networks(data), *_tables(data), *_noise(data), *samples, *ATTACKERS, *SETTINGS)


def _networks(data: str) -> list[Claim[Rows]]:
    """Claims on single networks, and examples by the size of their perturbation."""
    own, first = published.OWN[data], {"mnist": 1, "cifar10": 4}[data]
    what = {"mnist": "a seven to be a zero", "cifar10": "a ship to be an airplane"}[data]
    claims = [
        Claim("A", f"One network is right on {percent(published.VALIDATION[data])} of the pictures "
              "held back", answers.validation(data)),
        Claim("A", "The vote is right more often than one network", answers.vote_is_better),
        Claim("A", "The vote compensates for what noise costs a network", answers.vote_compensates),
        Claim(f"4.{first}", "With noise, fewer networks follow an example to its target",
              own_answers.transferred),
        Claim("4.7", "Carlini–Wagner always reaches its target on a network without noise",
              own_answers.always_succeeds),
        Claim("4.7", "A search that ends sooner finds examples as close (ours)",
              own_answers.closer),
        Claim("4.7", f"Of 50 networks behind noise {own.taken} follow their own example, "
              f"{own.right} are right ({what})", own_answers.own(data)),
        Claim("4.7", "One network behind noise withstands attacks on itself",
              own_answers.withstands),
    ]  # fmt: skip
    if data == "cifar10":
        text = "Noise does not change the sizes of the perturbations"
        return [*claims, Claim("4.6", text, own_answers.spread(data))]
    return [
        *claims,
        Claim("A", "Networks trained on moved pictures are more accurate (ours)",
              answers.moved_is_better),
        Claim("4.3", "Between 10 and 30 % of perturbation the vote is less often right with noise",
              own_answers.less_right_between(0.1, 0.3)),
        Claim("4.3", "Noise spreads the perturbations: more small ones, and some larger than any "
              "without", own_answers.spread(data)),
    ]  # fmt: skip


def _tables(data: str) -> list[Claim[Rows]]:
    """Return the claims on each published share."""
    claims = []
    for count in (1, 2, 3):
        for model, words in answers.WORDS.items():
            there = published.CLASSIFICATIONS[count][data][model]
            right, taken = _VOTES[count]
            claims += [
                Claim(right, f"{_SUMS[count]}: the vote {words} stays right on "
                      f"{percent(there.correct)}", answers.vote_right(data, model, count)),
                Claim(taken, f"{100 * there.target:.2f} % move the vote {words} to their target",
                      answers.vote_taken(data, model, count)),
            ]  # fmt: skip
            if count > 1:
                ends = published.SINGLE[count][data][model]
                text = f"One network {words} falls from {percent(ends.clean)} to "
                test = answers.single_right(data, model, count)
                claims.append(
                    Claim(f"Table 4.{2 * count + 1}", f"{text}{percent(ends.attacked)}", test)
                )
    return claims


def _noise(data: str) -> list[Claim[Rows]]:
    """Return the claims on the effect of noise on the vote."""
    fares = "Noise and vote are as accurate as on clean pictures"
    claims = [
        Claim("Table 4.6", fares, answers.as_on_clean(2)),
        Claim("Table 4.8", fares, answers.as_on_clean(3)),
    ]
    if data == "cifar10":
        return [
            *claims,
            Claim("Table 4.3", fares, answers.as_on_clean(1)),
            Claim("Table 4.7", "Examples transfer far less than on MNIST", answers.transfers_less),
        ]
    more = "The vote is right more often with noise"
    return [
        *claims,
        Claim("Table 4.3", "Against one network's examples noise makes the vote less accurate",
              answers.noise_helps(1, helps=False)),
        Claim("Table 4.6", more, answers.noise_helps(2)),
        Claim("Table 4.8", more, answers.noise_helps(3)),
    ]  # fmt: skip
