"""The studies of robust predictions, on a few small digits and on rows made by hand."""

from __future__ import annotations

import csv
import gzip
import json
import struct
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

pytest.importorskip("torch")

from shoal.errors import InputError
from shoal.experiments import EXPERIMENTS
from shoal.experiments.robust import charts as robust_charts
from shoal.experiments.robust import published, tidy
from shoal.experiments.robust import setup as robust_setup
from shoal.experiments.robust.claims import claims_for
from shoal.experiments.robust.figures import above, ahead, difference, is_whole, own_share, share
from shoal.experiments.robust.images import read_images
from shoal.experiments.robust.own_answers import less_right_between
from shoal.experiments.robust.setup import PUBLISHED, REDUCED
from shoal.experiments.robust.stages import Study

pytestmark = pytest.mark.slow

TINY = replace(
    REDUCED["digits"],
    networks=3,
    rows=120,
    validation=100,
    epochs=3,
    samples=2,
    twos=3,
    threes=2,
    steps=10,
    searches=2,
    constant=10.0,
    rate=0.1,
    queries=2,
    climbs=5,
)
GOALS = 9


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return the folder of a whole run."""
    out = tmp_path_factory.mktemp("robust")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(robust_setup.REDUCED, "digits", TINY)
        EXPERIMENTS["robust-mnist"].run(out, data="digits")
    return out


def table(path):
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_run_leaves_a_page_with_all_figures_and_tables(done):
    text = (done / "report.html").read_text(encoding="utf-8")
    for name in ("4.1", "4.2", "4.3", "4.7", "A", "B", "C"):
        assert f"Figure {name}:" in text
        assert (done / f"figure-{name.replace('.', '-')}.csv").is_file()
        assert (done / f"figure-{name.replace('.', '-')}.svg").is_file()
    for number in range(3, 9):
        assert f"Table 4.{number}:" in text
        assert table(done / f"table-4-{number}.csv")
    assert "data:image/png;base64," in text  # pictures of examples
    assert (done / "figure-D.png").read_bytes().startswith(b"\x89PNG")
    assert "Published figures are of MNIST and 50 networks" in text
    assert "3 networks, each from 120 rows (its own), in 3 epochs (float32)" in text
    assert "An attacker who aims at the vote itself" in text
    assert "https://" not in text


def test_a_second_run_reads_the_stages_and_does_without_the_examples(done, tmp_path, monkeypatch):
    (tmp_path / "stages").mkdir()
    for path in (done / "stages").iterdir():
        (tmp_path / "stages" / path.name).write_bytes(path.read_bytes())
    monkeypatch.setitem(robust_setup.REDUCED, "digits", TINY)
    monkeypatch.setattr(Study, "measure", lambda *_: pytest.fail("run again"))
    monkeypatch.setattr(robust_charts, "save", lambda *_: "")
    text = EXPERIMENTS["robust-mnist"].run(tmp_path, data="digits").read_text(encoding="utf-8")
    assert "Figure C:" in text
    assert "Figure D:" not in text
    for path in tmp_path.glob("*.csv"):
        assert path.read_bytes() == (done / path.name).read_bytes()


def test_examples_are_there_one_row_each(done):
    counts = Counter((row["attacker"], row["model"]) for row in table(done / "examples.csv"))
    single = TINY.networks * TINY.samples * GOALS
    vote = TINY.samples * GOALS
    assert sorted(counts.values()) == sorted(
        2 * [single, TINY.twos * GOALS, TINY.threes * GOALS, *(4 * [vote])]
    )
    assert len(table(done / "figure-4-7.csv")) == 2 * single


@pytest.mark.parametrize("number", [4, 6, 8])
def test_what_the_vote_says_adds_up(done, number):
    rows = table(done / f"table-4-{number}.csv")
    for model in ("without noise", "with noise"):
        here = [row for row in rows if row["model"] == model]
        assert sum(float(row["share"]) for row in here) == pytest.approx(1)
        for row in here:
            assert float(row["low"]) <= float(row["share"]) <= float(row["high"])


def test_tables_follow_from_the_examples(done):
    rows = [r for r in table(done / "examples.csv") if r["attacker"] == "single networks"]
    for row in table(done / "table-4-3.csv"):
        mine = [r for r in rows if r["model"] == row["model"]]
        right = np.mean([r["voted"] == r["label"] for r in mine])
        assert float(row["attacked"]) == pytest.approx(right)
        assert float(row["clean"]) == pytest.approx(
            np.mean([r["clean"] == r["label"] for r in mine])
        )


def test_bins_hold_every_example_once(done):
    for name in ("without noise", "with noise"):
        rows = [r for r in table(done / "figure-4-3.csv") if r["model"] == name]
        right = next(r for r in table(done / "table-4-3.csv") if r["model"] == name)
        assert sum(int(r["examples"]) for r in rows) == TINY.networks * TINY.samples * GOALS
        assert sum(float(r["right"]) for r in rows) == pytest.approx(float(right["attacked"]))


def test_no_published_figure_is_judged_by_a_reduced_run(done):
    rows = [json.loads(path.read_text()) for path in (done / "stages").iterdir()]
    verdicts = {claim.text: claim.judge(rows) for claim in claims_for("mnist")}
    unknown = [text for text, v in verdicts.items() if v.found == "not enough runs to tell"]
    assert len(unknown) == 2  # no seven among two pictures, and no second training
    assert "a seven to be a zero" in unknown[0]
    assert "Pictures moved" in unknown[1]
    quoted = [v for text, v in verdicts.items() if "stays right on" in text or "to their" in text]
    assert len(quoted) == 12
    assert {v.holds for v in quoted} == {None}


def judged(right, *, data="mnist", stage="single", outcome="target", pictures=9, **told):
    """Return a stage in which each picture has ten examples, of which so many stay right."""
    shares = [right] * pictures if isinstance(right, int) else right
    named = [("correct" if n < hits else outcome) for hits in shares for n in range(10)]
    samples = [place for place in range(len(shares)) for _ in range(10)]
    columns = {"sample": samples, "outcome": named, "perturbation": [0.2] * len(named)}
    return {
        **asdict(PUBLISHED[data]), "stage": stage, "model": "plain", **told, "vote_clean": 1.0,
        "vote_attacked": named.count("correct") / len(named), "single_clean": 0.97,
        "single_attacked": 0.5, "enough": 1.0, "columns": columns,
    }  # fmt: skip


def told_by(rows, text, data="mnist"):
    (claim,) = [claim for claim in claims_for(data) if text in claim.text]
    return claim.judge(rows)


@pytest.mark.parametrize(
    ("right", "holds"),
    [
        (9, True),  # 90 %, published 88.4 %
        (5, False),
        ([10, 10, 10, 0, 10, 10, 0, 10, 10], None),  # 77.8 %, with too few pictures to tell
    ],
)
def test_a_published_share_is_held_against_the_interval_over_pictures(right, holds):
    verdict = told_by([judged(right)], "example: the vote without noise stays right on 88.4 %")
    assert verdict.holds is holds
    assert "88.4 % published" in verdict.found


def test_a_study_of_other_size_judges_no_published_share():
    row = judged(9)
    assert is_whole([row])
    assert is_whole([{**row, "precision": "bfloat16", "queries": 3}])
    others = {"networks": 49, "epochs": 10, "samples": 3, "data": "digits", "steps": 99, "rate": 1}
    for name, value in others.items():
        assert not is_whole([{**row, name: value}])
    verdict = told_by([{**row, "networks": 49}], "example: the vote without noise stays right")
    assert verdict.holds is None


@pytest.mark.parametrize(
    ("once", "many", "holds"),
    [
        ([8, 9, 8], [2, 3, 3], False),  # every picture loses
        ([2, 3, 3], [8, 9, 8], True),
        ([5, 6, 4], [6, 4, 5], None),  # now one, now the other
    ],
)
def test_averaging_is_judged_by_what_the_same_pictures_lose(once, many, holds):
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(right)}
        for name, right in (("queries", once), ("averages", many))
    ]
    verdict = told_by(rows, "averaging is of no use")
    assert verdict.holds is holds
    assert "16 queries" in verdict.found


def test_one_who_knows_the_defence_is_told_of_by_the_worst_case():
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(right)}
        for name, right in (("copy", 6), ("further", 4), ("queries", 9), ("averages", 1))
    ]
    verdict = told_by(rows, "hold as well against one who knows them")
    assert verdict.holds is False
    assert "asks the defended vote 16 times a step and takes the mean leaves" in verdict.found
    assert "right on 10.0 %" in verdict.found


@pytest.mark.parametrize(("right", "holds"), [(0, False), (10, True), ([2, 9, 5], None)])
def test_going_further_with_a_copy_is_judged_by_what_is_left_right(right, holds):
    rows = [
        {"stage": "adaptive", "threat": name, "queries": 16, "noisy": judged(answers)}
        for name, answers in (("copy", 6), ("further", right))
    ]
    verdict = told_by(rows, "goes further than fooling it takes")
    assert verdict.holds is holds
    assert "of a picture's length" in verdict.found


def test_what_was_not_run_is_left_open():
    for data in ("mnist", "cifar10"):
        for claim in claims_for(data):
            verdict = claim.judge([])
            assert verdict.holds is None
            assert verdict.found == "not enough runs to tell"


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"),
    [(2.0, 2.0, True), (2.1, 2.0, False), (None, None, None), (2.0, None, None)],
)
def test_searches_that_reach_nothing_are_not_compared(ours, theirs, holds):
    told = {"first": 0, "last": 9, "model": "plain", "success": 1.0, "seconds": 3.0}
    rows = [
        {**told, "stage": stage, "distance": length}
        for stage, length in (("closer", ours), ("craft", theirs))
    ]
    assert told_by(rows, "A search that ends sooner").holds is holds


@pytest.mark.parametrize(
    ("sizes", "mnist", "cifar10"),
    [
        (lambda plain: plain, False, True),
        (lambda plain: 3 * plain, False, False),  # all larger
        (lambda plain: plain / 3, False, False),  # all smaller
        (lambda plain: np.concatenate([plain[:20] / 9, plain[20:] * 1.1]), True, False),
    ],
)
def test_sizes_are_left_alone_only_if_they_are_alike(sizes, mnist, cifar10):
    plain = np.linspace(0.1, 0.3, 90)
    rows = [judged(9), judged(9, model="noisy")]
    rows[0]["columns"]["perturbation"] = plain.tolist()
    rows[1]["columns"]["perturbation"] = sizes(plain).tolist()
    assert told_by(rows, "Noise spreads the perturbations").holds is mnist
    assert told_by(rows, "Noise leaves the sizes", "cifar10").holds is cifar10


def trained(*, single=0.9, vote=0.97, noisy=0.8, noisy_vote=0.95, validation=400):
    return {
        "stage": "train", "validation": validation, "single_plain": [single], "vote_plain": vote,
        "single_noisy": [noisy], "vote_noisy": noisy_vote,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (trained(), True),
        (trained(vote=0.8), False),
        (trained(single=0.998, vote=1.0), None),  # all 400 right, which 0.998 could be, too
    ],
)
def test_a_vote_that_is_all_right_is_not_certain(row, holds):
    assert told_by([row], "The vote is right more often than one network").holds is holds


@pytest.mark.parametrize(
    ("row", "holds"),
    [(trained(), True), (trained(noisy_vote=0.85), False), (trained(noisy=0.9), None)],
)
def test_what_was_not_lost_is_not_given_back(row, holds):
    assert told_by([row], "What noise costs a network").holds is holds


def swept(*rows, noise=0.5):
    """Return a sweep at the study's own noise, by networks, clean and attacked."""
    names = ("networks", "vote_clean", "vote_attacked")
    told = {"distribution": "laplace", "scale": noise, "deviation": noise * 2**0.5}
    return {
        "stage": "sweep", "noise": noise,
        "swept": [{**told, **dict(zip(names, row, strict=True))} for row in rows],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "holds"),
    [
        ([(1, 0.8, 0.1), (50, 0.97, 0.1)], True),
        ([(1, 0.9, 0.1), (50, 0.8, 0.1)], False),
        ([(1, 0.9, 0.1), (50, 0.901, 0.1)], None),
        ([(50, 0.9, 0.1)], None),
    ],
)
def test_a_hair_more_is_not_to_make_good(rows, holds):
    assert told_by([swept(*rows)], "More networks make good").holds is holds


