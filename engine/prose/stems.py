"""Stems as jinja2 templates, in a sandbox that knows our values and functions and nothing else.

No attribute can be read (``loop.index`` and its like excepted), an unknown name is an error, loops are
short and the output is capped.  What students type never goes through a template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, meta, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import LoopContext
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from engine.prose.figures import (
    TemplateFigure,
    column_tex,
    figure_of,
    matrix_tex,
    number_tex,
    tex,
    vector_tex,
)
from engine.prose.pictures import PICTURE_FUNCTIONS
from engine.text.words import count_noun

__all__ = [
    "TEXT_FILTERS",
    "TEXT_FUNCTIONS",
    "TemplateFault",
    "fill_template",
    "is_template",
    "names_in_template",
]

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

MAX_OUTPUT = 50_000
MAX_RANGE = 64
MAX_BITS = 4_000
MAX_LOOPS = 3


class TemplateFault(ValueError):  # noqa: N818 - jinja2 has a TemplateError of its own
    """A template that can't be read or filled; the message says why."""


def _table(value: Any, columns: str = "", rows: str = "", corner: str = "", places: int | None = None) -> str:
    """Return a matrix as a table; headings are words with blanks between."""
    figure = figure_of(value)
    if not isinstance(figure, TemplateFigure) or len(figure.shape) != 2:
        raise TypeError("a table needs a matrix")
    width = figure.shape[1]
    heads, names = columns.split() or [str(j + 1) for j in range(width)], rows.split()
    if len(heads) != width or (names and len(names) != len(figure)):
        raise TypeError(f"the table has {count_noun(len(figure), 'row')} and {count_noun(width, 'column')}")
    lines = [[*([corner] if names else []), *heads]]
    lines.append(["---"] * len(lines[0]))
    lines += [[*names[i : i + 1], *row.texts(places)] for i, row in enumerate(figure)]
    return "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def _parenthesised(value: Any, places: int | None = None) -> str:
    """Return a number, in parentheses if it is negative."""
    text = number_tex(value, places)
    return f"({text})" if text.startswith("-") else text


def _range(*bounds: Any) -> range:
    numbers = range(*(int(bound) for bound in bounds))
    if len(numbers) > MAX_RANGE:
        raise SecurityError(f"a range holds over {MAX_RANGE} numbers")
    return numbers


TEXT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "tex": tex,
    "vec": vector_tex,
    "col": column_tex,
    "mat": matrix_tex,
    "num": number_tex,
    "dec": number_tex,
    "par": _parenthesised,
    "table": _table,
    **PICTURE_FUNCTIONS,
}
"""What texts may call besides the functions of expressions, also as filters: ``{{ w | tex }}``."""

TEXT_FILTERS = ("join", "length", "first", "last")
"""The filters of jinja that texts may use besides."""


class _Environment(SandboxedEnvironment):
    # All of them, also so that none is computed while a template is compiled.
    intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return isinstance(obj, LoopContext) and not attr.startswith("_")

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext) and not attribute.startswith("_"):
            return getattr(obj, attribute)
        raise SecurityError(f"no attribute can be read: .{attribute}")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if any(isinstance(side, str | list | tuple) for side in (left, right)) and operator != "+":
            raise SecurityError(f"{operator} is for numbers")
        if operator == "**" and abs(float(right)) > MAX_RANGE:
            raise SecurityError(f"an exponent is beyond {MAX_RANGE}")
        # Looked at before anything is computed: doubled thirty times, a letter fills the memory.
        if operator == "+" and all(isinstance(side, str | list | tuple) for side in (left, right)):
            if len(left) + len(right) > MAX_OUTPUT:
                raise SecurityError(f"a text or list grows beyond {MAX_OUTPUT}")
        elif _bits(operator, left, right) > MAX_BITS:
            raise SecurityError(f"an integer grows beyond {MAX_BITS} bits")
        return super().call_binop(context, operator, left, right)


def _bits(operator: str, left: Any, right: Any) -> int:
    """Return about how many bits an operation's integer has; 0 where it isn't one of two integers."""
    if not (isinstance(left, int) and isinstance(right, int)):
        return 0
    one, other = left.bit_length(), right.bit_length()
    return one * abs(right) if operator == "**" else one + other if operator == "*" else max(one, other)


def _joined(values: Any, between: str = "") -> str:
    """Return texts joined, not longer than a text may be."""
    parts = [str(value) for value in values]
    if sum(map(len, parts)) + len(between) * len(parts) > MAX_OUTPUT:
        raise SecurityError(f"a text grows beyond {MAX_OUTPUT} characters")
    return between.join(parts)


