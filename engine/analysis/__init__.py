"""Item analysis of a class: from the store to figures of items, options, variants, mistakes and checks."""

from __future__ import annotations
