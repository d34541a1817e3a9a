"""From attempts to what counts: due dates, late work, attempts, drops, excuses, release, and marks by hand.

:func:`class_results` reads a class from its store; :func:`student_marks` decides, as a pure function of
attempts, rules and the present moment, what each attempt counts and says why.
"""

from __future__ import annotations

from engine.marks.class_results import class_results
from engine.marks.class_table import ClassTable, ColumnMark, StudentResults, TableColumn, class_table
from engine.marks.late_work import StudentDeadlines, disclosure_now, extended_rules, terms_of
from engine.marks.student_marks import CountedMark, StudentMarks, student_marks

__all__ = [
    "ClassTable",
    "ColumnMark",
    "CountedMark",
    "StudentDeadlines",
    "StudentMarks",
    "StudentResults",
    "TableColumn",
    "class_results",
    "class_table",
    "disclosure_now",
    "extended_rules",
    "student_marks",
    "terms_of",
]
