"""Values as templates see them, and the parts of templates that need no jinja to be filled.

Values compute like numbers and print like the drawn decimals: a weight that was drawn as ``0.10`` is printed
so, and not as ``0.1`` or ``0.1000000001``; yet ``{{ 1 - w }}`` computes with it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from engine.expressions.values import as_float, as_tensor, decimal_text, is_tensor, value_of
from engine.model import DrawnValue

if TYPE_CHECKING:
    from jinja2 import nodes
    from jinja2.sandbox import SandboxedEnvironment

# A computed value without a stated number of decimals is printed with at most this many: enough to see that a
# number isn't rounded to what it seems, and short enough for a line.
_DEFAULT_PLACES = 6


def _text(value: float, place: int | None) -> str:
    if place is not None:
        return decimal_text(value, place)
    digits = decimal_text(value, _DEFAULT_PLACES)
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


class TemplateFigure:
    """A number, vector or matrix in a template.

    Parameters
    ----------
    value : float or tensor
        What it computes with.
    entries : sequence of str, optional
        The drawn decimals in C order, printed as they are.
    place : int, optional
        Decimal place to which it is printed where there are no drawn decimals.
    """

    __slots__ = ("_entries", "_place", "value")

    def __init__(self, value: Any, entries: Sequence[str] | None = None, place: int | None = None) -> None:
        self.value = value
        self._entries = None if entries is None else tuple(entries)
        self._place = place

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape; ``()`` for a number."""
        return self.value.shape if is_tensor(self.value) else ()

    def texts(self, place: int | None = None) -> list[str]:
        """Return every entry as digits, rounded to `place` if it is given."""
        # drawn decimals are printed as drawn, unless the template asks for other places
        if place is None and self._entries is not None:
            return list(self._entries)
        flat = as_tensor(self.value).ravel().tolist()
        return [_text(number, self._place if place is None else place) for number in flat]

    def __str__(self) -> str:
        return tex(self)

    __repr__ = __str__

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a number has no length")
        return self.shape[0]

    def __getitem__(self, index: Any) -> TemplateFigure:
        position = int(as_float(plain_value(index)))
        size = len(self)
        if not -size <= position < size:
            raise IndexError(f"position {position} isn't within 0 … {size - 1}")
        position %= size
        width = as_tensor(self.value).size // size
        entries = None if self._entries is None else self._entries[position * width : (position + 1) * width]
        return TemplateFigure(self.value[position], entries, self._place)

    def __iter__(self) -> Iterator[TemplateFigure]:
        return (self[i] for i in range(len(self)))

    def __float__(self) -> float:
        return as_float(self.value)

    def __index__(self) -> int:
        number = as_float(self.value)
        if number != int(number):
            raise TypeError(f"{number:g} isn't a whole number")
        return int(number)

    def __bool__(self) -> bool:
        return bool(as_float(self.value))

    def __hash__(self) -> int:
        return hash(as_float(self.value))

    def __neg__(self) -> TemplateFigure:
        return TemplateFigure(-self.value)


def _comparison(act: Callable[[Any, Any], Any]) -> Callable[[TemplateFigure, Any], bool]:
    return lambda self, other: bool(act(as_float(self.value), as_float(plain_value(other))))


def _binary(act: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: TemplateFigure, other: Any) -> TemplateFigure:
        return TemplateFigure(act(self.value, plain_value(other)))

    def backward(self: TemplateFigure, other: Any) -> TemplateFigure:
        return TemplateFigure(act(plain_value(other), self.value))

    return forward, backward


# `{% if p < 0.5 %}` and `{{ 1 - p }}`: python's operators, which are all alike
for _name in ("eq", "lt", "le", "gt", "ge"):
    setattr(TemplateFigure, f"__{_name}__", _comparison(getattr(operator, _name)))
for _name in ("add", "sub", "mul", "truediv", "pow"):
    for _method, _call in zip(
        (f"__{_name}__", f"__r{_name}__"), _binary(getattr(operator, _name)), strict=True
    ):
        setattr(TemplateFigure, _method, _call)


def plain_value(value: Any) -> Any:
    """Return what a figure computes with; all else as it is."""
    return value.value if isinstance(value, TemplateFigure) else value


