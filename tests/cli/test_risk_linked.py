"""`shoal risk linked`: the rows of a person together."""

import json


def test_linked_rows_are_counted_and_decide_the_exit_status(shoal, folder):
    rows = zip("aabbccdd", "12121323", strict=True)
    lines = "\n".join(f"{who},{ward}" for who, ward in rows)
    (folder / "visits.csv").write_text(f"who,ward\n{lines}\n")
    fine = shoal("risk", "linked", "visits.csv", "--person", "who", "--events", 1, "-k", 2)
    assert fine.status == 0
    assert "holds" in fine.out
    alone = shoal("risk", "linked", "visits.csv", "--person", "who", "-k", 2, "--json")
    assert alone.status == 1
    assert json.loads(alone.out)["alone"] == 2
    wrong = shoal("risk", "linked", "visits.csv", "--person", "nobody")
    assert wrong.status == 2
    assert "nobody" in wrong.err
