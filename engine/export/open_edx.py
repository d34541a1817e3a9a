"""An item as a problem file of Open edX (OLX), and what such a problem can't do.

A problem is marked by its responses: each earns one point, and the problem's weight scales their sum. Only
responses are used that need no Python: that runs in a sandbox which many installations don't have. What the
problem block makes of each element is tried with the block itself in the tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import assert_never

from engine.answers import kind_of
from engine.answers.numeric import NumericType
from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumberEntry,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.exported_item import ExportedFamily, ExportedItem, ExportLoss
from engine.export.prose_html import (
    PictureStore,
    ProseHtml,
    html_text,
    plain_options,
    tex_in_delimiters,
    xml_value,
)
from engine.export.spellings import accepted_spellings
from engine.model import ChoiceOption, RenderedText
from engine.prose.prose_tree import ProseParagraph, ProsePicture, prose_tree
from engine.text.words import count_noun

STATIC_FOLDER = "static/"
# No rule of the block takes wrong picks off right ones; of those it has, halves come nearest to that.
_CREDIT = {"each-answer": "EDC", "net-correct": "halves", "coverage": "halves"}
_POLICY_LOSSES = {
    "net-correct": "picks of several options earn halves: one error costs half of the points, two errors "
    "three quarters (from 5 options on), more errors all of them",
    "each-answer": "shares of an answer with several options are rounded to hundredths",
}
_POLICY_LOSSES["coverage"] = _POLICY_LOSSES["net-correct"]
# The problem block puts values of its own in the place of these, wherever they stand.
_VARIABLE = re.compile(r"\$(?=seed|anonymous_student_id|script_code|python_path|extra_files|attempt)")
# Apostrophes part the options of a dropdown from each other, and a backslash takes the next one along: signs
# that look the same stand in their place.
_OPTION_SIGNS = str.maketrans({"'": "\u2019", "\\": "\u2216"})
# In an accepted text it means that there are two.
_OR = re.compile("_or_", re.IGNORECASE)


def problem_losses(family: ExportedFamily) -> Iterator[ExportLoss]:
    """Yield what problem files can't carry of a family; the same thing once for all variants."""
    yield from dict.fromkeys(loss for item in family.items for loss in _losses_of(item, family.item))


def _losses_of(item: ExportedItem, name: str) -> Iterator[ExportLoss]:
    for field in item.fields:
        for message, is_refusal in _field_losses(field):
            yield ExportLoss(name, field.id, message, is_refusal)
    # The block has points of its own for some fields only, and forgets them where an answer is fully right.
    counts = [_responses(field) for field in item.fields]
    earned = [count / sum(counts) for count in counts] if sum(counts) else []
    if any(abs(a - b) > 1e-9 for a, b in zip(earned, item.shares(), strict=False)):
        yield ExportLoss(
            name, "", f"each of the {count_noun(sum(counts), 'field')} of the problem earns the same share"
        )


def _field_losses(field: ExportedField) -> Iterator[tuple[str, bool]]:
    if field.follows:
        yield "the answer isn't marked again with the student's own earlier values", False
    match field:
        case ChoiceField(multiple=True, policy=policy) if policy in _POLICY_LOSSES:
            yield _POLICY_LOSSES[policy], False
        case ChoiceField(accepts_printed=True):
            yield "the option that the source printed by mistake isn't accepted", False
        case OrderField(policy=policy) if policy != "positions":
            yield f"an order marked by {_ORDER_WORDS[policy]} earns a share for each card in its place", False
        case MatchField(policy="exact"):
            yield "each right pair earns its share, where all had to be right", False
        case NumbersField():
            yield from _number_losses(field)
        case WordsField():
            yield "a text is right only if it is spelt as one of the texts listed, but for case", False
            if field.case_sensitive:
                yield "capital letters don't matter", False
            if field.order_credit:
                yield "right sequences in another order earn nothing", False
            if not _accepted(field):
                yield "a text with _or_ in it can't be asked", True
            elif any(_OR.search(text) or _VARIABLE.search(text) for text in field.accepted):
                yield "right texts that hold _or_ or a variable such as $seed aren't listed", False
        case EssayField():
            yield "a problem of Open edX takes no answers that a person marks", True


_ORDER_WORDS = {"exact": "the whole order", "pairs": "pairs of cards"}


def _number_losses(field: NumbersField) -> Iterator[tuple[str, bool]]:
    if any(len(group) > 1 for group in field.groups):
        whole = "all of them" if len(field.groups) == 1 else "a whole row"
        yield f"each right number earns its share, where {whole} had to be right", False
    if field.near_credit:
        yield "numbers that are nearly right earn nothing", False
    if field.wrong:
        yield "no feedback is shown for the numbers that known mistakes give", False


