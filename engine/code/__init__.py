"""Code exercises: frozen plan, property catalogue, known-wrong solutions, minimal counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.code.exercise import CodeExercise, exercise_of, freeze_plan, load_exercise

__all__ = ["CodeExercise", "exercise_of", "freeze_plan", "load_exercise"]


def __getattr__(name: str) -> Any:
    # Whoever only reads a file of code (engine.code.source) needs neither items nor numpy.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from engine.code import exercise

    return getattr(exercise, name)
