"""Tokens of the normal form."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OWN", "Statement", "Token"]

OWN = "·"
"""Text of every name that the student chose: what it is called doesn't count, which one it is does."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Parameters
    ----------
    text : str
        What is compared; :data:`OWN` for a name that the student chose.
    line : int
        From 1, in the file as handed in.
    name : str
        The name itself, where it is the student's own.
    """

    text: str
    line: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """The tokens of one statement, or of the head of a compound one; ``scope`` counts functions from 0."""

    tokens: tuple[Token, ...]
    scope: int
