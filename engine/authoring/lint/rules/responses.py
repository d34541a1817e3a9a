"""Every variant is answered: rightly in each notation, wrongly in each known way, blank, and malformed.

The answers go through the same grading as a student's, so that an item whose key its own field refuses, or
whose known mistake nobody would be told about, is found before it is served.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from engine.answers import kind_of
from engine.answers.asked_precision import NumericSettings
from engine.authoring.lint.rules.printed import rounded
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.errors import ResponseFormatError
from engine.model import Check, FloatArray, GradeReport, Mode, Outcome, Part, Response, Variant

# what students do type, and what Python would read: both must be refused, not guessed at
_UNREADABLE = ("nan", "inf", "1e309", "0x10", "1_000", "2+3", "[[0.1", "one half")
_PLACES = 6  # where an item states none: more than any tolerance needs


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A wrong answer that ought to be recognised.

    Parameters
    ----------
    text : str
    misconception : str or None
    is_unique : bool
        Whether no other known mistake gives the same answer: only then this one must be diagnosed.
    """

    text: str
    misconception: str | None
    is_unique: bool


def right_answers(variant: Variant) -> dict[str, str]:
    """Return the key of every part as a student would type it."""
    from engine.answers import right_response

    return {
        part.id: answer_text(part.key, places_of(part)) if part.key is not None else right_response(part)
        for part in variant.parts
    }


def places_of(part: Part) -> list[int]:
    """Return the decimal place of every entry of a numeric part."""
    size = len(part.key.data) if part.key is not None else 0
    stated = NumericSettings.of(part).places or [None] * size
    return [_PLACES if place is None else int(place) for place in stated]


def answer_text(array: FloatArray, places: Sequence[int]) -> str:
    """Return an array as ``0.5``, ``[0.1, 0.2]`` or ``[[1, 2], [3, 4]]``, rounded entry by entry."""
    texts = [
        format(rounded((value,), max(place, 0))[0], "f")
        for value, place in zip(array.data, places, strict=True)
    ]
    for size in reversed(array.shape):
        texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
    return texts[0]


def notations(part: Part, right: str) -> Iterator[str]:
    """Yield other ways to type the key: without the leading 0, with other brackets, blanks, minus signs."""
    from engine.answers import right_responses

    yield from right_responses(part)
    if not kind_of(part.type).is_numeric:
        yield f"  {right} "
        if part.type != "token":
            yield right.upper()
        return
    yield right.replace("-", "\u2212")
    yield f" {right}\n"
    if part.type == "number":
        yield from _of_number(right)
    elif part.type == "vector":
        inside = right.strip("[]")
        yield from (f"({inside})", inside, inside.replace(",", ""), f"[{inside.replace(',', ' ')}]")
        yield "[" + ", ".join(_without_zero(entry) for entry in inside.split(", ")) + "]"
    else:
        rows = [row.strip("[] ") for row in right.split("], [")]
        yield "; ".join(rows)
        yield "\n".join(row.replace(",", "") for row in rows)


def _of_number(right: str) -> Iterator[str]:
    yield _without_zero(right)
    yield f"{right}e0"
    digits = right.lstrip("-")
    if "." in digits:
        whole, fraction = digits.split(".")
        sign = "-" if right.startswith("-") else ""
        yield f"{sign}{int(whole + fraction)}/{10 ** len(fraction)}"


def _without_zero(number: str) -> str:
    return number.replace("0.", ".", 1) if number.lstrip("-").startswith("0.") else number


