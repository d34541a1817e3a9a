"""What a course rules about marks: due dates, late work, attempts, drops, excuses, release.

Everything here is a pure function of values: attempts, rules, and the moment that is now.
"""

from engine.course.policies.release import extended_rules, shown_now
from engine.course.policies.schema import Policies
from engine.course.policies.student import Counted, StudentMarks, student_marks
from engine.course.policies.terms import Terms, terms_of

__all__ = [
    "Counted",
    "Policies",
    "StudentMarks",
    "Terms",
    "extended_rules",
    "shown_now",
    "student_marks",
    "terms_of",
]
