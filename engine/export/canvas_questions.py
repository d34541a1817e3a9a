"""An item as a question of Canvas's QTI 1.2.

A question holds its whole text: a block of text before several questions is dropped by New Quizzes. Several
answer fields become blanks of one question, so that they stay together when a quiz draws among variants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from engine.answers import kind_of, right_responses
from engine.answers.numeric import NumericType
from engine.export.canvas_losses import needs_blanks
from engine.export.canvas_xml import (
    TYPED_FIELD,
    full_points,
    html_material,
    part_points,
    plain_material,
    question_item,
    var_equal,
)
from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.exported_item import ExportedItem
from engine.export.listed_numbers import number_texts
from engine.export.prose_html import PictureStore, ProseHtml, html_text, plain_options, xml_value
from engine.export.spellings import accepted_spellings
from engine.model import ChoiceOption
from engine.prose.prose_tree import ProseFormula, ProsePicture

IMAGE_FOLDER = "images/"
_NOT_IN_NAMES = re.compile(r"\W+")
# Answers and matches have numbers as identifiers, as Canvas's own exports do: the importer reads digits.
_FIRST_ANSWER, _FIRST_MATCH = 1001, 9001


@dataclass(frozen=True, slots=True)
class TextBlank:
    """A blank in the text of a question: its name, what the student reads before it, and what is right."""

    name: str
    label: str
    accepted: tuple[str, ...]


def equation_image(formula: ProseFormula) -> str:
    """Return a formula as Canvas's editor stores it: an image, which Canvas makes from the TeX."""
    tex = xml_value(formula.tex)
    # Escaped twice: the server takes one away before the address is matched, and a slash would end it there.
    address = quote(quote(formula.tex, safe=""), safe="")
    style = ' style="display: block; margin: 0 auto;"' if formula.display else ""
    return (
        f'<img class="equation_image" title="{tex}" src="/equation_images/{address}?scale=1" '
        f'alt="LaTeX: {tex}" data-equation-content="{tex}"{style}/>'
    )


