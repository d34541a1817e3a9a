"""What the rules are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.course.policies.schema import DEFAULT, Assignment, Policies
from engine.rules import QuizRules
from engine.spec.places import Loc

__all__ = ["Facts", "Finding", "Rules"]

Finding = tuple[Loc, str]
"""Where in course.yaml something stands, and what is wrong with it."""


@dataclass(frozen=True)
class Facts:
    """What there is in a course.

    Parameters
    ----------
    students : frozenset of str
        Ids of the roster; empty where there is none.
    code : frozenset of str
        Code items.
    quizzes : frozenset of str
        Names of quizzes, drawn or planned.
    quiz_rules : mapping of str to mapping of str to QuizRules
        By quiz and student; a quiz that isn't drawn yet has one entry, for the student ``""``.
    """

    students: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    quizzes: frozenset[str] = frozenset()
    quiz_rules: Mapping[str, Mapping[str, QuizRules]] = field(default_factory=dict)

    @property
    def assignments(self) -> frozenset[str]:
        """Everything that rules can be about."""
        return self.code | self.quizzes


@dataclass(frozen=True)
class Rules:
    """An assignment's rules, and where each of them stands."""

    name: str
    rules: Assignment
    own: frozenset[str]

    def place(self, key: str) -> Loc:
        """Return where a key stands: here, or in ``default``."""
        return ("policies", "assignments", self.name if key in self.own else DEFAULT, key)

    @property
    def loc(self) -> Loc:
        """Where the assignment stands."""
        return ("policies", "assignments", self.name)

    @classmethod
    def all(cls, policies: Policies) -> Iterator[Rules]:
        """Yield all assignments with what they take from ``default``, which comes too."""
        for name, own in policies.assignments.items():
            yield cls(name, policies.rules_of(name), frozenset(own.model_fields_set))
