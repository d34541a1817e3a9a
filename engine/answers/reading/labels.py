"""Letters of options as people type them: ``a, c``, ``(a) (c)``, ``ac``, ``A and C``, ``c > a > b``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.answers.reading.numeral import format_error, normal_signs
from engine.plurals import counted

__all__ = ["MAX_TEXT", "read_labels", "same_words"]

MAX_TEXT = 1_000  # 26 letters, however they are set apart

_SEPARATORS = re.compile(r"(?:[\s,;/&+>|→⟶⇒➔]|(?<![-=])[-=]++>|\b(?:and|und|then)\b)+", re.IGNORECASE)
_DASHED = re.compile(r"(?<=[A-Za-z)])\s*-\s*(?=[A-Za-z(])")
_LEAD = re.compile(
    r"(?:answers?|options?|choices?|antwort(?:en)?|réponses?)(?:\s*[:=]\s*|\s+)(?=\S)", re.IGNORECASE
)
_LABEL = re.compile(r"\(?([A-Za-z])[).:]?")


def same_words(text: str) -> str:
    """Return text as it compares: blanks joined, case ignored, no full stop at the end."""
    return " ".join(text.split()).casefold().rstrip(".")


def read_labels(text: str, labels: Sequence[str], what: str, *, in_order: bool = False) -> list[str]:
    """Return the letters in the order typed, repetitions kept.

    Parameters
    ----------
    text : str
        As typed; not blank.
    labels : sequence of str
        The letters that exist.
    what : str
        What the letters stand for, e.g. ``"options"``.
    in_order : bool
        Whether an order is asked for: then ``c-a-b`` is one, while ``a-c`` could mean "a to c" elsewhere.

    Raises
    ------
    ResponseFormatError
        Something is no letter, or none of these.
    """
    expected = f"letters from {labels[0]} to {labels[-1]}"
    if len(text) > MAX_TEXT:
        raise format_error(
            f"the answer has {counted(len(text), 'character')}; at most {MAX_TEXT} are read", text[:60]
        )
    body = normal_signs(text).strip()
    lead = _LEAD.match(body)
    body = body if lead is None else body[lead.end() :]
    if in_order:
        body = _DASHED.sub(" ", body)
    if body[:1] + body[-1:] in ("[]", "{}") or re.fullmatch(r"\([^()]*\)", body):
        body = body[1:-1]
    found: list[str] = []
    for token in filter(None, _SEPARATORS.split(body)):
        found += _letters(token, labels, text, expected)
    if not found:
        raise format_error(
            f"there is no letter in it; the {what} are {labels[0]} to {labels[-1]}", text, expected
        )
    unknown = [label for label in found if label not in labels]
    if unknown:
        raise format_error(f"there is no {unknown[0]} among the {what}", text, expected)
    return found


def _letters(token: str, labels: Sequence[str], text: str, expected: str) -> list[str]:
    single = _LABEL.fullmatch(token)
    if single is not None:
        return [single[1].lower()]
    glued = re.findall(r"\(([A-Za-z])\)", token)
    if glued and "".join(f"({letter})" for letter in glued) == token:
        return [letter.lower() for letter in glued]
    letters = list(token.lower())
    if all(letter in labels for letter in letters):
        return letters
    raise format_error("this isn't read as letters", text, expected)
