"""Every seed gives a variant, and an item has enough distinct keys or declares how many it has.

Students compare answers: with 200 keys or more, two neighbours rarely have the same one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator

from engine.answers import kind_of
from engine.answers.asked_precision import NumericSettings
from engine.authoring.lint.rules.printed import rounded
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.model import Part, Variant
from engine.text.words import count_noun

LEAST_KEYS = 200
_MOST_DRAWS = 3 * LEAST_KEYS  # a family of exactly 200 keys shows some 190 of them in so many draws


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield draws that fail, and items with too few keys or with a wrong declaration of them."""
    if subject.draw_failure is not None:
        seed, error = subject.draw_failure
        yield subject.fault(
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
    if all(kind_of(answer.type).needs_person for _, answer in subject.spec.answers):
        pass  # who reads all answers sees which of them are copied
    elif subject.spec.variants is not None:
        yield from _declared(subject, len(keys), subject.spec.variants)
    elif len(subject.variants) >= LEAST_KEYS:
        yield from _drawn_further(subject, set(keys))
    elif looks_finite(keys):  # too few seeds to count 200 keys, but repeats give a small family away
        yield _too_few(
            subject, f"{count_noun(len(keys), 'distinct key')} in {count_noun(keys.total(), 'variant')}"
        )
    subject.facts["distinct_keys"] = len(keys)


def _declared(subject: LintSubject, distinct: int, declared: int) -> Iterator[LintFinding]:
    if distinct > declared:
        message = "the item has more distinct keys than it declares"
        yield subject.fault(message, ("variants",), expected=f"at most {declared}", got=f"{distinct} seen")
    if declared >= LEAST_KEYS:
        message = f"a family of {LEAST_KEYS} keys or more needs no declaration"
        yield subject.warning(message, ("variants",), next_step="drop variants:")


def _drawn_further(subject: LintSubject, keys: set[Hashable]) -> Iterator[LintFinding]:
    from engine.variants import draw_seeded

    seed = len(subject.variants)
    while len(keys) < LEAST_KEYS and seed < _MOST_DRAWS:
        variant = draw_seeded(subject.spec, version=subject.version, registry=subject.registry, seed=seed)
        keys.add(fingerprint(variant))
        seed += 1
    if len(keys) < LEAST_KEYS:
        yield _too_few(subject, f"{count_noun(len(keys), 'distinct key')} in {count_noun(seed, 'variant')}")


def _too_few(subject: LintSubject, got: str) -> LintFinding:
    return subject.fault(
        "the family has too few distinct keys: students would share them",
        ("parameters",),
        expected=f"at least {LEAST_KEYS}, or variants: with their number",
        got=got,
        next_step="widen the ranges of the parameters, or declare variants:",
    )


def looks_finite(keys: Counter[Hashable]) -> bool:
    """Return whether keys repeat far more often than those of a family of 200 would.

    Among N draws from 200 equally likely keys, N(N-1)/400 pairs agree on average; more than four
    standard deviations above that isn't an accident.
    """
    total = keys.total()
    agreeing = sum(count * (count - 1) // 2 for count in keys.values())
    expected = total * (total - 1) / 2 / LEAST_KEYS
    return agreeing > expected + 4 * math.sqrt(expected) + 1


def fingerprint(variant: Variant) -> Hashable:
    """Return what determines the right answers of a variant: rounded numbers, words, the options shown."""
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
    # another order of the cards is the same question; but an option may be right here and wrong there
    targets = {option.id: option.text.plain for option in part.options}
    pairs = frozenset(
        (prompt.text.plain, targets[key]) for prompt, key in zip(part.prompts, part.key_ids, strict=False)
    )
    return frozenset((option.text.plain, option.correct) for option in part.options), pairs