def _responses(field: ExportedField) -> int:
    match field:
        case NumbersField(entries=entries):
            return len(entries)
        case MatchField(prompts=prompts):
            return len(prompts)
        case OrderField(cards=cards):
            return len(cards)
    return 1


def _accepted(field: WordsField) -> list[str]:
    """Return the texts that are right, in each way in which they are usually written.

    A field takes blanks around a text and capital letters anyway.
    """
    texts: dict[str, str] = {}
    for text, share in accepted_spellings(field).items():
        if share == 1:
            texts.setdefault(text.strip().casefold(), text.strip())
    return [text for text in texts.values() if not (_OR.search(text) or _VARIABLE.search(text))]


class ProblemWriter:
    """Writes items as problem files, and keeps their pictures."""

    def __init__(self) -> None:
        self.pictures = PictureStore(STATIC_FOLDER)
        self._html = ProseHtml(tex_in_delimiters, self._address)

    def _address(self, picture: ProsePicture) -> str:
        return f"/static/{self.pictures.keep(picture)}"

    def problem(self, item: ExportedItem, tags: Sequence[str]) -> str:
        """Return the file of an item.

        Parameters
        ----------
        item : ExportedItem
            Without fields that :func:`problem_losses` refuses.
        tags : sequence of str
        """
        variant = item.variant
        attributes = {
            "display_name": item.title,
            "weight": f"{item.points:g}",
            "tags": json.dumps(list(tags), ensure_ascii=False),
        }
        parts = [
            self._html.blocks(variant.stem),
            *(f"<blockquote>{self._html.blocks(note)}</blockquote>" for note in variant.notes),
            *(self._field(field) for field in item.fields),
            self._solution(item.general_feedback),
            self._hints(variant.hints),
        ]
        written = "".join(f' {name}="{xml_value(value)}"' for name, value in attributes.items())
        body = "\n".join(part for part in parts if part)
        # A joiner without width, so that nothing is put in the place of a word with a dollar before it.
        body = _VARIABLE.sub("$\u2060", body)
        return f"<problem{written}>\n{body}\n</problem>\n"

    def _solution(self, texts: Sequence[RenderedText]) -> str:
        if not texts:
            return ""
        words = "\n".join(self._html.blocks(text) for text in texts)
        return f'<solution>\n<div class="detailed-solution">\n{words}\n</div>\n</solution>'

    def _hints(self, hints: Sequence[RenderedText]) -> str:
        written = "\n".join(f"<hint>{self._html.inline(hint)}</hint>" for hint in hints)
        return f"<demandhint>\n{written}\n</demandhint>" if hints else ""

    def _field(self, field: ExportedField) -> str:
        match field:
            case ChoiceField(multiple=True):
                return self._check_boxes(field)
            case ChoiceField():
                return self._radio_buttons(field)
            case OrderField():
                return self._order(field)
            case MatchField():
                return self._match(field)
            case NumbersField():
                return self._numbers(field)
            case WordsField():
                return self._words(field)
            case EssayField():
                raise ValueError("a problem has no field for an answer in words")
            case _ as never:
                assert_never(never)

    def _label(self, field: ExportedField, description: str = "") -> str:
        """Return the question of a step, or that an answer is wanted: what a screen reader says."""
        label = "Your answer" if field.prompt is None else self._line(field.prompt)
        described = f"<description>{html_text(description)}</description>" if description else ""
        return f"<label>{label}</label>{described}"

    def _line(self, text: RenderedText) -> str:
        """Return a text that may be part of a label: several paragraphs become lines."""
        blocks = prose_tree(text)
        if all(isinstance(block, ProseParagraph) for block in blocks):
            return (
                self._html.blocks(text).replace("</p>\n<p>", "<br/>").removeprefix("<p>").removesuffix("</p>")
            )
        return html_text(text.plain)

    def _intro(self, field: ExportedField, instruction: str) -> str:
        """Return what stands above the fields of one question."""
        prompt = "" if field.prompt is None else self._html.blocks(field.prompt) + "\n"
        return f"{prompt}<p>{html_text(instruction)}</p>"

    def _radio_buttons(self, field: ChoiceField) -> str:
        choices = "\n".join(self._choice(option, "<choicehint>") for option in field.options)
        group = f'<choicegroup type="MultipleChoice">\n{choices}\n</choicegroup>'
        return f"<multiplechoiceresponse>\n{self._label(field)}\n{group}\n</multiplechoiceresponse>"

    def _check_boxes(self, field: ChoiceField) -> str:
        choices = "\n".join(self._choice(option, '<choicehint selected="true">') for option in field.options)
        credit = f' partial_credit="{_CREDIT[field.policy]}"' if field.policy in _CREDIT else ""
        group = f"<checkboxgroup>\n{choices}\n</checkboxgroup>"
        label = self._label(field, "Several may be right.")
        return f"<choiceresponse{credit}>\n{label}\n{group}\n</choiceresponse>"

    def _choice(self, option: ChoiceOption, hint: str) -> str:
        feedback = f"{hint}{html_text(option.feedback)}</choicehint>" if option.feedback else ""
        correct = "true" if option.correct else "false"
        return f'<choice correct="{correct}">{self._html.inline(option.text)}{feedback}</choice>'

    def _match(self, field: MatchField) -> str:
        choices, above = self._dropdown_texts(field.targets)
        rows = [self._intro(field, "Choose one for each."), *([above] if above else [])]
        for prompt in field.prompts:
            texts = [(choices[target.id], target.id == field.pairs[prompt.id]) for target in field.targets]
            rows.append(_dropdown(self._line(prompt.text), texts, prompt.feedback))
        return "\n".join(rows)

    def _dropdown_texts(self, options: Sequence[ChoiceOption]) -> tuple[dict[str, str], str]:
        """Return what a dropdown shows for each option, and the list above it, where it can't show all.

        A dropdown takes characters only: options with formulas get their letters.
        """
        if (plain := plain_options(options)) is not None:
            return {name: text.translate(_OPTION_SIGNS) for name, text in plain.items()}, ""
        rows = "".join(f"<li>{option.id}. {self._html.inline(option.text)}</li>" for option in options)
        return {option.id: option.id for option in options}, f"<ul>{rows}</ul>"

    def _order(self, field: OrderField) -> str:
        places = [str(place + 1) for place in range(len(field.cards))]
        rows = [self._intro(field, "Choose the place of each.")]
        for card in field.cards:
            right = places[field.order.index(card.id)]
            rows.append(
                _dropdown(
                    self._line(card.text), [(place, place == right) for place in places], field.feedback
                )
            )
        return "\n".join(rows)

    def _numbers(self, field: NumbersField) -> str:
        if not field.shape:
            return _number(field.entries[0], self._label(field, field.hint), field.unit)
        rows = [self._intro(field, _each_number(field))]
        rows += [
            _number(entry, f"<label>{html_text(entry.label)}</label>", field.unit) for entry in field.entries
        ]
        return "\n".join(rows)

    def _words(self, field: WordsField) -> str:
        first, *others = _accepted(field)
        # One by one: of a regular expression only the first and the last alternative would be anchored.
        rows = [f'<stringresponse answer="{xml_value(first)}" type="ci">', self._label(field, field.hint)]
        rows += [f'<additional_answer answer="{xml_value(text)}"/>' for text in others]
        for text, feedback in dict(field.wrong).items():
            if feedback and not _VARIABLE.search(text):
                hint = f'<stringequalhint answer="{xml_value(text)}">{html_text(feedback)}</stringequalhint>'
                rows.append(hint)
        return "\n".join([*rows, '<textline size="40"/>', "</stringresponse>"])