def figure_of(value: Any, place: int | None = None) -> Any:
    """Return a value, or a drawn parameter, for a template: numbers as figures, words as they are."""
    if isinstance(value, DrawnValue):
        plain = value_of(value)
        return plain if value.text or isinstance(plain, int) else TemplateFigure(plain, value.entries)
    # whole numbers stay what they are: they index, count and are printed without a point
    if isinstance(value, TemplateFigure | str | bool | int | tuple | list):
        return value
    return TemplateFigure(value, place=place)


def _figure(value: Any) -> TemplateFigure:
    if isinstance(value, TemplateFigure):
        return value
    if isinstance(value, list | tuple):
        return TemplateFigure(as_tensor([plain_value(entry) for entry in value]))
    return TemplateFigure(value)


def number_tex(value: Any, places: int | None = None) -> str:
    """Return a number as digits.

    Raises
    ------
    TypeError
        `value` isn't one number.
    """
    figure = _figure(value)
    texts = figure.texts(places)
    if len(texts) != 1:
        raise TypeError(f"one number is needed, got shape {figure.shape}")
    return texts[0]


def vector_tex(value: Any, places: int | None = None) -> str:
    """Return a vector as a formula: `[0.1, 0.2]`."""
    return "[" + ", ".join(_figure(value).texts(places)) + "]"


def column_tex(value: Any, places: int | None = None) -> str:
    """Return a vector as a column in brackets."""
    return _bmatrix([[text] for text in _figure(value).texts(places)])


def matrix_tex(value: Any, places: int | None = None) -> str:
    """Return a matrix as a formula; a vector is one row.

    Raises
    ------
    TypeError
        `value` has more than two axes.
    """
    figure = _figure(value)
    if len(figure.shape) > 2:
        raise TypeError(f"a matrix is needed, got shape {figure.shape}")
    texts = figure.texts(places)
    width = figure.shape[-1] if figure.shape else 1
    return _bmatrix([texts[i : i + width] for i in range(0, len(texts), width)])


def _bmatrix(rows: list[list[str]]) -> str:
    return r"\begin{bmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{bmatrix}"


def tex(value: Any, places: int | None = None) -> str:
    """Return a number, vector or matrix as a formula, for use between dollars; words as they are."""
    if isinstance(value, str):
        return value
    figure = _figure(value)
    if not figure.shape:
        return number_tex(figure, places)
    return vector_tex(figure, places) if len(figure.shape) == 1 else matrix_tex(figure, places)


# Nearly all templates hold nothing but values, calls of functions, conditions and short loops. These become
# functions of what their names mean: jinja takes longer over calling a function than the function itself. The
# rest is left to jinja, and so is what fails here: it fails there with its message.

# What a part of a template gives, from the meanings of its names.
Value: TypeAlias = Callable[[Mapping[str, Any]], Any]

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "lteq": operator.le,
    "gt": operator.gt, "gteq": operator.ge,
}  # fmt: skip
# More parts are a loop in a loop, of which jinja counts what it writes.
_MOST_PARTS = 2_000


