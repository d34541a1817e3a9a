"""Grade a whole class at once: batches, regrades after an item was corrected, and Gradescope's autograder."""

from __future__ import annotations

from engine.runs.batch import BatchResult, Progress, UngradedFile, grade_batch
from engine.runs.code_exercises import CodeExercises

__all__ = ["BatchResult", "CodeExercises", "Progress", "UngradedFile", "grade_batch"]
