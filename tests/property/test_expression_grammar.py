"""The check of a file and the draw agree on every expression that Python can write.

Expressions are made of all nodes of Python's own grammar, so that a node that one side forgets is found.
"""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import Diagnostic, ExpressionError, SpecError
from engine.expressions.language import parse
from engine.items import load_spec

HEAD = """\
id: item
title: An item
source: {document: S0}
difficulty: 2
bloom: apply
topics: [attention]
parameters:
  e: {kind: vector, size: 3, range: [-2, 3]}
  n: {kind: integer, range: [1, 3]}
stem: Scores.
"""
LINE = HEAD.count("\n") + 1
EXAMPLES = 400


NAMES = st.sampled_from(["e", "n", "nosuch", "__import__", "True_"])
CONSTANTS = st.one_of(
    st.none(), st.just(...), st.booleans(), st.binary(max_size=3), st.text("ab\\'\"é{", max_size=70),
    st.integers(-5, 10), st.sampled_from([2**62, 2**63, 10**30]), st.floats(0, 1e9), st.just(1e300),
    st.complex_numbers(max_magnitude=9, allow_nan=False),
)  # fmt: skip
LEAVES: st.SearchStrategy[Any] = st.one_of(
    CONSTANTS.map(ast.Constant), NAMES.map(lambda name: ast.Name(name, ast.Load()))
)


def operators(base: type[ast.AST]) -> st.SearchStrategy[Any]:
    return st.sampled_from(base.__subclasses__()).map(lambda kind: kind())


def comprehensions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    loop = st.builds(
        ast.comprehension, st.just(ast.Name("x", ast.Store())), inner, st.lists(inner, max_size=1), st.just(0)
    )
    return st.lists(loop, min_size=1, max_size=2)


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    load = st.just(ast.Load())
    loops = comprehensions(inner)
    arguments = st.builds(
        ast.arguments,
        st.just([]),
        st.just([]),
        st.just(None),
        st.just([]),
        st.just([]),
        st.just(None),
        st.just([]),
    )
    some = st.lists(inner, max_size=3)
    functions = st.sampled_from(["sum", "softmax", "max", "context", "nosuch", "eval"])
    keywords = st.builds(ast.keyword, st.sampled_from(["axis", "temperature", "x", None]), inner)
    slices = st.builds(ast.Slice, st.none() | inner, st.none() | inner, st.none() | inner)
    filled = st.builds(ast.FormattedValue, inner, st.just(-1), st.none())
    return st.one_of(
        st.builds(ast.BoolOp, operators(ast.boolop), st.lists(inner, min_size=2, max_size=3)),
        st.builds(ast.NamedExpr, st.just(ast.Name("x", ast.Store())), inner),
        st.builds(ast.BinOp, inner, operators(ast.operator), inner),
        st.builds(ast.UnaryOp, operators(ast.unaryop), inner),
        st.builds(ast.Lambda, arguments, inner),
        st.builds(ast.IfExp, inner, inner, inner),
        st.builds(ast.Dict, st.lists(inner, min_size=1, max_size=1), st.lists(inner, min_size=1, max_size=1)),
        st.builds(ast.Set, st.lists(inner, min_size=1, max_size=2)),
        st.builds(ast.ListComp, inner, loops),
        st.builds(ast.SetComp, inner, loops),
        st.builds(ast.DictComp, inner, inner, loops),
        st.builds(ast.GeneratorExp, inner, loops),
        st.builds(ast.Await, inner),
        st.builds(ast.Yield, st.none() | inner),
        st.builds(ast.YieldFrom, inner),
        st.builds(
            lambda left, sign, right: ast.Compare(left, [sign], [right]), inner, operators(ast.cmpop), inner
        ),
        st.builds(
            ast.Call,
            functions.map(lambda name: ast.Name(name, ast.Load())) | inner,
            st.lists(inner | st.builds(ast.Starred, inner, load), max_size=3),
            st.lists(keywords, max_size=2),
        ),
        st.builds(lambda part: ast.JoinedStr([part]), filled),
        st.builds(ast.Attribute, inner, st.sampled_from(["shape", "__class__"]), load),
        st.builds(
            ast.Subscript, inner, inner | slices | st.builds(lambda a: ast.Tuple(a, ast.Load()), some), load
        ),
        st.builds(ast.List, some, load),
        st.builds(ast.Tuple, some, load),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=8)


def written(tree: ast.AST) -> str:
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, RecursionError):  # an f-string with a backslash can't be written in this Python
        return "f'{e}'"


