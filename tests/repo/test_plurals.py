"""Counts in sentences are written by :mod:`engine.text.words`, so that no message says "1 items"."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.text.words import agree, all_of, count_noun, plural

ENGINE = Path(__file__).parents[2] / "engine"
# Beside student code nothing of ours may be imported; the attempts only report what an attack saw.
_ALONE = ("child", "escape_attempts.py", "plurals.py")
_NOUN_LIST = """
    answer attempt byte call card cell character check column copy day decimal element entry error
    example exercise fault field file formula group header hint hypothesis item key letter level mark
    minute mistake multiple mutant number operation option outcome page pair part pattern person point
    position question quiz record row section seed sequence step student text thread token unit value
    variant warning word
"""
_NOUNS = frozenset(plural(noun) for noun in _NOUN_LIST.split())
_VERBS = frozenset({"are", "aren't", "were", "have", "don't"})
_ADJECTIVES = frozenset({"different", "distinct", "right", "wrong", "more", "full", "late", "other"})


def unguarded(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each count whose noun or verb is in the plural whatever the number is."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for part, after in zip(node.values, node.values[1:], strict=False):
            if not (isinstance(part, ast.FormattedValue) and isinstance(after, ast.Constant)):
                continue
            if (isinstance(part.value, ast.IfExp) and _is_ending(part.value)) or _is_repeated(part.value):
                yield node.lineno, ast.unparse(part.value)
            elif _is_count(part.value) and _is_plural(str(after.value), part.value):
                yield node.lineno, f"{{{ast.unparse(part.value)}}}{after.value}"


def _is_ending(choice: ast.IfExp) -> bool:
    """Tell whether a choice appends an s to a noun or a verb."""
    ends = {side.value for side in (choice.body, choice.orelse) if isinstance(side, ast.Constant)}
    return ends in ({"", "s"}, {"", "es"}, {"is", "are"}, {"has", "have"}, {"does", "do"})


def _is_repeated(value: ast.expr) -> bool:
    """Return whether a value is an ending as often as a condition holds: ``"s" * (count > 1)``."""
    sides = (value.left, value.right) if isinstance(value, ast.BinOp) else ()
    return any(isinstance(side, ast.Constant) and side.value in ("s", "es") for side in sides)


def _is_count(value: ast.expr) -> bool:
    """Tell whether a value may be 1: no constant of ours, and no noun that follows its number already."""
    if isinstance(value, ast.Name | ast.Attribute):
        name = value.id if isinstance(value, ast.Name) else value.attr
        return not name.lstrip("_").isupper()
    if isinstance(value, ast.Subscript):
        return _is_count(value.value)
    if isinstance(value, ast.IfExp):
        return _is_count(value.body) and _is_count(value.orelse)
    return not isinstance(value, ast.Constant)


def _is_plural(text: str, value: ast.expr) -> bool:
    if not text.startswith(" "):
        return False
    words = [word.rstrip(".,;:)") for word in text.split()[:2]]
    if words and words[0] in _NOUNS:
        return not (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "count_noun"
        )
    if len(words) == 2 and words[0] in _ADJECTIVES and words[1] in _NOUNS:
        return True
    is_length = (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("len", "sum")
    )
    return is_length and bool(words) and words[0] in _VERBS


def test_every_count_of_the_engine_agrees_with_its_noun() -> None:
    found = [
        f"{path.relative_to(ENGINE.parent)}:{line}: {text}"
        for path in sorted(ENGINE.rglob("*.py"))
        if not set(path.parts) & set(_ALONE)
        for line, text in unguarded(path.read_text(encoding="utf-8"))
    ]
    # words and not numbers, as can be seen from where they come
    allowed = {"kind", "form", "side", "name", "what"}
    wrong = [one for one in found if not any(f"{{{word}}}" in one for word in allowed)]
    assert wrong == [], "write these with engine.text.words.count_noun and agree:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "source",
    [
        'f"{n} items checked"',
        'f"{len(x)} right options"',
        'f"{report.graded} files graded"',
        "f\"{n} item{'' if n == 1 else 's'} checked\"",
        'f"{len(x)} are left"',
        "f\"{n} item{'s' * (n > 1)} checked\"",
    ],
)
def test_a_count_without_its_noun_is_found(source: str) -> None:
    assert len(list(unguarded(source))) == 1


@pytest.mark.parametrize(
    "source",
    ["f\"{counted(n, 'item')} checked\"", 'f"at most {MOST} items"', 'f"{n} of {m}"', 'f"{name} holds"'],
)
def test_what_is_written_well_is_left_alone(source: str) -> None:
    assert list(unguarded(source)) == []


def test_nouns_and_verbs_agree_with_their_numbers() -> None:
    assert [count_noun(n, "entry") for n in (0, 1, 2)] == ["0 entries", "1 entry", "2 entries"]
    assert [count_noun(n, "point") for n in (1.0, 1.5, 0.5)] == ["1 point", "1.5 points", "0.5 points"]
    assert count_noun("1", "full point") == "1 full point"
    assert count_noun(1.04, "second", ".1f") == "1.0 seconds"
    assert count_noun(12345, "row", ",") == "12,345 rows"
    nouns = ("quiz", "hypothesis", "copy", "key", "class", "match", "person", "half step")
    assert [plural(noun) for noun in nouns] == [
        "quizzes", "hypotheses", "copies", "keys", "classes", "matches", "people", "half steps",
    ]  # fmt: skip
    verbs = ("are", "were", "have", "do", "count", "miss", "aren't", "don't")
    assert [agree(1, verb) for verb in verbs] == [
        "is", "was", "has", "does", "counts", "misses", "isn't", "doesn't",
    ]  # fmt: skip
    assert [agree(n, "are") for n in (0, 2)] == ["are", "are"]
    assert [all_of(n, "student") for n in (1, 2, 3)] == [
        "the only student",
        "both students",
        "all 3 students",
    ]
