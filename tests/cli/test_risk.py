"""`shoal risk intersect`, and what `shoal inspect` tells of a release."""

import json

import pytest

ROLES = ("--quasi", "x,y", "--sensitive", "disease")
ORIGINAL = "id,x,y,disease\n1,1,1,qxa\n2,1,2,qxb\n3,2,1,qxc\n4,2,2,qxa\n"
ONE = "id,x,y,disease\n1,1,1-2,qxa\n2,1,1-2,qxb\n3,2,1-2,qxc\n4,2,1-2,qxa\n"
TWO = "id,x,y,disease\n4,*,2,qxa\n3,*,1,qxc\n2,*,2,qxb\n1,*,1,qxa\n"
SORTED = "id,x,y,disease\n1,*,1,qxa\n2,*,2,qxb\n3,*,1,qxc\n4,*,2,qxa\n"


@pytest.fixture
def files(folder):
    told = {"original": ORIGINAL, "one": ONE, "two": TWO, "sorted": SORTED}
    for name, text in told.items():
        (folder / f"{name}.csv").write_text(text)


def parsed(outcome):
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


@pytest.mark.parametrize(
    "lined_up", [("sorted.csv",), ("two.csv", "--key", "id")], ids=["by position", "by key"]
)
def test_two_releases_single_everybody_out(shoal, files, lined_up):
    asked = ("risk", "intersect", "one.csv", *lined_up, "--original", "original.csv", *ROLES)
    found = parsed(shoal(*asked, "--json"))
    assert (found["k"], found["finer"]) == (2, 1)
    assert found["files"] == ["one.csv", lined_up[0]]
    assert [view["loss"] for view in found["releases"]] == [0.5, 0.5]
    assert found["together"]["rows"] == {"fewest": 1, "mean": 1, "below": 4, "alone": 4}
    assert found["together"]["losses"] == {"x": 0, "y": 0}
    assert found["sensitive"] == [
        {"column": "disease", "alone": [0, 0], "linked": 4, "unlinked": 2}
    ]
    shown = shoal(*asked).out
    for part in ("one.csv", "combined", "rows that a person matches: fewest", "people singled out"):
        assert part in shown
    assert "combined, they reveal 1.0000 of what the finest of them hides" in shown
    assert "qx" not in shown


def test_rows_in_another_order_are_matched_by_their_values(shoal, files):
    asked = ("risk", "intersect", "one.csv", "two.csv", "--original", "original.csv", *ROLES)
    assert parsed(shoal(*asked, "--json"))["together"]["rows"]["alone"] == 4


@pytest.mark.parametrize("lined_up", [("sorted.csv", "--same-order"), ("two.csv", "--key", "id")])
def test_without_the_original_rows_that_look_alike_are_counted(shoal, files, lined_up):
    found = parsed(shoal("risk", "intersect", "one.csv", *lined_up, *ROLES, "--json"))
    assert (found["finer"], found["together"]["rows"], found["together"]["loss"]) == (None,) * 3
    assert found["together"]["alike"] == {"fewest": 1, "mean": 1, "below": 4, "alone": 4}
    assert found["sensitive"][0]["linked"] == 4
    shown = shoal("risk", "intersect", "one.csv", *lined_up, *ROLES).out
    assert "people in a class: fewest" in shown
    assert "loss" not in shown


def test_a_schema_says_the_roles_and_how_labels_are_read(shoal, files, folder):
    (folder / "s.yaml").write_text(
        "columns:\n  x: {role: quasi, hierarchy: {tree: {low: [1], high: [2]}}}\n"
        "  y: {role: quasi}\n  disease: {role: sensitive}\n"
    )
    (folder / "labels.csv").write_text(
        "x,y,disease\nlow,*,qxa\nlow,*,qxb\nhigh,*,qxc\nhigh,*,qxa\n"
    )
    asked = ("risk", "intersect", "labels.csv", "sorted.csv", "--schema", "s.yaml", "--json")
    found = parsed(shoal(*asked, "--original", "original.csv"))
    assert found["together"]["originals"]["alone"] == 4
    assert parsed(shoal(*asked, "--same-order"))["together"]["alike"]["alone"] == 4


