"""Slips of array code: each operator names what could stand in the place of one node of a right program.

An operator takes an :class:`EditSite` and yields replacements. It may yield what raises or changes nothing
that matters: the first is killed at once, and what equals another program is dropped by
:mod:`engine.authoring.mutation.generated`. To add one, write it here and append it to :data:`OPERATORS`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.authoring.mutation.edits import (
    call_with,
    exchanged,
    last_name,
    number_node,
    renamed,
    replaced,
    swaps,
    whole_number,
    without,
)


@dataclass(frozen=True, slots=True)
class EditSite:
    """A node of a solution, and what may be known about its place.

    Parameters
    ----------
    node : ast.expr or ast.stmt
        Statements are simple ones: a loop or condition is mutated by its expressions.
    names : tuple of str
        Names that hold values here: parameters of the functions around it, and what was assigned before,
        in this order.
    arrays : frozenset of str
        Those of the graded function's parameters that are used as arrays.
    is_test : bool
        Whether it decides whether something runs: the condition of a branch or loop.
    at_top : bool
        Whether it is the first statement of the graded function.
    torch : bool
        Whether the file works with torch.
    """

    node: ast.expr | ast.stmt
    names: tuple[str, ...] = ()
    arrays: frozenset[str] = frozenset()
    is_test: bool = False
    at_top: bool = False
    torch: bool = False


Replacement = ast.expr | list[ast.stmt]
"""An expression for an expression, statements for a statement; no statement at all leaves it out."""


class MutationOperator(NamedTuple):
    """One kind of slip under the name that ids begin with."""

    name: str
    replace: Callable[[EditSite], Iterator[Replacement]]


_AXIS = ("axis", "dim")
_KEEPING = ("keepdims", "keepdim")
_MODULES = ("np", "numpy", "torch", "F", "math", "nn", "sp", "scipy")
_TRIANGLES = ("tri", "triu", "tril")
_REDUCTIONS = {
    "max": ("min", "mean", "sum"), "min": ("max",), "amax": ("amin", "mean", "sum"), "amin": ("amax",),
    "sum": ("mean", "max"), "mean": ("sum",), "argmax": ("argmin",), "argmin": ("argmax",),
    "maximum": ("minimum",), "minimum": ("maximum",), "any": ("all",), "all": ("any",),
    "triu": ("tril",), "tril": ("triu",), "ones": ("zeros",), "zeros": ("ones",), "cumsum": ("cumprod",),
}  # fmt: skip
_ELEMENTWISE = ("exp", "log", "log2", "sqrt", "tanh", "sigmoid", "softmax", "log_softmax", "abs", "square")
_RESHAPING = ("swapaxes", "transpose", "permute", "broadcast_to", "expand", "expand_dims", "flip", "roll")
_ORDERED = (ast.Sub, ast.Div, ast.MatMult, ast.FloorDiv, ast.Mod)
_ORDERS: Mapping[type[ast.cmpop], Sequence[type[ast.cmpop]]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip


def _axis(site: EditSite) -> Iterator[ast.expr]:
    """Yield calls along another axis, and along none."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    for place, keyword in enumerate(node.keywords):
        if keyword.arg not in _AXIS:
            continue
        number = whole_number(keyword.value)
        others = (0, -1) if number is None else (0, -1, -2 if number < 0 else number + 1)
        for other in others:
            if other != number:
                yield call_with(
                    node,
                    keywords=replaced(node.keywords, place, ast.keyword(keyword.arg, number_node(other))),
                )
        yield call_with(node, keywords=without(node.keywords, place))


def _keepdims(site: EditSite) -> Iterator[ast.expr]:
    """Yield reductions that lose their axis."""
    node = site.node
    if isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg in _KEEPING:
                lost = ast.keyword(keyword.arg, ast.Constant(False))
                yield call_with(node, keywords=replaced(node.keywords, place, lost))


def _transposition(site: EditSite) -> Iterator[ast.expr]:
    """Yield arrays that aren't transposed, moved or spread any more, and matrices that are in a product."""
    node = site.node
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "H"):
        yield node.value
    if isinstance(node, ast.Call) and last_name(node.func) in _RESHAPING:
        yield from _operand(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        # a vector has no other side: as in the lectures, only a capital is a matrix
        if _is_matrix(node.left):
            yield ast.BinOp(ast.Attribute(node.left, "T", ast.Load()), node.op, node.right)
        if _is_matrix(node.right):
            yield ast.BinOp(node.left, node.op, ast.Attribute(node.right, "T", ast.Load()))


def _scale(site: EditSite) -> Iterator[ast.expr]:
    """Yield factors and divisors that are missing or doubled, and powers and roots that aren't taken."""
    node = site.node
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Mult | ast.Div):
            yield node.left
            yield ast.BinOp(node, node.op, node.right)
            yield ast.BinOp(node.left, ast.Div() if isinstance(node.op, ast.Mult) else ast.Mult(), node.right)
        if isinstance(node.op, ast.Mult):
            yield node.right
        if isinstance(node.op, ast.Pow):
            yield node.left
    if isinstance(node, ast.Call) and last_name(node.func) == "sqrt":
        yield from _operand(node)