@pytest.mark.parametrize(
    ("noisy", "plain", "copied", "holds"),
    [
        (9, 1, 0.2, False),
        (9, 1, 0.95, True),
        (0, 0, 0.0, None),  # it protects from neither
        ([9], [1], 0.95, None),  # one picture
    ],
)
def test_noise_that_protects_from_nothing_does_not_protect_as_well(noisy, plain, copied, holds):
    rows = [
        judged(right, stage="superimposed", count=3, model=model)
        for model, right in (("noisy", noisy), ("plain", plain))
    ]
    verdict = told_by([*rows, swept((50, 0.97, copied))], "Noise protects as well")
    assert verdict.holds is holds


def test_accuracy_between_two_sizes_leaves_other_examples_out():
    plain, noisy = judged(9), judged(9, model="noisy")
    noisy["columns"]["perturbation"] = [0.2 if n % 10 in (8, 9) else 0.5 for n in range(90)]
    holds, found = less_right_between(0.1, 0.3)([plain, noisy])
    assert holds is True
    assert found == "90.0 % without noise, 50.0 % with it"


several = st.lists(st.integers(0, 10), min_size=2, max_size=9)


@given(several)
@examples(50)
def test_differences_are_over_pictures(shares):
    first, second = judged(shares), judged([10 - hits for hits in shares])
    gap = ahead(first, second)
    assert gap.value == pytest.approx(np.mean([2 * hits - 10 for hits in shares]) / 10)
    assert gap.low <= gap.value <= gap.high
    assert ahead(second, first).value == pytest.approx(-gap.value)
    total = share(first).value + share(first, "target").value
    assert total == pytest.approx(1)


