"""Texts with fields in them, in the forms that the importer knows, and the words that our own exports add.

Platforms that have no field for a vector, an order or pairs get several fields, with a sentence above them:
what is read back is one field again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import unescape
from itertools import pairwise, product
from string import ascii_lowercase

from engine.authoring.importing.foreign_question import (
    NOTHING,
    ForeignQuestion,
    ForeseenAnswer,
    MarkedText,
    MatchingPair,
    QuestionKind,
    TextForm,
)

_LIST = ("<ul><li>a. ", "</li></ul>")
CHOOSE_PLACES = "Choose the place of each."
"""What our exports say above a selection field for each card of an order."""
_MARK_START = "gapfield"
_MARK = re.compile(f"{_MARK_START}(?=(.{{0,5}}))", re.DOTALL)
_CELL = re.compile(r"row ([0-9]{1,3}) column [0-9]{1,3}")


def unused_mark(text: str) -> str:
    """Return a word that a text doesn't hold, which can stand in it for a field.

    It consists of letters only, so that neither HTML nor Markdown makes anything of it. A text made of such
    words is looked through once, however many they are.

    Examples
    --------
    >>> unused_mark("a gapfield and a gapfieldaaaaa")
    'gapfieldaaaab'
    """
    # what stands behind each of them is looked at, also where they overlap
    used = {match[1] for match in _MARK.finditer(text)}
    if not used:
        return _MARK_START
    suffixes = ("".join(letters) for letters in product(ascii_lowercase, repeat=5))
    return _MARK_START + next(suffix for suffix in suffixes if suffix not in used)


def html_text(text: str) -> MarkedText:
    """Return HTML as a text of a question."""
    return MarkedText(text.strip(), TextForm.HTML)


def without_last_paragraph(html: str) -> tuple[str, str]:
    """Return a text without its last paragraph, and that paragraph's words; empty where it ends otherwise."""
    start = html.rfind("<p>")
    if start < 0 or not html.endswith("</p>"):
        return html, ""
    return html[:start], unescape(html[start + 3 : -4])


def without_letters(html: str) -> tuple[str, dict[str, str]]:
    """Return a text without the list of letters at its end, and what stands behind each letter."""
    start = html.rfind(_LIST[0])
    if start < 0 or not html.endswith(_LIST[1]):
        return html, {}
    body, entries, at = html[start + len("<ul>") : -len("</ul>")], dict[str, str](), 0
    for letter, following in pairwise(ascii_lowercase):
        lead = f"<li>{letter}. "
        if not body.startswith(lead, at):
            break
        end = body.find(f"</li><li>{following}. ", at)
        end = end if end >= 0 else len(body) - len("</li>")
        entries[letter] = body[at + len(lead) : end]
        at = end + len("</li>")
    return html[:start], entries


def plain_text(text: MarkedText) -> str:
    """Return the words of a short text in HTML, without its tags."""
    return unescape(re.sub("<[^<>]{0,100}>", "", text.text)).strip()


def order_question(question: ForeignQuestion, cards: Sequence[MarkedText]) -> ForeignQuestion:
    """Return cards in their right order, each of which has been marked in its place."""
    answers = tuple(ForeseenAnswer(card, Fraction(1), place=question.place) for card in cards)
    return replace(question, kind=QuestionKind.ORDERING, answers=answers, policy="positions")


def pairs_question(
    question: ForeignQuestion,
    pairs: Sequence[tuple[MarkedText, MarkedText]],
    targets: Sequence[MarkedText],
    feedback: Sequence[MarkedText] = (),
) -> ForeignQuestion:
    """Return pairs of which each has been marked by itself.

    Parameters
    ----------
    question : ForeignQuestion
    pairs : sequence of (MarkedText, MarkedText)
        Prompts with their right targets.
    targets : sequence of MarkedText
        All targets.
    feedback : sequence of MarkedText, optional
        Of each pair, for a wrong target.
    """
    used = {right.text for _, right in pairs}
    words = feedback or [NOTHING] * len(pairs)
    made = [
        MatchingPair(left, right, question.place, wrong)
        for (left, right), wrong in zip(pairs, words, strict=True)
    ]
    made += [MatchingPair(NOTHING, target, question.place) for target in targets if target.text not in used]
    return replace(question, kind=QuestionKind.MATCHING, pairs=tuple(made), policy="each-answer")


@dataclass
class GapWriter:
    """Collects the fields of a text, and the text with marks in their places.

    Parameters
    ----------
    plain : ForeignQuestion
    mark : str
    pieces : list of str
        HTML in the order of the text.
    gaps : list of ForeignQuestion
    """

    plain: ForeignQuestion
    mark: str
    pieces: list[str] = field(default_factory=list)
    gaps: list[ForeignQuestion] = field(default_factory=list)

    def add(self, gap: ForeignQuestion) -> str:
        """Return the mark of a field."""
        self.gaps.append(gap)
        return f"{self.mark}{len(self.gaps) - 1}{self.mark}"

    def question(self) -> ForeignQuestion:
        """Return the text with its fields."""
        return replace(
            self.plain,
            kind=QuestionKind.GAPS,
            text=html_text("".join(self.pieces)),
            gaps=tuple(self.gaps),
            gap_mark=self.mark,
        )


def laid_out(labels: Sequence[str], marks: Sequence[str], unit: str = "") -> str:
    """Return fields for numbers as the importer knows them: in one line, or in a table.

    Parameters
    ----------
    labels : sequence of str
        As our exports call the entries: ``entry 2``, ``row 1 column 3``.
    marks : sequence of str
        Of the fields.
    unit : str
        Of a single number.
    """
    cells = [_CELL.fullmatch(label) for label in labels]
    if not all(cells):
        return f"<p>{', '.join(marks)} {unit}</p>"
    rows: dict[str, list[str]] = {}
    for cell, mark in zip(cells, marks, strict=True):
        rows.setdefault(cell[1] if cell is not None else "", []).append(f"<td>{mark}</td>")
    return "<table>{}</table>".format("".join(f"<tr>{''.join(row)}</tr>" for row in rows.values()))
