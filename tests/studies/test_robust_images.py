"""Pictures of the studies of robust predictions, as their authors ship them."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

pytest.importorskip("torch")

from shoal.errors import InputError
from studies import STUDIES
from studies.robust.images import read_images

pytestmark = pytest.mark.slow


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
        STUDIES["robust"].run(tmp_path / "out", data=name)


def test_without_a_folder_it_is_said_where_pictures_go(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    with pytest.raises(InputError, match=r"a folder 'mnist' of another one.*--data digits"):
        STUDIES["robust"].run(tmp_path / "out")


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
