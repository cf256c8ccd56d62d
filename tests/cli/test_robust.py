"""`shoal robust`: networks are trained, attacked, judged and looked at, from the command line."""

import csv
import io
import json
import struct
import subprocess
import sys
import zlib
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from tests.cli.test_robust_files import KEPT

from shoal.cli.robust.inputs import load_examples, read_pictures, save_examples
from shoal.report.robust_charts import png, triptychs
from shoal.robust import Ensemble, EnsembleVote

QUICK = ("--method", "iterative-fgsm", "-O", "epsilon=0.4", "-O", "steps=8", "--samples", 3)


@pytest.fixture
def examples(shoal, folder, networks):
    shown = shoal("robust", "attack", "digits", networks, "-o", "found.safetensors", *QUICK)
    assert shown.status == 0, shown.err
    return folder / "found.safetensors"


def test_training_writes_networks_that_load(shoal, folder):
    found = load_digits()
    images = (found.images[:120] * 15).astype(np.uint8)
    np.savez(folder / "small.npz", images=images, labels=found.target[:120])
    options = ("--networks", 2, "--epochs", 1, "--temperature", "1,4", "--partition", 40, "--json")
    told = json.loads(shoal("robust", "train", "small.npz", "-o", "a.safetensors", *options).out)
    assert {name: told[name] for name in ("networks", "architecture", "rows", "held")} == {
        "networks": 2,
        "architecture": "digits",
        "rows": 96,
        "held": 24,
    }
    loaded = Ensemble.load(folder / "a.safetensors")
    assert loaded.temperatures.tolist() == [1, 4]
    pixels, labels = read_pictures("small.npz")
    assert torch.equal(pixels[:, 0], torch.from_numpy(images).float() / 255)
    assert told["vote"] == float(EnsembleVote(loaded).accuracy(pixels[96:], labels[96:]))
    again = shoal("robust", "train", "small.npz", "-o", "a.safetensors", *options)
    assert (again.status, "exists already" in again.err) == (2, True)


def test_examples_start_from_held_back_pictures_that_the_vote_gets_right(examples, networks):
    kept = load_examples(examples)
    images, labels = read_pictures("digits")
    assert kept.examples.adversarial.shape == (2, 27, 1, 8, 8)
    assert kept.samples.min() >= 1438
    assert torch.equal(kept.labels, labels[kept.samples])
    assert torch.equal(kept.examples.originals, images[kept.samples])
    assert not (kept.examples.goals == kept.labels).any()
    vote = EnsembleVote(Ensemble.load(networks))
    assert torch.equal(vote.labels(kept.examples.originals)[0], kept.labels)
    assert kept.attack["threat"] == "queries"


def test_the_same_seed_finds_the_same_under_noise(shoal, folder, networks):
    found = {}
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        options = ("--noise", 0.2, "--seed", seed, "--vote", *QUICK)
        assert (
            shoal("robust", "attack", "digits", networks, "-o", f"{name}.safetensors", *options)
        ).status == 0
        found[name] = load_examples(folder / f"{name}.safetensors").examples.adversarial
    assert found["a"].shape[0] == 1
    assert torch.equal(found["a"], found["b"])
    assert not torch.equal(found["a"], found["c"])


def test_an_evaluation_is_told_and_written(shoal, folder, examples, networks):
    arguments = ("robust", "evaluate", examples, networks, "--noise", "0,0.3")
    shown = shoal(*arguments, "-o", "results.csv", "--json")
    told = json.loads(shown.out)["results"]
    with (folder / "results.csv").open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 2 * 54
    for each in told:
        mine = [row for row in rows if float(row["noise"]) == float(each["noise"])]
        right = sum(row["outcome"] == "correct" for row in mine) / len(mine)
        assert right == pytest.approx(each["vote_attacked"])
    assert told[0]["vote_clean"] == 1
    assert told[0]["single_attacked"] < told[0]["single_clean"]
    shown = " ".join(shoal(*arguments).out.split())
    for who, name in (("vote", "the vote"), ("single", "one network")):
        shares = [told[1][f"{who}_clean"], told[1][f"{who}_attacked"]]
        ends = [told[1][f"{who}_interval"][end] for end in ("low", "high")]
        assert ends[0] <= shares[1] <= ends[1]
        assert f"{name} {shares[0]:.4f} {shares[1]:.4f} {ends[0]:.4f} – {ends[1]:.4f}" in shown
    mine = [row for row in rows if float(row["noise"]) == 0.3]
    right = sum(int(row["right"]) for row in mine) / 2 / len(mine)  # by two networks
    assert right == pytest.approx(told[1]["single_attacked"])