class NotPlain(Exception):  # noqa: N818 - a signal, never shown
    """A template with a part that jinja alone fills."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """``{% if %}``: the first test that is true, with its parts."""

    branches: Sequence[tuple[Value, Sequence[TemplatePart]]]
    otherwise: Sequence[TemplatePart]


@dataclass(frozen=True, slots=True)
class _Repetition:
    """``{% for %}``."""

    name: str
    values: Value
    parts: Sequence[TemplatePart]


TemplatePart: TypeAlias = "str | Value | _Choice | _Repetition"


@dataclass(frozen=True, slots=True)
class _Round:
    """What ``loop`` means in a round."""

    index0: int
    length: int

    @property
    def index(self) -> int:
        return self.index0 + 1

    @property
    def first(self) -> bool:
        return self.index0 == 0

    @property
    def last(self) -> bool:
        return self.index == self.length


def template_parts(body: Sequence[nodes.Node], environment: SandboxedEnvironment) -> tuple[TemplatePart, ...]:
    """Return the parts of a template.

    Raises
    ------
    NotPlain
        One is left to jinja.
    """
    from jinja2 import nodes

    def parts_of(body: Sequence[nodes.Node]) -> tuple[TemplatePart, ...]:
        return tuple(part for node in body for part in _parts(node))

    def _parts(node: nodes.Node) -> Sequence[TemplatePart]:
        match node:
            case nodes.Output():
                return [n.data if isinstance(n, nodes.TemplateData) else value_of(n) for n in node.nodes]
            case nodes.If():
                branches = [(value_of(branch.test), parts_of(branch.body)) for branch in (node, *node.elif_)]
                return [_Choice(branches, parts_of(node.else_))]
            case nodes.For(target=nodes.Name(name=name), test=None, else_=[], recursive=False):
                return [_Repetition(name, value_of(node.iter), parts_of(node.body))]
        raise NotPlain

    def value_of(node: nodes.Node | None) -> Value:
        match node:
            case nodes.Const():
                constant = node.value
                return lambda meanings: constant
            case nodes.Name():
                name = node.name
                known = environment.globals
                return lambda meanings: meanings[name] if name in meanings else known[name]
            case nodes.Getitem():
                holder, key = value_of(node.node), value_of(node.arg)
                return lambda meanings: holder(meanings)[key(meanings)]
            case nodes.Getattr(
                node=nodes.Name(name="loop"), attr="index" | "index0" | "first" | "last" | "length"
            ):
                attribute = operator.attrgetter(node.attr)
                return lambda meanings: attribute(meanings["loop"])
            case nodes.Call(node=nodes.Name(), dyn_args=None, dyn_kwargs=None):
                function = value_of(node.node)
                arguments = [value_of(argument) for argument in node.args]
                by_name = [(keyword.key, value_of(keyword.value)) for keyword in node.kwargs]
                if not by_name:
                    return lambda meanings: function(meanings)(
                        *[argument(meanings) for argument in arguments]
                    )
                return lambda meanings: function(meanings)(
                    *[argument(meanings) for argument in arguments],
                    **{name: value(meanings) for name, value in by_name},
                )
            case nodes.List():
                entries = [value_of(entry) for entry in node.items]
                return lambda meanings: [entry(meanings) for entry in entries]
            case nodes.Add() | nodes.Sub() | nodes.Mul() | nodes.Div():
                left, right, act = value_of(node.left), value_of(node.right), node.operator
                compute = environment.call_binop
                return lambda meanings: compute(None, act, left(meanings), right(meanings))  # type: ignore[arg-type]
            case nodes.Compare(ops=[nodes.Operand(op=sign)]) if sign in _COMPARISONS:
                left, right, compare = value_of(node.expr), value_of(node.ops[0].expr), _COMPARISONS[sign]
                return lambda meanings: compare(left(meanings), right(meanings))
            case nodes.And():
                left, right = value_of(node.left), value_of(node.right)
                return lambda meanings: left(meanings) and right(meanings)
            case nodes.Or():
                left, right = value_of(node.left), value_of(node.right)
                return lambda meanings: left(meanings) or right(meanings)
            case nodes.Not():
                operand = value_of(node.node)
                return lambda meanings: not operand(meanings)
            case nodes.Neg():
                operand = value_of(node.node)
                return lambda meanings: -operand(meanings)
            case nodes.CondExpr():
                test, then, otherwise = value_of(node.test), value_of(node.expr1), value_of(node.expr2)
                return lambda meanings: then(meanings) if test(meanings) else otherwise(meanings)
        raise NotPlain

    return parts_of(body)


def write_parts(
    parts: Sequence[TemplatePart], meanings: Mapping[str, Any], texts: list[str | None], words: list[str]
) -> None:
    """Write parts of a template: constants and, where words come, None to `texts`; these to `words`.

    Raises
    ------
    Exception
        Whatever a function of the template raises, or NotPlain for very many parts.
    """
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, _Choice):
            branches = (branch for test, branch in part.branches if test(meanings))
            write_parts(next(branches, part.otherwise), meanings, texts, words)
        elif isinstance(part, _Repetition):
            values = list(part.values(meanings))
            for index, value in enumerate(values):
                inner = {**meanings, part.name: value, "loop": _Round(index, len(values))}
                write_parts(part.parts, inner, texts, words)
        else:
            texts.append(None)
            words.append(str(part(meanings)))
    if len(texts) > _MOST_PARTS:
        raise NotPlain
