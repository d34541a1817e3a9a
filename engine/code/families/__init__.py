"""Families of plans, one file each; :mod:`engine.code.array_family` says what they are and finds them."""
