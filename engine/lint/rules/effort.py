"""The work by hand stays within the bounds that the item states."""

from __future__ import annotations

from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject
from engine.model import Variant
from engine.plurals import counted

__all__ = ["check", "is_computed", "measured"]

RULE = "effort"
_UNEVEN = 1.4  # three or four states to mix pass; four or nine products don't
_FEW = 3
_VARIANTS = 50  # the count hardly varies: it depends on the shapes, and rarely on the numbers


def is_computed(subject: Subject) -> bool:
    """Tell whether students have to work something out."""
    return bool(subject.spec.parameters) and any(
        answer.type in ("number", "vector", "matrix") or getattr(answer, "distractors", ())
        for _, answer in subject.spec.answers
    )


def measured(subject: Subject) -> tuple[int, int]:
    """Return the most operations and decimals that the first variants take."""
    from engine.lint.effort import decimals_of, operations_of

    variants = subject.variants[:_VARIANTS]
    operations = max((operations_of(subject.spec, variant) for variant in variants), default=0)
    return operations, max((decimals_of(variant.values) for variant in variants), default=0)


def _uneven(subject: Subject) -> Iterator[Finding]:
    """Yield what one variant asks much more of than another, for the same marks."""
    from engine.lint.effort import operations_of

    variants = subject.variants[:_VARIANTS]
    counts = {
        "operations": [operations_of(subject.spec, variant) for variant in variants],
        "numbers to write": [_written(variant) for variant in variants],
    }
    for name, found in counts.items():
        least, most = min(found, default=0), max(found, default=0)
        if most > max(_UNEVEN * least, least + _FEW):
            yield subject.warning(
                RULE,
                f"variants differ in {name}, for the same marks",
                ("parameters",),
                expected=f"at most {_UNEVEN:g} times as many in one variant as in another",
                got=f"{least} to {most}",
                next_step="draw sizes that lie closer together, or fix them",
                seed=found.index(most),
            )


def _written(variant: Variant) -> int:
    return sum(len(part.key.data) for part in variant.parts if part.key is not None)


def check(subject: Subject) -> Iterator[Finding]:
    """Yield bounds that a variant exceeds, uneven variants, and how much work an item is without bounds."""
    if not is_computed(subject):
        return
    if subject.strict:
        yield from _uneven(subject)
    operations, decimals = measured(subject)
    subject.facts["effort"] = {"operations": operations, "decimals": decimals}
    stated = subject.spec.effort
    if stated is None:
        if subject.strict:
            yield subject.warning(
                RULE,
                "the item doesn't say how much work it is at most",
                (),
                got=(
                    f"a variant takes {counted(operations, 'operation')} on numbers of up to "
                    f"{counted(decimals, 'decimal')}"
                ),
                next_step=f"state effort: {{operations: {operations}, decimals: {decimals}}}",
            )
        return
    for name, found, bound in (
        ("operations", operations, stated.operations),
        ("decimals", decimals, stated.decimals),
    ):
        if found > bound:
            yield subject.fault(
                RULE,
                f"a variant takes more {name} than the item states",
                ("effort", name),
                expected=f"at most {bound}",
                got=str(found),
                next_step="draw smaller shapes or coarser steps, or raise the bound",
            )