def test_three_releases_and_a_stated_k(shoal, files):
    asked = ("risk", "intersect", "one.csv", "one.csv", "sorted.csv", *ROLES, "-k", 3, "--json")
    found = parsed(shoal(*asked, "--original", "original.csv"))
    assert len(found["releases"]) == 3
    assert [view["alike"]["below"] for view in found["releases"]] == [4, 4, 4]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("one.csv", *ROLES, "--same-order"), "at least two"),
        (("one.csv", "sorted.csv", *ROLES), "state with --same-order that the orders agree"),
        (("one.csv", *ROLES, "--original", "original.csv"), "at least two"),
        (("one.csv", "two.csv", *ROLES, "--same-order"), "give as key"),
        (("one.csv", "nowhere.csv", *ROLES), "nowhere.csv"),
        (("one.csv", "sorted.csv", "--same-order"), "no column has a role"),
        (("one.csv", "sorted.csv", *ROLES, "-k", 0), "k must be 1 or more"),
        (("one.csv", "sorted.csv", "--quasi", "z", "--same-order"), "exactly one column 'z'"),
        (("one.csv", "sorted.csv", *ROLES, "--key", "z"), "exactly one column 'z'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(shoal, files, arguments, told):
    found = shoal("risk", "intersect", *arguments)
    assert (found.status, found.out) == (2, "")
    assert told in found.err
    assert len(found.err.splitlines()) == 1
    assert "qx" not in found.err


@pytest.mark.parametrize("command", [("risk",), ("risk", "intersect")])
def test_the_commands_explain_themselves(shoal, command):
    found = shoal(*command, "--help")
    assert (found.status, found.err) == (0, "")
    assert f"Usage: shoal {' '.join(command)}" in found.out


def test_inspect_tells_what_a_release_gives_away(shoal, files, folder):
    (folder / "released.csv").write_text(
        "age,disease\n20-30,qxa\n20-30,qxa\n30-40,qxa\n30-40,qxb\n30-40,qxc\n"
    )
    asked = ("inspect", "released.csv", "--quasi", "age", "--sensitive", "disease")
    found = parsed(shoal(*asked, "--json"))
    checks = {check["name"]: check for check in found["checks"]}
    assert set(checks) == {"homogeneity", "skewness"}
    assert checks["homogeneity"]["severity"] == "serious"
    assert checks["homogeneity"]["figures"]["certain"] == 2
    shown = " ".join(shoal(*asked).out.split())
    assert "what the file reveals if it is published unchanged" in shown
    assert "serious homogeneity 2 of 5 people" in shown
    assert "qx" not in shown


def test_inspect_reads_roles_orders_and_hierarchies_from_a_schema(shoal, files, folder):
    (folder / "s.yaml").write_text(
        "columns:\n  x: {role: quasi}\n  gone: {role: quasi}\n"
        "  disease: {role: sensitive, hierarchy: {tree: {q: [qxa, qxb], r: [qxc]}}}\n"
    )
    (folder / "released.csv").write_text("x,disease\n1,qxa\n1,qxb\n2,qxc\n2,qxa\n")
    found = parsed(shoal("inspect", "released.csv", "--schema", "s.yaml", "--json"))
    [close] = [check for check in found["checks"] if check["name"] == "similarity"]
    assert (close["figures"]["by"], close["figures"]["different"]) == ("hierarchy", 2)
    assert found["combinations"][0]["columns"] == ["x"]
    (folder / "tree.csv").write_text("qxa;q;*\nqxb;r;*\nqxc;r;*\n")
    asked = ("inspect", "released.csv", "--quasi", "x", "--sensitive", "disease")
    found = parsed(shoal(*asked, "--hierarchy", "disease=tree.csv", "--json"))
    assert found["checks"][-1]["figures"]["different"] == 0


def test_inspect_checks_nothing_where_nothing_is_sensitive(shoal, folder):
    assert parsed(shoal("inspect", "people.csv", "--json"))["checks"] == []
    assert "what the file reveals" not in shoal("inspect", "people.csv").out


def test_inspect_refuses_a_sensitive_column_that_is_not_there(shoal, folder):
    found = shoal("inspect", "people.csv", "--sensitive", "wealth")
    assert (found.status, found.out) == (2, "")
    assert "no column 'wealth'" in found.err
