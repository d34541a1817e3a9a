"""A course: its folder, settings, roster and secret.

What reads ``course.yaml`` is imported when it is first used: most commands are typed outside any course.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.course.course import Course, CourseSettings
    from engine.course.roster import Roster, read_roster
    from engine.course.students import Student, StudentLabels

__all__ = [
    "SETTINGS_FILE",
    "Course",
    "CourseSettings",
    "Roster",
    "Student",
    "StudentLabels",
    "read_roster",
]

SETTINGS_FILE = "course.yaml"

_HOMES = {
    "Course": "course",
    "CourseSettings": "course",
    "Roster": "roster",
    "Student": "students",
    "StudentLabels": "students",
    "read_roster": "roster",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value  # found at once the next time
    return value
