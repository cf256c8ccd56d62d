"""Whatever a command line, a schema or a hierarchy says, a command ends in one line, not a trace.

Good commands are mutated by a seeded generator. Cells of people hold a marker that no mutation
writes, so a message that shows it shows a cell.
"""

import random
import re
import shlex

import pytest
from tests.examples import is_deep

from shoal.methods.algorithm import options_of
from shoal.methods.registry import METHODS

MARKER = "zqxj"  # in cells, never in a message
TOWNS = [f"{MARKER} {town}" for town in ("ford", "ham", "ton", "wick")]
ILLS = ["flu", "cold", "gout"]
PEOPLE = "name,age,town,born,disease,cost\n" + "".join(
    f"{MARKER}{i},{20 + i % 7},{TOWNS[i % 4]},19{60 + i % 9}-0{1 + i % 9}-1{i % 9},"
    f"{MARKER} {ILLS[i % 3]},{i * 1.25}\n"
    for i in range(24)
)
RELEASE = "age,town,born,disease\n" + "".join(
    f'"[20, 26]",*,*,{MARKER} {ILLS[i % 3]}\n' for i in range(24)
)
TREE = "".join(f"{town};{MARKER} {'west' if i % 2 else 'east'};*\n" for i, town in enumerate(TOWNS))
SCHEMA = """person: name
file: {delimiter: ',', encoding: utf-8, missing: ['?'], decimal: '.'}
columns:
  name: identifier
  age: {role: quasi, type: integer, bounds: [0, 120], weight: 2, hierarchy: {intervals: [5, 10]}}
  town: {role: quasi, hierarchy: town.csv}
  born: {role: quasi, type: date, hierarchy: {dates: [month, year, decade]}}
  disease: {role: sensitive, kind: nominal}
  cost: {role: insensitive, type: decimal(2)}
"""
DRAWN = """columns:
  age: {role: quasi, type: integer, bounds: [0, 99], hierarchy: {intervals: [10, 50]}}
  born: {role: quasi, type: date, bounds: [1900-01-01, 1999-12-31], hierarchy: {dates: [decade]}}
"""
ROLES = "--quasi age,town,born --sensitive disease --identifier name"
COMMANDS = [
    "inspect people.csv --schema schema.yaml",
    "inspect people.csv --quasi age,town --sampling-fraction 0.1 -o new.yaml",
    "anonymize people.csv --schema schema.yaml -k 3 -o out.csv --json",
    "anonymize people.csv --schema schema.yaml -k 3 --seed 7 --report report.json --force",
    f"anonymize people.csv {ROLES} -k 2 -O strict=false -O summary=set -o out.parquet",
    f"anonymize people.csv {ROLES} -k 2 --method greedy -O 'weights={{age: 2, town: 1}}'",
    f"anonymize people.csv {ROLES} -k 2 --method k-member -O 'weights=[1, 2, 3]' --keep-order",
    "anonymize people.csv --quasi age,born -k 2 --hierarchy 'born=dates: [week, week-year]' "
    "--escape-formulas -o out.csv",
    "anonymize people.csv --quasi name -k 2 --hierarchy 'name=from: [town]' -o out.csv",
    f"anonymize people.csv {ROLES} -k 2 --method sorted -O order=variance --seed 3",
    f"anonymize people.csv {ROLES} --model 'freeform-anonymity(2)' --method doka-greedy "
    "-O seed=3 -o out.csv",
    "anonymize people.csv --schema schema.yaml -k 3 --method datafly -O max_suppression=0.1",
    "anonymize people.csv --schema schema.yaml -k 2 --method ola -O objective=loss -O local=true",
    "anonymize people.csv --schema drawn.yaml -k 2 --method safe-la -O epsilon=1.5 -O beta=0.5 "
    "-O allow_large_delta=true -O n0=100 --seed 1",
    f"anonymize people.csv {ROLES} -k 2 --hierarchy 'age=intervals: [5, 10]' "
    "--hierarchy 'town=mask: right' --hierarchy 'born=dates: [year, decade]' --method flash",
    f"anonymize people.csv {ROLES} -k 2 --hierarchy 'age=quantiles: [4, 2]' "
    "--hierarchy 'town=ordering: {fanout: 2}' --hierarchy 'born=random: {seed: 3}' --method ola",
    f"anonymize people.csv {ROLES} -k 2 --model 'l-diversity(2, disease)' "
    "--model 't-closeness(0.9, disease)' --missing NA --delimiter , --dates YYYY-MM-DD",
    "verify release.csv --schema schema.yaml -k 3",
    "verify release.csv --quasi age,town --sensitive disease -k 3 "
    "--model 'entropy-l-diversity(1.5, disease)'",
    "metrics people.csv release.csv --schema schema.yaml --rows-are-people --metric ncp --raw",
    "hierarchy make people.csv --column town -o made.csv",
    "hierarchy make people.csv --all --schema drawn.yaml -o . --force",
    "hierarchy make people.csv --all --quasi age,born -o . --force",
    "hierarchy make people.csv --column name --levels-from town,disease -o made.csv",
    "hierarchy make people.csv --column age --recipe 'intervals: [5, 10]' -o made.csv --force",
    "hierarchy make people.csv --column name --recipe 'mask: {side: left, length: 9}' -o made.csv",
    "hierarchy check town.csv people.csv --column town",
    "hierarchy show town.csv --most 2 --lines 9",
    "risk records release.csv --schema schema.yaml",
    "risk columns people.csv --most 2 --show 5",
    "risk rehearse people.csv --schema schema.yaml -k 2 --both 0.5 --seed 3 -O strict=true",
    "risk link people.csv release.csv --known age,town --seed 3",
    "risk assess people.csv release.csv --schema schema.yaml --wrong age=0.1 --seed 2",
    "dp plan --rows 3000 --epsilon 1.31 --delta 1e-6",
    "dp ledger grant ledger.json --epsilon 2 --delta 1e-6",
    "datasets patients 20 --seed 7 -o more.csv",
]  # fmt: skip
FILES = {
    "people.csv": PEOPLE, "release.csv": RELEASE, "schema.yaml": SCHEMA, "drawn.yaml": DRAWN,
    "town.csv": TREE,
}  # fmt: skip
SCALARS = (
    "", "0", "-1", "1", "3", "1.5", "-0.0", "1e308", "1e-308", "1.0e+308", "nan", ".nan", "inf",
    ".inf", "1e999", "9" * 40, "9" * 5000, "0x" + "f" * 4000, "null", "~", "true", "no", "text",
    "2023-02-30", "10000-01-01", "0001-01-01 00:00:00+23:59", "12:99", "[]", "{}", "[1, 2", "[[1]]",
    "{a: 1}", "{1: 2}", "[null]", "[1, x]", "'", '"', ",", ";", "\t", "é", "a\nb", "*", "=", "!",
    "!!int x", "!!bool foo", "!!set {a}", "!!python/object:os.system {}", "!!timestamp x",
    "!!binary x", "&a [*a]", "*a", "<<", "mask", "mask: {length: 100000000}", "intervals: [1e-300]",
    "intervals: [0.0000001, 1]", "quantiles: [1000000000]", "ordering: 1000000000000", "tree: {}",
    "random: -1", "dates: [week]", "dates: [day, day]", "suppression", "no.csv", "people.csv",
    "schema.yaml", "town.csv", ".", "/", "..", "out.xlsx", "age", "town,town", "name", "quasi",
    "category", "decimal(2)", "decimal(99)", "ordinal", "date", "5" * 20, "-5", "x" * 300,
)  # fmt: skip
FLAGS = (
    "--json", "--force", "--keep-order", "--rows-are-people", "--raw", "--seed", "-k", "-O",
    "--schema", "--quasi", "--sensitive", "--identifier", "--insensitive", "--person",
    "--household", "--hierarchy", "--model", "--method", "--report", "--delimiter", "--encoding",
    "--decimal", "--dates", "--missing", "-o",
    "--all", "--levels-from", "--escape-formulas", "--metric", "--column", "--recipe", "--target",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "1", "2", "3", "5", "7", "10", "24", "25", "100", "0.5", "0.99", "-0.0", "1e-9",
    "1e9", "1.0e+308", "1e308", "-1e308", "1e-308", "5e-324", "99999999999", "2147483648",
    "4294967296", "9223372036854775807", "9223372036854775808", "1" + "0" * 30, ".nan", ".inf",
)  # fmt: skip
RESERVED = ("table", "model", "method", "what", "ledger", "self", "k", "name", "", "seed")


