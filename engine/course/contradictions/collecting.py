"""What there is in a course: read from its roster, its store, its plans and the bank."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from engine.course.contradictions.facts import Facts
from engine.course.course import Course
from engine.errors import InputError
from engine.quiz.blueprint import read_blueprint
from engine.rules import QuizRules
from engine.spec.bank import Bank, builtin_root
from engine.store import Store

__all__ = ["facts_of"]


def facts_of(course: Course, store: Store, bank: Bank) -> Facts:
    """Return what the rules of a course are compared with.

    Parameters
    ----------
    course : Course
    store : Store
        The course's.
    bank : Bank
        The items that the course can use.
    """
    drawn = store.quiz_names()
    plans = {
        path.stem
        for folder in (course.blueprints, builtin_root() / "blueprints")
        for path in folder.glob("*.yaml")
    }
    named = course.policies.named
    return Facts(
        students=frozenset(student.id for student in course.roster(tolerant=True).students),
        code=frozenset(bank.code_ids()),
        quizzes=frozenset(plans.union(drawn)),
        quiz_rules={name: _rules(course, store, name, drawn) for name in named if name in plans.union(drawn)},
    )


def _rules(course: Course, store: Store, name: str, drawn: Collection[str]) -> Mapping[str, QuizRules]:
    if name in drawn:
        return {quiz.student: quiz.rules for quiz in store.quizzes(name)}
    path = course.blueprints / f"{name}.yaml"
    try:
        return {"": read_blueprint(path).blueprint.rules} if path.is_file() else {}
    except InputError:  # `grade quiz check` tells what is wrong with a plan
        return {}