def wrong_answers(part: Part) -> Iterator[WrongAnswer]:
    """Yield what every known mistake answers, every wrong option, and wrong orders and pairs."""
    if part.type == "single_choice":
        for option in part.options:
            if not option.correct:
                yield WrongAnswer(option.id, option.misconception, is_unique=True)
        return
    if not kind_of(part.type).is_open:
        from engine.answers import wrong_responses

        for text, misconception in wrong_responses(part):
            yield WrongAnswer(text, misconception, is_unique=True)
        return
    # several mistakes may give one answer: then any of them may be diagnosed
    answers = []
    for mistake in part.known_wrong:
        if mistake.value is not None:
            answers.append((_typed_wrong(mistake.value, part), mistake.misconception))
        elif mistake.text is not None:
            answers.append((mistake.text, mistake.misconception))
    texts = [text for text, _ in answers]
    for text, misconception in answers:
        yield WrongAnswer(text, misconception, is_unique=texts.count(text) == 1)


def _typed_wrong(value: FloatArray, part: Part) -> str:
    places = places_of(part)
    if len(places) != len(value.data):
        places = [max(places, default=_PLACES)] * len(value.data)  # of another shape than the key
    return answer_text(value, places)


def blank_of(part: Part) -> tuple[str, ...]:
    """Return blank answers."""
    return ("", "  \n")


def malformed(part: Part) -> tuple[str, ...]:
    """Return answers that can't be read in this field."""
    if kind_of(part.type).is_numeric:
        return _UNREADABLE
    if part.type == "token":
        return ()
    # an option may be called "?", and twelve options have all of these letters
    letters = {option.id for option in part.options}
    texts = {" ".join(option.text.plain.split()).casefold() for option in part.options}
    tried = ("?", "zz", "a b c d e f g h i j k l")
    return tuple(text for text in tried if text not in texts and not set(text) - {" "} <= letters)


_FEW = 3  # notations, blanks and malformed answers don't depend on the numbers: so many variants show all


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield each way in which grading goes wrong, once, with the first seed that shows it."""
    if subject.is_code:
        return
    reported: set[str] = set()
    for seed, variant in enumerate(subject.variants):
        for key, part, message in _trials(variant, thorough=seed < _FEW):
            if key not in reported:
                reported.add(key)
                yield subject.fault(message, subject.loc_of(part), seed=seed)
    yield from _accepted(subject)


def _accepted(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield printed options that an erratum accepts and that don't earn full marks with its note."""
    printed = subject.spec.printed
    if printed is None or not subject.variants:
        return
    variant = subject.variants[0]
    for index, erratum in enumerate(subject.spec.errata):
        if not erratum.accept_intended or erratum.intended_option is None:
            continue
        letters = () if getattr(subject.spec.answer, "shuffle", False) else (erratum.intended_option,)
        for text in (*letters, str(printed.options.get(erratum.intended_option))):
            report = graded(variant, {variant.parts[0].id: text})
            if report.outcome is not Outcome.RIGHT or not _is_told(variant, erratum.id, report.notes):
                yield subject.fault(
                    f"erratum {erratum.id} accepts printed option ({erratum.intended_option}), but answering "
                    f"{text!r} is {report.outcome} with {report.score} of the marks",
                    ("errata", index),
                    expected="full marks and the note of the erratum",
                )


def _is_told(variant: Variant, erratum: str, notes: Sequence[str]) -> bool:
    from engine.answers.single_choice import SingleChoiceSettings

    accepted = SingleChoiceSettings.of(variant.parts[0]).accepted
    return any(
        not entry["note"] or entry["note"] in notes for entry in accepted if entry["erratum"] == erratum
    )


def _trials(variant: Variant, *, thorough: bool) -> Iterator[tuple[str, str, str]]:
    right = right_answers(variant)
    yield from _right(variant, right)
    for part in variant.parts:
        if kind_of(part.type).needs_person:
            yield from _blank(variant, part, right)
            continue
        yield from _wrong(variant, part, right, thorough=thorough)
        if thorough:
            yield from _notations(variant, part, right)
            yield from _blank(variant, part, right)
            yield from _malformed(variant, part, right)


def graded(variant: Variant, answers: Mapping[str, str]) -> GradeReport:
    """Grade answers as `grade submit` does."""
    from engine.grading import grade_answers

    return grade_answers(variant, Response(dict(answers)), mode=Mode.PRACTICE, student=None)


