"""Which columns of a table tell who a row is about, by the heads that learning systems write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["person_columns", "person_name", "plain_head"]

# Of several heads for one thing the first here counts; the others are columns that we don't know.
_HEADS: Mapping[str, tuple[str, ...]] = {
    "id": (
        "sis user id",
        "id",
        "student id",
        "studentid",
        "sid",
        "id number",
        "idnumber",
        "student number",
        "matriculation number",
        "identifier",
    ),
    "lms_id": ("lms id", "canvas id", "canvas user id", "moodle id", "user id", "id"),
    "login": ("login", "sis login id", "login id", "username", "user name", "github username"),
    "email": ("email", "e mail", "email address", "e mail address", "mail"),
    "name": ("name", "student", "student name", "full name", "fullname"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "section": ("section", "sections"),
}


def plain_head(text: str) -> str:
    """Return a heading as it compares: case, ``_``, ``-`` and blanks make no difference."""
    return re.sub(r"[\s_-]+", " ", text.casefold()).strip()


def person_columns(header: Sequence[str]) -> dict[str, int]:
    """Return the column of each field of a person that the header names.

    Fields are ``id``, ``lms_id``, ``login``, ``email``, ``name``, ``first``, ``last`` and ``section``.
    Canvas calls its own number ``ID`` beside ``SIS User ID``; elsewhere ``id`` is the id.
    """
    heads = [plain_head(cell) for cell in header]
    found: dict[str, int] = {}
    for field, names in _HEADS.items():
        places = [heads.index(name) for name in names if name in heads]
        free = [place for place in places if place not in found.values()]
        if free:
            found[field] = free[0]
    return found


def person_name(fields: Mapping[str, str]) -> str:
    """Return a person's name, put together where first and last name have columns of their own."""
    return fields.get("name", "") or f"{fields.get('first', '')} {fields.get('last', '')}".strip()
