"""Families of plans, one file each: what inputs an exercise tries, and what the reference gives for them."""

from __future__ import annotations

from engine.code.families.family import ExerciseFamily, family, family_names, offered_groups

__all__ = ["ExerciseFamily", "family", "family_names", "offered_groups"]
