"""Answers out of an assignment's notebook, joined with the variant that they answer.

The notebook says which variant it asked: foreign, like all of it. The bank draws it anew, and what was asked
must be the same; a course also knows its own questions by their seal, so that nobody answers a variant of
their own choice.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from engine.errors import SubmissionError
from engine.intake.assignment_cells import AssignedItem, question_digest, question_seal
from engine.intake.assignment_notebook import TakenAnswer
from engine.model import Variant
from engine.text.words import clean_line


def answered_variant(assigned: AssignedItem, variant: Variant, secret: bytes | None) -> Variant:
    """Return the variant if it is what the notebook asked.

    Parameters
    ----------
    assigned : AssignedItem
        As the notebook says.
    variant : Variant
        Drawn from the bank with its seed.
    secret : bytes or None
        Of the course, where marks are made.

    Raises
    ------
    SubmissionError
        The question isn't the course's own, or its numbers or options have changed since.
    """
    item, question = assigned.item, question_digest(variant)
    if secret is not None:
        seal = question_seal(secret, item, assigned.seed, assigned.question)
        if not hmac.compare_digest(seal, assigned.seal):
            raise SubmissionError(
                f"the question of {item} in this notebook isn't one that the course handed out",
                expected="a notebook that grade export notebook wrote in this course",
                next_step="compare it with the notebook that was handed out; to mark by hand: grade mark set",
            )
    if question != assigned.question:
        raise SubmissionError(
            f"{item} has changed since this notebook was written: it has other numbers or options now",
            next_step="get the notebook again, or update Softmark to the version that wrote it",
        )
    return variant


def texts_of(written: TakenAnswer, variant: Variant) -> Mapping[str, str]:
    """Return the answers by the parts of a variant.

    Raises
    ------
    SubmissionError
        A part is named that isn't there, or several parts have one answer.
    """
    parts = [part.id for part in variant.parts]
    if set(written.texts) == {""}:
        if len(parts) == 1:
            return {parts[0]: written.texts[""]}
        if not written.texts[""].strip():
            return dict.fromkeys(parts, "")
    unknown = [name for name in written.texts if name not in parts]
    if unknown:
        raise SubmissionError(
            f"the answers to {variant.item} aren't named by its parts",
            expected=", ".join(f'"{part}": "…"' for part in parts),
            got=clean_line(", ".join(name or "one text" for name in unknown), 80),
            next_step="write an entry for each part, as in the cell that was handed out",
        )
    return {part: written.texts.get(part, "") for part in parts}
