"""Code exercises: frozen plan, property catalogue, known-wrong solutions, minimal counterexample."""

from __future__ import annotations

from engine.code.exercise import CodeExercise, exercise_of, freeze_plan, load_exercise
from engine.code.grade import grade_code

__all__ = ["CodeExercise", "exercise_of", "freeze_plan", "grade_code", "load_exercise"]
