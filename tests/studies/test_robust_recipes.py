"""Variants of the training recipe, on pictures that are quick to learn."""

import pytest

torch = pytest.importorskip("torch")
recipes = pytest.importorskip("studies.robust.recipes")


def pictures(count=160, side=16):
    """Bright upper or lower halves: two classes that a mirror keeps."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.arange(count) % 2
    images = 0.2 * torch.rand(count, 3, side, side, generator=generator)
    for i, label in enumerate(labels.tolist()):
        images[i, :, label * side // 2 : (label + 1) * side // 2] += 0.7
    return images, labels


@pytest.mark.parametrize("name", ["as printed", "centred, mirrored, shifted", "centred, padded"])
def test_a_recipe_learns_what_is_easy(name):
    torch.set_num_threads(1)
    images, labels = pictures()
    right = recipes.validate(
        recipes.RECIPES[name], images, labels, temperature=1.0, epochs=12, validation=40
    )
    assert right > 0.9


def test_moved_pictures_are_mirrored_or_shifted_and_nothing_else():
    torch.manual_seed(0)
    images, _ = pictures(64)
    mirrored = recipes.move(images, recipes.Recipe(mirrored=True))
    flipped = [bool((a == b.flip(2)).all()) for a, b in zip(mirrored, images, strict=True)]
    same = [bool((a == b).all()) for a, b in zip(mirrored, images, strict=True)]
    assert all(a != b for a, b in zip(flipped, same, strict=True))
    assert any(flipped)
    assert any(same)
    shifted = recipes.move(torch.ones(4, 3, 16, 16), recipes.Recipe(shift=3))
    assert torch.equal(shifted, torch.ones(4, 3, 16, 16))


def test_the_network_has_the_layers_of_the_table():
    network = recipes.build(recipes.Recipe(), (3, 32, 32))
    shapes = [tuple(p.shape) for p in network.parameters() if p.dim() > 1]
    assert shapes == [(64, 3, 3, 3), *[(64, 64, 3, 3)] * 3, (256, 1600), (256, 256), (10, 256)]


def test_the_command_prints_each_accuracy(monkeypatch, capsys):
    images, labels = pictures(40)
    found = type("Images", (), {"pictures": images, "labels": labels})
    monkeypatch.setattr(recipes, "read_images", lambda data: found)
    monkeypatch.setattr(recipes, "RECIPES", {"as printed": recipes.Recipe()})
    recipes.main(["--epochs", "1", "--validation", "10", "--temperatures", "5"])
    assert capsys.readouterr().out.startswith("as printed, T = 5, seed 0: ")