def test_a_difference_over_one_picture_says_nothing():
    assert above(difference({0: 1.0, 4: 0.0}, {0: 0.0, 5: 1.0})) is None
    assert above(difference({0: 1.0, 1: 0.99}, {0: 0.0, 1: 0.01})) is True
    assert above(difference({0: 0.0, 1: 0.01}, {0: 1.0, 1: 0.99})) is False


@pytest.mark.parametrize(("pictures", "holds"), [(2, None), (5, None), (6, True), (9, True)])
def test_a_few_pictures_that_all_differ_by_the_same_say_nothing(pictures, holds):
    gap = ahead(judged([7] * pictures), judged([3] * pictures))
    assert above(gap) is holds
    assert -1 <= gap.low <= gap.high <= 1


def test_answers_of_attacked_networks_are_counted_by_hand():
    columns = {
        "sample": [0, 0, 1],
        "goal": [1, 2, 0],
        "label": [0, 0, 3],
        "named": [[1, 0, 0], [1, 5, 3]],
        "perturbation": [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]],
    }
    told = {"columns": columns}
    assert own_share(told, "goal").value == pytest.approx(3 / 6)
    assert own_share(told, "label").value == pytest.approx(2 / 6)
    rows = [{"stage": "train", "temperatures": [1.0, 2.0]}]
    rows += [{"stage": "own", "model": model, "columns": columns} for model in ("plain", "noisy")]
    listed = tidy.own(rows)
    assert [row["answer"] for row in listed[:6]] == [
        "as wanted", "right", "as wanted", "as wanted", "something else", "right",
    ]  # fmt: skip
    shares = [row for row in tidy.own_bins(listed) if row["model"] == "with noise"]
    assert sum(row["share"] for row in shares) == pytest.approx(1)


