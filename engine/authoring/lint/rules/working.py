"""Careful work on paper earns full marks: every intermediate rounded to the stated working precision.

The check is worth something only if it shares no code with what computes the keys. So the arithmetic on paper
walks an expression itself and works out each step in numpy; what it doesn't know, such as a search in a
table, is taken from the engine, unrounded.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from engine.authoring.lint.rules.printed import rounded
from engine.authoring.lint.rules.responses import answer_text, graded, places_of, right_answers, unearned
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.expressions.language import parse
from engine.items import MatrixAnswer, NumberAnswer, VectorAnswer
from engine.model import FloatArray, Part, Variant

Values = Any  # float, ndarray of float64, str, tuple


class PaperArithmetic:
    """Evaluates expressions as a student with pencil and paper does, rounding every intermediate.

    Parameters
    ----------
    names : mapping
        Values by name: numbers, nested lists, arrays, words.
    decimals : int
        The working precision.
    engine : callable
        ``engine(expression)`` evaluates a subexpression that isn't known here.
    """

    def __init__(self, names: Mapping[str, Any], decimals: int, engine: Callable[[str], Any]) -> None:
        self.names = names
        self.decimals = decimals
        self.engine = engine

    def evaluate(self, expression: str) -> Any:
        """Return the value as a numpy array, rounded to the working precision.

        Raises
        ------
        ValueError
            The expression holds something that isn't arithmetic.
        """
        return self.rounded(self._value(parse(expression).tree))

    def rounded(self, value: Any) -> Any:
        """Round to the working precision."""
        return np.round(np.asarray(value, dtype=np.float64), self.decimals) + 0.0  # + 0.0: no negative zero

    def _value(self, node: ast.AST) -> Values:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return _plain(self.names[node.id])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._value(node.operand)
        if isinstance(node, ast.BinOp) and (type(node.op) in _OPERATORS or isinstance(node.op, ast.MatMult)):
            first, second = self._value(node.left), self._value(node.right)
            if isinstance(node.op, ast.MatMult):
                return _product(self.rounded, first, second)
            return self.rounded(_OPERATORS[type(node.op)](first, second))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node)
        if isinstance(node, ast.List):
            return np.array([self._value(entry) for entry in node.elts])
        if isinstance(node, ast.Subscript):
            return _plain(self._value(node.value)[int(self._value(node.slice))])
        raise ValueError(f"not arithmetic: {ast.unparse(node)}")

    def _call(self, name: str, node: ast.Call) -> Values:
        work = _CALLS.get(name)
        if work is None or node.keywords:  # an option changes what is computed: leave it to the engine
            return _plain(self.engine(ast.unparse(node)))
        return work(self.rounded, *(self._value(argument) for argument in node.args))


def _plain(value: Any) -> Values:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple) and all(isinstance(x, str) for x in value):
        return value
    return np.asarray(value, dtype=np.float64)


_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip


# Functions, each with the rounding that a careful student would do.
# r rounds to the working precision


def _softmax(r: Any, scores: Any) -> Any:
    powers = r(np.exp(np.asarray(scores, dtype=np.float64)))
    return r(powers / r(powers.sum(axis=-1, keepdims=True)))


def _context(r: Any, weights: Any, states: Any) -> Any:
    return r(r(np.asarray(weights)[..., :, None] * np.asarray(states)).sum(axis=-2))


def _dot_scores(r: Any, queries: Any, keys: Any) -> Any:
    return r(np.asarray(queries) @ np.asarray(keys).swapaxes(-1, -2))


def _scaled_dot_scores(r: Any, queries: Any, keys: Any) -> Any:
    return r(_dot_scores(r, queries, keys) / r(np.sqrt(np.asarray(keys).shape[-1])))


def _matvec(r: Any, matrix: Any, vector: Any) -> Any:
    return r(r(np.asarray(matrix) * np.asarray(vector)).sum(axis=-1))


def _product(r: Any, first: Any, second: Any) -> Any:
    first, second = np.asarray(first), np.asarray(second)
    if second.ndim == 1:
        return _matvec(r, first, second)
    return _context(r, first, second)  # each row of the left side mixes the rows of the right one


def _alignment_vector(r: Any, h: Any, s: Any, w_h: Any, w_s: Any) -> Any:
    return r(np.tanh(r(_matvec(r, w_h, h) + _matvec(r, w_s, s))))


def _additive_scores(r: Any, s: Any, states: Any, w: Any, u: Any, v: Any) -> Any:
    inner = [_alignment_vector(r, h, s, u, w) for h in np.asarray(states)]
    return r(np.array([r(np.asarray(v) * t).sum() for t in inner]))


def _sdpa(r: Any, queries: Any, keys: Any, values: Any) -> Any:
    return _context(r, _softmax(r, _scaled_dot_scores(r, queries, keys)), values)


def _dot(r: Any, a: Any, b: Any) -> Any:
    return r(r(np.asarray(a) * np.asarray(b)).sum())


_CALLS: Mapping[str, Callable[..., Any]] = {
    "additive_scores": _additive_scores,
    "alignment_vector": _alignment_vector,
    "concat": lambda r, *parts: np.concatenate([np.atleast_1d(p) for p in parts]),
    "context": _context,
    "dot": _dot,
    "dot_scores": _dot_scores,
    "exp": lambda r, x: r(np.exp(x)),
    "log": lambda r, x: r(np.log(x)),
    "scaled_dot_scores": _scaled_dot_scores,
    "sdpa": _sdpa,
    "softmax": _softmax,
    "sqrt": lambda r, x: r(np.sqrt(x)),
    "sum": lambda r, x: r(np.sum(x)),
    "tanh": lambda r, x: r(np.tanh(x)),
}


def known_calls() -> frozenset[str]:
    """Return the functions that are worked out step by step."""
    return frozenset(_CALLS)


_EXTRA = 2  # decimals beyond those asked for, where an item states no working precision
Numeric = NumberAnswer | VectorAnswer | MatrixAnswer


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield the first variant in which careful work on paper loses marks."""
    if not any(isinstance(answer, Numeric) for _, answer in subject.spec.answers):
        return
    trials = (
        (seed, variant, as_typed)
        for seed, variant in enumerate(subject.variants)
        for as_typed in _carried(variant)
    )
    for seed, variant, as_typed in trials:
        answers = worked_answers(subject, variant, as_typed=as_typed)
        report = graded(variant, answers)
        part = unearned(variant, report)
        if part is not None:
            exact = right_answers(variant)[part.id]
            yield subject.fault(
                "a student who rounds every intermediate to the working precision loses marks",
                subject.loc_of(part.id),
                expected=f"full marks for {answers[part.id]} (the key is {exact})",
                got=f"{report.score} of {report.max_score} in all",
                next_step="raise tolerance, or ask for more working_decimals",
                seed=seed,
            )
            return


