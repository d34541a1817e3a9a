"""Stems as jinja2 templates, in a sandbox that knows our values and functions and nothing else.

A template comes from the file of an item, which may be somebody else's. So no attribute can be read
(``loop.index`` and its like excepted), an unknown name is an error, loops are short and the output is capped.
What students type never goes through a template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from jinja2 import StrictUndefined, Template, TemplateError, meta, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import LoopContext
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from engine.errors import DrawError
from engine.model import RenderedText
from engine.prose.figures import (
    TemplateFigure,
    column_tex,
    figure_of,
    matrix_tex,
    number_tex,
    plain_value,
    tex,
    vector_tex,
)
from engine.prose.frames import prose_frame
from engine.prose.markdown import ProseError, render_prose
from engine.prose.pictures import PICTURE_FUNCTIONS
from engine.text.words import count_noun, did_you_mean, one_line

# Python puts the address of an object into some messages; it would differ from run to run.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

# Over twice the longest text that a file may hold: what a template needs more, it makes by repeating itself.
MAX_OUTPUT = 50_000
# The longest side of a value that expressions make, so that every row of a matrix can be written out.
MAX_RANGE = 64
# An integer of 4,000 bits has 1,200 digits; two of them can still be multiplied in no time.
MAX_BITS = 4_000
# Rows, columns and one more; 64 ** 3 rounds without output still end within a second.
MAX_LOOPS = 3


class TemplateFault(ValueError):  # noqa: N818 - jinja2 has a TemplateError of its own
    """A template that can't be read or filled; the message says why."""


def _table(value: Any, columns: str = "", rows: str = "", corner: str = "", places: int | None = None) -> str:
    """Return a matrix as a table; headings are words separated by spaces."""
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
    # empty lines around it, so that Markdown takes it for a table wherever it is called
    return "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def _parenthesised(value: Any, places: int | None = None) -> str:
    """Return a number, in parentheses if it is negative."""
    text = number_tex(value, places)
    return f"({text})" if text.startswith("-") else text


def _range(*bounds: Any) -> range:
    numbers = range(*map(int, bounds))
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
    # All of them, so that none is computed while a template is compiled: 'a' * 10**9 would fill the memory.
    intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table)

    # jinja2's own list of unsafe attributes has been got round before; this one holds nothing but `loop`
    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return isinstance(obj, LoopContext) and not attr.startswith("_")

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, LoopContext) and not attribute.startswith("_"):
            return getattr(obj, attribute)
        raise SecurityError(f"no attribute can be read: .{attribute}")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        # '%999999999d' % 1 and 'a' * 10**9 make a long text of a short one
        if any(isinstance(side, str | list | tuple) for side in (left, right)) and operator != "+":
            raise SecurityError(f"{operator} is for numbers")
        if operator == "**" and abs(float(right)) > MAX_RANGE:
            raise SecurityError(f"an exponent is beyond {MAX_RANGE}")
        # The size is looked at before anything is computed: doubled thirty times, a letter fills the memory.
        if operator == "+" and all(isinstance(side, str | list | tuple) for side in (left, right)):
            if len(left) + len(right) > MAX_OUTPUT:
                raise SecurityError(f"a text or list grows beyond {MAX_OUTPUT}")
        elif _bits(operator, left, right) > MAX_BITS:
            raise SecurityError(f"an integer grows beyond {MAX_BITS} bits")
        return super().call_binop(context, operator, left, right)


def _bits(operator: str, left: Any, right: Any) -> int:
    # about how many bits the result has; floats can't grow
    if not (isinstance(left, int) and isinstance(right, int)):
        return 0
    bits = left.bit_length(), right.bit_length()
    return bits[0] * abs(right) if operator == "**" else sum(bits) if operator == "*" else max(bits)


def _joined(values: Any, between: str = "") -> str:
    # jinja2's own join has no limit
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


_BLOCKS = {
    nodes.Macro: "macro", nodes.CallBlock: "call", nodes.Include: "include", nodes.Import: "import",
    nodes.FromImport: "from", nodes.Extends: "extends", nodes.Block: "block",
}  # fmt: skip
_NAMES_OF_JINJA = ("self", "caller", "varargs", "kwargs")


def parse_template(source: str) -> nodes.Template:
    """Return the syntax tree of a template; jinja2's own error where there is none."""
    return _environment().parse(source)