@pytest.mark.parametrize("data", ["mnist", "cifar10"])
def test_published_tables_agree_with_each_other(data):
    for count, tables in published.CLASSIFICATIONS.items():
        for model, shares in tables[data].items():
            assert sum(shares) == pytest.approx(1, abs=2e-3), (count, model)
    for model, there in published.VOTE[data].items():
        found = published.CLASSIFICATIONS[1][data][model].correct
        assert found == pytest.approx(there.attacked, abs=1e-4)


def idx(values, *shape):
    """Return bytes as MNIST's authors pack them: a magic number, sizes, values."""
    head = struct.pack(f">{1 + len(shape)}I", 0x800 + len(shape), *shape)
    return gzip.compress(head + np.asarray(values, np.uint8).tobytes())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    for name in ("mnist", "cifar10"):
        (tmp_path / name).mkdir()
    return tmp_path


def write_mnist(folder, *, labels=2):
    pixels = np.arange(2 * 784) % 256
    for part in ("train", "t10k"):
        (folder / "mnist" / f"{part}-images-idx3-ubyte.gz").write_bytes(idx(pixels, 2, 28, 28))
        (folder / "mnist" / f"{part}-labels-idx1-ubyte.gz").write_bytes(
            idx([7, 2, 1][:labels], labels)
        )


