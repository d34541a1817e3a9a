"""Alembic's folder: one revision a file in ``versions``, applied when a store is opened."""

from __future__ import annotations
