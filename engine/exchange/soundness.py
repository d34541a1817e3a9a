"""What must be true of a question in any system: something is asked, and something is right."""

from __future__ import annotations

from engine.exchange.question import Answer, Kind, Question
from engine.exchange.reading import Faults

__all__ = ["check_question", "full_answers", "right_options"]


def check_question(question: Question, faults: Faults) -> None:
    """Note what keeps a question from being asked or answered at all."""
    if not question.text.text.strip():
        faults.add(question.place, "this question asks nothing: its text is empty")
    if question.kind is Kind.MATCHING:
        _check_pairs(question, faults)
        return
    if not question.answers:
        faults.add(question.place, "this question has no answers")
        return
    for answer in question.answers:
        if not answer.text.text.strip():
            faults.add(answer.place, "this answer is empty")
    if not (right_options(question) if question.kind is Kind.CHOICE else full_answers(question)):
        what = "no option is right" if question.kind is Kind.CHOICE else "no answer is worth 100 %"
        faults.add(question.place, f"{what}, so nobody could answer this question")


def full_answers(question: Question) -> tuple[Answer, ...]:
    """Return the answers that earn all points; ``*`` isn't one."""
    return tuple(a for a in question.answers if a.fraction == 1 and a.text.text.strip() != "*")


def right_options(question: Question) -> tuple[Answer, ...]:
    """Return the right options: those worth 100 %, or all that earn something where several are picked."""
    if question.single:
        return tuple(answer for answer in question.answers if answer.fraction == 1)
    return tuple(answer for answer in question.answers if answer.fraction > 0)


def _check_pairs(question: Question, faults: Faults) -> None:
    if sum(bool(pair.prompt) for pair in question.pairs) < 2:
        faults.add(question.place, "a matching question needs two pairs at least")
    for pair in question.pairs:
        if not pair.target:
            faults.add(pair.place, "this pair has no right side")
