"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.errors import UsageError

__all__ = ["check_student", "course_option", "device_option", "json_option"]

F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    """Add ``--json``: one JSON document on standard output, nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")(function)


def course_option(function: F) -> F:
    """Add ``--course``: the course folder; found upwards from here when left out."""
    return click.option(
        "--course",
        "course_path",
        type=click.Path(path_type=Path),
        default=None,
        help="Course folder (default: the one that holds this folder, else practice).",
    )(function)


def device_option(function: F) -> F:
    """Add ``--device``: where a torch submission's tensors are."""
    return click.option(
        "--device",
        type=click.Choice(["cpu", "cuda"]),
        default="cpu",
        show_default=True,
        help="Where tensors are; cuda is a weaker tier. Files that use numpy are graded on the CPU.",
    )(function)


def check_student(student: str) -> None:
    """Refuse an id that nobody could read or type again."""
    from engine.foreign import clean_line

    if not student or clean_line(student, 100) != student:
        raise UsageError(
            "--student can't be used", expected="an id of 1 to 100 characters", got=repr(student[:100])
        )