def _swap(site: EditSite) -> Iterator[ast.expr]:
    """Yield two neighbours among arguments, entries or operands in the other order."""
    node = site.node
    if isinstance(node, ast.Call):
        for args in swaps(node.args):
            yield call_with(node, args=args)
    if isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load):
        for entries in swaps(node.elts):
            yield type(node)(entries, node.ctx)
    if isinstance(node, ast.BinOp) and isinstance(
        node.op, ast.Sub | ast.Div | ast.MatMult | ast.FloorDiv | ast.Mod
    ):
        yield ast.BinOp(node.right, node.op, node.left)


def _polarity(site: EditSite) -> Iterator[ast.expr]:
    """Yield masks, comparisons and conditions that say the opposite, or nearly so."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert | ast.Not):
        yield node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for order in _ORDERS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [order()], node.comparators)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    if isinstance(node, ast.Call) and last_name(node.func) in ("masked_fill", "where") and node.args:
        place = 1 if isinstance(node.func, ast.Attribute) and _is_module(node.func.value) else 0
        place = 0 if last_name(node.func) == "where" else place
        if place < len(node.args):
            opposite = ast.UnaryOp(ast.Invert(), node.args[place])
            yield call_with(node, args=[*node.args[:place], opposite, *node.args[place + 1 :]])


def _condition(site: EditSite) -> Iterator[ast.expr]:
    """Yield conditions that always or never hold, and those of which a part is missing."""
    node = site.node
    if site.is_test:
        yield ast.Constant(True)
        yield ast.Constant(False)
    if isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            rest = without(node.values, place)
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    if isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse


def _reduction(site: EditSite) -> Iterator[ast.expr]:
    """Yield another reduction, triangle or fill."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    for other in _REDUCTIONS.get(last_name(node.func), ()):
        yield call_with(node, func=renamed(node.func, other))


def _function(site: EditSite) -> Iterator[ast.expr]:
    """Yield arguments of elementwise functions that are left out; exponentials to another base."""
    node = site.node
    if not isinstance(node, ast.Call):
        return
    name = last_name(node.func)
    if name in _ELEMENTWISE and name != "sqrt":
        yield from _operand(node)
    if name == "exp":
        yield call_with(node, func=renamed(node.func, "exp2"))
    if name == "log":
        yield call_with(node, func=renamed(node.func, "log2"))


def _sign(site: EditSite) -> Iterator[ast.expr]:
    """Yield the other sign, and sums of which a term is missing."""
    node = site.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and whole_number(node) is None:
        yield node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
        yield node.left
        if isinstance(node.op, ast.Add):
            yield node.right


