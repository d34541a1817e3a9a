"""What a lecturer should know before a quiz goes out."""

from __future__ import annotations

from datetime import datetime

from engine.plurals import agree, all_of, counted
from engine.quiz.blueprint import Blueprint
from engine.quiz.credit import percent
from engine.quiz.rehearsal import QuestionFigures, Rehearsal
from engine.quiz.rules_text import deadline_text
from engine.quiz.slots import untaught
from engine.rules import Shown
from engine.spec.bank import Bank

__all__ = ["warnings_of"]

_MUCH = 0.25
_SPREAD = 0.5


def warnings_of(
    rehearsal: Rehearsal, bank: Bank, now: datetime, blueprint: Blueprint | None = None
) -> list[str]:
    """Return warnings, those about the whole quiz first.

    With the `blueprint`, pinned items are held against its `needs`: drawn ones meet them anyway.
    """
    rules = rehearsal.rules
    found = []
    if rules.deadline is not None and rules.is_over(now):
        found.append(f"the deadline {deadline_text(rules.deadline)} has passed already")
    if rehearsal.guessing > _MUCH:
        found.append(f"guessing earns {percent(rehearsal.guessing)} of the points on average")
    low, high = rehearsal.difficulty_of_students
    if high - low > _SPREAD:
        found.append(
            f"students' quizzes differ in difficulty: {low:.1f} to {high:.1f} on average; "
            "narrow `difficulty` in the sections with `per_student`"
        )
    for question in rehearsal.questions:
        if blueprint is not None and blueprint.needs is not None:
            for item in question.items:
                if lacking := untaught(bank.load(item), blueprint.needs):
                    found.append(
                        f"question {question.number}: {item} needs {', '.join(lacking)}, "
                        "which the blueprint's `needs` doesn't name"
                    )
        found += [f"question {question.number}: {text}" for text in _of_question(question, rehearsal)]
        found += [f"question {question.number}: {text}" for text in _of_items(question, rehearsal, bank)]
    return found


def _of_question(question: QuestionFigures, rehearsal: Rehearsal) -> list[str]:
    found = []
    students, size = rehearsal.students, question.most_variants
    if question.shared > 1 and question.variants == 1:
        found.append(
            f"{all_of(students, 'student')} {agree(students, 'have')} the same "
            f"variant{' (there is no other)' * (size == 1)}"
        )
    elif question.shared > 1:
        cause = f" (there are {size} in all)" if size is not None and size < students else ""
        found.append(
            f"{counted(question.variants, 'different variant')} for {counted(students, 'student')}{cause}; "
            f"up to {question.shared} have the same"
        )
    elif question.keys == 1 and students > 1:
        found.append(f"{all_of(students, 'student')} {agree(students, 'have')} the same right answer")
    attempts = rehearsal.rules.attempts or 1
    if question.is_choice and size is not None and size < attempts:
        found.append(
            f"{counted(attempts, 'attempt')}, but {counted(size, 'variant')}: each variant is asked once, "
            "because the same options again would be elimination"
        )
    if rehearsal.students > 1 and question.guessing > _MUCH * 2:
        found.append(f"guessing earns {percent(question.guessing)} of its points")
    return found


def _of_items(question: QuestionFigures, rehearsal: Rehearsal, bank: Bank) -> list[str]:
    found = []
    for item in question.items:
        spec = bank.load(item)
        if rehearsal.rules.hint_cost is not None and not spec.hints:
            found.append(f"{item} has no hints")
        if Shown.SOLUTION in (rehearsal.rules.show_before, _after(rehearsal)) and spec.solution is None:
            found.append(f"{item} has no worked solution to show")
    return found


def _after(rehearsal: Rehearsal) -> Shown | None:
    return rehearsal.rules.show_after if rehearsal.rules.deadline is not None else None
