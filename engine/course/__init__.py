"""A course: its folder, settings, roster and secret.

What reads ``course.yaml`` is imported when it is first used: most commands are typed outside any course.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from engine.course.course import Course, CourseSettings
    from engine.course.people import People, Person, Role
    from engine.course.roster import Roster, read_roster
    from engine.course.students import Student, StudentLabels

__all__ = [
    "SETTINGS_FILE",
    "Course",
    "CourseSettings",
    "People",
    "Person",
    "Role",
    "Roster",
    "Student",
    "StudentLabels",
    "read_roster",
]

SETTINGS_FILE = "course.yaml"

__getattr__ = lazy_names(
    __name__,
    {
        "course": "Course CourseSettings",
        "people": "People Person Role",
        "roster": "Roster read_roster",
        "students": "Student StudentLabels",
    },
)
