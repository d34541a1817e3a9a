"""A course: its folder, settings, roster and secret."""

from __future__ import annotations

from engine.course.course import Course, CourseSettings
from engine.course.people import Student, StudentLabels
from engine.course.roster import Roster, read_roster

__all__ = ["Course", "CourseSettings", "Roster", "Student", "StudentLabels", "read_roster"]
