"""Files, notebooks, folders and archives → submissions, and a list of what can't be taken in."""

from __future__ import annotations

from engine.intake.code import read_code_file, read_submission
from engine.intake.collect import collect

__all__ = ["collect", "read_code_file", "read_submission"]