def test_pictures_show_original_change_and_sum(shoal, folder, examples):
    assert shoal("robust", "show", examples, "-o", "seen.png", "--most", 2, "--zoom", 3).status == 0
    pixels = _unpacked((folder / "seen.png").read_bytes())
    assert pixels.shape == (2 * (8 + 2) * 3, (3 * 8 + 2 * 2) * 3)
    kept = load_examples(examples).examples
    network, row = kept.success.nonzero()[0].tolist()
    expected = np.rint(kept.originals[row, 0].numpy() * 255)
    assert np.array_equal(pixels[0:24:3, 0:24:3], expected)
    assert np.array_equal(
        pixels[0:24:3, 60:84:3], np.rint(kept.adversarial[network, row, 0].numpy() * 255)
    )
    assert shoal("robust", "show", examples, "-o", "seen.html", "--most", 2).status == 0
    page = (folder / "seen.html").read_text()
    assert page.count("data:image/png;base64,") == page.count("<figcaption>row ") == 2
    assert "<script" not in page


def test_a_change_is_grey_where_there_is_none():
    originals = np.zeros((1, 3, 2, 2), dtype=np.float32)
    changed = originals.copy()
    changed[0, 0, 0, 0] = 0.1
    drawn = triptychs(originals, changed)
    assert drawn.shape == (1, 2, 10, 3)
    assert drawn[0, 0, 4].tolist() == [255, 128, 128]
    assert drawn[0, 1, 5].tolist() == [128, 128, 128]
    assert png(drawn[0])[24:26] == bytes([8, 2])  # eight bits, in colour


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "nowhere.npz", "-o", "a.safetensors"), "nowhere.npz"),
        (
            ("train", "people.csv", "-o", "a.safetensors"),
            "pictures must be an .npz file, or digits",
        ),
        (("train", "broken.npz", "-o", "a.safetensors"), "not an .npz file"),
        (("train", "objects.npz", "-o", "a.safetensors"), "not an .npz file of plain arrays"),
        (("train", "other.npz", "-o", "a.safetensors"), "two arrays, images and labels"),
        (("train", "bright.npz", "-o", "a.safetensors"), "pixels must be bytes"),
        (("train", "words.npz", "-o", "a.safetensors"), "pixels must be bytes"),
        (("train", "whole.npz", "-o", "a.safetensors"), "these are int64 outside that range"),
        (("train", "sketch.npz", "-o", "a.safetensors"), "only 0 and 1; save them as floats"),
        (("train", "floats.npz", "-o", "a.safetensors"), "whole numbers of 0 or more, not float64"),
        (("train", "keras.npz", "-o", "a.safetensors"), "it contains x_train, y_train"),
        (("train", "single.npz", "-o", "a.safetensors"), "not an .npz file of plain arrays"),
        (("train", "bytes.npz", "-o", "a.safetensors"), "(rows, channels, height, width)"),
        (("train", "short.npz", "-o", "a.safetensors"), "the shapes are (4, 1, 8, 8) and (3,)"),
        (("train", "last.npz", "-o", "a.safetensors"), "put channels first, as (3, 32, 32)"),
        (("train", "vast.npz", "-o", "a.safetensors"), "the pictures do not fit in memory"),
        (("train", "digits", "-o", "a.safetensors", "--device", "gpu"), "no device 'gpu'"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "--noise", "nan"), "noise must"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "--samples", 999), "at most"),
        (("show", "NETWORKS", "-o", "a.png", "--zoom", 99), "zoom must be from 1 to 32, not 99"),
        (("attack", "digits", "EXAMPLES", "-o", "b.safetensors"), "it is adversarial examples"),
        (("attack", "digits", "WIDE", "-o", "b.safetensors"), "expect pixels from -1 to 1"),
        (("train", "nothing.npz", "-o", "a.safetensors"), "pixels must be bytes"),
        (("train", "huge.npz", "-o", "a.safetensors"), "labels must be whole numbers"),
        (("train", "large.npz", "-o", "a.safetensors"), "no network for pictures of (1, 9, 9)"),
        (("train", "digits", "-o", "a.pickle"), "must end in .safetensors"),
        (("train", "digits", "-o", "a.safetensors", "--temperature", "1,2"), "or 5 of them"),
        (("train", "digits", "-o", "a.safetensors", "--temperature", "nan"), "above 0"),
        (("train", "digits", "-o", "a.safetensors", "--partition", 0), "1 or more, not 0"),
        (("train", "digits", "-o", "a.safetensors", "--rate", -1), "rate must be more than 0"),
        (("train", "digits", "-o", "a.safetensors", "--held", 1), "held must be"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "--method", "fgsn"), "'fgsm'?"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "-O", "step=3"), "'steps'?"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "-O", "steps=0"), "steps must"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "-O", "rate=x"), "rate must be"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "--threat", "all"), "threat"),
        (("attack", "digits", "NETWORKS", "-o", "a.safetensors", "--held", 0), "give --held 0.2"),
        (("attack", "large.npz", "NETWORKS", "-o", "a.safetensors"), "networks are for pictures"),
        (
            ("evaluate", "NETWORKS", "NETWORKS"),
            "examples that Shoal saved; it is an",
        ),
        (("show", "NETWORKS", "-o", "a.jpg"), "a picture must end in .png or .html"),
    ],
)
def test_what_is_wrong_is_said_plainly(shoal, folder, networks, arguments, message):
    labels = np.arange(4)
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 no archive")
    np.savez(folder / "objects.npz", images=np.array([{}, {}]), labels=labels[:2])
    np.savez(folder / "other.npz", pictures=np.zeros((4, 8, 8)))
    np.savez(folder / "bright.npz", images=np.full((4, 8, 8), 2.0), labels=labels)
    np.savez(folder / "words.npz", images=np.full((4, 8, 8), "secret"), labels=labels)
    np.savez(folder / "nothing.npz", images=np.zeros((4, 0, 8)), labels=labels)
    most = np.full(4, 2**64 - 1, dtype=np.uint64)
    np.savez(folder / "huge.npz", images=np.zeros((4, 8, 8)), labels=most)
    np.savez(folder / "large.npz", images=np.zeros((4, 9, 9)), labels=labels)
    np.savez(folder / "whole.npz", images=np.full((4, 8, 8), 200), labels=labels)
    np.savez(folder / "sketch.npz", images=np.ones((4, 8, 8), dtype=np.uint8), labels=labels)
    np.savez(folder / "floats.npz", images=np.zeros((4, 8, 8)), labels=labels + 0.5)
    np.savez(folder / "keras.npz", x_train=np.zeros((4, 8, 8)), y_train=labels)
    np.savez(folder / "short.npz", images=np.zeros((4, 8, 8)), labels=labels[:3])
    np.savez(folder / "last.npz", images=np.zeros((4, 32, 32, 3)), labels=labels)
    np.save(folder / "single.npy", np.zeros((4, 8, 8)))
    (folder / "single.npy").rename(folder / "single.npz")
    with ZipFile(folder / "bytes.npz", "w") as archive:
        archive.writestr("images", b"no array")
        archive.writestr("labels", b"no array")
    with ZipFile(folder / "vast.npz", "w") as archive:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**14, 8, 8)}
        content = io.BytesIO()
        np.lib.format.write_array_header_1_0(content, header)
        for name in ("images", "labels"):
            archive.writestr(f"{name}.npy", content.getvalue())
    wide = Ensemble.load(networks)
    wide.bounds = (-1.0, 1.0)
    wide.save(folder / "WIDE.safetensors")
    save_examples(folder / "EXAMPLES.safetensors", KEPT, force=False)
    places = {"NETWORKS": networks} | {name: f"{name}.safetensors" for name in ("EXAMPLES", "WIDE")}
    given = [places.get(part, part) for part in arguments]
    shown = shoal("robust", *given)
    assert (shown.status, shown.out) == (2, "")
    assert message in shown.err
    assert shown.err.count("\n") == 1


def test_without_torch_the_remedy_is_told():
    code = (
        "import sys; sys.modules['torch'] = None; from shoal.cli import main; "
        "sys.argv = ['shoal', 'robust', 'train', 'digits', '-o', 'a.safetensors']; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "pip install 'shoal-privacy[robust]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def _unpacked(content):
    """Read the grey PNG that `png` writes, by its chunks."""
    place, body = 8, b""
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        name, part = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        (told,) = struct.unpack(">I", content[place + 8 + length : place + 12 + length])
        assert told == zlib.crc32(name + part)
        if name == b"IHDR":
            width, height = struct.unpack(">II", part[:8])
        if name == b"IDAT":
            body += part
        place += 12 + length
    lines = np.frombuffer(zlib.decompress(body), dtype=np.uint8).reshape(height, 1 + width)
    assert not lines[:, 0].any()
    return lines[:, 1:]
