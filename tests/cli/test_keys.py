"""Pseudonyms and their keys on the command line; the key itself never shows."""

import base64
import os
import stat
import subprocess
import sys

import pytest

from shoal.identifiers import Key

CANARY = bytes(range(100, 132))
FORMS = [CANARY, CANARY.hex().encode(), base64.b64encode(CANARY), repr(CANARY)[2:-1].encode()]
SCHEMA = """
columns:
  name: {role: identifier, replace: pseudonym}
  age: quasi
  town: quasi
  disease: sensitive
"""


@pytest.fixture
def ready(folder):
    (folder / "people.yaml").write_text(SCHEMA)
    path = folder / "key.bin"
    path.write_bytes(CANARY)
    path.chmod(0o600)
    return folder


def anonymize(shoal, *more):
    return shoal("anonymize", "people.csv", "--schema", "people.yaml", "-k", 3, *more)


def column(path, index=0):
    return [line.split(",")[index] for line in path.read_text().splitlines()[1:]]


def test_keys_new_writes_a_private_key(shoal, folder):
    assert shoal("keys", "new", "-o", "key.bin").status == 0
    path = folder / "key.bin"
    assert (path.stat().st_size, stat.S_IMODE(path.stat().st_mode)) == (32, 0o600)
    again = shoal("keys", "new", "-o", "key.bin")
    assert again.status == 2
    assert "exists already" in again.err


def test_one_domain_joins_and_two_domains_do_not(shoal, ready):
    for domain, output in [("a", "1.csv"), ("a", "2.csv"), ("b", "3.csv")]:
        made = anonymize(shoal, "--key-file", "key.bin", "--domain", domain, "-o", output)
        assert made.status == 0, made.err
    one, two, three = (set(column(ready / f"{n}.csv")) for n in (1, 2, 3))
    assert one == two
    assert len(one) == 12
    assert not one & three


def test_file_environment_and_command_give_the_same_key(shoal, ready, monkeypatch):
    monkeypatch.setenv("THE_KEY", CANARY.hex())
    ways = [("--key-file", "key.bin"), ("--key-env", "THE_KEY"), ("--key-command", "cat key.bin")]
    shown = []
    for number, way in enumerate(ways):
        anonymize(shoal, *way, "--domain", "a", "-o", f"{number}.csv")
        shown.append(column(ready / f"{number}.csv"))
    assert shown[0] == shown[1] == shown[2]
    both = anonymize(shoal, *ways[0], *ways[1], "--domain", "a")
    assert both.status == 2
    assert "give one of" in both.err


@pytest.mark.parametrize(
    ("options", "said"),
    [((), "needs a key"), (("--key-file", "key.bin"), "needs a domain")],
)
def test_a_missing_key_or_domain_is_named(shoal, ready, options, said):
    made = anonymize(shoal, *options, "-o", "out.csv")
    assert made.status == 2
    assert said in made.err
    assert not (ready / "out.csv").exists()


def test_no_output_log_or_report_contains_the_key(shoal, ready):
    done = [
        anonymize(shoal, "--key-file", "key.bin", "--domain", "a", "-o", "out.csv",
                  "--report", "report.html", "--json"),
        anonymize(shoal, "--key-file", "key.bin", "--domain", "a", "--report", "report.json"),
        anonymize(shoal, "--key-command", "cat key.bin key.csv", "--domain", "a"),
        anonymize(shoal, "--key-command", f"echo {CANARY.hex()}", "--domain", "a",
                  "--report", "command.html", "--json"),
        anonymize(shoal, "--key-file", "key.bin", "--domain", ""),
        shoal("verify", "out.csv", "--schema", "people.yaml", "-k", 3),
    ]  # fmt: skip
    texts = [part.encode() for each in done for part in (each.out, each.err)]
    files = [path for path in ready.iterdir() if path.name != "key.bin"]
    assert {"out.csv", "report.html", "report.json"} <= {path.name for path in files}
    for content in [*texts, *(path.read_bytes() for path in files)]:
        assert not [form for form in FORMS if form in content]


def test_verify_counts_the_people_that_pseudonyms_show(shoal, ready):
    (ready / "visits.yaml").write_text(
        "person: who\ncolumns:\n  who: {role: identifier, replace: pseudonym}\n  age: quasi\n"
    )
    (ready / "fine.csv").write_text("who,age\nx,3*\nx,3*\ny,3*\n")
    (ready / "apart.csv").write_text("who,age\nx,3*\nx,4*\ny,3*\nz,4*\n")
    fine = shoal("verify", "fine.csv", "--schema", "visits.yaml", "-k", 2)
    assert fine.status == 0
    assert "2 people in 3 rows" in fine.out
    apart = shoal("verify", "apart.csv", "--schema", "visits.yaml", "-k", 2)
    assert apart.status == 1


