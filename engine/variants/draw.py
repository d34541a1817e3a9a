"""Draw numbers until they serve: parameters, derived values, constraints, and the drafts of all fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.errors import DrawError, ExpressionError, UndefinedValueError
from engine.model import Drawn
from engine.plurals import counted
from engine.spec.schema import Misconception, ProblemSpec
from engine.variants.errata import accepted_printed
from engine.variants.expressions import evaluate, evaluate_truth, require_finite
from engine.variants.parameters import ImpossibleDraw, Redraw, draw_parameter
from engine.variants.parts import Draft, FieldContext, draft_field
from engine.variants.parts.numeric import foresee
from engine.variants.stream import Stream
from engine.variants.values import value_of

__all__ = ["TRIES", "Field", "Solved", "solve", "solve_for"]

TRIES = 200


@dataclass(frozen=True, slots=True)
class Field:
    """One answer field of a spec: the answer itself, or a step's."""

    id: str
    answer: Any
    points: float
    prompt: str | None
    misconceptions: tuple[Misconception, ...]
    follow_through: bool = False
    invariants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Solved:
    """Numbers that serve.

    Parameters
    ----------
    drawn : mapping of str to Drawn
    values : mapping of str to value
        Parameters and derived values.
    fields : tuple of (Field, Draft)
    is_random : bool
        Whether anything was drawn.
    """

    drawn: Mapping[str, Drawn]
    values: Mapping[str, Any]
    fields: tuple[tuple[Field, Draft], ...]
    is_random: bool

    def keys(self) -> dict[str, tuple[Any, Draft]]:
        """Return the key of every field by its id."""
        return {field.id: (draft.value, draft) for field, draft in self.fields}


def _fields_of(spec: ProblemSpec) -> tuple[Field, ...]:
    """Return the answer fields of a spec; a single one is called ``answer``.

    Where the item states its points, its steps share them in proportion to their own.
    """
    if spec.answer is not None:
        return (Field("answer", spec.answer, spec.points, None, spec.misconceptions),)
    total = sum(step.points for step in spec.steps)
    share = spec.points / total if "points" in spec.model_fields_set and total else 1.0
    return tuple(
        Field(
            step.id,
            step.answer,
            round(step.points * share, 9),
            step.prompt,
            step.misconceptions,
            step.follow_through,
            step.invariants,
        )
        for step in spec.steps
    )


def solve(spec: ProblemSpec, stream: Stream) -> Solved:
    """Draw until all constraints hold and every field can be drafted, at most 200 times.

    Raises
    ------
    DrawError
        No try served (names the constraint that failed most), or none can.
    ExpressionError
        An expression of the spec is faulty.
    """
    failures: Counter[str] = Counter()
    for _ in range(TRIES):
        try:
            return _try(spec, stream)
        except Redraw as reason:
            failures[str(reason)] += 1
        except UndefinedValueError as error:
            failures[error.expected or f"{error.where} has a value"] += 1
        except ImpossibleDraw as reason:
            raise DrawError(f"no variant can be drawn: {reason}", where=spec.id) from None
        except ExpressionError as error:
            error.where = f"{spec.id}, {error.where}"
            raise
        if not stream.used:
            break
    worst, count = failures.most_common(1)[0]
    tries = sum(failures.values())
    others = "; ".join(f"{text} (failed {n})" for text, n in failures.most_common(4)[1:])
    raise DrawError(
        f"no variant within {counted(tries, 'try')}: this failed {counted(count, 'time')}: {worst}",
        where=spec.id,
        expected=worst,
        got=f"also failed: {others}" if others else None,
        next_step="loosen that constraint, or widen the ranges of the parameters",
    )


def _try(spec: ProblemSpec, stream: Stream) -> Solved:
    drawn: dict[str, Drawn] = {}
    names: dict[str, Any] = {}
    for name, parameter in spec.parameters.items():
        drawn[name] = draw_parameter(parameter, stream, names)
        names[name] = value_of(drawn[name])
    names |= _derived(spec, names)
    for constraint in spec.constraints:
        if not evaluate_truth(constraint.expr, names):
            raise Redraw(constraint.message)
    return _drafted(spec, drawn, names, is_random=stream.used > 0)


def solve_for(spec: ProblemSpec, drawn: Mapping[str, Drawn]) -> Solved:
    """Draft all fields for numbers that were drawn before, whatever the constraints say now.

    Raises
    ------
    Redraw, ImpossibleDraw
        The fields can't be drafted for these numbers.
    ExpressionError
        An expression is faulty, or has no value for them.
    """
    names = {name: value_of(value) for name, value in drawn.items()}
    return _drafted(spec, drawn, names | _derived(spec, names), is_random=True)


def _derived(spec: ProblemSpec, parameters: Mapping[str, Any]) -> dict[str, Any]:
    names = dict(parameters)
    for name, text in spec.derived.items():
        names[name] = require_finite(evaluate(text, names), text)
    return names


def _drafted(
    spec: ProblemSpec, drawn: Mapping[str, Drawn], names: dict[str, Any], *, is_random: bool
) -> Solved:
    values = dict(names)
    fields = _fields_of(spec)
    if len(fields) > 1:
        _foresee(fields, names)
    drafts: list[tuple[Field, Draft]] = []
    for field in fields:
        draft = _draft(spec, field, names, drafts)
        drafts.append((field, draft))
        if field.id != "answer" and draft.value is not None:
            names[field.id] = draft.value
    return Solved(drawn, values, tuple(drafts), is_random)


def _foresee(fields: tuple[Field, ...], names: Mapping[str, Any]) -> None:
    """Work out the keys of numeric steps only: most tries fail at a rounding tie of some step."""
    known = dict(names)
    for field in fields:
        key = getattr(field.answer, "key", None)
        if field.answer.type in ("number", "vector", "matrix"):
            known[field.id] = foresee(field.answer, known)
        elif key is not None:
            known[field.id] = evaluate(key, known)


def _draft(
    spec: ProblemSpec, field: Field, names: Mapping[str, Any], earlier: list[tuple[Field, Draft]]
) -> Draft:
    context = FieldContext(
        names=_with_own(field, names),
        derived=spec.derived,
        misconceptions=field.misconceptions,
        carried=_carried(field, earlier),
        accepted=accepted_printed(spec) if field.id == "answer" else (),
    )
    return draft_field(field.answer, context)


def _with_own(field: Field, names: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the names with the step's own key, which its misconceptions may use."""
    key = getattr(field.answer, "key", None)
    if field.id == "answer" or key is None or not field.misconceptions:
        return names
    return {**names, field.id: evaluate(key, names)}


def _carried(field: Field, earlier: list[tuple[Field, Draft]]) -> dict[str, tuple[float, ...]]:
    """Return how far the earlier answers that a student goes on with may lie from their keys.

    An entry that is exact at the places asked for isn't off at all. Where follow-through marks this step with
    the student's own values, the others needn't be allowed for beyond the rounding to those places.
    """
    carried = {}
    for step, draft in earlier:
        if not draft.half_widths:
            continue
        rounding = tuple(0.0 if place is None else 0.5 * 10.0**-place for place in draft.places)
        reach = rounding if field.follow_through else draft.half_widths
        carried[step.id] = tuple(0.0 if exact else far for far, exact in zip(reach, draft.exact, strict=True))
    return carried
