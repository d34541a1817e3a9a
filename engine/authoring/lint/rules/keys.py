"""Keys survive rounding, and no wrong answer can be mistaken for the right one.

A key on a rounding tie is right or wrong by the rule that a student has learnt, and of two options with the
same value only one would be marked right. Both depend on the drawn numbers, so every variant is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import combinations

from engine.answers import kind_of
from engine.answers.asked_precision import NumericSettings
from engine.authoring.lint.algebra import is_same_formula
from engine.authoring.lint.rules.printed import rounded
from engine.authoring.lint.subject import NUMBER_WORDS, LintFinding, LintSubject
from engine.expressions.values import unit
from engine.model import ChoiceOption, KnownWrong, Part, Variant
from engine.text.words import count_noun

LEAST_UNITS = 3  # of the last place between two options: a slip in rounding moves an answer by one or two
_LONGEST = 200  # characters of a vector
_EXACT = 30  # decimals: more than any text shows
_ENOUGH = 5  # variants from which on agreement isn't a coincidence
_SLACK = 1e-9  # rounding errors of doubles
_WIDEST = Decimal("1.01")  # the ends are rounded outwards to a thousandth of a unit
# Ways to write one thing: minus signs and dashes, brackets of vectors, signs of a product.
_LIKE = str.maketrans(
    dict.fromkeys("−–—‐‑﹣－", "-") | dict.fromkeys("[](){}⟨⟩", " ") | dict.fromkeys("×·⋅", "*")
)
_LIST = re.compile(r"[\[\](),]")
_BRACKETS = re.compile(r"[\[({⟨]")
_DIGITS = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?"
# A number that isn't the end of a word or of another number, such as the 1 of x1 or of 2-1.
_NUMBER = re.compile(rf"(?<![\w.]){_DIGITS}(?![\w.])", re.ASCII)
# 1,000 and 25 270: a separator between groups of three digits, where no vector is written
_GROUPED = re.compile(r"(?<![\d.,])[-+]?\d{1,3}(?:[,\u2009\u202f\xa0' ]\d{3})+(?![\d,])")
_WORDS = {
    "one half": "0.5", "a half": "0.5", "half": "0.5", "one third": "1/3", "a third": "1/3", "two thirds": "2/3",  # noqa: E501
    "one quarter": "0.25", "a quarter": "0.25", "three quarters": "0.75", "a dozen": "12",
}  # fmt: skip
_COUNT = re.compile(rf"\b(?:{'|'.join(NUMBER_WORDS)})\b")
_SHAPES = re.compile(r"\b(?:shape|matrix|matrices|rows|columns|dimensions?)\b", re.IGNORECASE)
_ASKS_FOR_FALSE = re.compile(
    r"\b(?:false|wrong|incorrect|not (?:true|hold|correct)|n't (?:true|hold|correct))\b"
)
_QUOTIENT = re.compile(rf"(?P<top>{_DIGITS}) ?(?:/ ?(?P<bottom>{_DIGITS})|(?P<percent>%))", re.ASCII)


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield each fault of keys and options once, with the first seed that shows it."""
    if subject.is_code:
        return
    reported: set[tuple[str, str]] = set()
    for seed, variant in enumerate(subject.variants):
        for part in variant.parts:
            for kind, message in (*_faults(variant, part), *_wide(variant, part)):
                if (part.id, kind) not in reported:
                    reported.add((part.id, kind))
                    loc = subject.loc_of(part.id)
                    # to choose between a rounded and an unrounded value may be the question
                    report = subject.warning if kind == "rounded" else subject.fault
                    yield report(message, loc, seed=seed, next_step=_NEXT.get(kind))
    if subject.strict:
        yield from _mistakes(subject)


def _mistakes(subject: LintSubject) -> Iterator[LintFinding]:
    shared = [(("misconceptions",), "answer", subject.spec.misconceptions)]
    steps = [
        (("steps", i, "misconceptions"), s.id, s.misconceptions) for i, s in enumerate(subject.spec.steps)
    ]
    for loc, part_id, mistakes in (*steps, *([] if steps else shared)):
        parts = [part for variant in subject.variants for part in variant.parts if part.id == part_id]
        answers_of: dict[str, list[object]] = {mistake.id: [] for mistake in mistakes}
        for part in parts:
            if not kind_of(part.type).is_open:
                answers_of = {}
            for mistake in part.known_wrong:
                if mistake.misconception in answers_of:
                    answers_of[mistake.misconception].append(_answer_of(mistake))
        for index, (name, answers) in enumerate(answers_of.items()):
            if not answers and parts:
                message = f"{name} gives no answer in any variant, so no student ever sees it"
                yield subject.warning(message, (*loc, index), next_step="correct its expression, or drop it")
            elif len(answers) == len(parts) >= _ENOUGH:
                for other in list(answers_of)[:index]:
                    if answers_of[other] == answers:
                        message = f"{other} and {name} give the same answer in every variant"
                        yield subject.warning(message, (*loc, index), next_step="drop one of them")


