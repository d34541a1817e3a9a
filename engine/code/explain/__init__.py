"""Explains a wrong program: which known mistake it makes, and the smallest input that shows it."""

from __future__ import annotations