def _carried(variant: Variant) -> tuple[bool, ...]:
    """Return the ways to go on: with the number on paper, or with the one typed, which is often shorter."""
    return (False, True) if len(variant.parts) > 1 else (False,)


def worked_answers(subject: LintSubject, variant: Variant, *, as_typed: bool = False) -> dict[str, str]:
    """Return the answers of a student who rounds every intermediate, also those carried forward.

    Parameters
    ----------
    subject : LintSubject
    variant : Variant
    as_typed : bool
        Carry earlier answers forward as they were typed, not to the working precision.
    """
    from engine.expressions.language import evaluate
    from engine.expressions.values import names_of

    names: dict[str, Any] = dict(names_of(variant.values))
    answers = right_answers(variant)
    for (name, answer), part in zip(subject.spec.answers, variant.parts, strict=True):
        if not isinstance(answer, Numeric):
            if (key := getattr(answer, "key", None)) is not None:
                names[name] = evaluate(key, {**names, **_derived(subject, names)})
            continue
        work = PaperArithmetic(names, _working(answer), lambda text: evaluate(text, names))
        for derived, text in subject.spec.derived.items():
            names[derived] = _worked(work, text)
        value = work.evaluate(answer.key)
        answers[part.id] = _as_typed_text(value, part)
        names[name] = _as_typed(value, part) if as_typed else value
    return answers


def _derived(subject: LintSubject, names: dict[str, Any]) -> dict[str, Any]:
    from engine.expressions.language import evaluate

    values: dict[str, Any] = {}
    for name, text in subject.spec.derived.items():
        values[name] = evaluate(text, {**names, **values})
    return values


def _worked(work: PaperArithmetic, text: str) -> Any:
    try:
        return work.evaluate(text)
    except ValueError:
        return work.engine(text)


def _working(answer: Numeric) -> int:
    if answer.working_decimals is not None:
        return answer.working_decimals
    return (answer.decimals if answer.decimals is not None else 6) + _EXTRA  # 6: more than tolerances need


def _as_typed(value: Any, part: Part) -> Any:
    places = iter(places_of(part))
    return np.array([float(rounded((entry,), next(places))[0]) for entry in value.flatten()]).reshape(
        value.shape
    )


def _as_typed_text(value: Any, part: Part) -> str:
    assert part.key is not None
    return answer_text(FloatArray(part.key.shape, tuple(value.flatten().tolist())), places_of(part))
