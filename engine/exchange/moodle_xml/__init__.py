"""Moodle XML: the question bank of a Moodle course as a file."""

from __future__ import annotations

from engine.exchange.moodle_xml.questions import read_moodle

__all__ = ["read_moodle"]
