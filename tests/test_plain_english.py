"""Text is plain English: no page, message, docstring or comment has a retired word."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EVERYTHING = (
    "*.md",
    "mkdocs.yml",
    "docs/**/*.md",
    "docs/*.py",
    "benchmarks/*.py",
    "studies/**/*.md",
    "studies/**/*.py",
    "studies/templates/*.html",
    "src/shoal/**/*.py",
    "src/shoal/*/templates/*.html",
)
DATA = ("src/shoal/datasets/_vocabulary.py", "studies/results/")  # names, and what a run wrote
FILES = sorted(
    path
    for path in {found for pattern in EVERYTHING for found in ROOT.glob(pattern)}
    if not path.relative_to(ROOT).as_posix().startswith(DATA)
)

_SUBJECTS = "asks|attacks|can|finds|guesses|has|holds|knows|looks|may|reads|sees|takes|wants"
RETIRED = {  # a regular expression, and what to write instead; a space is any white space
    r"save (?:for|that|where|when|if|one|\d+)|(?:all|none|nothing|everything|,) save": "except",
    r"mend(?:s|ed|ing)?": "fix",
    r"told|tell(?:s|ing)?": "report, state, show, distinguish",
    r"abreast": "in parallel",
    r"anew": "again",
    r"endless(?:ly)?": "infinite, without end",
    r"at sight": "immediately",
    r"put(?:s|ting)? to": "check on, ask, submit to",
    r"of use": "useful",
    r"by hand of": "by, with",
    r"dear(?:er|est|ly)?": "expensive",
    r"whoever": "anyone who, an attacker who",
    rf"(?:^|[.;:] )who (?:{_SUBJECTS})(?![^.!]*\?)": "anyone who, an attacker who",
    rf"(?:by|to|for|than|from) who (?:{_SUBJECTS})": "by anyone who, by an attacker who",
    r"whence": "from which",
    r"thereof": "of it",
    r"lest": "so that … not",
    r"go(?:es|ing)? by": "be identified by, use",
    r"such as (?:is|are)": "that is, that are",
    r"by (?:it|him|her|them)sel(?:f|ves)": "alone, separately",
    r"hang(?:s|ing)? together": "be related, correlate",
    r"at (?:its|his|her|their) word": "without a check",
    r"leaves? the house": "be published",
    r"doors?": "entry point",
    r"torn": "not nested, damaged",
    r"ground values?": "original values",
    r"carried only|only carried|carried columns?": "passed through unchanged",
}
PATTERNS = {
    re.compile(
        rf"(?:(?<!\w)|(?=[,.;:]))(?:{words})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE
    ): instead
    for words, instead in RETIRED.items()
}
_FENCE = re.compile(r"^```(\w*)[^\n`]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_IN_MARKDOWN = re.compile(r"``.*?``|`[^`]*`|\]\([^)]*\)|\{#[^}]*\}|<!--.*?-->", re.DOTALL)
_IN_TEMPLATES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<[^>]*>", re.DOTALL)
_IN_STRINGS = re.compile(r"``.*?``|`[^`]*`|^\s*(?:>>>|\.\.\.) .*$", re.MULTILINE)
_IDENTIFIER = re.compile(r"[\w.:/*-]*")

Piece = tuple[int, str]  # the number of its first line, and the text


def pieces(path: Path) -> Iterator[Piece]:
    """Yield the texts in a file that people read, without the names of code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from in_python(text)
    elif path.suffix == ".md":
        yield from in_markdown(text)
    else:
        yield 1, blank(_IN_TEMPLATES, text)


def in_markdown(text: str) -> Iterator[Piece]:
    """Yield the prose of a page, and the texts in its Python examples; outputs are the code's."""
    for fence in _FENCE.finditer(text):
        if fence[1] == "python" and not fence[2].startswith((">>>", '"')):
            first = text.count("\n", 0, fence.start(2))
            yield from ((first + line, piece) for line, piece in in_python(fence[2]))
    yield 1, blank(_IN_MARKDOWN, blank(_FENCE, text))


def in_python(text: str) -> Iterator[Piece]:
    """Yield the string literals and the comments of a module; a lone identifier is no text."""
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and not _IDENTIFIER.fullmatch(value):
            yield node.lineno, blank(_IN_STRINGS, value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], blank(_IN_STRINGS, token.string.lstrip("# "))


def blank(pattern: re.Pattern[str], text: str) -> str:
    """Return a text in which matches are empty lines, so that line numbers stay the same."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n") or "…", text)


def retired(found: Iterator[Piece]) -> list[str]:
    """Return line, words and advice for each retired word, in the order of lines."""
    hits = {
        (first + piece.count("\n", 0, hit.start()), " ".join(hit[0].split()), instead)
        for first, piece in found
        for pattern, instead in PATTERNS.items()
        for hit in pattern.finditer(piece)
    }
    return [f"line {line}: {words!r}; write: {instead}" for line, words, instead in sorted(hits)]


def test_no_retired_word_is_left():
    found = [
        f"{path.relative_to(ROOT)}, {word}" for path in FILES for word in retired(pieces(path))
    ]
    assert not found, "\n".join(found)


def test_every_kind_of_text_is_found():
    def texts(pattern):
        return (text for path in ROOT.glob(pattern) for _, text in pieces(path))

    assert [pattern for pattern in EVERYTHING if not any(texts(pattern))] == []


@pytest.mark.parametrize(
    ("page", "line", "word"),
    [
        ("All dates save one.", 1, "save one"),
        ("First.\n\nIt was put\nto every class.", 3, "put to"),
        ("Who knows an age finds a row.", 1, "Who knows"),
        ("The chance, by who\nknows an age.", 1, "by who knows"),
        ('```python\nx = 1\nprint("nothing is told")\n```', 3, "told"),
        ("```python\nx = 1  # made anew\n```", 2, "anew"),
        ('```python\ndef f():\n    """Count.\n\n    Tells why.\n    """\n```', 5, "Tells"),
    ],
)
def test_a_retired_word_is_found_with_its_line(page, line, word):
    (found,) = retired(in_markdown(page))
    assert found.startswith(f"line {line}: {word!r};")


@pytest.mark.parametrize(
    "page",
    [
        "Save the file. They save time. Amend outdoors, intelligently.",
        "Anyone who knows an age finds a row. Who knows an age?",
        "The field `not_told` and [the page](tell.md#anew) {#told}",
        "```text\nit was told anew\n```",
        '```python\ntold = {"told": 1}\n```',
    ],
)
def test_plain_words_and_names_of_code_pass(page):
    assert retired(in_markdown(page)) == []