def _each_number(field: NumbersField) -> str:
    """Return how exactly the numbers of a vector or a matrix are asked for."""
    kind = kind_of(field.part.type)
    assert isinstance(kind, NumericType)
    words = kind.rounding_words(field.part)
    if words == "whole":
        return "Enter whole numbers."
    return f"Enter each number {words}{kind.leeway_words(field.part)}.".replace(" .", ".")


def _dropdown(label: str, texts: Sequence[tuple[str, bool]], feedback: str) -> str:
    hint = f"<optionhint>{html_text(feedback)}</optionhint>" if feedback else ""
    options = "".join(
        f'<option correct="{is_right}">{xml_value(text)}{"" if is_right else hint}</option>'
        for text, is_right in texts
    )
    return f"<optionresponse><label>{label}</label><optioninput>{options}</optioninput></optionresponse>"


def _number(entry: NumberEntry, label: str, unit: str) -> str:
    """Return a field for one number; a tolerance where the interval lies around the key, or else a range.

    Both are exact, and a tolerance lets the page show the key; without one stated, Open edX would take a
    thousandth of a per cent.
    """
    middle = (entry.lower + entry.upper) / 2
    right = Decimal(entry.right)
    if right == middle:
        half = f"{entry.upper - right:f}"
        answer, tolerance = entry.right, f'<responseparam type="tolerance" default="{half}"/>'
    else:
        answer, tolerance = f"[{entry.lower:f}, {entry.upper:f}]", ""
    behind = f' trailing_text="{xml_value(unit)}"' if unit else ""
    return (
        f'<numericalresponse answer="{answer}">{label}{tolerance}<formulaequationinput{behind}/>'
        "</numericalresponse>"
    )
