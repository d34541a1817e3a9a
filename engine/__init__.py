"""Softmark: an auto-graded exercise and quiz engine for courses on attention."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
