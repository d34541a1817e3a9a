"""Code exercises: frozen plan, property catalogue, known-wrong solutions, minimal counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from engine.code.exercise import CodeExercise, exercise_of, freeze_plan, load_exercise

__all__ = ["CodeExercise", "exercise_of", "freeze_plan", "load_exercise"]

# whoever only reads a file of code (engine.code.source) needs neither items nor numpy
__getattr__ = lazy_names(__name__, {"exercise": " ".join(__all__)})
