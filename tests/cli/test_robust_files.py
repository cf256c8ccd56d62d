"""Files of `shoal robust` that are damaged, of others, or lie about themselves are refused."""

import json
import struct

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save, save_file

from shoal.cli.robust.inputs import Kept
from shoal.errors import InputError
from shoal.robust import Ensemble, Examples

KEPT = Kept(
    Examples(
        torch.full((1, 1, 8, 8), 0.5), torch.tensor([1]), torch.ones(2, 1, 1, 8, 8),
        torch.ones(2, 1).bool(),
    ),
    torch.tensor([0]),
    torch.tensor([3]),
    {"method": "fgsm", "threat": "copy", "noise": 0.0, "distribution": "normal", "vote": False},
)  # fmt: skip


def _changed(told=None, tensors=None):
    """Write examples of which something was changed."""

    def write(path):
        kept = KEPT.examples
        parts = {
            "originals": kept.originals, "goals": kept.goals, "success": kept.success,
            "adversarial": kept.adversarial, "labels": KEPT.labels, "samples": KEPT.samples,
        }  # fmt: skip
        parts = {n: v for n, v in {**parts, **(tensors or {})}.items() if v is not None}
        words = {"format": "shoal-examples-1", **KEPT.attack, **(told or {})}
        words = json.dumps({n: v for n, v in words.items() if v is not None})
        path.write_bytes(save(parts, metadata={"shoal": words}))

    return write


def _headed(header, length=None):
    """Write a safetensors file of a header that may lie about its length."""
    size = len(header) if length is None else length
    return lambda path: path.write_bytes(struct.pack("<Q", size) + header)


DAMAGED = {
    "not one": (lambda path: path.write_bytes(b"\x89PNG"), "not a safetensors file"),
    "empty": (_headed(b"{}"), "not adversarial examples that Shoal saved"),
    "huge header": (_headed(b"{}", 2**60), "not a safetensors file, or the file is damaged"),
    "no words": (_headed(b"\xff" * 64), "not a safetensors file, or the file is damaged"),
    "deep": (_headed(b"[" * 200_000), "not a safetensors file, or the file is damaged"),
    "of others": (
        _headed(b'{"__metadata__":{"format":"pt"}}'), "not adversarial examples that Shoal saved"
    ),
    "a list": (
        _headed(b'{"__metadata__":{"shoal":"[1]"}}'), "not adversarial examples that Shoal saved"
    ),
    "no json": (_headed(b'{"__metadata__":{"shoal":"{"}}'), "or the file is damaged"),
    "no labels": (_changed(tensors={"labels": None}), "are incomplete; run"),
    "few labels": (_changed(tensors={"labels": torch.zeros(2).long()}), "are incomplete"),
    "more": (_changed(tensors={"others": torch.zeros(2)}), "are incomplete"),
    "torn": (_changed(tensors={"goals": torch.zeros(2).long()}), "are incomplete"),
    "no threat": (_changed(told={"threat": None}), "are incomplete"),
    "no bounds": (_changed(told={"bounds": [1]}), "are incomplete"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_examples_are_told(shoal, folder, name):
    write, message = DAMAGED[name]
    write(folder / "found.safetensors")
    shown = shoal("robust", "show", "found.safetensors", "-o", "a.png")
    assert (shown.status, shown.out) == (2, "")
    assert message in shown.err
    assert shown.err.count("\n") == 1


def test_a_truncated_file_is_told(shoal, folder, networks):
    content = networks.read_bytes()
    (folder / "half.safetensors").write_bytes(content[: len(content) // 2])
    shown = shoal("robust", "attack", "digits", "half.safetensors", "-o", "a.safetensors")
    assert (shown.status, "or the file is damaged" in shown.err) == (2, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"networks": 10**9}, "its weights do not fit"),
        ({"networks": "two"}, "its weights do not fit"),
        ({"architecture": {"name": "a"}}, "the file is damaged"),
        ({"architecture": None}, "no named architecture"),
        ({"temperatures": None}, "the file is damaged"),
        ({"bounds": [0]}, "the file is damaged"),
    ],
)
def test_networks_that_lie_about_themselves_are_refused(folder, networks, changes, message):
    with safe_open(networks, framework="pt") as opened:
        told = json.loads(opened.metadata()["shoal"])
    changed = {"shoal": json.dumps({**told, **changes})}
    save_file(load_file(networks), folder / "a.safetensors", metadata=changed)
    with pytest.raises(InputError, match=message):
        Ensemble.load(folder / "a.safetensors")
