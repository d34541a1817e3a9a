"""The catalogue of properties: what a right function's outputs fulfil, whatever way it is written.

A file registers one property or a small family of them; adding a file adds its properties.
"""

from __future__ import annotations

from engine.code.properties.catalogue import Property, property_names, property_of

__all__ = ["Property", "property_names", "property_of"]
