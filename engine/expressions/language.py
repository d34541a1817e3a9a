"""Evaluation of key expressions: the small language of keys, derived values, constraints and mistakes.

An expression that :mod:`engine.expressions.grammar` accepts becomes a function once and is then called for
every variant::

    >>> evaluate("context(softmax(e), H)", {"e": ..., "H": ...})

Nothing is compiled to bytecode or passed to ``eval``: an expression can do what the functions of this module
do, and nothing else. Arithmetic is elementwise on float64 tensors; shapes must agree (or one side is a
number), because silent broadcasting turns a wrong key into a plausible one. ``@`` is the matrix product.
Every failure is an :class:`engine.errors.ExpressionError` that quotes the expression.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from engine.errors import ExpressionError, UndefinedValueError
from engine.expressions.grammar import CACHE_SIZE, MAX_INTEGER, GrammarFault, mentions, read_expression
from engine.expressions.values import as_float, away_from_jump, is_tensor
from reference.tangents import plain

# 64 by 64, the largest that the functions make: more entries than any mask or table of a lecture has.
MAX_ENTRIES = 4096
# An exercise by hand has no use for a higher power, and 9**9**9 must not keep the machine busy.
_MAX_POWER = 64


# Not frozen: one is made for each evaluation, and a frozen dataclass takes twice as long.
@dataclass(slots=True)
class EvaluationScope:
    """What the names, functions and operators of an expression mean in one evaluation."""

    names: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]]
    operators: Mapping[Any, Callable[..., Any]]


Node = Callable[[EvaluationScope], Any]


@dataclass(frozen=True, slots=True)
class ParsedExpression:
    """A checked syntax tree as a function, with the names and functions that it uses."""

    text: str
    tree: ast.expr
    names: frozenset[str]
    functions: frozenset[str]
    run: Node


@lru_cache(maxsize=CACHE_SIZE)
def parse(text: str) -> ParsedExpression:
    """Return the checked syntax tree of an expression.

    Raises
    ------
    ExpressionError
        It breaks a rule of :mod:`engine.expressions.grammar`.
    """
    tree = read_expression(text)
    if isinstance(tree, GrammarFault):
        raise _fault(tree.message, text)
    functions = frozenset(mention.name for mention in mentions(text, tree) if mention.call)
    names = frozenset(mention.name for mention in mentions(text, tree) if not mention.call)
    return ParsedExpression(text, tree, names, functions, _compiled(tree))


def _fault(message: str, text: str) -> ExpressionError:
    return ExpressionError(message, where=_quoted(text))


def _quoted(text: str) -> str:
    return f"expression {text[:120]!r}"


def _truth(value: Any) -> bool:
    if is_tensor(value) and value.size != 1:
        raise TypeError("a vector is neither true nor false; use all(…) or any(…)")
    return bool(value)


# Compiling: each node becomes a function of the scope, so that the tree is walked once and not for every
# variant of the item.


def _compiled(tree: ast.expr) -> Node:
    return _COMPILERS[type(tree)](tree)


def _constant(node: ast.Constant) -> Node:
    value = node.value
    return lambda scope: value


def _name(node: ast.Name) -> Node:
    name = node.id

    def look_up(scope: EvaluationScope) -> Any:
        try:
            return scope.names[name]
        except KeyError:
            names = ", ".join(sorted(scope.names)) or "none"
            raise TypeError(f"no name {name!r} here (known: {names})") from None

    return look_up


def _list(node: ast.List) -> Node:
    entries = [_compiled(entry) for entry in node.elts]

    def collect(scope: EvaluationScope) -> Any:
        values = [entry(scope) for entry in entries]
        if any(isinstance(value, str) for value in values):
            return tuple(values)  # words; numbers make a vector, and vectors a matrix
        from engine.expressions.functions.structure import stack

        return stack(*values)

    return collect


def _tuple(node: ast.Tuple) -> Node:
    entries = [_compiled(entry) for entry in node.elts]
    return lambda scope: tuple(entry(scope) for entry in entries)


def _subscript(node: ast.Subscript) -> Node:
    container, index = _compiled(node.value), _compiled(node.slice)

    def take(scope: EvaluationScope) -> Any:
        value = container(scope)
        if not (is_tensor(value) or isinstance(value, tuple)):
            raise TypeError(f"a {type(value).__name__} can't be indexed")
        return value[index(scope)]

    return take


def _slice(node: ast.Slice) -> Node:
    bounds = [None if bound is None else _compiled(bound) for bound in (node.lower, node.upper, node.step)]
    return lambda scope: slice(*(None if bound is None else bound(scope) for bound in bounds))


def _unary(node: ast.UnaryOp) -> Node:
    operator, operand = type(node.op), _compiled(node.operand)
    return lambda scope: scope.operators[operator](operand(scope))


def _binary(node: ast.BinOp) -> Node:
    operator, left, right = type(node.op), _compiled(node.left), _compiled(node.right)
    return lambda scope: scope.operators[operator](left(scope), right(scope))


def _logic(node: ast.BoolOp) -> Node:
    # the first value that decides ends the evaluation, as in Python: a true one in `or`, a false one in `and`
    decisive = isinstance(node.op, ast.Or)
    values = [_compiled(value) for value in node.values]
    return lambda scope: decisive if any(_truth(v(scope)) is decisive for v in values) else not decisive


def _comparison(node: ast.Compare) -> Node:
    first = _compiled(node.left)
    others = [(type(op), _compiled(right)) for op, right in zip(node.ops, node.comparators, strict=True)]

    def compare(scope: EvaluationScope) -> Any:
        left, result = first(scope), True
        for sign, right_of in others:
            right = right_of(scope)
            result = scope.operators[sign](left, right)
            if len(others) > 1 and not _truth(result):
                return False
            left = right
        return result

    return compare


def _conditional(node: ast.IfExp) -> Node:
    test, body, orelse = _compiled(node.test), _compiled(node.body), _compiled(node.orelse)
    return lambda scope: body(scope) if _truth(test(scope)) else orelse(scope)


def _call(node: ast.Call) -> Node:
    assert isinstance(node.func, ast.Name)  # a rule of the grammar
    name = node.func.id
    arguments = [_compiled(argument) for argument in node.args]
    by_name = {str(keyword.arg): _compiled(keyword.value) for keyword in node.keywords}

    def call(scope: EvaluationScope) -> Any:
        function = scope.functions.get(name)
        if function is None:
            raise TypeError(f"there is no function {name!r}")
        values = [argument(scope) for argument in arguments]
        if not by_name:
            return function(*values)
        return function(*values, **{key: value(scope) for key, value in by_name.items()})

    return call


_COMPILERS: dict[type[ast.AST], Callable[[Any], Node]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _logic,
    ast.Compare: _comparison,
    ast.IfExp: _conditional,
    ast.Call: _call,
}


# Operators


def _arithmetic(name: str, act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        both = is_tensor(left) + is_tensor(right)
        if both == 2:
            _same_shape(name, left, right)
            return act(left, right)
        for side in (left, right):
            if not (is_tensor(side) or isinstance(side, int | float)):
                raise TypeError(f"{name} needs numbers, got {type(side).__name__}")
        return _bounded(act(left, right))

    return apply


def _can_round(value: Any) -> bool:
    return value.dtype.kind == "f" if is_tensor(value) else isinstance(value, int | float)


def _away_from_whole(name: str, act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    # 0.3 // 0.1 is 2.0 in floats: of a quotient so near to a whole number rounding decides
    def apply(left: Any, right: Any) -> Any:
        value = act(left, right)
        if not (isinstance(left, int) and isinstance(right, int)):
            quotient = left / right
            nearest = np.round(plain(quotient)) if is_tensor(quotient) else round(quotient)
            away_from_jump(name, quotient - nearest, quotient)
        return value

    return apply


def _same_shape(name: str, left: Any, right: Any) -> None:
    # a tensor without axes is a number, which goes with any shape
    if left.shape != right.shape and left.ndim and right.ndim:
        raise TypeError(f"{name} needs equal shapes, got {left.shape} and {right.shape}")


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise TypeError("a whole number grows beyond 2**63")
    return value


def _power(base: Any, exponent: Any) -> Any:
    if not is_tensor(exponent) and abs(exponent) > _MAX_POWER:
        raise TypeError(f"an exponent is beyond {_MAX_POWER}")
    result = base**exponent
    if isinstance(result, complex):
        # reported as undefined, like a division by zero: these numbers are drawn again
        raise ZeroDivisionError("a negative number to a fractional power")
    return result


def _compare(name: str, act: Callable[[Any, Any], Any], exact: bool = False) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if isinstance(left, str | tuple) or isinstance(right, str | tuple):
            if type(left) is not type(right):
                raise TypeError(f"{name} compares like with like")
            return act(left, right)
        if is_tensor(left) and is_tensor(right):
            _same_shape(name, left, right)
        if exact and _can_round(left) and _can_round(right):
            away_from_jump(name, left - right, right if is_tensor(right) else left)
        result = act(left, right)
        return bool(result) if is_tensor(result) and result.size == 1 else result

    return apply


def _matmul(left: Any, right: Any) -> Any:
    from engine.expressions.functions.arithmetic import product

    return product(left, right)


OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _arithmetic("+", operator.add),
    ast.Sub: _arithmetic("-", operator.sub),
    ast.Mult: _arithmetic("*", operator.mul),
    ast.Div: _arithmetic("/", operator.truediv),
    ast.FloorDiv: _arithmetic("//", operator.floordiv),
    ast.Mod: _arithmetic("%", operator.mod),
    ast.Pow: _arithmetic("**", _power),
    ast.MatMult: _matmul,
    ast.USub: lambda x: -x,
    ast.UAdd: lambda x: x,
    ast.Not: lambda x: not _truth(x),
}
_COMPARISONS: dict[type[ast.AST], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
# What decides a key mustn't hang on the last bit of a float. A constraint may: whichever way it goes, the
# drawn numbers have a key of their own, and refusing some would change the draws that students have seen.
EXACT_OPERATORS = OPERATORS | {
    ast.FloorDiv: _away_from_whole("//", OPERATORS[ast.FloorDiv]),
    ast.Mod: _away_from_whole("%", OPERATORS[ast.Mod]),
}
EXACT_OPERATORS |= {kind: _compare(*sign, exact=True) for kind, sign in _COMPARISONS.items()}
OPERATORS |= {kind: _compare(*sign) for kind, sign in _COMPARISONS.items()}


# What Python and numpy raise for values that don't fit; anything else is a fault of ours.
_KNOWN_FAILURES = (TypeError, ValueError, IndexError, RuntimeError, OverflowError, AttributeError)

# Silencing numpy takes longer than evaluating a name, and a draw evaluates thirty expressions.
_silent = ContextVar("_silent", default=False)


@contextmanager
def silent_arithmetic() -> Iterator[None]:
    """Evaluate many expressions with numpy's warnings off once for all of them."""
    before = _silent.set(True)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _silent.reset(before)