def test_a_masked_identifier_is_checked_as_a_quasi_identifier(shoal, ready):
    (ready / "phones.yaml").write_text(
        "columns:\n  phone: {role: identifier, replace: {mask: {last: 2}}}\n  age: quasi\n"
    )
    rows = "".join(f"555{n // 2:04},3{n % 4}\n" for n in range(12))
    (ready / "phones.csv").write_text("phone,age\n" + rows)
    options = ("--schema", "phones.yaml", "-k", 2)
    made = shoal("anonymize", "phones.csv", *options, "--rows-are-people", "-o", "out.csv")
    assert made.status == 0, made.err
    assert shoal("verify", "out.csv", *options).status == 0
    (ready / "bad.csv").write_text("phone,age\n*****01,3*\n*****02,3*\n")
    assert shoal("verify", "bad.csv", *options).status == 1


def test_the_fingerprint_tells_keys_apart():
    assert Key(CANARY).fingerprint != Key(CANARY[::-1]).fingerprint


def test_shares_restore_a_key_and_a_rotated_key_translates_pseudonyms(shoal, ready):
    pytest.importorskip("Crypto")
    assert shoal("keys", "split", "key.bin", "--shares", 3, "--needed", 2, "-o", "part").status == 0
    joined = shoal("keys", "join", "part.1.share", "part.3.share", "-o", "again.bin")
    assert joined.status == 0
    assert (ready / "again.bin").read_bytes() == CANARY
    rotated = shoal(
        "keys", "rotate", "key.bin", "-o", "next.bin", "--file", "people.csv", "--column", "name",
        "--domain", "a", "--translation", "pairs.csv",
    )  # fmt: skip
    assert rotated.status == 0, rotated.err
    for key, output in [("key.bin", "old.csv"), ("next.bin", "new.csv")]:
        anonymize(shoal, "--key-file", key, "--domain", "a", "-o", output)
    assert sorted(column(ready / "pairs.csv")) == sorted(column(ready / "old.csv"))
    assert sorted(column(ready / "pairs.csv", 1)) == sorted(column(ready / "new.csv"))
    half = shoal("keys", "rotate", "key.bin", "-o", "other.bin", "--domain", "a")
    assert half.status == 2
    assert not (ready / "other.bin").exists()


def test_tokens_stay_the_same_in_later_deliveries(shoal, ready):
    pytest.importorskip("cryptography")
    (ready / "people.yaml").write_text(SCHEMA.replace("pseudonym", "token"))
    options = ("--key-file", "key.bin", "--domain", "a", "--lookup", "tokens.sealed")
    for output in ("1.csv", "2.csv"):
        made = anonymize(shoal, *options, "-o", output)
        assert made.status == 0, made.err
    assert column(ready / "1.csv") == column(ready / "2.csv")
    revealed = shoal("keys", "reveal", "1.csv", "--column", "name", "--schema", "people.yaml",
                     *options, "-o", "originals.csv")  # fmt: skip
    assert revealed.status == 0, revealed.err
    people = sorted(column(ready / "people.csv"))
    assert sorted(column(ready / "originals.csv", 1)) == people
    missing = anonymize(shoal, *options[:4], "-o", "3.csv")
    assert missing.status == 2
    assert "--lookup" in missing.err


