"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["course_option", "json_option"]

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