_Lookup = Callable[[str], Callable[..., Any] | None]


@lru_cache(maxsize=CACHE_SIZE)
def _registered(text: str) -> Mapping[str, Callable[..., Any]]:
    from engine.expressions.functions import FUNCTIONS

    return {name: FUNCTIONS[name].call for name in parse(text).functions if name in FUNCTIONS}


def evaluate(
    text: str,
    names: Mapping[str, Any],
    *,
    functions: _Lookup | None = None,
    operators: Mapping[Any, Callable[..., Any]] | None = None,
) -> Any:
    """Evaluate an expression.

    Parameters
    ----------
    text : str
        The expression.
    names : mapping of str to value
        float64 arrays, numbers, words, tuples of words or numbers.
    functions : callable, optional
        Gives a function by its name, or None (the hand-work of :mod:`engine.expressions.precision`).
    operators : mapping, optional
        What each operator does.

    Returns
    -------
    value
        A float64 or boolean array of at most 4,096 entries, a number, a truth value, a word, or a tuple.

    Raises
    ------
    ExpressionError
        It can't be read, a name or function is unknown, or shapes don't fit.
    UndefinedValueError
        It divides by zero.
    """
    parsed = parse(text)
    if functions is None:
        calls = _registered(text)
    else:
        calls = {name: call for name in parsed.functions if (call := functions(name)) is not None}
    try:
        scope = EvaluationScope(names, calls, operators or EXACT_OPERATORS)
        if _silent.get():
            value = parsed.run(scope)
        else:
            # what comes of a division by zero is looked at by whoever uses it
            with np.errstate(all="ignore"):
                value = parsed.run(scope)
    except ExpressionError as error:
        error.where = error.where or _quoted(text)
        raise
    except ZeroDivisionError as error:
        raise UndefinedValueError(f"undefined: {error}", where=_quoted(text)) from None
    except _KNOWN_FAILURES as error:
        raise _fault(_reason(error), text) from None
    if is_tensor(value) and value.size > MAX_ENTRIES:
        raise _fault(f"the value has over {MAX_ENTRIES} entries", text)
    return value


