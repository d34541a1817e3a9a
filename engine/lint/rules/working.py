"""Who rounds every intermediate to the stated working precision gets full marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.lint.by_hand import HandWork
from engine.lint.finding import Finding
from engine.lint.printed import rounded
from engine.lint.rules.responses import graded
from engine.lint.subject import Subject
from engine.lint.trial import places_of, right_answers, typed
from engine.model import Array, Outcome, Part, Variant
from engine.spec.schema import MatrixAnswer, NumberAnswer, VectorAnswer

__all__ = ["check", "worked_answers"]

RULE = "working"
_EXTRA = 2  # decimals beyond those asked for, where an item states no working precision
Numeric = NumberAnswer | VectorAnswer | MatrixAnswer


def check(subject: Subject) -> Iterator[Finding]:
    """Yield the first variant in which careful hand work loses marks."""
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
        if report.outcome is not Outcome.RIGHT:
            earned = {check.id: check.points for check in report.checks}
            part = next((p for p in variant.parts if earned.get(p.id, 0) < p.points), variant.parts[0])
            exact = right_answers(variant)[part.id]
            yield subject.fault(
                RULE,
                "a student who rounds every intermediate to the working precision loses marks",
                subject.loc_of(part.id),
                expected=f"full marks for {answers[part.id]} (the key is {exact})",
                got=f"{report.score} of {report.max_score} in all",
                next_step="raise tolerance, or ask for more working_decimals",
                seed=seed,
            )
            return


def _carried(variant: Variant) -> tuple[bool, ...]:
    """A student may go on with what is on the paper, or with what was typed, which is often shorter."""
    return (False, True) if len(variant.parts) > 1 else (False,)


def worked_answers(subject: Subject, variant: Variant, *, as_typed: bool = False) -> dict[str, str]:
    """Return the answers of a student who rounds every intermediate, also those carried forward.

    Parameters
    ----------
    subject : Subject
    variant : Variant
    as_typed : bool
        Go on with the earlier answers as they were typed, not with the working precision.
    """
    import torch

    from engine.variants.expressions import evaluate
    from engine.variants.values import names_of

    names: dict[str, Any] = dict(names_of(variant.values))
    answers = right_answers(variant)
    for (name, answer), part in zip(subject.spec.answers, variant.parts, strict=True):
        if not isinstance(answer, Numeric):
            if (key := getattr(answer, "key", None)) is not None:
                names[name] = evaluate(key, {**names, **_derived(subject, names)})
            continue
        work = HandWork(names, _working(answer), lambda text: evaluate(text, names))
        for derived, text in subject.spec.derived.items():
            found = _worked(work, text)
            names[derived] = found if isinstance(found, str | tuple) else torch.as_tensor(found)
        value = work.evaluate(answer.key)
        answers[part.id] = _typed(value, part)
        names[name] = torch.as_tensor(_as_typed(value, part) if as_typed else value)
    return answers


def _derived(subject: Subject, names: dict[str, Any]) -> dict[str, Any]:
    from engine.variants.expressions import evaluate

    known: dict[str, Any] = {}
    for name, text in subject.spec.derived.items():
        known[name] = evaluate(text, {**names, **known})
    return known


def _worked(work: HandWork, text: str) -> Any:
    """Work a derived value out by hand, or take it from the engine where it is no arithmetic."""
    try:
        return work.evaluate(text)
    except ValueError:
        return work.engine(text)


def _working(answer: Numeric) -> int:
    if answer.working_decimals is not None:
        return answer.working_decimals
    return (answer.decimals if answer.decimals is not None else 6) + _EXTRA


def _as_typed(value: Any, part: Part) -> Any:
    places = iter(places_of(part))
    return np.array([float(rounded((entry,), next(places))[0]) for entry in value.flatten()]).reshape(
        value.shape
    )


def _typed(value: Any, part: Part) -> str:
    assert part.key is not None
    return typed(Array(part.key.shape, tuple(value.flatten().tolist())), places_of(part))
