"""Gradebooks that learning systems import: Canvas, Moodle, plain CSV, Excel; and results for Gradescope."""

from engine.gradebooks.formats import FORMATS, GradebookFormat, gradebook_format
from engine.gradebooks.gradebook import Gradebook, Kind, Listed, Request

__all__ = ["FORMATS", "Gradebook", "GradebookFormat", "Kind", "Listed", "Request", "gradebook_format"]