def _product(site: EditSite) -> Iterator[ast.expr]:
    """Yield products entry by entry for those of matrices, and true division for whole-number division."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield ast.BinOp(node.left, ast.Mult(), node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield ast.BinOp(node.left, ast.MatMult(), node.right)


def _off_by_one(site: EditSite) -> Iterator[ast.expr]:
    """Yield numbers and ends of ranges that are one too large or too small."""
    node = site.node
    number = whole_number(node) if isinstance(node, ast.expr) else None
    if number is not None:
        yield number_node(number + 1)
        yield number_node(number - 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield ast.Constant(node.value + 1.0)
        yield ast.Constant(node.value * 2.0)
    if isinstance(node, ast.Call) and last_name(node.func) in ("range", "arange") and node.args:
        last = min(len(node.args), 2) - 1
        for op in (ast.Add(), ast.Sub()):
            end = ast.BinOp(node.args[last], op, ast.Constant(1))
            yield call_with(node, args=[*node.args[:last], end, *node.args[last + 1 :]])
        if len(node.args) == 1:
            yield call_with(node, args=[ast.Constant(1), *node.args])
    if isinstance(node, ast.Call) and last_name(node.func) in _TRIANGLES:
        keyword = "diagonal" if site.torch else "k"
        is_method = isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)
        if len(node.args) == (not is_method) and all(other.arg != keyword for other in node.keywords):
            for diagonal in (1, -1):
                yield call_with(node, keywords=[*node.keywords, ast.keyword(keyword, number_node(diagonal))])


def _missing(site: EditSite) -> Iterator[list[ast.stmt]]:
    """Leave a statement out that nothing after it needs to run."""
    node = site.node
    if isinstance(node, ast.Assign):
        targets = [name for target in node.targets for name in ast.walk(target)]
        names = {name.id for name in targets if isinstance(name, ast.Name)}
        if names <= set(site.names):  # a name that isn't bound yet would only raise
            yield []
    elif isinstance(node, ast.AugAssign | ast.Break | ast.Continue | ast.Expr):
        yield []


def _in_place(site: EditSite) -> Iterator[list[ast.stmt]]:
    """Compute into an argument what a new array should hold."""
    node = site.node
    if not isinstance(node, ast.Assign | ast.Return | ast.Expr):
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            if isinstance(inner.left, ast.Name) and inner.left.id in site.arrays:
                write = ast.AugAssign(ast.Name(inner.left.id, ast.Store()), inner.op, inner.right)
                yield [write, exchanged(node, inner, inner.left)]
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            name, owner = inner.func.attr, inner.func.value
            if site.torch and _is_argument(owner, site) and name in ("masked_fill", *_ELEMENTWISE):
                writing = call_with(inner, func=ast.Attribute(owner, name + "_", ast.Load()))
                yield [exchanged(node, inner, writing)]
            elif name in _ELEMENTWISE and len(inner.args) == 1 and _is_argument(inner.args[0], site):
                out = ast.keyword("out", inner.args[0])
                yield [exchanged(node, inner, call_with(inner, keywords=[*inner.keywords, out]))]


def _dtype(site: EditSite) -> Iterator[Replacement]:
    """Yield results and arguments of another precision, and arrays made without their dtype."""
    node = site.node
    if isinstance(node, ast.Call):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg == "dtype":
                yield call_with(node, keywords=without(node.keywords, place))
        # the last argument may be another array's dtype
        if node.args and isinstance(node.args[-1], ast.Attribute) and node.args[-1].attr == "dtype":
            yield call_with(node, args=node.args[:-1])
    if isinstance(node, ast.Return) and node.value is not None:
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for place, value in enumerate(values):
            for dtype in ("float32", "float64"):
                cast = _as_dtype(value, dtype, site.torch)
                entries = [*values[:place], cast, *values[place + 1 :]]
                yield [ast.Return(ast.Tuple(entries, ast.Load()) if len(values) > 1 else cast)]
    if isinstance(node, ast.stmt) and site.at_top:
        for name in sorted(site.arrays):
            for dtype in ("float32", "float64"):
                value = _as_dtype(ast.Name(name, ast.Load()), dtype, site.torch)
                yield [ast.Assign([ast.Name(name, ast.Store())], value), node]


def _broadcast(site: EditSite) -> Iterator[ast.expr]:
    """Yield new axes that are missing or elsewhere."""
    node = site.node
    if not isinstance(node, ast.Subscript):
        return
    index = node.slice
    entries = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(entry, ast.Constant) and entry.value is None for entry in entries):
        yield node.value
        if len(entries) > 1:
            yield ast.Subscript(node.value, ast.Tuple(entries[::-1], ast.Load()), node.ctx)


def _name(site: EditSite) -> Iterator[ast.expr]:
    """Yield the neighbours of a name among those that hold values here."""
    node = site.node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in site.names:
        place = site.names.index(node.id)
        for other in site.names[max(0, place - 1) : place] + site.names[place + 1 : place + 2]:
            yield ast.Name(other, ast.Load())


def _operand(node: ast.Call) -> Iterator[ast.expr]:
    """Yield the array that a function of a library, or a method, is called on."""
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        yield node.func.value
    elif node.args:
        yield node.args[0]


def _is_module(node: ast.expr) -> bool:
    # torch.nn.functional, too
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in _MODULES


def _is_matrix(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id != node.id.lower()


def _is_argument(node: ast.expr, site: EditSite) -> bool:
    return isinstance(node, ast.Name) and node.id in site.arrays


def _as_dtype(value: ast.expr, dtype: str, torch: bool) -> ast.expr:
    if torch:
        return ast.Call(ast.Attribute(value, "float" if dtype == "float32" else "double", ast.Load()), [], [])
    return ast.Call(ast.Attribute(value, "astype", ast.Load()), [ast.Constant(dtype)], [])


OPERATORS = (
    MutationOperator("axis", _axis),
    MutationOperator("keepdims", _keepdims),
    MutationOperator("transposition", _transposition),
    MutationOperator("scale", _scale),
    MutationOperator("swap", _swap),
    MutationOperator("polarity", _polarity),
    MutationOperator("condition", _condition),
    MutationOperator("reduction", _reduction),
    MutationOperator("function", _function),
    MutationOperator("sign", _sign),
    MutationOperator("product", _product),
    MutationOperator("off-by-one", _off_by_one),
    MutationOperator("missing", _missing),
    MutationOperator("in-place", _in_place),
    MutationOperator("dtype", _dtype),
    MutationOperator("broadcast", _broadcast),
    MutationOperator("name", _name),
)
"""All operators, in the order in which the programs of one place are tried."""
