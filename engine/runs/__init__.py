"""Grades what a class handed in: on all cores, resumable, every result stored as it arrives."""

from engine.batch.columns import column_of
from engine.batch.exercises import CodeExercises, CodeGrader
from engine.batch.gather import class_results
from engine.batch.local import BatchResult, Progress, Ungraded, grade_batch
from engine.batch.untimed import Untimed, untimed

__all__ = [
    "BatchResult",
    "CodeExercises",
    "CodeGrader",
    "Progress",
    "Ungraded",
    "Untimed",
    "class_results",
    "column_of",
    "grade_batch",
    "untimed",
]
