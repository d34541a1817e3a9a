"""Questions of Canvas with blanks, and the words that our own export adds to a question.

A blank compares characters, so that a number has all its right notations listed. Our own export asks several
fields as blanks of one text: what kind each field is, is said in the sentence above its blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from engine.authoring.importing.canvas_item import CanvasItem, labels_of, material_text, prompt_text
from engine.authoring.importing.foreign_question import (
    NOTHING,
    AcceptedNumber,
    ForeignQuestion,
    ForeseenAnswer,
    ImportNote,
    MarkedText,
    QuestionKind,
    TextForm,
    read_decimal,
)
from engine.authoring.importing.gap_texts import (
    CHOOSE_PLACES,
    GapWriter,
    html_text,
    laid_out,
    order_question,
    pairs_question,
    plain_text,
    unused_mark,
    without_last_paragraph,
    without_letters,
)
from engine.authoring.importing.qti_fields import as_share
from engine.authoring.importing.qti_typed import without_spellings
from engine.authoring.importing.xml_tree import XmlElement

# the sentences of our own export: what stands above the blanks of a field
_ONE_LETTER, _ALL_LETTERS = "Type its letter.", "Type the letters of all right options."
_LETTER_EACH, _PLACE_EACH = "Type a letter for each.", "Type the place of each: 1 for the first."
_WHOLE = re.compile(r"(?:A|Enter) whole numbers?\b.*", re.DOTALL)
_TYPED = re.compile(r"(?:A|Enter)\b.*\bnumbers?\b.*", re.DOTALL)
_LEEWAY = re.compile(r"up to ([0-9.]{1,20}) off")
_UNIT = re.compile(r", in ([^,;.]{1,30})(?=[;.])")


def own_typed_question(question: ForeignQuestion) -> ForeignQuestion:
    """Return a question of our own export without the sentence that says what to type."""
    text, hint = without_last_paragraph(question.text.text)
    unit = _UNIT.search(hint)
    return replace(
        question,
        text=html_text(text),
        unit=unit[1] if unit is not None else "",
        whole=_WHOLE.fullmatch(hint) is not None,
    )


def own_pairs_question(
    question: ForeignQuestion, pairs: Sequence[tuple[MarkedText, MarkedText]], targets: Sequence[MarkedText]
) -> ForeignQuestion:
    """Return the pairs or the order that our own export has made a matching question of.

    Parameters
    ----------
    question : ForeignQuestion
    pairs : sequence of (MarkedText, MarkedText)
        Left sides with their right matches.
    targets : sequence of MarkedText
        All matches.
    """
    text, sentence = without_last_paragraph(question.text.text)
    places = {plain_text(target): n for n, target in enumerate(targets, start=1)}
    if sentence == CHOOSE_PLACES and list(places) == [str(n) for n in places.values()]:
        cards = sorted(pairs, key=lambda pair: places[plain_text(pair[1])])
        return order_question(replace(question, text=html_text(text)), [card for card, _ in cards])
    text, entries = without_letters(question.text.text)
    if entries and list(entries) == list(places):
        question = replace(question, text=html_text(text))
        pairs = [(left, html_text(entries[plain_text(right)])) for left, right in pairs]
        targets = [html_text(entry) for entry in entries.values()]
    return pairs_question(question, pairs, targets)


@dataclass
class _Blank:
    """A blank: its name in the text, its options, and what is right."""

    name: str
    response: XmlElement
    labels: dict[str, MarkedText]
    accepted: list[str]


def blanks_question(question: ForeignQuestion, item: CanvasItem, *, is_own: bool) -> ForeignQuestion:
    """Return a text with blanks, or with selection fields, as a text with fields."""
    html = question.text.text
    empty = item.try_out({})
    blanks = [_blank(response, question, item) for response in item.fields]
    question = replace(question, general=item.feedback_text(sorted(empty.visible)), text=NOTHING)
    writer = GapWriter(replace(question, general=NOTHING, answers=()), unused_mark(html))
    if not (is_own and _write_own(writer, html, blanks)):
        writer.pieces, writer.gaps = [], []
        _write_in_place(writer, html, blanks, question)
    notes = dict.fromkeys(note for gap in writer.gaps for note in gap.notes)
    return replace(writer.question(), general=question.general).noting(*notes)


def _blank(response: XmlElement, question: ForeignQuestion, item: CanvasItem) -> _Blank:
    name = response.attributes.get("ident", "")
    labels = {ident: material_text(label) for ident, label in labels_of(response).items()}
    words = [plain_text(text) for text in labels.values()]
    if question.type == "multiple_dropdowns_question":
        tried = {ident: item.try_out({name: [ident]}).score for ident in labels}
        best = max(tried.values(), default=0.0)
        words = [ident for ident, score in tried.items() if as_share(score, best) == 1]
    title = plain_text(prompt_text(response)) or name.removeprefix("response_")
    return _Blank(title, response, labels, words)


def _write_in_place(
    writer: GapWriter, html: str, blanks: Sequence[_Blank], question: ForeignQuestion
) -> None:
    """Write the text with each field where its name stands; one whose name doesn't stands below."""
    at: dict[int, _Blank] = {}
    for blank in blanks:
        # the first one counts, as in Canvas; two blanks of one name would be one field
        place = html.find(f"[{blank.name}]")
        if place >= 0 and place not in at:
            at[place] = blank
    end = 0
    for place, blank in sorted(at.items()):
        writer.pieces += [html[end:place], writer.add(_gap(blank, question))]
        end = place + len(blank.name) + 2
    writer.pieces.append(html[end:])
    for blank in blanks:
        if blank not in at.values():
            writer.pieces.append(f"<p>{writer.add(_gap(blank, question))}</p>")


