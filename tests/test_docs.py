"""The documentation is correct: its examples run, and its generated pages match the code."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from tests.cases import docs_module, told

import shoal
from shoal.methods.algorithm import options_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])
ADVICE = "run  python docs/_generate.py"


examples = docs_module("examples")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_and_print_what_the_page_shows(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    fresh = examples.refresh(text, tmp_path)
    assert examples.alike(fresh) == examples.alike(text), ADVICE


@pytest.mark.parametrize("name", ["commands", "api", "metrics"])
def test_generated_pages_are_up_to_date(name):
    fresh = getattr(docs_module("generate"), name)()
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


def test_examples_run_again_where_the_page_or_the_code_has_changed(tmp_path, monkeypatch):
    generate = docs_module("generate")
    monkeypatch.setattr(generate, "DOCS", tmp_path)
    monkeypatch.setattr(generate, "SEEN", tmp_path / "build" / "examples.json")
    monkeypatch.setattr(generate, "beside", lambda _: examples)
    page = tmp_path / "page.md"
    wrong = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    page.write_text(wrong)
    assert generate.run_examples("code") == ["page.md"]
    assert page.read_text() == wrong.replace("3", "2")
    assert generate.run_examples("code") == []
    assert generate.run_examples("other code") == ["page.md"]
    assert generate.run_examples("other code", again=True) == ["page.md"]
    page.write_text(wrong)
    assert generate.run_examples("other code") == ["page.md"]
    assert page.read_text() == wrong.replace("3", "2")


def test_what_examples_run_is_the_source_of_shoal(tmp_path, monkeypatch):
    generate, source = docs_module("generate"), tmp_path / "shoal"
    source.mkdir()
    (source / "__init__.py").write_text("")
    (source / "page.html").write_text("one")
    monkeypatch.setattr(generate.shoal, "__file__", str(source / "__init__.py"))
    before = generate.code_digest()
    assert generate.code_digest() == before
    (source / "page.html").write_text("two")
    assert generate.code_digest() != before


METHOD_PAGES = sorted((DOCS / "methods").glob("*.md"))


def test_every_method_says_what_it_is_good_for_what_it_costs_and_when_not_to_use_it():
    texts = [page.read_text(encoding="utf-8") for page in METHOD_PAGES]
    chosen, _, measured = (DOCS / "methods" / "index.md").read_text().partition("{#costs}")
    for name in shoal.METHODS:
        heading = re.compile(rf"^##+ {name}\n((?:(?!##).*\n)*)", re.MULTILINE)
        with told(name):
            (section,) = [found[1] for text in texts for found in heading.finditer(text)]
            for part in ("Good for", "Costs", "Not for"):
                assert re.search(rf"^\*\*{part}\.\*\* \S", section, re.MULTILINE), part
            assert re.search(rf"^\| \[?`{name}`", chosen, re.MULTILINE)
            assert re.search(rf"^\| `{name}` \| [\d.]+, ", measured, re.MULTILINE)


def test_the_page_of_a_method_lists_every_option_that_it_has_and_no_other():
    texts = [page.read_text(encoding="utf-8") for page in METHOD_PAGES]
    for name, method in shoal.METHODS.items():
        table = re.compile(rf"^<!-- options of {name} -->\n\n((?:\|.*\n)+)", re.MULTILINE)
        options = {each.name: each for each in options_of(method)}
        with told(name):
            (rows,) = [found[1] for text in texts for found in table.finditer(text)]
            listed = re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", rows, re.MULTILINE)
            assert [option for option, _ in listed] == list(options)
            for option, default in listed:
                assert yaml.safe_load(default) == options[option].default
                assert options[option].meaning, f"{option} has no meaning in the docstring"


def test_options_on_the_pages_of_methods_exist_and_are_those_of_the_code():
    with_options = docs_module("generate").with_options
    known = {each.name for method in shoal.METHODS.values() for each in options_of(method)}
    for page in METHOD_PAGES:
        text = page.read_text(encoding="utf-8")
        with told(page.name):
            assert with_options(text) == text, ADVICE
            assert set(re.findall(r"`(\w+)=[^`]+`", text)) - known == set()
            assert set(re.findall(r"-O (\w+)=", text)) - known == set()


def test_the_letters_of_a_publication_are_not_given_for_options():
    text = (DOCS / "methods" / "grouping.md").read_text(encoding="utf-8")
    section = text.partition("## split-carry")[2].partition("\n## ")[0]
    assert not re.findall(r"`[A-Za-z]`", section)


def test_costs_of_a_method_are_those_of_the_table():
    with_costs = docs_module("costs").with_costs
    texts = {page.name: page.read_text(encoding="utf-8") for page in METHOD_PAGES}
    found = [name for name, text in texts.items() if with_costs(text) != text]
    assert found == [], "run  python docs/_costs.py"


def test_pictures_are_the_projects_own():
    for page in PAGES:
        for shown in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            with told(page.name, shown):
                assert (page.parent / shown).resolve().parent == DOCS / "pictures"
                assert (page.parent / shown).is_file()


def test_pictures_are_small_and_need_nothing_else():
    pictures = sorted((DOCS / "pictures").glob("*.svg"))
    assert pictures
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        with told(picture.name):
            assert len(text) < 200_000
            assert "<script" not in text
            assert "href=" not in text
