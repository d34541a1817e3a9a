"""A course: its folder, settings, roster and secret."""

from __future__ import annotations

from engine.course.course import Course, CourseSettings
from engine.course.roster import Roster, read_roster
from engine.course.students import Student, StudentLabels

__all__ = ["Course", "CourseSettings", "Roster", "Student", "StudentLabels", "read_roster"]
