"""Grades what a class handed in: on all cores, resumable, every result stored as it arrives."""

from __future__ import annotations

from engine.runs.batch import BatchResult, Progress, UngradedFile, grade_batch
from engine.runs.grade_file import CodeExercises, CodeGrader

__all__ = ["BatchResult", "CodeExercises", "CodeGrader", "Progress", "UngradedFile", "grade_batch"]
