"""Every regular expression of the product reads any text in linear time.

The engine of ``re`` holds the interpreter's lock, so that a pattern which goes back over what it has read,
or begins anew at each place of a long run, stops the grader and can't be interrupted. Patterns are collected
from the source; for each of them texts are made of its own parts, repeated. A new pattern is tried without
anybody thinking of it.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FUNCTIONS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
# The shortest shows what doubles with each character, before a longer text would take for ever.
LENGTHS = (26, 300, 2_000, 6_000, 20_000)
# Quadratic work on 20,000 characters is at least 2e8 steps of the engine, some tenths of a second; linear
# work is under 0.01 s.
LIMIT_S = 0.12

# Patterns whose texts are cut before they see them: how many characters there are at most, and where they
# are cut. Work on so many must still be short.
CUT: dict[tuple[str, str], tuple[int, str]] = {
    ("engine/authoring/lint/algebra.py", "_WITHOUT_DOLLARS"): (
        200,
        "a longer option is taken for no formula",
    ),
    ("engine/authoring/lint/assertions.py", "_CHAIN"): (300, "longer sentences are left out"),
    ("engine/authoring/lint/rules/keys.py", "_QUOTIENT"): (200, "longer texts are taken for no vector"),
    ("engine/authoring/lint/assertions.py", "_SPLIT"): (300, "it splits what _CHAIN has matched"),
    ("engine/answers/reading_numbers.py", "_WRAPPER"): (10_000, "read_numbers refuses longer texts"),
    ("engine/intake/spreadsheet_cells.py", "_DAY_FIRST"): (100, "Moments takes nothing longer for a time"),
    ("engine/intake/spreadsheet_cells.py", "_MONTH_FIRST"): (100, "Moments takes nothing longer for a time"),
}


@dataclass(frozen=True)
class Found:
    """A pattern where it stands, and the ways in which it is used."""

    file: str
    name: str
    pattern: re.Pattern[Any]
    uses: frozenset[str]


def module_of(path: Path) -> Any:
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def filled(node: ast.expr, names: dict[str, Any]) -> str | bytes | None:
    """Return the text of a pattern; what isn't known before the run is a plain word."""
    if isinstance(node, ast.JoinedStr):
        pieces = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                pieces.append(str(part.value))
            else:
                assert isinstance(part, ast.FormattedValue)
                value = names.get(part.value.id) if isinstance(part.value, ast.Name) else None
                pieces.append(value if isinstance(value, str) else "word")
        return "".join(pieces)
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value
    if isinstance(node, ast.Name) and isinstance(names.get(node.id), str | bytes):
        return names[node.id]
    return None


@cache
def nodes_of(tree: ast.AST) -> list[ast.AST]:
    return list(ast.walk(tree))


@cache
def nodes_of_assignments(tree: ast.Module) -> set[ast.AST]:
    return {node for part in tree.body if isinstance(part, ast.Assign) for node in ast.walk(part)}


def uses_of(tree: ast.AST, name: str) -> frozenset[str]:
    """Return how a pattern of a module is used there; every way where other modules may use it."""
    if not name.startswith("_"):
        return frozenset({"search", "match", "fullmatch"})
    direct, bases = set(), set()
    nodes = nodes_of(tree)
    calls = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS]
    for call in calls:
        if isinstance(call.value, ast.Name) and call.value.id == name:
            direct.add(call.attr)
            bases.add(call.value)
    for node in nodes:
        if (
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Load)
            and node not in bases
        ):
            # It is in a table or an argument: used as any variable of the module is.
            direct |= {
                call.attr for call in calls if isinstance(call.value, ast.Name) and call.value.id != "re"
            }
    return frozenset(direct) or frozenset({"search", "match", "fullmatch"})


def files_with_patterns() -> Iterator[str]:
    """Yield the files that use ``re``, by their text alone: every test process collects them."""
    for path in sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("reference/**/*.py"), ROOT / "cli.py"]):
        if re.search(r"\bimport re\b|from re import", path.read_text(encoding="utf-8")):
            yield path.relative_to(ROOT).as_posix()