def _reason(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:300] if lines and lines[0] else type(error).__name__


def require_finite(value: Any, text: str) -> Any:
    """Return `value` if all its numbers are finite.

    Raises
    ------
    UndefinedValueError
        One is infinite or not a number.
    """
    finite = True
    if is_tensor(value):
        finite = bool(np.isfinite(value).all())
    elif isinstance(value, float):
        finite = value - value == 0
    if not finite:
        raise UndefinedValueError("the value isn't finite", where=_quoted(text))
    return value


def evaluate_number(text: str, names: Mapping[str, Any]) -> float:
    """Evaluate an expression whose value is one finite number.

    Raises
    ------
    ExpressionError
        It fails, or its value isn't a single number.
    """
    value = require_finite(evaluate(text, names), text)
    try:
        return as_float(value)
    except TypeError as error:
        raise _fault(str(error), text) from None


def evaluate_truth(text: str, names: Mapping[str, Any], *, exact: bool = False) -> bool:
    """Evaluate a constraint.

    Parameters
    ----------
    text : str
    names : mapping of str to value
    exact : bool
        Whether a comparison on which a rounding error decides is refused.

    Raises
    ------
    ExpressionError
        It fails, or its value isn't true or false.
    """
    value = evaluate(text, names, operators=None if exact else OPERATORS)
    if is_tensor(value) and value.size == 1:
        value = bool(value)
    if not isinstance(value, bool):
        raise _fault(
            "a constraint must be true or false; use all(…), any(…) or a comparison of numbers", text
        )
    return value
