"""Wrong programs made from right ones: does an exercise's rubric notice a slip that nobody wrote down?

:mod:`~engine.authoring.mutation.operators` changes one place of a solution,
:mod:`~engine.authoring.mutation.generated` collects what comes of it, and
:mod:`~engine.authoring.mutation.survey` tries every program and compares what survives with what the author
declared as equivalent. :mod:`~engine.authoring.mutation.naming` makes a known-wrong program of one.
"""

from __future__ import annotations
