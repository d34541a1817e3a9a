"""What a course rules about marks: due dates, late work, attempts, drops, excuses, release.

Everything here is a pure function of values: attempts, rules, and the moment that is now.
"""

from __future__ import annotations

from engine.marks.deadlines import StudentDeadlines, extended_rules, shown_now, terms_of
from engine.marks.student_marks import CountedMark, StudentMarks, student_marks

__all__ = [
    "CountedMark",
    "StudentDeadlines",
    "StudentMarks",
    "extended_rules",
    "shown_now",
    "student_marks",
    "terms_of",
]
