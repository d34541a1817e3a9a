"""A question into the data of a problem file; what has no counterpart here is noted, or refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from engine.exchange.keys.suggest import Key, suggestion_lines
from engine.exchange.question import Kind, Note, Question
from engine.exchange.soundness import full_answers
from engine.exchange.spec_file.choices import choice_answer
from engine.exchange.spec_file.naming import title_of, topics_of
from engine.exchange.spec_file.numbers import number_answer
from engine.exchange.spec_file.texts import Texts, UnfitError
from engine.exchange.spec_file.words import matching_answer, token_answer
from engine.exchange.spec_file.yaml_text import yaml_text
from engine.foreign import clean_line
from engine.plurals import agree, counted

__all__ = ["Draft", "UnfitError", "to_spec"]

_BLOOM = {
    Kind.CHOICE: "understand",
    Kind.TOKEN: "remember",
    Kind.NUMBER: "apply",
    Kind.MATCHING: "understand",
}
_MAX_POINTS = 1000
_MAX_HINTS = 10
_MAX_STEM = 56


@dataclass
class Draft:
    """A problem file that has no id yet.

    Parameters
    ----------
    question : Question
    data : dict
        What comes after ``id``, in order.
    notes : list of Note
        What isn't kept, or what somebody should look at.
    by_hand : list of str
        Comment lines for a key that could be recomputed; empty if there is nothing to recompute.
    origin : str
        Where the question comes from, in words.
    """

    question: Question
    data: dict[str, Any]
    notes: list[Note]
    origin: str
    by_hand: list[str] = field(default_factory=list)

    def content(self, item_id: str) -> dict[str, Any]:
        """Return what the file holds; the mistakes that were foreseen are named after the item."""
        data = {"id": item_id, **self.data}
        if "misconceptions" in data:
            stem = item_id[:_MAX_STEM].rstrip("-")
            named = [
                {**entry, "id": f"m-{stem}-{n}"} for n, entry in enumerate(data["misconceptions"], start=1)
            ]
            data["misconceptions"] = named
        return data

    def text(self, item_id: str) -> str:
        """Return the file."""
        head = [
            f"Imported from {self.origin}.",
            "Read it before it is used: difficulty and bloom are guesses.",
        ]
        if self.notes:
            head += ["Not kept, or changed:", *(f"- {note.message}" for note in self.notes)]
        return yaml_text(self.content(item_id), {"": head, "answer": self.by_hand})


def to_spec(question: Question, file: str) -> Draft:
    """Return what a question becomes here.

    Parameters
    ----------
    question : Question
        A sound one, see :mod:`engine.exchange.soundness`.
    file : str
        The name of its file, for the source.

    Raises
    ------
    UnfitError
        It has no counterpart here.
    """
    texts = Texts()
    stem = texts.needed(question.text, "the text", inline=False, place=question.place)
    answer, mistakes, variants, key = _answer(question, texts)
    title = title_of(question.name, stem.words)
    data: dict[str, Any] = {
        "title": title,
        "source": {"document": "background", "note": clean_line(f"imported from {file}", 300)},
        "difficulty": 2,
        "bloom": _BLOOM[question.kind],
        "topics": topics_of(question.category, question.tags),
        "points": _points(question.points, texts),
        "variants": variants,
        "stem": stem.prose,
        "answer": answer,
    }
    if mistakes:
        data["misconceptions"] = mistakes
    data |= _after(question, texts)
    by_hand = suggestion_lines(stem.words, key)
    origin = f"{file}, line {question.place.line} ({question.type})"
    if question.category:
        origin += f", category {question.category}"
    return Draft(question, data, [*question.notes, *texts.notes], clean_line(origin, 280), by_hand)


def _answer(question: Question, texts: Texts) -> tuple[dict[str, Any], list[dict[str, Any]], int, Key | None]:
    """Return the answer, foreseen mistakes, the number of variants, and the key if it may be a number."""
    if question.kind is Kind.CHOICE:
        choice = choice_answer(question, texts)
        return choice.data, [], choice.variants, Key("single_choice", choice.key) if choice.key else None
    if question.kind is Kind.MATCHING:
        return matching_answer(question, texts), [], 1, None
    if question.kind is Kind.NUMBER:
        data, mistakes = number_answer(question, texts)
        return data, mistakes, 1, Key("number", data["key"])
    data, mistakes = token_answer(question, texts)
    return data, mistakes, 1, Key("number", data["accepted"][0])


def _points(points: Decimal, texts: Texts) -> int | float:
    if not 0 < points <= _MAX_POINTS:
        texts.note(f"{counted(points, 'point')} {agree(points, 'are')}n't possible here; it has 1")
        return 1
    return int(points) if points == points.to_integral_value() else float(points)


def _after(question: Question, texts: Texts) -> dict[str, Any]:
    """Return hints, and the feedback for everybody as the solution."""
    found: dict[str, Any] = {}
    hints = [
        texts.optional(hint, f"hint {n}", inline=False) for n, hint in enumerate(question.hints, start=1)
    ]
    hints = [hint for hint in hints if hint]
    if len(hints) > _MAX_HINTS:
        texts.note(f"it has {counted(len(hints), 'hint')}; the first {_MAX_HINTS} are kept")
    if hints:
        found["hints"] = hints[:_MAX_HINTS]
    solution = texts.optional(question.general, "feedback for everybody", inline=False)
    if question.kind in (Kind.NUMBER, Kind.TOKEN):
        solution = _with_praise(solution, question, texts)
    if solution:
        found["solution"] = solution
    return found


def _with_praise(solution: str, question: Question, texts: Texts) -> str:
    """Return the solution; what is said to right answers takes its place where there is none."""
    for answer in full_answers(question):
        praise = texts.feedback(answer.feedback, "feedback for the right answer", place=answer.place)
        if not solution:
            solution = praise
        elif praise and praise != solution:
            texts.note("feedback for the right answer isn't kept", answer.place)
    return solution