@lru_cache(maxsize=1)
def _environment() -> _Environment:
    environment = _Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    jinja_filters = {name: environment.filters[name] for name in TEXT_FILTERS}
    environment.filters = {**jinja_filters, "join": _joined, **TEXT_FUNCTIONS}
    environment.globals = {"range": _range, **TEXT_FUNCTIONS}
    return environment


_FORBIDDEN = (
    nodes.Macro, nodes.CallBlock, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Block,
)  # fmt: skip


class _CappedJoins(NodeTransformer):
    """Makes the filter ``join`` of every ``~``, which doesn't ask how long a text gets."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        parts = nodes.List([self.visit(part) for part in node.nodes], lineno=node.lineno)
        joined = nodes.Filter(parts, "join", [], [], None, None, lineno=node.lineno)
        return joined.set_environment(_environment())


@lru_cache(maxsize=1024)
def _compiled(source: str) -> tuple[Template, frozenset[str]]:
    try:
        tree = _environment().parse(source)
        _check(tree, 0)
        names = frozenset(meta.find_undeclared_variables(tree))
        code = _environment().compile(_CappedJoins().visit(tree))
        return Template.from_code(_environment(), code, _environment().make_globals(None)), names
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f" (line {line})" if line else ""
        raise TemplateFault(f"{error.message or type(error).__name__}{place}") from None


def _check(node: nodes.Node, loops: int) -> None:
    if isinstance(node, nodes.Name) and node.name in ("self", "caller", "varargs", "kwargs"):
        raise SecurityError(f"{node.name} isn't part of our templates")
    if isinstance(node, _FORBIDDEN):
        raise SecurityError(f"{type(node).__name__.lower()} isn't part of our templates")
    if isinstance(node, nodes.For):
        loops += 1
        if loops > MAX_LOOPS or node.recursive:
            raise SecurityError(f"loops are nested deeper than {MAX_LOOPS}")
    for child in node.iter_child_nodes():
        _check(child, loops)


def names_in_template(source: str) -> frozenset[str]:
    """Return the names and functions that a template uses.

    Raises
    ------
    TemplateFault
        It can't be read.
    """
    return _compiled(source)[1] - set(TEXT_FUNCTIONS) - {"range"}


def is_template(source: str) -> bool:
    """Tell whether a text has anything to fill in."""
    return "{{" in source or "{%" in source or "{#" in source


def _shown_function(call: Callable[..., Any]) -> Callable[..., Any]:
    def shown(*args: Any, **kwargs: Any) -> Any:
        plain = [arg.value if isinstance(arg, TemplateFigure) else arg for arg in args]
        named = {name: arg.value if isinstance(arg, TemplateFigure) else arg for name, arg in kwargs.items()}
        return figure_of(call(*plain, **named))

    return shown


def _known(needed: frozenset[str], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template needs: our names first, then functions (which bring torch)."""
    known = {name: figure_of(names[name]) for name in needed if name in names}
    missing = needed - known.keys() - TEXT_FUNCTIONS.keys() - {"range"}
    if missing:
        from engine.expressions.functions import FUNCTIONS

        known.update({name: _shown_function(FUNCTIONS[name].call) for name in missing if name in FUNCTIONS})
    return known


def fill_template(source: str, names: Mapping[str, Any]) -> str:
    """Return a template filled with values.

    Parameters
    ----------
    source : str
        The template.
    names : mapping of str to value, Drawn or TemplateFigure
        What it may use, besides the functions of expressions and ``tex``, ``vec``, ``col``, ``mat``,
        ``num``, ``dec``, ``par``, ``table`` and the pictures (functions and filters alike).

    Raises
    ------
    TemplateFault
        It can't be read, a name is unknown, or something in it fails.
    """
    template, needed = _compiled(source)
    parts: list[str] = []
    length = 0
    try:
        for part in template.generate(_known(needed, names)):
            parts.append(part)
            length += len(part)
            if length > MAX_OUTPUT:
                raise TemplateFault(f"the text grows beyond {MAX_OUTPUT} characters")
    except TemplateError as error:
        raise TemplateFault(_ADDRESS.sub("", error.message or type(error).__name__)) from None
    except (TypeError, ValueError, IndexError, KeyError, ArithmeticError, RuntimeError) as error:
        if isinstance(error, TemplateFault):
            raise
        reason = str(error).splitlines() or [type(error).__name__]
        raise TemplateFault(reason[0][:300]) from None
    return "".join(parts)
