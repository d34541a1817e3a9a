"""Revisions of the store's schema, oldest first."""

from __future__ import annotations
