"""`shoal robust` superimposes, sweeps and reports; each table says what the others do."""

import csv
import json
import re

import pytest
import torch

from shoal.cli.robust.inputs import Kept, load_examples, read_pictures, save_examples
from shoal.robust import Ensemble, EnsembleVote, Examples, superimpose

ATTACK = ("--method", "iterative-fgsm", "-O", "epsilon=0.4", "-O", "steps=5", "--samples", 2)


@pytest.fixture
def examples(shoal, folder, networks):
    shown = shoal("robust", "attack", "digits", networks, "-o", "found.safetensors", *ATTACK)
    assert shown.status == 0, shown.err
    return folder / "found.safetensors"


def rows_of(path):
    with path.open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_examples_keep_how_they_were_found(examples):
    told = load_examples(examples).attack
    assert told["options"]["epsilon"] == 0.4
    assert (told["method"], told["seed"], told["vote"]) == ("iterative-fgsm", 0, False)


def test_bins_are_written_by_noise_and_hold_every_example(shoal, folder, examples, networks):
    arguments = ("robust", "evaluate", examples, networks, "--noise", "0,0.3,0")
    shown = shoal(*arguments, "-o", "results.csv", "--bins", "bins.csv")
    assert "wrote bins.csv" in shown.err
    results, bins = rows_of(folder / "results.csv"), rows_of(folder / "bins.csv")
    assert list(bins[0])[:3] == ["noise", "middle", "examples"]
    for scale in ("0", "0.3"):
        mine = [row for row in bins if float(row["noise"]) == float(scale)]
        those = [row for row in results if float(row["noise"]) == float(scale)]
        assert sum(int(row["examples"]) for row in mine) == len(those) == 36
        moved = sum(row["voted"] != row["clean"] for row in those)
        told = sum(float(row["vote_to_target"]) + float(row["vote_to_other"]) for row in mine)
        assert told == pytest.approx(moved / 36)


def test_the_page_says_what_the_machine_is_told(shoal, folder, examples, networks):
    shown = shoal(
        "robust", "evaluate", examples, networks, "--noise", "0,0.3", "--json",
        "--report", "report.json",
    )  # fmt: skip
    told, report = json.loads(shown.out), json.loads((folder / "report.json").read_text())
    assert report["results"] == told["results"]
    assert report["attack"]["method"] == told["attack"]["method"] == "iterative-fgsm"
    assert report["repeat"]["command"] == (
        "shoal robust evaluate found.safetensors networks.safetensors "
        "--report report.json --noise 0,0.3"
    )
    assert [file["name"] for file in report["repeat"]["files"]] == [
        "found.safetensors", "networks.safetensors",
    ]  # fmt: skip
    again = ("robust", "evaluate", examples, networks, "--noise", "0,0.3")
    assert shoal(*again, "--report", "report.html", "--pictures", 3).status == 0
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3
    for row in told["results"]:
        assert f"{100 * row['vote_attacked']:.1f} %" in page


def test_noise_has_the_shape_that_the_attack_met(shoal, folder, networks):
    options = ("--noise", 0.2, "--distribution", "normal", *ATTACK)
    shoal("robust", "attack", "digits", networks, "-o", "normal.safetensors", *options)
    arguments = ("robust", "evaluate", "normal.safetensors", networks, "--noise", "0.2")
    found = {}
    for name in (None, "normal", "laplace"):
        extra = () if name is None else ("--distribution", name)
        path = f"{name}.json"
        assert shoal(*arguments, "--report", path, *extra).status == 0
        found[name] = json.loads((folder / path).read_text())
    assert found[None]["distribution"] == "normal"
    assert found[None]["bins"] == found["normal"]["bins"] != found["laplace"]["bins"]


def test_the_noise_of_the_attack_does_not_come_again(shoal, networks):
    options = ("--noise", 0.2, "--seed", 1, *ATTACK)
    shoal("robust", "attack", "digits", networks, "-o", "met.safetensors", *options)
    arguments = ("robust", "evaluate", "met.safetensors", networks)
    shown = shoal(*arguments, "--noise", 0.2)
    assert (shown.status, shown.out) == (2, "")
    assert "seed must not be 1, the seed of the attack" in shown.err
    assert shoal(*arguments, "--noise", 0.2, "--seed", 2).status == 0
    assert shoal(*arguments, "--noise", 0).status == 0


def test_pictures_begin_with_the_smallest_that_fooled_the_vote(shoal, folder, examples, networks):
    again = ("robust", "evaluate", examples, networks, "-o", "results.csv")
    assert shoal(*again, "--report", "report.json", "--pictures", 4).status == 0
    report = json.loads((folder / "report.json").read_text())
    captions = [picture["caption"] for picture in report["pictures"]]
    told = [re.fullmatch(r"row (\d+): (\d) to \d, network \d, size (.*); the vote says (\d)", text)
            for text in captions]  # fmt: skip
    fooled = [row for row in rows_of(folder / "results.csv") if row["voted"] != row["label"]]
    least = min(float(row["perturbation"]) for row in fooled)
    assert float(told[0][3]) == pytest.approx(least, abs=6e-4)
    assert [each[2] != each[4] for each in told] == [True, True, False, False]
    assert told[0][1] != told[1][1]  # one of each picture first


