"""Every seed gives a variant, and a family has enough distinct keys or says how many it has."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator

from engine.answers.asked_precision import NumericSettings
from engine.authoring.lint.rules.printed import rounded
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.model import Part, Variant
from engine.text.words import count_noun

__all__ = ["LEAST_KEYS", "check", "fingerprint", "looks_finite"]

RULE = "draws"
LEAST_KEYS = 200
_MOST_DRAWS = 3 * LEAST_KEYS


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield draws that fail and families that are too small or declared wrongly."""
    if subject.draw_failure is not None:
        seed, error = subject.draw_failure
        yield subject.fault(
            RULE,
            f"no variant can be drawn: {error.what}",
            ("constraints",) if subject.spec.constraints else ("parameters",),
            expected=error.expected,
            got=error.got,
            next_step=error.next_step,
            seed=seed,
        )
        return
    if subject.is_code:
        return
    keys = Counter(fingerprint(variant) for variant in subject.variants)
    subject.facts["variants_tried"] = len(subject.variants)
    if subject.spec.variants is not None:
        yield from _declared(subject, len(keys), subject.spec.variants)
    elif len(subject.variants) >= LEAST_KEYS:
        yield from _counted(subject, set(keys))
    elif looks_finite(keys):
        yield _too_few(
            subject, f"{count_noun(len(keys), 'distinct key')} in {count_noun(keys.total(), 'variant')}"
        )
    subject.facts["distinct_keys"] = len(keys)


def _declared(subject: LintSubject, seen: int, declared: int) -> Iterator[LintFinding]:
    if seen > declared:
        yield subject.fault(
            RULE,
            "the item has more distinct keys than it declares",
            ("variants",),
            expected=f"at most {declared}",
            got=f"{seen} seen",
        )
    if declared >= LEAST_KEYS:
        yield subject.warning(
            RULE,
            f"a family of {LEAST_KEYS} keys or more needs no declaration",
            ("variants",),
            next_step="drop variants:",
        )


def _counted(subject: LintSubject, seen: set[Hashable]) -> Iterator[LintFinding]:
    """Draw on until enough distinct keys were seen, or many more variants than that."""
    from engine.variants import draw_seeded

    seed = len(subject.variants)
    while len(seen) < LEAST_KEYS and seed < _MOST_DRAWS:
        variant = draw_seeded(subject.spec, version=subject.version, registry=subject.registry, seed=seed)
        seen.add(fingerprint(variant))
        seed += 1
    if len(seen) < LEAST_KEYS:
        yield _too_few(subject, f"{count_noun(len(seen), 'distinct key')} in {count_noun(seed, 'variant')}")


def _too_few(subject: LintSubject, got: str) -> LintFinding:
    return subject.fault(
        RULE,
        "the family has too few distinct keys: students would share them",
        ("parameters",),
        expected=f"at least {LEAST_KEYS}, or variants: with their number",
        got=got,
        next_step="widen the ranges of the parameters, or declare variants:",
    )


def looks_finite(keys: Counter[Hashable]) -> bool:
    """Tell whether keys repeat far more often than those of a family of 200 would.

    Among N draws from 200 equally likely keys, N(N-1)/400 pairs agree on average; more than four
    standard deviations above that is no accident.
    """
    drawn = keys.total()
    agreeing = sum(count * (count - 1) // 2 for count in keys.values())
    expected = drawn * (drawn - 1) / 2 / LEAST_KEYS
    return agreeing > expected + 4 * math.sqrt(expected) + 1


def fingerprint(variant: Variant) -> Hashable:
    """Return what makes the right answers of a variant: rounded numbers, words, the options shown."""
    return tuple(_of_part(part) for part in variant.parts)


def _of_part(part: Part) -> Hashable:
    if part.key is not None:
        places = NumericSettings.of(part).places or [None] * len(part.key.data)
        return part.key.shape, tuple(
            str(rounded((value,), 9 if place is None else max(0, place))[0])
            for value, place in zip(part.key.data, places, strict=True)
        )
    if not part.options:
        return part.key_ids
    # the order of the cards is only shown differently; what is asked is the same, but an option or a pair
    # may be right in one variant and wrong in another
    targets = {option.id: option.text.plain for option in part.options}
    pairs = frozenset(
        (prompt.text.plain, targets[key]) for prompt, key in zip(part.prompts, part.key_ids, strict=False)
    )
    return frozenset((option.text.plain, option.correct) for option in part.options), pairs
