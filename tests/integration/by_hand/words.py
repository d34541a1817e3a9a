"""Answers that are words: which option, which target, which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from engine.model import Part

__all__ = ["READ", "Cards", "Pairs", "Pick", "Read", "chosen", "found"]


@dataclass(frozen=True)
class Read:
    """Nothing to compute: the statements were read against the lecture (see ``reviewed.yaml``)."""


READ = Read()


@dataclass(frozen=True)
class Pick:
    """Whether a statement is true: by a piece of its text that no other option has, or by a function."""

    truth: Mapping[str, bool] | Callable[[str], bool]


@dataclass(frozen=True)
class Pairs:
    """The target's text for a prompt: by a piece of the prompt's text, or by a function."""

    targets: Mapping[str, str] | Callable[[str], str]


@dataclass(frozen=True)
class Cards:
    """Pieces of the cards' texts, first to last; those that weren't drawn are passed over."""

    order: tuple[str, ...]


def found(pieces: Iterable[str], text: str) -> str:
    """Return the one piece that the text contains; the whole text goes before pieces of it."""
    names = list(pieces)
    if text in names:
        return text
    hits = [piece for piece in names if piece in text]
    assert len(hits) == 1, f"{text!r} contains {hits or 'none of ' + str(names)}"
    return hits[0]


def chosen(part: Part, answer: Pick | Pairs | Cards) -> tuple[str, ...]:
    """Return the ids that a student with this answer enters, in the order in which the key has them."""
    if isinstance(answer, Cards):
        ids = {found(answer.order, option.text.plain): option.id for option in part.options}
        return tuple(ids[piece] for piece in answer.order if piece in ids)
    if isinstance(answer, Pick):
        return tuple(o.id for o in part.options if _ask(answer.truth, o.text.plain))
    ids = {option.text.plain: option.id for option in part.options}
    return tuple(ids[str(_ask(answer.targets, prompt.text.plain))] for prompt in part.prompts)


def _ask(table: Mapping[str, bool] | Mapping[str, str] | Callable[[str], object], text: str) -> object:
    return table(text) if callable(table) else table[found(table, text)]
