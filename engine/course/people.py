"""What students are called on pages for the instructor: by id and name, or by a number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.text.escape import clean_line

__all__ = [
    "LabelIndex",
    "Student",
    "StudentLabels",
    "name_key",
    "person_columns",
    "person_name",
    "plain_head",
]


class StudentLabels:
    """Labels of students.

    Parameters
    ----------
    names : mapping of str to str, optional
        Names by id, as far as the roster has them.
    is_hidden : bool
        Number the students in the order in which they come up: the order of ids would tell who they are.
    """

    def __init__(self, names: Mapping[str, str] | None = None, *, is_hidden: bool = False) -> None:
        self.is_hidden = is_hidden
        self._names = names or {}
        self._numbers: dict[Hashable, int] = {}

    def id(self, student: str) -> str:
        """Return the id of a student, or the number in its place."""
        return self.numbered(student) if self.is_hidden else clean_line(student)

    def numbered(self, who: Hashable) -> str:
        """Return the number that stands for somebody, the same one each time."""
        return f"Student {self._numbers.setdefault(who, len(self._numbers) + 1)}"

    def name(self, student: str) -> str:
        """Return the name; empty where there is none or it is hidden."""
        return "" if self.is_hidden else clean_line(self._names.get(student, ""))


# ----------------------------------------------------------------------------------------------------
# What a person may be called in the name of a folder or file, and whom such a name means.

# Letters that have no accent to take off.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


@dataclass(frozen=True, slots=True)
class Student:
    """One person: ``lms_id`` is the number that the learning system gives, ``login`` the account's name."""

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    section: str = ""
    lms_id: str = ""


class LabelIndex:
    """Finds people by what they are called.

    Parameters
    ----------
    people : iterable of (str, Student)
        Each with the key that finding it gives.
    """

    def __init__(self, people: Iterable[tuple[str, Student]]) -> None:
        exact: dict[str, set[str]] = {}
        words: dict[str, set[str]] = {}
        whole: dict[str, set[str]] = {}
        folded: dict[str, set[str]] = {}
        numbers: dict[str, set[str]] = {}
        for key, student in people:
            for text in {student.id, student.login, student.lms_id} - {""}:
                exact.setdefault(text, set()).add(key)
            for text in {student.id, student.login} - {""}:
                words.setdefault(text, set()).add(key)
            for label in {*map(_plain, (student.id, student.login, student.lms_id, student.email))} - {""}:
                whole.setdefault(label, set()).add(key)
            for label in set(_names(student.name)):
                whole.setdefault(label, set()).add(key)
                folded.setdefault(_folded(label), set()).add(key)
                folded.setdefault(_squeezed(label), set()).add(key)
            if number := _number(student.id):
                numbers.setdefault(number, set()).add(key)
        self._exact, self._words, self._whole = exact, words, whole
        self._folded, self._numbers = folded, numbers

    def find(self, label: str) -> tuple[str, ...]:
        """Return the keys of everybody whom a label can mean, in order.

        Tried in turn, until something fits: id, login or number of the learning system as they are; the
        same without regard to case, e-mail address, full name (``Ada Lovelace``, ``Lovelace, Ada``); the
        name without accents, or without anything between its words (``lovelaceada``); an id or login as a
        word of the label; the name before the first ``_``.
        """
        label = unicodedata.normalize("NFC", label).strip()
        pieces = {piece for piece in re.split(r"[_\s]+", label) if piece}
        found = (
            self._exact.get(label)
            or self._by_name(label)
            or {key for piece in pieces for key in self._words.get(piece, ())}
            # Moodle names a folder after the full name, a number and the kind of hand-in.
            or self._by_name(label.split("_")[0])
            or ()
        )
        return tuple(sorted(found))

    def find_number(self, cell: str) -> tuple[str, ...]:
        """Return the keys of those whose id is this number with zeros before it: spreadsheets drop them."""
        return tuple(sorted(self._numbers.get(_number(cell), ())))

    def _by_name(self, label: str) -> set[str] | None:
        joined = " ".join(_words(label))
        for names, key in (
            (self._whole, _plain(label)),
            (self._whole, joined),
            (self._folded, _folded(joined)),
            (self._folded, _squeezed(label)),
        ):
            if key and (found := names.get(key)):
                return found
        return None


def name_key(name: str) -> str:
    """Return a whole name as it compares: without case, accents and the order of its words."""
    return " ".join(sorted(_words(_folded(name))))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,_]+", _plain(text)) if word]


def _names(name: str) -> Iterator[str]:
    """Yield a name with each of its words in front: which of them is the first name isn't known."""
    words = _words(name)
    for start in range(min(len(words), 8)):
        yield " ".join(words[start:] + words[:start])


def _folded(text: str) -> str:
    """Return text without accents."""
    parted = unicodedata.normalize("NFKD", _plain(text).translate(_LETTERS))
    return "".join(c for c in parted if not unicodedata.combining(c))


def _squeezed(text: str) -> str:
    """Return nothing but the letters and digits, as Canvas puts a name into a file's name."""
    return "".join(c for c in _folded(text) if c.isalnum())


def _number(text: str) -> str:
    """Return a number without the zeros before it; nothing for other text."""
    return text.lstrip("0") if text.isascii() and text.isdigit() else ""


# ----------------------------------------------------------------------------------------------------
# Which columns of a table tell who a row is about, by the heads that learning systems write.

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
