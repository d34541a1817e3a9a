"""A course: its folder, settings, roster and secret, and what a class handed in."""

from engine.course.collection import (
    AnswerTable,
    FileKind,
    HandedFile,
    Intake,
    IntakeProblem,
    StudentFiles,
)
from engine.course.course import Course
from engine.course.people import People
from engine.course.results import Cell, Column, FurtherAnswer, ItemResult, Mark, StudentResults, StudentRow
from engine.course.roster import Roster, Student, read_roster
from engine.course.settings import CourseSettings
from engine.course.table import ClassTable, class_table

__all__ = [
    "AnswerTable",
    "Cell",
    "ClassTable",
    "Column",
    "Course",
    "CourseSettings",
    "FileKind",
    "FurtherAnswer",
    "HandedFile",
    "Intake",
    "IntakeProblem",
    "ItemResult",
    "Mark",
    "People",
    "Roster",
    "Student",
    "StudentFiles",
    "StudentResults",
    "StudentRow",
    "class_table",
    "read_roster",
]