def other(part, draw):
    """Return a text to stand for another; for a number, mostly a number."""
    number = re.fullmatch(r"-?[0-9.e-]+", part) and draw.random() < 0.8
    return draw.choice(NUMBERS if number else SCALARS)


def method_option(words, draw):
    """Return an option that the method may have, or that no method may."""
    name = words[words.index("--method") + 1] if "--method" in words[:-1] else "mondrian"
    known = [option.name for option in options_of(METHODS[name])] if name in METHODS else []
    values = (*NUMBERS, *SCALARS, "true", "false", "{age: 1e308}", "{age: -1}", "[1, 1, 1e308]")
    return f"{draw.choice((*known, *known, draw.choice(RESERVED)))}={draw.choice(values)}"


def mutate_text(text, draw):
    """Return a text with one of its words, or any part of it, replaced, doubled or dropped."""
    if draw.random() < 0.7:
        word = draw.choice(list(re.finditer(r"[^\s:;,{}\[\]()=]+", text)) or [re.match("", text)])
        start, end = word.span()
    else:
        start = draw.randrange(len(text) + 1)
        end = min(len(text), start + draw.randrange(12))
    part = text[start:end]
    new = draw.choice((*[other(part, draw)] * 4, "", f"{part}, {part}", f"[{part}]"))
    return text[:start] + new + text[end:]


