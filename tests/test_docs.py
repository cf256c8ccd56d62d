"""The documentation is correct: its examples run, and its generated pages match the code."""

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import shoal
from shoal.methods.algorithm import options_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])
ADVICE = "run  python docs/_generate.py"


def load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"_{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


examples = load("examples")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_and_print_what_the_page_shows(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    fresh = examples.refresh(text, tmp_path)
    assert examples.alike(fresh) == examples.alike(text), ADVICE


@pytest.mark.parametrize("name", ["commands", "api", "metrics"])
def test_generated_pages_are_up_to_date(name):
    fresh = getattr(load("generate"), name)()
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert examples.alike(text) == examples.alike(fresh), ADVICE


def entries():
    """Return what the API page shows: headings, and the object behind each, if it has one."""
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    shown = dict.fromkeys(re.findall(r"^##+ (shoal\.\S+)$", text, re.MULTILINE))
    for path, heading in re.findall(r"^::: (\S+)\n    options:\n      heading: (\S+)", text, re.M):
        module, _, name = path.rpartition(".")
        shown[heading] = getattr(importlib.import_module(module), name)
    return shown


def test_the_api_page_shows_every_public_name():
    shown = entries()
    assert {f"shoal.{name}" for name in shoal.__all__} - set(shown) == set()
    for name in shoal.__all__:
        assert shown[f"shoal.{name}"] in (None, getattr(shoal, name))


def test_the_api_page_shows_every_name_of_each_public_module():
    modules = [n for n in shoal.__all__ if isinstance(getattr(shoal, n), ModuleType)]
    names = {f"shoal.{m}.{n}" for m in modules for n in getattr(getattr(shoal, m), "__all__", ())}
    names.add("shoal.sklearn.Anonymizer")
    assert len(names) > 100
    assert names - set(entries()) == set()


def test_an_example_that_fails_is_noticed(tmp_path):
    page = "```console\n$ shoal inspect nowhere.csv\n```\n"
    with pytest.raises(examples.ExampleFailed, match="status 2"):
        examples.refresh(page, tmp_path)


def test_an_example_that_should_fail_and_does_not_is_noticed(tmp_path):
    page = "```text\n$ shoal methods\n```\n"
    with pytest.raises(examples.ExampleFailed, match="status 0"):
        examples.refresh(page, tmp_path)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```bash\nshoal methods\n```\n", "no way to run"),
        ("```console\nshoal methods\n```\n", "no way to run"),
        ("```console\n$ ls\n```\n", "no program that examples may use"),
        ("- a list\n\n    ```console\n    $ shoal methods\n    ```\n", "would not be run"),
        ("~~~console\n$ shoal methods\n~~~\n", "would not be run"),
        ('```python title="idle.py"\nprint(1)\n```\n', "idle.py is never run"),
    ],
)
def test_no_block_is_skipped_in_silence(page, message, tmp_path):
    with pytest.raises(examples.ExampleFailed, match=message):
        examples.refresh(page, tmp_path)


@pytest.mark.parametrize(("truth", "fails"), [("1 + 1 == 2", False), ("1 + 1 == 3", True)])
def test_a_test_file_is_run_by_pytest(truth, fails, tmp_path):
    page = (
        f'```python title="test_sums.py"\ndef test_sum():\n    assert {truth}\n```\n'
        "```console\n$ python -m pytest -q test_sums.py\n```\n"
    )
    if fails:
        with pytest.raises(examples.ExampleFailed, match="status 1"):
            examples.refresh(page, tmp_path)
    else:
        assert examples.refresh(page, tmp_path) == page


def test_an_output_that_has_changed_is_noticed(tmp_path):
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert "\n2\n```" in examples.refresh(page, tmp_path)


METHOD_PAGES = sorted((DOCS / "methods").glob("*.md"))


@pytest.mark.parametrize("name", shoal.METHODS)
def test_every_method_says_what_it_is_good_for_what_it_costs_and_when_not_to_use_it(name):
    texts = [page.read_text(encoding="utf-8") for page in METHOD_PAGES]
    heading = re.compile(rf"^##+ {name}\n((?:(?!##).*\n)*)", re.MULTILINE)
    (section,) = [found[1] for text in texts for found in heading.finditer(text)]
    for part in ("Good for", "Costs", "Not for"):
        assert re.search(rf"^\*\*{part}\.\*\* \S", section, re.MULTILINE), part
    chosen, _, measured = (DOCS / "methods" / "index.md").read_text().partition("{#costs}")
    assert re.search(rf"^\| \[?`{name}`", chosen, re.MULTILINE)
    assert re.search(rf"^\| `{name}` \| [\d.]+, ", measured, re.MULTILINE)


@pytest.mark.parametrize("name", shoal.METHODS)
def test_the_page_of_a_method_lists_every_option_that_it_has_and_no_other(name):
    texts = [page.read_text(encoding="utf-8") for page in METHOD_PAGES]
    table = re.compile(rf"^<!-- options of {name} -->\n\n((?:\|.*\n)+)", re.MULTILINE)
    (rows,) = [found[1] for text in texts for found in table.finditer(text)]
    listed = re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", rows, re.MULTILINE)
    options = {each.name: each for each in options_of(shoal.METHODS[name])}
    assert [option for option, _ in listed] == list(options)
    for option, default in listed:
        assert yaml.safe_load(default) == options[option].default
        assert options[option].meaning, f"{name}: {option} has no meaning in the docstring"


@pytest.mark.parametrize("page", METHOD_PAGES, ids=lambda page: page.name)
def test_options_on_the_pages_of_methods_exist_and_are_those_of_the_code(page):
    text = page.read_text(encoding="utf-8")
    assert load("generate").with_options(text) == text, ADVICE
    known = {each.name for method in shoal.METHODS.values() for each in options_of(method)}
    assert set(re.findall(r"`(\w+)=[^`]+`", text)) - known == set()
    assert set(re.findall(r"-O (\w+)=", text)) - known == set()


def test_the_letters_of_a_publication_are_not_given_for_options():
    text = (DOCS / "methods" / "grouping.md").read_text(encoding="utf-8")
    section = text.partition("## split-carry")[2].partition("\n## ")[0]
    assert not re.findall(r"`[A-Za-z]`", section)


@pytest.mark.parametrize("page", METHOD_PAGES, ids=lambda page: page.name)
def test_costs_of_a_method_are_those_of_the_table(page):
    text = page.read_text(encoding="utf-8")
    assert load("costs").with_costs(text) == text, "run  python docs/_costs.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pictures_are_the_projects_own(page):
    for shown in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / shown).resolve().parent == DOCS / "pictures"
        assert (page.parent / shown).is_file()


@pytest.mark.parametrize("picture", sorted((DOCS / "pictures").glob("*.svg")), ids=lambda p: p.name)
def test_pictures_are_small_and_need_nothing_else(picture):
    text = picture.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert "<script" not in text
    assert "href=" not in text