def test_mnist_is_read_as_its_authors_ship_it(folder):
    write_mnist(folder)
    images = read_images("mnist")
    assert images.pictures.shape == images.tests.shape == (2, 1, 28, 28)
    assert images.labels.tolist() == images.test_labels.tolist() == [7, 2]
    assert float(images.pictures[0, 0, 0, 3]) == pytest.approx(3 / 255)
    assert float(images.pictures[1, 0, 0, 0]) == pytest.approx(784 % 256 / 255)


def test_cifar10_is_read_as_its_authors_ship_it(folder):
    colours = np.repeat(np.array([10, 20, 30], np.uint8), 1024)
    row = np.concatenate([[8], colours]).astype(np.uint8).tobytes()
    for name in [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]:
        (folder / "cifar10" / name).write_bytes(2 * row)
    images = read_images("cifar10")
    assert images.pictures.shape == (10, 3, 32, 32)
    assert images.tests.shape == (2, 3, 32, 32)
    assert images.labels.tolist() == [8] * 10
    assert (images.tests[1, :, 5, 7] * 255).tolist() == pytest.approx([10, 20, 30])


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_files_that_are_not_there_are_named(folder, tmp_path, name):
    with pytest.raises(InputError, match=rf"{name}.*not there; put the file"):
        EXPERIMENTS[f"robust-{name}"].run(tmp_path / "out")


def test_without_a_folder_it_is_said_where_pictures_go(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    with pytest.raises(InputError, match=r"a folder 'mnist' of another one.*--data digits"):
        EXPERIMENTS["robust-mnist"].run(tmp_path / "out")


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"1234567890" * 9)[:-12]],
    ids=["other", "cut off"],  # a packed file holds the time, and so would its name
)
def test_a_damaged_file_is_refused(folder, content):
    write_mnist(folder)
    (folder / "mnist" / "train-images-idx3-ubyte.gz").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as a gzip file"):
        read_images("mnist")


def test_files_that_do_not_belong_together_are_refused(folder):
    write_mnist(folder, labels=3)
    with pytest.raises(InputError, match="3 labels for 2 pictures"):
        read_images("mnist")


@pytest.mark.parametrize("data", ["mnist", "cifar10"])
def test_a_file_of_another_length_is_refused(folder, data):
    if data == "mnist":
        write_mnist(folder)
        name, content = "train-images-idx3-ubyte.gz", idx(np.zeros(1000), 2, 28, 28)
    else:
        name, content = "data_batch_1.bin", bytes(5000)
    (folder / data / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: "):
        read_images(data)
