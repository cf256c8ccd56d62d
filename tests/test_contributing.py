"""The examples of CONTRIBUTING.md are complete: added as it says, they are registered and pass."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from tests import oracle
from tests.judging import is_possible, judge
from tests.metrics import naive
from tests.metrics.strategies import releases
from tests.nasty import NASTY

import shoal
from shoal import privacy
from shoal.methods import registry as methods
from shoal.methods.algorithm import options_of
from shoal.metrics import METRICS, registry
from shoal.privacy import KAnonymity, LDiversity, models

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r'^```python title="([^"]+)"\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE))
WALK = re.findall(r"^\| `(\w[^`]*\.py)` \| `(\w+)` \|", PAGE, re.MULTILINE)


def module(monkeypatch, path):
    """Return the module that a block of the page is the file of."""
    name = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(BLOCKS[path], path, "exec"), vars(made))
    return made


def registered(registry_module, line, name):
    """Return the names of a registry whose file has one more import, and one more name."""
    source = inspect.getsource(registry_module)
    listed = re.search(r"^(__all__ = \[.*|_ALL = \()$", source, re.MULTILINE)
    more = f'"{name}"' if "__all__" in listed[0] else name
    place = listed.end()
    source = f"{source[: listed.start()]}{line}{listed[0]}\n    {more},{source[place:]}"
    made = {"__name__": registry_module.__name__}
    exec(compile(source, "registry", "exec"), made)
    return made


def test_every_hop_of_the_walk_is_there():
    assert len(WALK) > 10
    for path, function in WALK:
        tree = ast.parse((ROOT / "src/shoal" / path).read_text(encoding="utf-8"))
        found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in found, (path, function)


@pytest.fixture
def one_column(monkeypatch):
    module(monkeypatch, "src/shoal/methods/partition/one_column.py")
    line = BLOCKS["src/shoal/methods/registry.py"]
    found = registered(methods, line, "OneColumn")["METHODS"]["one-column"]
    monkeypatch.setitem(shoal.METHODS, "one-column", found)
    return found


@pytest.fixture
def company(monkeypatch):
    module(monkeypatch, "src/shoal/privacy/company.py")
    line = BLOCKS["src/shoal/privacy/models.py"]
    found = registered(models, line, "Company")["MODELS"]["company"]
    monkeypatch.setitem(shoal.MODELS, "company", found)
    judged = "def keeps(part, seen):\n" + textwrap.indent(BLOCKS["tests/oracle.py, in keeps"], "  ")
    known, made = oracle.keeps, {}
    exec(judged, made)

    def keeps(part, members, everybody):
        if part.name != "company":
            return known(part, members, everybody)
        return made["keeps"](part, oracle.people_with(part.column, members)[0])

    monkeypatch.setattr(oracle, "keeps", keeps)
    return found


@pytest.fixture
def changed_cells(monkeypatch):
    module(monkeypatch, "src/shoal/metrics/changed_cells.py")
    line = BLOCKS["src/shoal/metrics/registry.py"]
    found = registered(registry, line, "CHANGED_CELLS")["METRICS"]["changed-cells"]
    monkeypatch.setitem(METRICS, "changed-cells", found)
    made = {}
    exec(BLOCKS["tests/metrics/naive.py, and in RAW"], made)
    monkeypatch.setitem(naive.RAW, "changed-cells", made["changed_cells"])
    return found


@pytest.mark.parametrize(
    "model", [KAnonymity(3), KAnonymity(2) & LDiversity(3, "illness")], ids=str
)
@pytest.mark.parametrize("table", NASTY.values(), ids=NASTY)
def test_the_method_keeps_its_models(one_column, table, model):
    (name, variants), *others = ast.literal_eval(f"{{{_row('PARTING')}}}").items()
    assert (name, others) == (one_column.name, [])
    for options in variants:
        try:
            judge(table, model, shoal.anonymize(table, model, name, **options))
        except (shoal.Infeasible, shoal.InputError):
            assert not is_possible(table, model)


def test_the_method_is_known_by_its_fields(one_column):
    assert [option.name for option in options_of(one_column)] == ["column"]
    with pytest.raises(shoal.InputError, match=r"'se' \(did you mean 'sex'\?\)"):
        shoal.anonymize(NASTY["people"], KAnonymity(2), "one-column", column="se")


@pytest.mark.parametrize("method", ["mondrian", "greedy", "datafly"])
@pytest.mark.parametrize("table", NASTY.values(), ids=NASTY)
def test_the_model_is_kept(company, table, method):
    model = eval(_row("MODELS").rstrip().rstrip(","), {"Company": company})
    try:
        release = shoal.anonymize(table, model, method)
    except shoal.InputError:
        assert method == "datafly"
        assert len(table.quasi) > 20
    except shoal.Infeasible:
        assert not is_possible(table, model)
    else:
        judge(table, model, release)
        assert release.verify().levels[str(model)] >= model.n


def test_the_model_is_read_as_text(company):
    model = privacy.parse("company(2, illness)")
    assert model == company(2, "illness")
    assert privacy.parse(str(model)) == model
    with pytest.raises(shoal.InputError, match="company: n must be a whole number, 2 or more"):
        privacy.parse("company(1, illness)")


def test_the_metric_equals_a_count_by_hand(changed_cells):
    name = changed_cells.name

    @given(releases)
    def compare(release):
        found = shoal.metrics.evaluate(release)[name]
        assert found == pytest.approx(naive.scaled(name, naive.read(release, "ill")), abs=1e-9)
        assert set(changed_cells.by_attribute(release)) == set(release.recodings)

    compare()


def _row(place):
    return BLOCKS[f"tests/test_contract.py, in {place}"]
