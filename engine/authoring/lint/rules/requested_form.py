"""A field takes the form of answer that its text asks for: so many decimals, a whole number.

A student reads "to 3 decimal places", but the field is marked by its own ``decimals``. Where the two differ,
a careful answer loses marks, or a careless one gets them. Likewise a text that speaks of equation (3) must
print it: in an exam nobody has the lecture at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.authoring.lint.subject import NUMBER_WORDS, LintFinding, LintSubject, written_texts
from engine.items import MatrixAnswer, NumberAnswer, VectorAnswer
from engine.model import Part
from engine.text.words import count_noun

_A_NUMBER = rf"(\d|{'|'.join(NUMBER_WORDS)})"
_DECIMALS = re.compile(
    rf"\b{_A_NUMBER}(?: or more)? (?:decimal places?|decimals?|digits after the (?:decimal )?point)\b", re.I
)
_SIGNIFICANT = re.compile(rf"\b{_A_NUMBER} significant (?:figures?|digits?)\b", re.I)
_WHOLE = re.compile(r"\b(?:whole numbers?|integers?|no decimals)\b", re.I)
_COUNT = re.compile(r"\bhow many\b|\bthe number of\b|\bcount the\b", re.I)
_ROUNDING = re.compile(r"\b(?:round|rounded|decimals?|significant|exact|exactly|fraction)\b", re.I)
_EQUATION = re.compile(r"\b(?:equations?|eqs?\.?|formula) \((\d+)\)", re.I)
_IS_EQUATION = re.compile(r"=|\\le|\\sum|\\frac")
_FORMULA = re.compile(r"\$([^$]+)\$")
Numeric = NumberAnswer | VectorAnswer | MatrixAnswer


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield fields that take another form than their text asks for, and equations that aren't printed."""
    yield from _equations(subject)
    if not subject.variants:
        return
    for name, answer in subject.spec.answers:
        if isinstance(answer, Numeric):
            parts = [part for variant in subject.variants for part in variant.parts if part.id == name]
            yield from _of_field(subject, name, answer, parts)


def _of_field(subject: LintSubject, name: str, answer: Numeric, parts: list[Part]) -> Iterator[LintFinding]:
    stem = subject.variants[0].stem.plain
    prompt = parts[0].prompt.plain if parts[0].prompt is not None else stem
    text = (
        prompt if prompt is stem or _ROUNDING.search(prompt) or _WHOLE.search(prompt) else f"{prompt} {stem}"
    )
    whole = all(
        _is_whole(part, 0) for part in parts
    )  # in every variant: one fraction shows that it isn't a count
    counts = whole and bool(_WHOLE.search(prompt) or _COUNT.search(prompt))
    loc = subject.loc_of(name)

    def warning(message: str, **more: str) -> LintFinding:
        return subject.warning(message, loc, **more)

    if answer.decimals == 0:
        if answer.near_credit:
            yield warning("whole numbers are never nearly right, but near_credit pays for a neighbour")
        return
    if counts:
        message = "a whole number is asked for, and the field takes others"
        yield warning(message, got=_stated(answer), next_step="say decimals: 0, and leave tolerance out")
        return
    decimals, significant = _numbers(_DECIMALS, text), _numbers(_SIGNIFICANT, text)
    if (decimals and answer.decimals not in decimals) or (
        significant and answer.significant not in significant
    ):
        if not (
            decimals and significant and (answer.decimals in decimals or answer.significant in significant)
        ):
            requested = [count_noun(n, "decimal") for n in sorted(decimals)]
            requested += [count_noun(n, "significant figure") for n in sorted(significant)]
            message = "the field is marked at another precision than its text asks for"
            yield warning(message, expected=" or ".join(requested), got=_stated(answer))
    elif not decimals and not significant and not _ROUNDING.search(text):
        # keys that end by themselves need no word on rounding
        exact = answer.decimals is not None and all(_is_whole(part, answer.decimals) for part in parts)
        if not exact and answer.tolerance is None:
            message = "the text doesn't say how to round"
            yield warning(message, got=_stated(answer), next_step='end it with "Round to … decimal places."')


def _is_whole(part: Part, decimals: int) -> bool:
    return part.key is not None and all(
        abs(value * 10**decimals - round(value * 10**decimals)) < 1e-6 for value in part.key.data
    )


def _numbers(pattern: re.Pattern[str], text: str) -> set[int]:
    words = (match[1].lower() for match in pattern.finditer(text))
    return {int(word) if word.isdigit() else NUMBER_WORDS.index(word) for word in words}


def _stated(answer: Numeric) -> str:
    if answer.decimals is not None:
        return count_noun(answer.decimals, "decimal")
    if answer.significant is not None:
        return count_noun(answer.significant, "significant figure")
    return f"every number within {answer.tolerance} of the key"


def _equations(subject: LintSubject) -> Iterator[LintFinding]:
    questions = [written for written in written_texts(subject.spec) if written.kind in ("stem", "prompt")]
    # a letter that is set to drawn numbers isn't an equation
    formulas = [formula for written in questions for formula in _FORMULA.findall(written.text)]
    has_equation = any("{{" not in formula and _IS_EQUATION.search(formula) for formula in formulas)
    for written in questions:
        if not has_equation and (match := _EQUATION.search(written.text)) is not None:
            message = f"the text speaks of {match[0]} and shows no formula"
            step = "print the equation, so that the question can be answered without the lecture"
            yield subject.warning(message, written.loc, next_step=step)