def patterns(file: str) -> Iterator[Found]:
    path = ROOT / file
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    names = vars(module_of(path))
    for name, value in names.items():
        if isinstance(value, re.Pattern) and re.search(rf"^{name}\b", text, re.MULTILINE):
            yield Found(file, name, value, uses_of(tree, name))
    for node in nodes_of(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of = node.func.value
        if not (isinstance(of, ast.Name) and of.id == "re" and node.func.attr in FUNCTIONS | {"compile"}):
            continue
        source = filled(node.args[0], names)
        if source is None or (node.func.attr == "compile" and node in nodes_of_assignments(tree)):
            continue
        flags = [keyword.value for keyword in node.keywords if keyword.arg == "flags"]
        flags += [arg for arg in node.args[1:] if "re." in ast.unparse(arg)]
        bits = eval(ast.unparse(flags[0]), {"re": re}) if flags else 0
        use = "search" if node.func.attr == "compile" else node.func.attr
        yield Found(file, f"line {node.lineno}", re.compile(source, bits), frozenset({use}))


# --- texts that are hard for a pattern ---

_CLASSES = {
    c.CATEGORY_DIGIT: "1",
    c.CATEGORY_SPACE: " ",
    c.CATEGORY_WORD: "a",
    c.CATEGORY_NOT_DIGIT: "a",
    c.CATEGORY_NOT_SPACE: "a",
    c.CATEGORY_NOT_WORD: "-",
}
_TRIED = "a1 -_.,:;=<>[](){}\\/\"'`$#%+*\n\t~|A"


def members(items: list[tuple[Any, Any]]) -> list[str]:
    """Return characters that a set of characters matches."""
    if items and items[0][0] is c.NEGATE:
        excluded = _expanded(items[1:])
        return [char for char in _TRIED if char not in excluded][:2] or ["\u00e9"]
    found = []
    for kind, value in items:
        if kind is c.LITERAL:
            found.append(chr(value))
        elif kind is c.RANGE:
            found.append(chr(value[0]))
        elif kind is c.CATEGORY:
            found.append(_CLASSES[value])
    return found or ["a"]


def _expanded(items: list[tuple[Any, Any]]) -> set[str]:
    out: set[str] = set()
    for kind, value in items:
        if kind is c.LITERAL:
            out.add(chr(value))
        elif kind is c.RANGE:
            out |= {char for char in _TRIED if value[0] <= ord(char) <= value[1]}
        elif kind is c.CATEGORY:
            test = {
                c.CATEGORY_DIGIT: str.isdigit,
                c.CATEGORY_SPACE: str.isspace,
                c.CATEGORY_WORD: lambda s: s.isalnum() or s == "_",
                c.CATEGORY_NOT_DIGIT: lambda s: not s.isdigit(),
                c.CATEGORY_NOT_SPACE: lambda s: not s.isspace(),
                c.CATEGORY_NOT_WORD: lambda s: not (s.isalnum() or s == "_"),
            }[value]
            out |= {char for char in _TRIED if test(char)}
    return out


def sample(parts: Any) -> str:
    """Return a text that a part of a pattern matches, as short as it may be."""
    out = ""
    for kind, value in parts:
        if kind is c.LITERAL:
            out += chr(value)
        elif kind is c.NOT_LITERAL:
            out += "a" if value != ord("a") else "b"
        elif kind is c.ANY:
            out += "a"
        elif kind is c.IN:
            out += members(value)[0]
        elif kind is c.BRANCH:
            out += sample(value[1][0])
        elif kind is c.SUBPATTERN:
            out += sample(value[3])
        elif kind is c.ATOMIC_GROUP:
            out += sample(value)
        elif kind in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            out += sample(value[2]) * max(1, value[0])
    return out


def pieces(parts: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what can be repeated, each with a text that leads up to it."""
    run = ""
    for kind, value in parts:
        if kind is c.LITERAL:
            run += chr(value)
            yield before, chr(value)
            continue
        if len(run) > 1:
            yield before, run
        before, run = before + run, ""
        if kind is c.IN:
            yield from ((before, char) for char in members(value))
        elif kind is c.BRANCH:
            for branch in value[1]:
                yield from pieces(branch, before)
        elif kind is c.SUBPATTERN:
            yield from pieces(value[3], before)
        elif kind in (c.ATOMIC_GROUP,):
            yield from pieces(value, before)
        elif kind in (c.ASSERT, c.ASSERT_NOT):
            yield from pieces(value[1], before)
        elif kind in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            yield before, sample(value[2])
            yield from pieces(value[2], before)
        before += sample([(kind, value)])
    if len(run) > 1:
        yield before, run
    yield "", before + run


def hard_texts(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    found = [
        *pieces(parser.parse(source, pattern.flags & ~re.UNICODE)),
        ("", " "),
        ("", "\n"),
        ("", "a"),
        ("", "1"),
    ]
    single = list(dict.fromkeys(piece for _, piece in found if len(piece) == 1))[:7]
    found += [("", one + other) for one in single for other in single if one != other]
    found += [("", piece) for _, piece in found]
    return [(before, piece) for before, piece in dict.fromkeys(found) if piece]


def work(found: Found, text: str) -> float:
    """Return the processor seconds of the slowest way in which a pattern is used."""
    subject: Any = text if isinstance(found.pattern.pattern, str) else text.encode("latin-1", "replace")
    slowest = 0.0
    for use in found.uses:
        method: Callable[..., Any] = getattr(found.pattern, use)
        begun = time.process_time()
        if use in ("sub", "subn"):
            method("", subject)
        elif use == "finditer":
            for _ in method(subject):
                pass
        else:
            method(subject)
        slowest = max(slowest, time.process_time() - begun)
    return slowest


def expected_s(shorter: tuple[int, float], longer: tuple[int, float]) -> float:
    """Return the seconds for the longest text, where work is a sum of a linear and a quadratic part."""
    (few, quick), (many, slow) = shorter, longer
    growth = (slow / many - quick / few) / (many - few)
    return LENGTHS[-1] * (slow / many + max(0.0, growth) * (LENGTHS[-1] - many))


def slow_text(found: Found) -> str | None:
    """Return a text that takes a pattern too long, described; None where there is none."""
    most = CUT.get((found.file, found.name), (LENGTHS[-1], ""))[0]
    for before, piece in hard_texts(found.pattern):
        for ending in ("", "\0", "\n\0"):
            measured: list[tuple[int, float]] = []
            for length in (*(n for n in LENGTHS if n < most), most):
                # What grows faster than quadratic work shows in 2,000 characters: where thrice what the two
                # texts before let expect is short, longer ones tell nothing new.
                if length > LENGTHS[2] and 3 * expected_s(*measured[-2:]) < LIMIT_S:
                    break
                text = (before + piece * (length // len(piece)))[:length] + ending
                spent = work(found, text)
                # A busy machine may have taken the first measurement's time; of the text that growth is
                # measured from, that would hide it.
                if spent > LIMIT_S or length == LENGTHS[1]:
                    spent = min(spent, work(found, text))
                if spent > LIMIT_S:
                    times = length // len(piece)
                    return f"{before[:40]!r} + {piece[:40]!r} * {times} + {ending!r}: {spent:.2f} s"
                measured.append((length, spent))
    return None


FILES = list(files_with_patterns())


def test_patterns_are_found() -> None:
    assert {"engine/intake/notebook.py", "engine/authoring/importing/text_blocks.py"} <= set(FILES)
    places = {(found.file, found.name) for file in FILES for found in patterns(file)}
    assert len(places) > 450
    assert set(CUT) <= places  # what is cut is still there


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"^\s*(%|[\w., \t]+=\s*!)|^\s*\w+\?\s*$", "match"),
        (r"\s+$", "search"),
        (r"\{\{.*?\}\}", "sub"),
        (r"(a+)+b", "match"),
        (r"(\d+)?x", "finditer"),
    ],
)
def test_the_test_knows_a_slow_pattern(pattern: str, use: str) -> None:
    assert slow_text(Found("here", pattern, re.compile(pattern), frozenset({use}))) is not None


@pytest.mark.parametrize("file", FILES)
def test_each_pattern_of_a_file_reads_any_text_in_linear_time(file: str) -> None:
    slow = [(found, slow_text(found)) for found in patterns(file)]
    lines = [
        f"{found.name}: {found.pattern.pattern!r} with {text}" for found, text in slow if text is not None
    ]
    assert lines == []