class QuestionWriter:
    """Writes items as questions, and keeps their pictures."""

    def __init__(self) -> None:
        self.pictures = PictureStore(IMAGE_FOLDER)
        self._html = ProseHtml(equation_image, self._address)

    def _address(self, picture: ProsePicture) -> str:
        return f"%24IMS-CC-FILEBASE%24/{IMAGE_FOLDER}{self.pictures.keep(picture)}"

    def question(self, item: ExportedItem) -> str:
        """Return the ``<item>`` of an exported item that isn't refused."""
        text = self._text(item)
        general = "".join(self._html.blocks(feedback) for feedback in item.general_feedback)
        if needs_blanks(item):
            return self._blanks_question(item, text, general)
        (field,) = item.fields
        text += "" if field.prompt is None else self._html.blocks(field.prompt)
        match field:
            case ChoiceField():
                return self._choice(item, field, text, general)
            case MatchField():
                return self._match(item, field, text, general)
            case OrderField():
                return self._order(item, field, text, general)
            case NumbersField(entries=(entry,)):
                text += f"<p>{html_text(_sentence(field.hint))}</p>"
                # Two bounds and no <or>: with one, the importer guesses significant digits from the bounds.
                bounds = (
                    f'<vargte respident="response1">{entry.lower:f}</vargte>'
                    f'<varlte respident="response1">{entry.upper:f}</varlte>'
                )
                field_xml = (
                    '<response_str ident="response1" rcardinality="Single"><render_fib fibtype="Decimal">'
                    '<response_label ident="answer1"/></render_fib></response_str>'
                )
                return question_item(
                    item,
                    "numerical_question",
                    (_FIRST_ANSWER,),
                    text,
                    field_xml,
                    [full_points(bounds)],
                    general,
                )
            case WordsField():
                text += f"<p>{html_text(_sentence(field.hint))}</p>"
                accepted = _word_texts(field)
                matches = "".join(var_equal("response1", spelling) for spelling in accepted)
                ids = tuple(range(_FIRST_ANSWER, _FIRST_ANSWER + len(accepted)))
                return question_item(
                    item, "short_answer_question", ids, text, TYPED_FIELD, [full_points(matches)], general
                )
            case EssayField():
                other = '<respcondition continue="No"><conditionvar><other/></conditionvar></respcondition>'
                if field.sample is not None:
                    general += self._html.blocks(field.sample)
                return question_item(item, "essay_question", (), text, TYPED_FIELD, [other], general)
        raise ValueError(f"a field {type(field).__name__} isn't a question of its own")

    def _text(self, item: ExportedItem) -> str:
        notes = "".join(f"<blockquote>{self._html.blocks(note)}</blockquote>" for note in item.variant.notes)
        return self._html.blocks(item.variant.stem) + notes

    def _choice(self, item: ExportedItem, field: ChoiceField, text: str, general: str) -> str:
        # The identifiers of feedback must not hold "correct" or "wrong": the importer would take it for that
        # of the whole question. Numbers never do.
        ids = {option.id: number for number, option in enumerate(field.options, _FIRST_ANSWER)}
        labels = "".join(
            f'<response_label ident="{ids[option.id]}">{html_material(self._html.inline(option.text))}'
            "</response_label>"
            for option in field.options
        )
        cardinality = "Multiple" if field.multiple else "Single"
        field_xml = (
            f'<response_lid ident="response1" rcardinality="{cardinality}">'
            f"<render_choice>{labels}</render_choice></response_lid>"
        )
        feedback = {ids[option.id]: option.feedback for option in field.options if option.feedback}
        feedback_conditions = [
            f'<respcondition continue="Yes"><conditionvar>{var_equal("response1", number)}</conditionvar>'
            f'<displayfeedback feedbacktype="Response" linkrefid="{number}_fb"/></respcondition>'
            for number in feedback
        ]
        right = [var_equal("response1", ids[option.id]) for option in field.options if option.correct]
        if field.multiple:
            wrong = [
                f"<not>{var_equal('response1', ids[option.id])}</not>"
                for option in field.options
                if not option.correct
            ]
            right = [f"<and>{''.join(right + wrong)}</and>"]
        kind = "multiple_answers_question" if field.multiple else "multiple_choice_question"
        texts = {f"{number}_fb": html_text(words) for number, words in feedback.items()}
        conditions = [*feedback_conditions, full_points("".join(right))]
        return question_item(item, kind, tuple(ids.values()), text, field_xml, conditions, general, texts)

    def _match(self, item: ExportedItem, field: MatchField, text: str, general: str) -> str:
        # Canvas shows what is chosen for a left side as characters, so that formulas stand above, by letters.
        plain = plain_options(field.targets)
        if plain is None:
            text += self._lettered(field.targets)
            plain = {target.id: target.id for target in field.targets}
        lefts = [(self._html.inline(prompt.text), plain[field.pairs[prompt.id]]) for prompt in field.prompts]
        return self._matching(item, lefts, list(plain.values()), text, general)

    def _order(self, item: ExportedItem, field: OrderField, text: str, general: str) -> str:
        places = [str(place + 1) for place in range(len(field.cards))]
        lefts = [(self._html.inline(card.text), places[field.order.index(card.id)]) for card in field.cards]
        return self._matching(item, lefts, places, f"{text}<p>Choose the place of each.</p>", general)

    def _lettered(self, options: Sequence[ChoiceOption]) -> str:
        rows = "".join(f"<li>{option.id}. {self._html.inline(option.text)}</li>" for option in options)
        return f"<ul>{rows}</ul>"

    @staticmethod
    def _matching(
        item: ExportedItem, lefts: Sequence[tuple[str, str]], matches: Sequence[str], text: str, general: str
    ) -> str:
        """Return a matching question; `lefts` are the left sides in HTML, each with its right match."""
        numbers = {match: number for number, match in enumerate(matches, _FIRST_MATCH)}
        labels = "".join(
            f'<response_label ident="{number}">{plain_material(match)}</response_label>'
            for match, number in numbers.items()
        )
        ids = tuple(range(_FIRST_ANSWER, _FIRST_ANSWER + len(lefts)))
        fields = "".join(
            f'<response_lid ident="response_{number}">{html_material(left)}'
            f"<render_choice>{labels}</render_choice></response_lid>"
            for number, (left, _) in zip(ids, lefts, strict=True)
        )
        share = f"{100 / len(lefts):.2f}"
        conditions = [
            part_points(f"response_{number}", numbers[match], share)
            for number, (_, match) in zip(ids, lefts, strict=True)
        ]
        return question_item(item, "matching_question", ids, text, fields, conditions, general)

    def _blanks_question(self, item: ExportedItem, text: str, general: str) -> str:
        parts, blanks = [text], list[TextBlank]()
        for field in item.fields:
            if field.prompt is not None:
                parts.append(self._html.blocks(field.prompt))
            # Numbered through, as two steps may be called alike once their signs are gone.
            added = list(self._blanks(field, f"{_NOT_IN_NAMES.sub('_', field.id)}_{len(blanks) + 1}"))
            parts.append(self._blank_rows(field, added))
            blanks += added
        html = "".join(parts)
        # Canvas itself writes shares with two decimals, and counts blanks and not these shares.
        share = f"{100 / len(blanks):.2f}"
        fields, conditions, ids = list[str](), list[str](), list[int]()
        number = _FIRST_ANSWER
        for blank in blanks:
            numbers = range(number, number + len(blank.accepted))
            number = numbers.stop
            labels = "".join(
                f'<response_label ident="{answer}">{plain_material(accepted)}</response_label>'
                for answer, accepted in zip(numbers, blank.accepted, strict=True)
            )
            fields.append(
                f'<response_lid ident="response_{blank.name}">{plain_material(blank.name)}'
                f"<render_choice>{labels}</render_choice></response_lid>"
            )
            conditions.append(part_points(f"response_{blank.name}", numbers.start, share))
            ids += numbers
        kind = "fill_in_multiple_blanks_question"
        return question_item(item, kind, tuple(ids), html, "".join(fields), conditions, general)

    def _blanks(self, field: ExportedField, name: str) -> Iterator[TextBlank]:
        match field:
            case NumbersField(entries=entries):
                for number, entry in enumerate(entries, start=1):
                    yield TextBlank(f"{name}_{number}", html_text(entry.label), tuple(number_texts(entry)))
            case WordsField():
                yield TextBlank(name, "", tuple(_word_texts(field)))
            case ChoiceField():
                yield TextBlank(name, "", tuple(_typed_letters(field)))
            case MatchField():
                for number, prompt in enumerate(field.prompts, start=1):
                    letter = field.pairs[prompt.id]
                    yield TextBlank(
                        f"{name}_{number}", self._html.inline(prompt.text), (letter, f"({letter})")
                    )
            case OrderField():
                for number, card in enumerate(field.cards, start=1):
                    place = str(field.order.index(card.id) + 1)
                    yield TextBlank(f"{name}_{number}", self._html.inline(card.text), (place, f"{place}."))

    def _blank_rows(self, field: ExportedField, blanks: Sequence[TextBlank]) -> str:
        """Return the instruction for a field and its blanks."""
        above = ""
        match field:
            case NumbersField():
                instruction = _number_instruction(field)
            case ChoiceField():
                above = self._lettered(field.options)
                instruction = (
                    "Type the letters of all right options." if field.multiple else "Type its letter."
                )
            case MatchField():
                above = self._lettered(field.targets)
                instruction = "Type a letter for each."
            case OrderField():
                instruction = "Type the place of each: 1 for the first."
            case _:
                instruction = _sentence(field.hint)
        unit = f" {html_text(field.unit)}" if isinstance(field, NumbersField) and field.unit else ""
        rows = "".join(
            f"<p>{blank.label}{': ' if blank.label else ''}[{blank.name}]{unit}</p>" for blank in blanks
        )
        return f"{above}<p>{html_text(instruction)}</p>{rows}"


def _sentence(hint: str) -> str:
    return f"{hint[:1].upper()}{hint[1:]}."


def _number_instruction(field: NumbersField) -> str:
    if not field.shape:
        return _sentence(field.hint)
    kind = kind_of(field.part.type)
    assert isinstance(kind, NumericType)
    words = kind.rounding_words(field.part)
    return "Enter whole numbers." if words == "whole" else f"Enter each number {words}.".replace(" .", ".")


def _word_texts(field: WordsField) -> list[str]:
    """Return the texts that are right, in each way in which they are usually written."""
    texts: dict[str, str] = {}
    for text, share in accepted_spellings(field).items():
        if share == 1:
            texts.setdefault(text.strip().lower(), text.strip())
    return list(texts.values())


def _typed_letters(field: ChoiceField) -> list[str]:
    letters = right_responses(field.part)
    return list(dict.fromkeys(text.strip() for text in letters if "\n" not in text))
