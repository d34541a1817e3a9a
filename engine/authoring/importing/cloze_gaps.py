r"""The fields of a Cloze text of Moodle's, such as ``{2:NUMERICAL:=0.5:0.01#feedback~%0%0.7#no}``.

Answers are separated by ``~``, feedback begins with ``#``, and the first ``}`` ends the field. A backslash
takes these signs their meaning; an ampersand before ``#`` does as well, since entities begin with both. What
is found is resolved once as HTML: the text came out of an editor for it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from engine.authoring.importing.foreign_question import (
    AcceptedNumber,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    ForeseenAnswer,
    MarkedText,
    QuestionKind,
    TextForm,
    read_decimal,
    read_share,
)
from engine.authoring.importing.gap_texts import unused_mark
from engine.text.words import one_line

_CHOICE = r"MULTICHOICE(?:_[VHS]|_VS|_HS)?|MC(?:[VHS]|VS|HS)?"
_SEVERAL = r"MULTIRESPONSE(?:_[HS]|_HS)?|MR(?:[HS]|HS)?"
_START = re.compile(
    rf"\{{(?P<weight>[0-9]{{0,3}}):(?:(?P<number>NUMERICAL|NM)|(?P<choice>{_CHOICE})|(?P<several>{_SEVERAL})"
    r"|(?P<cased>SHORTANSWER_C|SAC|MWC)|(?P<words>SHORTANSWER|SA|MW)):"
)
_FRACTION = re.compile(r"(=)|%(-?[0-9]{1,3}(?:[.,][0-9]{0,9})?)%")
_NUMBER = re.compile(r"([^:]{1,40})(?::([^:]{1,40}))?")
# each ends where a sign stands that nothing guards; the guards of an answer are those of entities, too
_ANSWER_END = re.compile(r"(?<!\\)(?<!&)(?<!&amp;)[~#}]")
_FEEDBACK_END = re.compile(r"(?<!\\)[~}]")
_SHUFFLED = re.compile(r"S$")
MAX_GAPS = 100
"""Fields of one text; more than twenty make no item here anyway."""


@dataclass(frozen=True)
class GapText:
    """A text whose fields are marks, and the fields in their order."""

    text: str
    mark: str
    gaps: tuple[ForeignQuestion, ...]


def read_gaps(text: str, place: FilePlace, faults: FileFaults) -> GapText:
    """Return a Cloze text with marks instead of its fields; what is wrong with a field is a fault.

    Parameters
    ----------
    text : str
        HTML or Markdown, as in the file.
    place : FilePlace
        Where the text begins: the file's lines within it aren't known.
    faults : FileFaults
    """
    mark = unused_mark(text)
    pieces: list[str] = []
    gaps: list[ForeignQuestion] = []
    offset = 0
    while (start := _START.search(text, offset)) is not None and len(gaps) < MAX_GAPS:
        answers = list(_answers(text, start.end()))
        if not answers or answers[-1].end is None:
            excerpt = one_line(text[start.start() : start.start() + 40], 40)
            faults.add(place, f"the field '{excerpt}' has no end")
            break
        pieces += [text[offset : start.start()], f"{mark}{len(gaps)}{mark}"]
        gaps.append(_gap(start, answers, place, faults))
        offset = answers[-1].end
    return GapText("".join([*pieces, text[offset:]]), mark, tuple(gaps))


@dataclass(frozen=True)
class _RawAnswer:
    fraction: re.Match[str] | None
    answer: str
    feedback: str
    end: int | None  # behind the field's end, after its last answer


def _answers(text: str, offset: int) -> Iterator[_RawAnswer]:
    """Yield the answers of a field; where it never ends the last one has no end."""
    while True:
        fraction = _FRACTION.match(text, offset)
        begin = offset if fraction is None else fraction.end()
        # an answer has one character at least, whatever it is
        stop = _ANSWER_END.search(text, begin + 1)
        if stop is None:
            return
        answer, feedback = text[begin : stop.start()], ""
        if stop[0] == "#":
            begin = stop.end()
            stop = _FEEDBACK_END.search(text, begin)
            if stop is None:
                return
            feedback = text[begin : stop.start()]
        # a field may hold line ends and tags: only its own signs end an answer
        is_last = stop[0] == "}"
        yield _RawAnswer(fraction, answer, feedback, stop.end() if is_last else None)
        if is_last:
            return
        offset = stop.end()


def _gap(
    start: re.Match[str], answers: list[_RawAnswer], place: FilePlace, faults: FileFaults
) -> ForeignQuestion:
    is_choice = bool(start["choice"] or start["several"])
    kind = QuestionKind.CHOICE if is_choice else QuestionKind.TOKEN
    if start["number"]:
        kind = QuestionKind.NUMBER
    question = ForeignQuestion(
        kind,
        "",
        "cloze",
        place,
        MarkedText(""),
        single=not start["several"],
        case_sensitive=bool(start["cased"]),
        shuffle=bool(is_choice and _SHUFFLED.search(start["choice"] or start["several"])),
        points=Decimal(start["weight"] or 1),
    )
    form = TextForm.HTML if is_choice else TextForm.PLAIN
    foreseen = [_foreseen(answer, form, place, faults) for answer in answers]
    if kind is QuestionKind.NUMBER:
        foreseen = [_number(answer, faults) for answer in foreseen]
    return replace(question, answers=tuple(foreseen))


def _foreseen(answer: _RawAnswer, form: TextForm, place: FilePlace, faults: FileFaults) -> ForeseenAnswer:
    share: Fraction | None = Fraction(0)
    if answer.fraction is not None:
        percentage = (answer.fraction[2] or "100").replace(",", ".")
        share = read_share(percentage)
        if share is None:
            faults.add(place, f"a percentage goes from -100 to 100, not to {percentage}")
    feedback = MarkedText(_resolved(answer.feedback), TextForm.HTML)
    return ForeseenAnswer(MarkedText(_resolved(answer.answer), form), share or Fraction(0), feedback, place)


def _number(answer: ForeseenAnswer, faults: FileFaults) -> ForeseenAnswer:
    word = answer.text.text.strip()
    if word == "*":
        return answer
    match = _NUMBER.fullmatch(word)
    value = read_decimal(match[1].replace(",", ".")) if match is not None else None
    tolerance = read_decimal((match[2] or "0").replace(",", ".")) if match is not None else None
    if value is None or tolerance is None:
        faults.add(answer.place, f"a field takes a number such as 0.5:0.01, not '{one_line(word, 30)}'")
        return answer
    return replace(answer, number=AcceptedNumber(value, abs(tolerance)))


def _resolved(text: str) -> str:
    return html.unescape(text).replace("\\}", "}").replace("\\#", "#").replace("\\~", "~").strip()