def mutate_words(words, draw):
    """Return a command line with a value changed, or an option added or dropped."""
    words = list(words)
    values = [i for i, word in enumerate(words) if i > 1 and not word.startswith("-")]
    what = draw.random()
    if what < 0.3 and values:
        place = draw.choice(values)
        words[place] = other(words[place], draw)
    elif what < 0.7 and values:
        place = draw.choice(values)
        words[place] = mutate_text(words[place], draw)
    elif what < 0.75:
        del words[draw.randrange(1, len(words))]
    elif what < 0.9 and words[0] == "anonymize":
        words += ["-O", method_option(words, draw)]
    else:
        words += [draw.choice(FLAGS), draw.choice(SCALARS)]
    return words


def cases(count, seed):
    """Yield command lines with the files they read, each with one to three mutations."""
    draw = random.Random(seed)
    for _ in range(count):
        words = shlex.split(draw.choice(COMMANDS))
        files = dict(FILES)
        for _ in range(draw.choice((1, 1, 2, 3))):
            kind = draw.random()
            reads = [name for name in ("schema.yaml", "drawn.yaml") if name in words]
            if kind < 0.4 and reads:
                files[reads[0]] = mutate_text(files[reads[0]], draw)
            elif kind < 0.5 and (reads or "town.csv" in words):
                files["town.csv"] = mutate_text(files["town.csv"], draw)
            else:
                words = mutate_words(words, draw)
        yield words, files


def check(outcome, words):
    """Check that a command ended well, or in one line that shows no cell."""
    assert outcome.status in (0, 1, 2)
    assert "Traceback" not in outcome.err
    if outcome.status == 0 or words[:2] == ["hierarchy", "check"]:
        return
    assert MARKER not in outcome.out + outcome.err
    if outcome.status == 2:
        assert any(line.startswith("shoal: ") for line in outcome.err.splitlines())


def lay_out(folder, files):
    """Leave these files in the folder, and no others."""
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def test_each_command_is_good_before_it_is_mutated(shoal, folder):
    for command in COMMANDS:
        lay_out(folder, FILES)
        outcome = shoal(*shlex.split(command))
        assert outcome.status == 0, (command, outcome.err)


@pytest.mark.slow
def test_mutated_commands_and_files_end_without_a_trace_or_a_cell(shoal, folder):
    count, seed = (3000, random.SystemRandom().randrange(10**6)) if is_deep() else (150, 5)
    statuses = set()
    for index, (words, files) in enumerate(cases(count, seed)):
        lay_out(folder, files)
        try:
            outcome = shoal(*words)
            check(outcome, words)
        except BaseException as error:
            error.add_note(f"seed {seed}, case {index}: {shlex.join(words)}")
            raise
        statuses.add(outcome.status)
    assert statuses >= {0, 2}  # some mutations are harmless, most are not
