"""What Liang (2020) says of networks that vote and answer from noise, by figure and table."""

from __future__ import annotations

from shoal.experiments.claims import Rows, StudyClaim
from shoal.experiments.robust import answers, own_answers, published
from shoal.experiments.robust.attackers import ATTACKERS, SETTINGS
from shoal.experiments.robust.figures import percent

_LAID = {1: "One network's example", 2: "Two laid over each other", 3: "Three"}
_VOTES = {1: ("Table 4.3", "Table 4.4"), 2: ("Table 4.6",) * 2, 3: ("Table 4.8",) * 2}


def claims_for(data: str) -> tuple[StudyClaim[Rows], ...]:
    """Return all claims on one set of pictures; those without figures are ours or in words.

    data: mnist or cifar10, whose published figures they quote.
    """
    return (*_networks(data), *_tables(data), *_noise(data), *ATTACKERS, *SETTINGS)


def _networks(data: str) -> list[StudyClaim[Rows]]:
    """Of networks by themselves, and examples by the size of their perturbation."""
    own, first = published.OWN[data], {"mnist": 1, "cifar10": 4}[data]
    what = {"mnist": "a seven to be a zero", "cifar10": "a ship to be an airplane"}[data]
    claims = [
        StudyClaim("A",
              f"One network is right on {percent(published.VALIDATION[data])} of the pictures "
              "held back", answers.validation(data)),
        StudyClaim("A", "The vote is right more often than one network", answers.vote_is_better),
        StudyClaim("A", "What noise costs a network, the vote gives back", answers.vote_gives_back),
        StudyClaim(f"4.{first}", "With noise, fewer networks follow an example to its target",
              own_answers.carried),
        StudyClaim("4.7", "Carlini–Wagner always reaches its target on a network without noise",
              own_answers.always_succeeds),
        StudyClaim("4.7", "A search that ends sooner finds examples as near (ours)",
              own_answers.closer),
        StudyClaim("4.7", f"Of 50 networks behind noise {own.taken} fall for their own example, "
              f"{own.right} are right ({what})", own_answers.own(data)),
        StudyClaim("4.7", "One network behind noise withstands attacks on itself",
              own_answers.withstands),
    ]  # fmt: skip
    if data == "cifar10":
        text = "Noise leaves the sizes of the perturbations as they are"
        return [*claims, StudyClaim("4.6", text, own_answers.spread(data))]
    return [
        *claims,
        StudyClaim("A", "Pictures moved by a pixel or two teach a network more (ours)",
              answers.moved_is_better),
        StudyClaim("4.3",
              "Between 10 and 30 % of perturbation the vote is less often right with noise",
              own_answers.less_right_between(0.1, 0.3)),
        StudyClaim("4.3",
              "Noise spreads the perturbations: more small ones, and some larger than any "
              "without", own_answers.spread(data)),
    ]  # fmt: skip


def _tables(data: str) -> list[StudyClaim[Rows]]:
    """Of each published share."""
    claims = []
    for count in (1, 2, 3):
        for model, words in answers.WORDS.items():
            there = published.CLASSIFICATIONS[count][data][model]
            right, taken = _VOTES[count]
            claims += [
                StudyClaim(right, f"{_LAID[count]}: the vote {words} stays right on "
                      f"{percent(there.correct)}", answers.vote_right(data, model, count)),
                StudyClaim(taken,
                      f"{100 * there.target:.2f} % take the vote {words} to their target",
                      answers.vote_taken(data, model, count)),
            ]  # fmt: skip
            if count > 1:
                ends = published.SINGLE[count][data][model]
                text = f"One network {words} falls from {percent(ends.clean)} to "
                test = answers.single_right(data, model, count)
                claims.append(
                    StudyClaim(f"Table 4.{2 * count + 1}", f"{text}{percent(ends.attacked)}", test)
                )
    return claims


def _noise(data: str) -> list[StudyClaim[Rows]]:
    """Of what noise adds to the vote."""
    fares = "Noise and vote fare as on clean pictures"
    claims = [
        StudyClaim("Table 4.6", fares, answers.as_on_clean(2)),
        StudyClaim("Table 4.8", fares, answers.as_on_clean(3)),
    ]
    if data == "cifar10":
        return [
            *claims,
            StudyClaim("Table 4.3", fares, answers.as_on_clean(1)),
            StudyClaim(
                "Table 4.7", "Examples carry over far less than on MNIST", answers.carries_less
            ),
        ]
    more = "The vote is right more often where noise was met"
    return [
        *claims,
        StudyClaim("Table 4.3",
              "Against one network's examples noise does the vote more harm than good",
              answers.noise_helps(1, helps=False)),
        StudyClaim("Table 4.6", more, answers.noise_helps(2)),
        StudyClaim("Table 4.8", more, answers.noise_helps(3)),
    ]  # fmt: skip
