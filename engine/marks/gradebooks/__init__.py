"""Gradebooks that learning systems and spreadsheets import: Canvas, Moodle, plain CSV, Excel."""

from __future__ import annotations

from engine.marks.gradebooks.formats import (
    FORMATS,
    GradebookFile,
    GradebookFormat,
    GradebookNotice,
    GradebookRequest,
    NoticeKind,
    check_settings,
    gradebook_format,
    gradebook_request,
)

__all__ = [
    "FORMATS",
    "GradebookFile",
    "GradebookFormat",
    "GradebookNotice",
    "GradebookRequest",
    "NoticeKind",
    "check_settings",
    "gradebook_format",
    "gradebook_request",
]
