"""Keys survive rounding, and no wrong answer can be mistaken for the right one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import combinations

from engine.lint.finding import Finding
from engine.lint.printed import rounded
from engine.lint.subject import Subject
from engine.model import Option, Part, Variant
from engine.plurals import counted
from engine.variants.rounding import unit

__all__ = ["check", "rounds_safely", "units_apart", "value_of"]

RULE = "keys"
LEAST_UNITS = 3
_SLACK = 1e-9
_WIDEST = Decimal("1.01")  # the ends are rounded outwards to a thousandth of a unit
# Ways to write one thing: minus signs and dashes, brackets of vectors, signs of a product.
_LIKE = str.maketrans(
    dict.fromkeys("−–—‐‑﹣－", "-") | dict.fromkeys("[](){}⟨⟩", " ") | dict.fromkeys("×·⋅", "*")
)
_DIGITS = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?"
# A number that isn't the end of a word or of another number, such as the 1 of x1 or of 2-1.
_NUMBER = re.compile(rf"(?<![\w.]){_DIGITS}(?![\w.])", re.ASCII)
_QUOTIENT = re.compile(rf"(?P<top>{_DIGITS}) ?(?:/ ?(?P<bottom>{_DIGITS})|(?P<percent>%))", re.ASCII)


def check(subject: Subject) -> Iterator[Finding]:
    """Yield each fault of keys and options once, with the first seed that shows it."""
    if subject.is_code:
        return
    seen: set[tuple[str, str]] = set()
    for seed, variant in enumerate(subject.variants):
        for part in variant.parts:
            for kind, message in (*_faults(part), *_wide(variant, part)):
                if (part.id, kind) not in seen:
                    seen.add((part.id, kind))
                    loc = subject.loc_of(part.id)
                    yield subject.fault(RULE, message, loc, seed=seed, next_step=_NEXT.get(kind))


_NEXT = {
    "tie": "add a constraint that keeps the key away from a rounding tie",
    "close": "add a constraint that keeps the options apart",
    "wide": "state more working_decimals or a smaller tolerance, and say in the stem how exactly to work",
    "equal": "add a constraint, or drop the misconception",
    "same": "drop one of them, or give it another value",
}


def _faults(part: Part) -> Iterator[tuple[str, str]]:
    decimals = part.settings.get("decimals")
    decimals = decimals if isinstance(decimals, int) else None
    if part.key is None and not part.key_ids:
        yield "none", "the variant has no key"
    if part.key is not None and decimals is not None:
        for value in part.key.data:
            if not rounds_safely(value, decimals):
                yield "tie", f"key entry {value!r} lies on a rounding tie at {counted(decimals, 'decimal')}"
        for wrong in part.known_wrong:
            same_shape = wrong.value is not None and wrong.value.shape == part.key.shape
            if same_shape and wrong.value and units_apart(part.key.data, wrong.value.data, decimals) == 0:
                yield "equal", f"{wrong.misconception} gives the key itself for these numbers"
    yield from _option_faults(part.options, decimals)


def _wide(variant: Variant, part: Part) -> Iterator[tuple[str, str]]:
    """A step whose inputs are exact accepts at most one unit of the last place that it asks for."""
    places = part.settings.get("places")
    if part.key is None or not places:
        return
    from engine.answers.follow_through import steps_behind

    behind = steps_behind(variant, part.id) if part.id in variant.expressions else frozenset()
    inputs = [other for other in variant.parts if other.id in behind and other.id != part.id]
    if not all(all(other.settings.get("exact") or (True,)) for other in inputs):
        return
    for low, high, place in zip(part.settings["lower"], part.settings["upper"], places, strict=True):
        units = 0 if place is None else (Decimal(high) - Decimal(low)) / 2 / unit(place)
        if units > _WIDEST:
            half = ((Decimal(high) - Decimal(low)) / 2).normalize()
            yield (
                "wide",
                f"answers up to {half:f} beside the key count as right, "
                f"{counted(units, 'unit', '.1f')} of the last place asked for, "
                "and nothing before this step is rounded",
            )
            return


def _option_faults(options: Sequence[Option], decimals: int | None) -> Iterator[tuple[str, str]]:
    for a, b in combinations(options, 2):
        one, other = (" ".join(option.text.plain.split())[:60] for option in (a, b))
        if one.casefold() == other.casefold():
            yield "close", f"two options read the same: {one}"
        elif value_of(a.text.plain) == value_of(b.text.plain):
            yield "same", f"two options are the same value: {one} and {other}"
        elif a.value and b.value and decimals is not None and a.value.shape == b.value.shape:
            apart = units_apart(a.value.data, b.value.data, decimals)
            if apart < LEAST_UNITS:
                both = f"{a.text.plain} and {b.text.plain}"
                yield "close", f"two options lie within {counted(apart, 'unit')} of the last place: {both}"


def value_of(text: str) -> str:
    """Return a text in a form that is the same for texts of the same value.

    Numbers lose their notation (0.50, .5, 5e-1 and +0.5 are one number, and a fraction or a percentage that
    stands alone is its quotient), brackets, minus signs, capitals and the last full stop don't count.
    """
    plain = " ".join(text.casefold().translate(_LIKE).replace(",", " ").split()).rstrip(".")
    if (whole := _QUOTIENT.fullmatch(plain)) is not None:
        top, bottom = Decimal(whole["top"]), Decimal("100" if whole["percent"] else whole["bottom"])
        if bottom:
            return _canonical(top / bottom)
    return _NUMBER.sub(lambda found: _canonical(Decimal(found[0])), plain)


def _canonical(number: Decimal) -> str:
    return format(number.normalize() + 0, "f")


def rounds_safely(value: float, decimals: int) -> bool:
    """Tell whether half-even, half-up and half-down agree, with room for a rounding error of a float."""
    ways = {
        rounded((value + shift,), decimals, rule)
        for shift in (-_SLACK, 0.0, _SLACK)
        for rule in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_HALF_DOWN)
    }
    return len(ways) == 1


def units_apart(a: Sequence[float], b: Sequence[float], decimals: int) -> int:
    """Return the largest distance of two rounded values, in units of the last place."""
    pairs = zip(rounded(a, decimals), rounded(b, decimals), strict=True)
    return max((int(abs(x - y).scaleb(decimals)) for x, y in pairs), default=0)
