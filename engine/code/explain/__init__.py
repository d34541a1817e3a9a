"""What is told about a wrong program: which known mistake it is, and the smallest input that shows it."""

from __future__ import annotations
