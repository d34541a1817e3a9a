"""What in a course can't be meant: rules that contradict one another, the roster, or the quizzes."""

from engine.course.contradictions.collecting import facts_of
from engine.course.contradictions.facts import Facts
from engine.course.contradictions.find import find_contradictions

__all__ = ["Facts", "facts_of", "find_contradictions"]
