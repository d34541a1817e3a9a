"""The small language in which problem files write keys: its grammar, evaluation, values and functions.

It imports nothing of items or variants, so that the check of a file, the draw and the marking of a carried
answer can all use it.
"""