def test_superimposed_examples_are_judged_and_shown_like_others(shoal, folder, examples, networks):
    shown = shoal("robust", "superimpose", examples, "-o", "laid.safetensors", "--json")
    told, kept = json.loads(shown.out), load_examples(folder / "laid.safetensors")
    assert torch.equal(
        kept.examples.adversarial, superimpose(load_examples(examples).examples, 2).adversarial
    )
    assert told["rows"] == told["complete"] + told["fewer"] + told["unchanged"] == 18
    assert told["complete"] == int(kept.examples.success.sum())
    judged = shoal("robust", "evaluate", "laid.safetensors", networks, "--report", "laid.html")
    assert "2 superimposed" in judged.out
    assert "the 2 smallest perturbations" in (folder / "laid.html").read_text()
    assert shoal("robust", "show", "laid.safetensors", "-o", "laid-shown.html").status == 0
    assert "2 superimposed" in (folder / "laid-shown.html").read_text()


def test_rows_with_too_few_perturbations_are_told(shoal, folder):
    success = torch.tensor([[True, True, False], [True, False, False]])
    found = Examples(
        torch.full((3, 1, 8, 8), 0.5), torch.tensor([1, 2, 3]), torch.rand(2, 3, 1, 8, 8), success
    )
    told = {"method": "fgsm", "threat": "copy", "noise": 0.0, "vote": False}
    told["distribution"] = "laplace"
    kept = Kept(found, torch.zeros(3, dtype=torch.int64), torch.arange(3), told)
    save_examples(folder / "some.safetensors", kept, force=False)
    shown = shoal("robust", "superimpose", "some.safetensors", "-o", "laid.safetensors")
    assert shown.out.startswith("3 rows, 1 of them with 2 superimposed perturbations")
    assert "rows with fewer perturbations: 1 " in shown.err
    assert "rows left unchanged: 1 " in shown.err


@pytest.mark.parametrize("vote", [False, True])
def test_a_sweep_tells_writes_and_chooses(shoal, folder, networks, vote):
    options = ("--noise", "0,0.2", "--networks", "1,2", "--queries", 2, "--samples", 1)
    extra = ("--vote",) if vote else ()
    arguments = ("robust", "sweep", "digits", networks, "-O", "steps=2", *options, *extra)
    shown = shoal(*arguments, "-o", "sweep.csv", "--least-accuracy", 0.5, "--json")
    told, rows = json.loads(shown.out), rows_of(folder / "sweep.csv")
    settings = {(float(row["scale"]), int(row["networks"])) for row in rows}
    assert settings == {(0, 1), (0, 2), (0.2, 1), (0.2, 2)}
    assert [float(row["vote_attacked"]) for row in rows] == pytest.approx(
        [row["vote_attacked"] for row in told["results"]]
    )
    assert told["chosen"]["vote_attacked"] == max(row["vote_attacked"] for row in told["results"])
    images, labels = read_pictures("digits")
    plain = next(row for row in told["results"] if row["scale"] == 0 and row["networks"] == 2)
    vote_of_all = EnsembleVote(Ensemble.load(networks))
    right = float(vote_of_all.accuracy(images[1438:], labels[1438:]))
    assert plain["vote_clean"] == pytest.approx(right)


def test_a_sweep_without_a_choice_is_shown_all_the_same(shoal, networks):
    arguments = ("--noise", "0", "-O", "steps=1", "--samples", 1, "--threat", "copy")
    shown = shoal("robust", "sweep", "digits", networks, *arguments, "--least-accuracy", 1)
    assert shown.status == 2
    assert "vote clean" in shown.out
    assert "no setting reaches an accuracy of 100.0% on clean pictures" in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("superimpose", "VOTE", "-o", "a.safetensors"), "contains one example per row"),
        (("superimpose", "FOUND", "-o", "a.safetensors", "--count", 3), "from 2 to 2"),
        (("superimpose", "NONE", "-o", "a.safetensors"), "no example succeeded"),
        (("evaluate", "FOUND", "NETWORKS", "--report", "a.pdf"), "must end in .html or .json"),
        (("evaluate", "FOUND", "NETWORKS", "--bins", "a.csv", "-o", "a.csv"), "the same name"),
        (("evaluate", "FOUND", "NETWORKS", "--bins", "a.xlsx"), "cannot write this kind of file"),
        (("evaluate", "FOUND", "NETWORKS", "--noise", "-1"), "noise must be numbers of 0 or more"),
        (("evaluate", "FOUND", "NETWORKS", "--noise", "inf"), "noise must be numbers of 0 or more"),
        (("evaluate", "FOUND", "NETWORKS", "--pictures", "-1"), "pictures must be 0 or more"),
        (("sweep", "digits", "NETWORKS", "--networks", "0,2"), "numbers from 1 to 2"),
        (("sweep", "digits", "NETWORKS", "--distribution", "cauchy"), "no distribution"),
        (("sweep", "digits", "NETWORKS", "--queries", 0), "queries must be 1 or more"),
        (("sweep", "digits", "NETWORKS", "--least-accuracy", 95), "least-accuracy must be"),
    ],
)
def test_what_is_wrong_is_said_plainly(shoal, folder, networks, arguments, message):
    pixels = torch.full((1, 1, 8, 8), 0.5)
    told = {"method": "fgsm", "threat": "copy", "noise": 0.0, "distribution": "normal"}
    for name, number, success in (("FOUND", 2, True), ("VOTE", 1, True), ("NONE", 2, False)):
        found = Examples(
            pixels, torch.tensor([1]), pixels.expand(number, 1, 1, 8, 8).clone(),
            torch.full((number, 1), success),
        )  # fmt: skip
        kept = Kept(found, torch.tensor([0]), torch.tensor([3]), {**told, "vote": name == "VOTE"})
        save_examples(folder / f"{name}.safetensors", kept, force=False)
    places = {"NETWORKS": networks} | {
        name: f"{name}.safetensors" for name in ("FOUND", "VOTE", "NONE")
    }
    shown = shoal("robust", *(places.get(part, part) for part in arguments))
    assert (shown.status, shown.out) == (2, "")
    assert message in shown.err
    assert shown.err.count("\n") == 1