def forbidden_parts(tree: nodes.Template, filters: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what isn't part of our templates: a word to look for, and a sentence.

    The check of a file and the draw both ask here, so that a template which a file may hold can be filled.
    """
    # One walk for all questions: every template of a bank is asked, and a walk takes its time.
    parts = list(tree.find_all(nodes.Node))
    kinds = set(map(type, parts))
    for kind, word in _BLOCKS.items():
        if kind in kinds:
            yield word, f"a text can't use {{% {word} %}}"
    for get in parts:
        if isinstance(get, nodes.Getattr) and not (
            isinstance(get.node, nodes.Name) and get.node.name == "loop"
        ):
            yield f".{get.attr}", f"a text can't use a dot after a value (.{one_line(get.attr, 30)})"
    for used in parts:
        if isinstance(used, nodes.Filter) and used.name not in filters:
            near = did_you_mean(used.name, sorted(filters))
            yield used.name, f"there is no filter '{one_line(used.name, 30)}'{near}"
    for name in parts:
        if isinstance(name, nodes.Name) and name.name in _NAMES_OF_JINJA:
            yield name.name, f"a text can't use {name.name}"
    loops = [part for part in parts if isinstance(part, nodes.For)]
    if loops and _depth_of_loops(tree) > MAX_LOOPS:
        yield "for", f"loops are nested deeper than {MAX_LOOPS}"
    if any(loop.recursive for loop in loops):
        yield "recursive", "a text can't use recursive loops"


def _depth_of_loops(node: nodes.Node) -> int:
    inner = max(map(_depth_of_loops, node.iter_child_nodes()), default=0)
    return inner + isinstance(node, nodes.For)


class _CappedJoins(NodeTransformer):
    """Makes the filter ``join`` of every ``~``, which doesn't limit how long a text gets."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        parts = nodes.List([self.visit(part) for part in node.nodes], lineno=node.lineno)
        joined = nodes.Filter(parts, "join", [], [], None, None, lineno=node.lineno)
        return joined.set_environment(_environment())


# What a part of a template gives, from the meanings of its names.
Value = Callable[[Mapping[str, Any]], Any]


@lru_cache(maxsize=1024)
def _read(source: str) -> tuple[frozenset[str], tuple[str | Value, ...] | None]:
    """Return the names that a template needs, and its parts if it has none but constants and plain values."""
    with _faults():
        tree = parse_template(source)
        for _, message in forbidden_parts(tree, _environment().filters):
            raise TemplateFault(message)
        try:
            return frozenset(name.name for name in tree.find_all(nodes.Name)), _parts_of(tree)
        except _NotPlain:
            _compiled(source)
            return frozenset(meta.find_undeclared_variables(tree)), None


@lru_cache(maxsize=1024)
def _compiled(source: str) -> Template:
    with _faults():
        code = _environment().compile(_CappedJoins().visit(parse_template(source)))
        return Template.from_code(_environment(), code, _environment().make_globals(None))


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f" (line {line})" if line else ""
        raise TemplateFault(f"{error.message or type(error).__name__}{place}") from None


# Four templates in five hold values and calls of functions only: "{{ w[0] }}", "{{ vec(e, 3) }}". Jinja takes
# longer over calling a function than the function itself, so that these are filled without it. What fails
# here is filled by jinja after all, and fails there with its message.


class _NotPlain(Exception):  # noqa: N818 - a signal, never shown
    """A template with a part that jinja alone fills."""


def _parts_of(tree: nodes.Template) -> tuple[str | Value, ...]:
    if not all(isinstance(output, nodes.Output) for output in tree.body):
        raise _NotPlain
    return tuple(
        part.data if isinstance(part, nodes.TemplateData) else _value_of(part)
        for output in tree.body
        for part in output.iter_child_nodes()
    )


def _value_of(node: nodes.Node) -> Value:
    match node:
        case nodes.Const():
            constant = node.value
            return lambda meanings: constant
        case nodes.Name():
            name = node.name
            known = _environment().globals
            return lambda meanings: meanings[name] if name in meanings else known[name]
        case nodes.Getitem(node=nodes.Name(), arg=nodes.Const() | nodes.Name()):
            holder, key = _value_of(node.node), _value_of(node.arg)
            return lambda meanings: holder(meanings)[key(meanings)]
        case nodes.Call(node=nodes.Name(), dyn_args=None, dyn_kwargs=None):
            function = _value_of(node.node)
            arguments = [_value_of(argument) for argument in node.args]
            by_name = [(keyword.key, _value_of(keyword.value)) for keyword in node.kwargs]
            return lambda meanings: function(meanings)(
                *[argument(meanings) for argument in arguments],
                **{name: value(meanings) for name, value in by_name},
            )
        case nodes.Add() | nodes.Sub() | nodes.Mul() | nodes.Div():
            left, right, act = _value_of(node.left), _value_of(node.right), node.operator
            compute = _environment().call_binop
            return lambda meanings: compute(None, act, left(meanings), right(meanings))
    raise _NotPlain


def _words(parts: Sequence[str | Value], meanings: Mapping[str, Any]) -> list[str] | None:
    """Return what the values among the parts of a template are written as, or None where one fails."""
    try:
        with np.errstate(all="ignore"):
            words = [str(part(meanings)) for part in parts if not isinstance(part, str)]
    except Exception:  # whatever it is, jinja meets it again
        return None
    return words if sum(map(len, words)) < MAX_OUTPUT / 2 else None


def is_template(source: str) -> bool:
    """Return whether a text has anything to fill in."""
    return "{{" in source or "{%" in source or "{#" in source


def _figure_function(call: Callable[..., Any]) -> Callable[..., Any]:
    def on_figures(*args: Any, **kwargs: Any) -> Any:
        plain = {name: plain_value(argument) for name, argument in kwargs.items()}
        return figure_of(call(*map(plain_value, args), **plain))

    return on_figures


def _meanings(needed: frozenset[str], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the names of a template mean: values of the item first, then functions."""
    meanings = {name: figure_of(names[name]) for name in needed if name in names}
    missing = needed - meanings.keys() - TEXT_FUNCTIONS.keys() - {"range"}
    if missing:  # a concept item is shown without the functions
        from engine.expressions.functions import FUNCTIONS

        calls = {name: FUNCTIONS[name].call for name in missing if name in FUNCTIONS}
        meanings.update({name: _figure_function(call) for name, call in calls.items()})
    return meanings


def fill_template(source: str, names: Mapping[str, Any]) -> str:
    """Return a template filled with values.

    Parameters
    ----------
    source : str
        The template.
    names : mapping of str to value, DrawnValue or TemplateFigure
        What it may use, besides the functions of expressions and :data:`TEXT_FUNCTIONS`.

    Raises
    ------
    TemplateFault
        It can't be read, a name is unknown, or something in it fails.
    """
    needed, _ = _read(source)
    parts: list[str] = []
    length = 0
    try:
        with np.errstate(all="ignore"):  # a number that isn't finite is refused when it's printed
            for part in _compiled(source).generate(_meanings(needed, names)):
                # counted while it grows: a loop in a loop needs no long text to fill the memory
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


def render_text(
    template: str, names: Mapping[str, Any], *, inline: bool = False, where: str = "text"
) -> RenderedText:
    """Return prose as plain text, HTML with MathML, and LaTeX.

    Parameters
    ----------
    template : str
        Markdown with ``$…$`` and ``$$…$$`` maths and jinja2 expressions.
    names : mapping of str to value, DrawnValue or TemplateFigure
        What the template may use.
    inline : bool
        One run of words, without paragraphs.
    where : str
        What is rendered, for the error.

    Raises
    ------
    engine.errors.DrawError
        The template or its maths is faulty.
    """
    try:
        if not is_template(template):
            return _fixed(template, inline)
        needed, parts = _read(template)
        if parts is not None and (words := _words(parts, _meanings(needed, names))) is not None:
            frame = prose_frame(tuple(part if isinstance(part, str) else None for part in parts), inline)
            if frame is not None and (text := frame.filled(words)) is not None:
                return text
        return render_prose(fill_template(template, names), inline=inline)
    except (TemplateFault, ProseError) as error:
        raise DrawError(f"the {where} can't be shown: {error}", where=where) from None


# Most options, hints and notes are the same in every variant; 4,096 of them are a large bank.
@lru_cache(maxsize=4096)
def _fixed(source: str, inline: bool) -> RenderedText:
    return render_prose(source, inline=inline)


@lru_cache(maxsize=4096)
def formula_text(source: str) -> RenderedText:
    """Return one formula (LaTeX without dollars) as a text."""
    return render_prose(f"${source}$", inline=True)