def _answer_of(mistake: KnownWrong) -> object:
    if mistake.value is None:
        return mistake.text
    return mistake.value.shape, tuple(round(value, 9) for value in mistake.value.data)


_NEXT = {
    "tie": "add a constraint that keeps the key away from a rounding tie",
    "close": "add a constraint that keeps the options apart",
    "wide": "state more working_decimals or a smaller tolerance, and say in the stem how exactly to work",
    "equal": "add a constraint, or drop the misconception",
    "same": "drop one of them, or give it another value",
    "rounded": "give it another value, unless the precision is what the question is about",
}


def _faults(variant: Variant, part: Part) -> Iterator[tuple[str, str]]:
    decimals = NumericSettings.of(part).decimals
    if part.key is None and not part.key_ids and not kind_of(part.type).needs_person:
        yield "none", "the variant has no key"
    if part.key is not None and decimals is not None:
        for value in part.key.data:
            if not rounds_safely(value, decimals):
                yield (
                    "tie",
                    f"key entry {value!r} lies on a rounding tie at {count_noun(decimals, 'decimal')}",
                )
        for wrong in part.known_wrong:
            same_shape = wrong.value is not None and wrong.value.shape == part.key.shape
            if same_shape and wrong.value and units_apart(part.key.data, wrong.value.data, decimals) == 0:
                yield "equal", f"{wrong.misconception} gives the key itself for these numbers"
    yield from _option_faults(part.options, decimals)
    question = " ".join([variant.stem.plain, part.prompt.plain if part.prompt else ""])
    yield from _meanings(part, question)
    yield from _truths(part, question)


def _wide(variant: Variant, part: Part) -> Iterator[tuple[str, str]]:
    """Yield a step with exact inputs that accepts more than one unit of the last place that it asks for."""
    settings = NumericSettings.of(part)
    if part.key is None or not settings.places:
        return
    if settings.decimals == 0:
        for value, low, high in zip(part.key.data, settings.lower, settings.upper, strict=True):
            if Decimal(low) <= round(value) - 1 or Decimal(high) >= round(value) + 1:
                yield (
                    "wide",
                    f"a whole number is asked for, and beside {round(value)} its neighbours are right too",
                )
                return
    from engine.answers.follow_through import steps_behind

    behind = steps_behind(variant, part.id) if part.id in variant.expressions else frozenset()
    inputs = [other for other in variant.parts if other.id in behind and other.id != part.id]
    if not all(all(NumericSettings.of(other).exact) for other in inputs):
        return
    for low, high, place in zip(settings.lower, settings.upper, settings.places, strict=True):
        units = 0 if place is None else (Decimal(high) - Decimal(low)) / 2 / unit(place)
        if units > _WIDEST:
            half = ((Decimal(high) - Decimal(low)) / 2).normalize()
            yield (
                "wide",
                f"answers up to {half:f} beside the key count as right, "
                f"{count_noun(units, 'unit', '.1f')} of the last place asked for, "
                "and nothing before this step is rounded",
            )
            return


def _option_faults(options: Sequence[ChoiceOption], decimals: int | None) -> Iterator[tuple[str, str]]:
    for a, b in combinations(options, 2):
        first, second = (" ".join(option.text.plain.split()) for option in (a, b))
        if first.casefold() == second.casefold():
            yield "close", f"two options read the same: {first[:60]}"
        elif value_of(a.text.plain) == value_of(b.text.plain):
            yield "same", f"two options are the same value: {first[:60]} and {second[:60]}"
        elif a.value and b.value and decimals is not None and a.value.shape == b.value.shape:
            distance = units_apart(a.value.data, b.value.data, decimals)
            if distance < LEAST_UNITS:
                both = f"{a.text.plain} and {b.text.plain}"
                yield (
                    "close",
                    f"two options lie within {count_noun(distance, 'unit')} of the last place: {both}",
                )


