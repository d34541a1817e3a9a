"""Code exercises: frozen plan, property catalogue, known-wrong solutions, minimal counterexample."""

from __future__ import annotations

from engine.code.exercise import CodeExercise, exercise_of, freeze_plan, load_exercise

__all__ = ["CodeExercise", "exercise_of", "freeze_plan", "load_exercise"]