def test_only_their_owner_can_read_keys_and_what_reverses_a_replacement(shoal, ready):
    pytest.importorskip("cryptography")
    pytest.importorskip("Crypto")
    (ready / "people.yaml").write_text(SCHEMA.replace("pseudonym", "token"))
    options = ("--key-file", "key.bin", "--domain", "a", "--lookup", "tokens.sealed")
    before, mask = {*ready.iterdir()}, os.umask(0)
    try:
        for command in (
            ("keys", "new", "-o", "new.bin"),
            ("keys", "split", "key.bin", "--shares", 3, "--needed", 2, "-o", "part"),
            ("keys", "join", "part.1.share", "part.3.share", "-o", "again.bin"),
            ("keys", "rotate", "key.bin", "-o", "next.bin", "--file", "people.csv", "--column",
             "name", "--domain", "a", "--translation", "pairs.csv"),
            ("anonymize", "people.csv", "--schema", "people.yaml", "-k", 3, *options, "-o",
             "1.csv"),
            ("keys", "reveal", "1.csv", "--column", "name", "--schema", "people.yaml", *options,
             "-o", "originals.csv"),
        ):  # fmt: skip
            done = shoal(*command)
            assert done.status == 0, done.err
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in {*ready.iterdir()} - before}
    assert modes.pop("1.csv") == 0o666  # the release is for others
    shown = {"new.bin", "part.1.share", "again.bin", "next.bin", "pairs.csv", "tokens.sealed",
             "originals.csv"}  # fmt: skip
    assert shown <= set(modes)
    assert {name for name, mode in modes.items() if mode != 0o600} == set()


def test_tokens_that_are_not_in_the_table_are_not_revealed_as_empty_cells(shoal, ready):
    pytest.importorskip("cryptography")
    (ready / "people.yaml").write_text(SCHEMA.replace("pseudonym", "token"))
    options = ("--key-file", "key.bin", "--domain", "a", "--lookup")
    assert anonymize(shoal, *options, "one.sealed", "-o", "1.csv").status == 0
    assert anonymize(shoal, *options, "two.sealed", "-o", "2.csv").status == 0
    reveal = ("keys", "reveal", "1.csv", "--column", "name", "--schema", "people.yaml")
    asked = (*reveal, *options, "two.sealed", "-o", "originals.csv")
    refused = shoal(*asked)
    assert refused.status == 2
    assert "12 tokens of 12 not in the lookup table" in refused.err
    assert shoal(*reveal, *options, "none.sealed", "-o", "originals.csv").status == 2
    assert not (ready / "originals.csv").exists()
    assert not (ready / "none.sealed").exists()


def test_no_output_replaces_the_lookup_table(shoal, ready):
    pytest.importorskip("cryptography")
    (ready / "people.yaml").write_text(SCHEMA.replace("pseudonym", "token"))
    options = ("--key-file", "key.bin", "--domain", "a", "--lookup", "same.csv")
    refused = anonymize(shoal, *options, "-o", "same.csv", "--force")
    assert refused.status == 2
    assert "is read by this command" in refused.err
    assert anonymize(shoal, *options, "-o", "1.csv").status == 0


@pytest.mark.slow
def test_deliveries_made_at_the_same_time_can_all_be_revealed_and_join(shoal, ready):
    pytest.importorskip("cryptography")
    (ready / "people.yaml").write_text(SCHEMA.replace("pseudonym", "token"))
    options = ("--key-file", "key.bin", "--domain", "a", "--lookup", "tokens.sealed")
    lines = (ready / "people.csv").read_text().splitlines()
    runs = []
    for number in range(6):
        some = [line for place, line in enumerate(lines[1:]) if place % 6 != number]
        (ready / f"part{number}.csv").write_text("\n".join([lines[0], *some]))
        asked = ["anonymize", f"part{number}.csv", "--schema", "people.yaml", "-k", "2", *options]
        program = [sys.executable, "-c", "from shoal.cli import main; main()"]
        path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        runs.append(subprocess.Popen([*program, *asked, "-o", f"{number}.csv"], env=path))
    assert [run.wait() for run in runs] == [0] * 6
    token_of = {}
    for number in range(6):
        revealed = shoal("keys", "reveal", f"{number}.csv", "--column", "name", *options,
                         "--schema", "people.yaml", "-o", f"originals{number}.csv")  # fmt: skip
        assert revealed.status == 0, revealed.err
        tokens = column(ready / f"originals{number}.csv")
        people = column(ready / f"originals{number}.csv", 1)
        assert sorted(people) == sorted(column(ready / f"part{number}.csv"))
        for person, token in zip(people, tokens, strict=True):
            assert token_of.setdefault(person, token) == token


def test_a_pseudonym_cannot_be_revealed(shoal, ready):
    anonymize(shoal, "--key-file", "key.bin", "--domain", "a", "-o", "out.csv")
    asked = ("keys", "reveal", "out.csv", "--schema", "people.yaml", "-o", "originals.csv")
    refused = shoal(*asked, "--column", "name", "--key-file", "key.bin", "--domain", "a")
    assert refused.status == 2
    assert "cannot be reversed" in refused.err
    assert "no replacement" in shoal(*asked, "--column", "age").err