def _gap(blank: _Blank, question: ForeignQuestion) -> ForeignQuestion:
    plain = replace(question, points=Decimal(1), text=NOTHING, general=NOTHING, notes=())
    if question.type == "multiple_dropdowns_question":
        answers = [
            ForeseenAnswer(text, Fraction(int(ident in blank.accepted)), place=question.place)
            for ident, text in blank.labels.items()
        ]
        return replace(plain, kind=QuestionKind.CHOICE, answers=tuple(answers), shuffle=False)
    return _number(blank, plain, "") or _text(blank, plain, is_own=False)


def _text(blank: _Blank, plain: ForeignQuestion, *, is_own: bool) -> ForeignQuestion:
    accepted = without_spellings(blank.accepted, [], False, is_own=is_own)
    answers = [
        ForeseenAnswer(MarkedText(text.replace("*", "\\*"), TextForm.PLAIN), Fraction(1), place=plain.place)
        for text in accepted
    ]
    return replace(plain, kind=QuestionKind.TOKEN, answers=tuple(answers))


def _number(blank: _Blank, plain: ForeignQuestion, hint: str) -> ForeignQuestion | None:
    """Return a blank as a field for a number, None where its texts aren't the notations of one.

    Parameters
    ----------
    blank : _Blank
    plain : ForeignQuestion
    hint : str
        The sentence of our own export above it, which says how exactly the number is asked for.
    """
    numbers = [read_decimal(text) for text in blank.accepted]
    values = sorted({number for number in numbers if number is not None})
    if not values or None in numbers:
        return None
    # an interval is listed step by step, each number with the same decimals
    steps = {high - low for low, high in pairwise(values)}
    if len(steps) > 1:
        return None  # numbers that lie apart
    first = numbers[0] or Decimal(0)
    accepted = AcceptedNumber((values[0] + values[-1]) / 2, (values[-1] - values[0]) / 2)
    is_whole = _WHOLE.fullmatch(hint) is not None
    if hint and not is_whole and len(values) == 1:
        # what rounds to it was right as well, as the sentence said to what it is to be rounded
        accepted = AcceptedNumber(first, Decimal(1).scaleb(-_decimals(blank.accepted[0])) / 2)
    if (leeway := _LEEWAY.search(hint)) is not None:
        reach = read_decimal(leeway[1]) or Decimal(0)
        accepted = AcceptedNumber(first, reach) if reach > accepted.tolerance else accepted
    notes = []
    if accepted.tolerance and accepted.value == first and len(values) == 1:
        message = "what rounds to a number that was listed for a blank is right here, as its text asks for it"
        notes.append(ImportNote(message, plain.place))
    digits = MarkedText(f"{accepted.value:f}", TextForm.PLAIN)
    answer = ForeseenAnswer(digits, Fraction(1), place=plain.place, number=accepted)
    made = replace(plain, kind=QuestionKind.NUMBER, answers=(answer,), whole=is_whole)
    return made.noting(*notes)


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of our own export: what stands before the blank and behind it, and where the line is."""

    blank: _Blank
    label: str
    unit: str
    start: int
    end: int


def _rows(html: str, blanks: Sequence[_Blank]) -> Iterator[_Row]:
    end = 0
    for blank in blanks:
        name = f"[{blank.name}]"
        at = html.find(name, end)
        start, stop = html.rfind("<p>", end, max(at, end)), html.find("</p>", at)
        if min(at, start, stop) < 0:
            return
        label, unit = html[start + len("<p>") : at], html[at + len(name) : stop]
        end = stop + len("</p>")
        yield _Row(blank, label.strip().removesuffix(":"), unit.strip(), start, end)


def _write_own(writer: GapWriter, html: str, blanks: Sequence[_Blank]) -> bool:
    """Write the fields that our own export has made blanks of; return whether all could be told apart."""
    rows = list(_rows(html, blanks))
    if len(rows) < len(blanks):
        return False
    groups: list[list[_Row]] = []
    for row in rows:
        # the blanks of one field follow one another, and a sentence stands above them
        if groups and groups[-1][-1].end == row.start:
            groups[-1].append(row)
        else:
            groups.append([row])
    end = 0
    for group in groups:
        before, sentence = without_last_paragraph(html[end : group[0].start])
        plain = replace(writer.plain, points=Decimal(len(group)))
        written = _own_field(writer, before, sentence, group, plain)
        if written is None:
            return False
        writer.pieces.append(written)
        end = group[-1].end
    writer.pieces.append(html[end:])
    return True


def _own_field(
    writer: GapWriter, before: str, sentence: str, rows: Sequence[_Row], plain: ForeignQuestion
) -> str | None:
    """Return what stands before a field, and its mark; None where it is none of ours."""
    # the usual way to write it comes first; the others follow from it
    firsts = [row.blank.accepted[0] if row.blank.accepted else "" for row in rows]
    if sentence == _PLACE_EACH:
        cards = sorted(
            zip(firsts, rows, strict=True), key=lambda card: int(card[0]) if card[0].isdecimal() else 0
        )
        order = order_question(plain, [html_text(row.label) for _, row in cards])
        return f"{before}<p>{writer.add(order)}</p>"
    if sentence in (_ONE_LETTER, _ALL_LETTERS, _LETTER_EACH):
        before, entries = without_letters(before)
        letters = {letter: html_text(text) for letter, text in entries.items()}
        if sentence == _LETTER_EACH:
            if not set(firsts) <= set(letters):
                return None
            pairs = [(html_text(row.label), letters[right]) for row, right in zip(rows, firsts, strict=True)]
            return f"{before}<p>{writer.add(pairs_question(plain, pairs, list(letters.values())))}</p>"
        right = set(re.findall("[a-z]", firsts[0]))
        answers = tuple(
            ForeseenAnswer(text, Fraction(int(letter in right), max(1, len(right))), place=plain.place)
            for letter, text in letters.items()
        )
        is_single = sentence == _ONE_LETTER
        policy = "" if is_single else "exact"
        choice = replace(plain, answers=answers, single=is_single, policy=policy, shuffle=True)
        return f"{before}<p>{writer.add(choice)}</p>"
    are_numbers = _TYPED.fullmatch(sentence) is not None
    numbers = [_number(row.blank, replace(plain, points=Decimal(1)), sentence) for row in rows if are_numbers]
    if numbers and None not in numbers:
        marks = [writer.add(number) for number in numbers if number is not None]
        return f"{before}{laid_out([row.label for row in rows], marks, rows[0].unit)}"
    if len(rows) > 1:
        return None
    return f"{before}<p>{writer.add(_text(rows[0].blank, plain, is_own=True))}</p>"
