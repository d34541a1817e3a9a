"""Which hand-ins are more alike than chance explains: evidence for a person to read, never a verdict."""

from __future__ import annotations