def _meanings(part: Part, question: str) -> Iterator[tuple[str, str]]:
    """Yield options that are one formula written in two ways, or one number rounded in two ways."""
    shapes = _SHAPES.search(question) is not None
    for a, b in combinations(part.options, 2):
        if part.type == "multiple_choice" and a.correct == b.correct:
            continue  # that two formulas are equal may be what is asked
        if is_same_formula(a.text.latex, b.text.latex, shapes=shapes):
            yield "same", f"two options are the same formula: {a.text.plain} and {b.text.plain}"
        elif value_of(a.text.plain) == value_of(b.text.plain):
            continue  # reported above
        elif a.correct != b.correct and _rounds_to(a.text.plain, b.text.plain):
            yield "rounded", f"one option is the other one, rounded: {a.text.plain} and {b.text.plain}"


def _rounds_to(first: str, second: str) -> bool:
    """Return whether two texts are numbers (or vectors) of which one is the other with fewer decimals."""
    sides = [value_of(text).split() for text in (first, second)]
    if len(sides[0]) != len(sides[1]) or not all(_NUMBER.fullmatch(word) for word in (*sides[0], *sides[1])):
        return False
    numbers = [[Decimal(word) for word in side] for side in sides]
    places = [_places(text, side) for text, side in zip((first, second), sides, strict=True)]
    if places[0] == places[1] or min(places) < 1:
        return False  # 3 and 3.2 are two counts; 0.3 and 0.33 may be one weight
    coarse, fine = sorted(range(2), key=lambda side: places[side])
    half = Decimal(1).scaleb(-places[coarse]) / 2
    return all(abs(a - b) <= half for a, b in zip(numbers[coarse], numbers[fine], strict=True))


def _places(text: str, values: Sequence[str]) -> int:
    """Return the decimals that a text shows; a fraction or a word is exact."""
    written = [len(word.partition(".")[2]) for word in _NUMBER.findall(_LIST.sub(" ", text))]
    exact = not written or "e" in text or any(len(value.partition(".")[2]) > max(written) for value in values)
    return _EXACT if exact else max(written)


def _truths(part: Part, question: str) -> Iterator[tuple[str, str]]:
    """Yield options that compare numbers and are true but marked wrong, or false but marked right."""
    from engine.authoring.lint.assertions import is_true_of_numbers

    if not kind_of(part.type).picks_options or _ASKS_FOR_FALSE.search(question):
        return
    for option in part.options:
        truth = is_true_of_numbers(option.text.plain)
        if truth is not None and truth != option.correct:
            side = "true, but it is marked wrong" if truth else "false, but it is marked right"
            yield "truth", f"this option is {side}: {option.text.plain}"


def value_of(text: str) -> str:
    """Return a text in a form that is the same for texts of the same value.

    Numbers lose their notation (0.50, .5, 5e-1 and +0.5 are one number, 1,000 is 1000, three is 3, and a
    fraction or a percentage that stands alone is its quotient), brackets, minus signs, capitals and the last
    full stop don't count.
    """
    folded = text.casefold()
    if not _BRACKETS.search(folded):
        folded = _GROUPED.sub(lambda match: re.sub(r"[^\d.+-]", "", match[0]), folded)
    plain = " ".join(folded.translate(_LIKE).replace(",", " ").split()).rstrip(".")
    plain = _WORDS.get(plain, plain)
    if _BRACKETS.match(folded.strip()) and len(plain) <= _LONGEST:
        plain = _QUOTIENT.sub(lambda match: _quotient(match) or match[0], plain)
    plain = _COUNT.sub(lambda match: str(NUMBER_WORDS.index(match[0])), plain)
    if (whole := _QUOTIENT.fullmatch(plain)) is not None and (value := _quotient(whole)) is not None:
        return value
    return _NUMBER.sub(lambda match: _canonical(Decimal(match[0])), plain)


def _quotient(match: re.Match[str]) -> str | None:
    top, bottom = Decimal(match["top"]), Decimal("100" if match["percent"] else match["bottom"])
    return _canonical(top / bottom) if bottom else None


def _canonical(number: Decimal) -> str:
    return format(number.normalize() + 0, "f")


def rounds_safely(value: float, decimals: int) -> bool:
    """Return whether half-even, half-up and half-down agree, with room for a rounding error of a float."""
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