def quoted(text: str) -> str:
    """Return a text in YAML; control characters by number, as a file may not write "\\t" before a letter."""
    escaped = (f"\\u{ord(c):04X}" if ord(c) < 32 else "\\" + c if c in '"\\' else c for c in text)
    return '"' + "".join(escaped) + '"'


def faults(text: str, folder: Path, key: str | None = None) -> list[Diagnostic]:
    path = folder / "item.yaml"
    line = f"answer: {{type: number, key: {key or quoted(text)}, decimals: 3}}\n"
    path.write_text(HEAD + line, encoding="utf-8")
    try:
        load_spec(path, registry={})
    except SpecError as error:
        return list(error.diagnostics)
    return []


def refusal(text: str) -> ExpressionError | None:
    try:
        parse(text)
    except ExpressionError as error:
        return error
    return None


def agree(text: str, folder: Path, key: str | None = None) -> None:
    """Assert that what the file check lets through compiles, and what doesn't compile has a place."""
    diagnostics, error = faults(text, folder, key), refusal(text)
    if error is None:
        # names and arguments are what the file's check knows beyond the grammar
        words = ("isn't defined", "there is no function", "can't be called like this")
        assert all(any(word in fault.message for word in words) for fault in diagnostics), (text, diagnostics)
        return
    assert diagnostics, f"{text!r} loads, and fails at the draw: {error}"
    for fault in diagnostics:
        assert fault.line == LINE
        assert 29 <= fault.column <= len(fault.source_line)
        assert fault.lines()[-1].endswith("^")


def test_the_expressions_hold_every_node_of_the_language_of_python() -> None:
    """A Python that brings another kind of expression must be thought of here."""
    source = Path(__file__).read_text(encoding="utf-8")
    for kind in ast.expr.__subclasses__():
        assert f"ast.{kind.__name__}" in source or kind.__module__ != "ast", kind


@given(EXPRESSIONS.map(written))
@settings(max_examples=EXAMPLES)
def test_what_a_file_may_hold_can_be_compiled_and_what_cant_is_a_fault_of_the_file(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        agree(text, Path(folder))


@given(st.text("en1+-*/().,[]{}'\"\\ \n\té∑:=!<>|&%@~#", max_size=30))
@settings(max_examples=EXAMPLES)
def test_so_it_is_with_any_text(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        agree(text, Path(folder))


@pytest.mark.parametrize(
    "text",
    [
        "sum(e) + 1j*0", "sum(e, **e)", "+".join("n" * 151), "None", "...", "b'x'", "9999999999999999999",
        "1e400", "'" + "x" * 65 + "'", "e if n", "(" * 300, "-" * 400 + "1", "  ", "", "\n", "sum(x=e, x=n)",
        "e[\n0,\n n.shape]", "n ^ 2", "n not in e", "sum()(1)", "e; n", "x = 1", "\u212f + 1",
        "'" + "é" * 10 + "' + e.shape", "1 +" * 140 + "1",
    ],
)  # fmt: skip
def test_of_these_only_the_file_check_or_only_the_draw_once_knew(text: str, tmp_path: Path) -> None:
    assert refusal(text) is not None or text == "\u212f + 1"  # Python reads the letter as an e
    agree(text, tmp_path)


@pytest.mark.parametrize("number", ["3", "-0.5", "1e400", ".inf", ".nan", "99999999999999999999", "1e-9"])
def test_a_number_is_an_expression_too(number: str, tmp_path: Path) -> None:
    diagnostics = faults("", tmp_path, number)
    refused = number in (".inf", ".nan", "1e400", "99999999999999999999")
    assert bool(diagnostics) == refused
    assert all(fault.column == 29 for fault in diagnostics)


def test_a_fault_in_a_later_line_has_its_place_there(tmp_path: Path) -> None:
    path = tmp_path / "item.yaml"
    path.write_text(HEAD + "answer:\n  type: number\n  decimals: 3\n  key: |\n    (n +\n     n.real)\n")
    with pytest.raises(SpecError) as caught:
        load_spec(path, registry={})
    (fault,) = caught.value.diagnostics
    assert (fault.line, fault.column) == (LINE + 5, 6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("softmax()", "missing a required argument: 'x'"),
        ("softmax(e, axes=0)", "got an unexpected keyword argument 'axes'"),
        ("sum(e, 0, 1)", "too many positional arguments"),
    ],
)
def test_a_call_that_cant_be_made_is_a_fault_of_the_file(call: str, message: str, tmp_path: Path) -> None:
    (fault,) = faults(call, tmp_path)
    assert fault.message.endswith(f"can't be called like this: {message}")
    assert fault.column == 30