def _check_of(report: GradeReport, part: Part) -> Check | None:
    return next((check for check in report.checks if check.id == part.id), None)


def _is_full(report: GradeReport, part: Part) -> bool:
    check = _check_of(report, part)
    return check is not None and check.points == check.max_points > 0


def unearned(variant: Variant, report: GradeReport) -> Part | None:
    """Return the first part without full marks, of those that no person marks; None where there is none."""
    computed = [part for part in variant.parts if not kind_of(part.type).needs_person]
    part = next((part for part in computed if not _is_full(report, part)), None)
    is_right = report.needs_person or (report.outcome is Outcome.RIGHT and report.score == report.max_score)
    return part if part is not None or is_right else variant.parts[0]


def _right(variant: Variant, right: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    report = graded(variant, right)
    part = unearned(variant, report)
    if part is not None:
        got = f"{report.outcome} with {report.score} of {report.max_score}"
        yield "right", part.id, f"the key {right[part.id]!r} doesn't earn full marks: {got}"
    if report.diagnosis:
        mistakes = ", ".join(d.misconception for d in report.diagnosis)
        yield "right-diagnosed", variant.parts[0].id, f"the key is diagnosed as a mistake: {mistakes}"


def _notations(variant: Variant, part: Part, right: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for text in notations(part, right[part.id]):
        report = graded(variant, {**right, part.id: text})
        if not _is_full(report, part):
            yield f"notation {text}", part.id, f"the key typed as {text!r} doesn't earn full marks"


def _wrong(
    variant: Variant, part: Part, right: Mapping[str, str], *, thorough: bool
) -> Iterator[tuple[str, str, str]]:
    for wrong in wrong_answers(part):
        is_full, diagnosed = _outcome_of(variant, part, right, wrong.text, thorough=thorough)
        name = wrong.misconception or "a wrong answer"
        if is_full:
            yield f"full {name}", part.id, f"{name}, answered as {wrong.text!r}, earns full marks"
        if wrong.misconception and wrong.is_unique and wrong.misconception not in diagnosed:
            got = ", ".join(sorted(diagnosed)) or "nothing"
            message = f"{name}, answered as {wrong.text!r}, isn't diagnosed (named: {got})"
            yield f"undiagnosed {name}", part.id, message


def _outcome_of(
    variant: Variant, part: Part, right: Mapping[str, str], text: str, *, thorough: bool
) -> tuple[bool, set[str]]:
    """Return whether an answer earns full marks, and what is diagnosed.

    Thorough: graded with the right answers to the parts before it, as a student's would be. Otherwise by the
    answer type alone, which is much faster and leaves out only the follow-through.
    """
    if thorough:
        earlier = takewhile(lambda other: other.id != part.id, variant.parts)
        report = graded(variant, {**{other.id: right[other.id] for other in earlier}, part.id: text})
        return _is_full(report, part), {diagnosis.misconception for diagnosis in report.diagnosis}
    from engine.answers import answer_type

    kind = answer_type(part.type)
    try:
        result = kind.grade(part, text)
    except ResponseFormatError:
        return False, {diagnosis.misconception for diagnosis in kind.observe(part, text)}
    return result.is_full, {diagnosis.misconception for diagnosis in result.diagnosis}


def _blank(variant: Variant, part: Part, right: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for text in blank_of(part):
        report = graded(variant, {**right, part.id: text})
        check = _check_of(report, part)
        if check is None or check.points > 0:
            yield "blank", part.id, f"a blank answer {text!r} earns marks"


def _malformed(variant: Variant, part: Part, right: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for text in malformed(part):
        report = graded(variant, {**right, part.id: text})
        if report.outcome is not Outcome.FORMAT_ERROR or report.score is not None:
            yield (
                f"malformed {text}",
                part.id,
                f"{text!r} can't be read, but it is {report.outcome} with {report.score} of the marks",
            )
