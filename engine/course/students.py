"""Names of people: how folders, files and tables call them, and how pages for the instructor do.

A download names a student in a dozen ways (``lovelaceada_4711``, ``Lovelace, Ada``, ``007`` without its
zeros). :class:`LabelIndex` finds whom a label can mean, from the exact id down to the name without accents;
:func:`person_columns` finds the columns of a table that are about people, by the heads that learning systems
write.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.text.words import clean_line


class StudentLabels:
    """Names of students on pages for the instructor: id and name, or a number in their place.

    Parameters
    ----------
    names : mapping of str to str, optional
        Names by id, as far as the roster has them.
    is_hidden : bool
        Number the students in the order in which they come up: the order of ids would reveal who they are.
    """

    def __init__(self, names: Mapping[str, str] | None = None, *, is_hidden: bool = False) -> None:
        self.is_hidden = is_hidden
        self._names = names or {}
        self._numbers: dict[Hashable, int] = {}

    def id(self, student: str) -> str:
        """Return the id of a student, or the number in its place."""
        return self.number(student) if self.is_hidden else clean_line(student)

    def number(self, person: Hashable) -> str:
        """Return the number that stands for somebody, the same one each time."""
        # Counted as they come up, so that numbers say nothing about ids or names.
        return f"Student {self._numbers.setdefault(person, len(self._numbers) + 1)}"

    def name(self, student: str) -> str:
        """Return the name; empty where there is none or it is hidden."""
        return "" if self.is_hidden else clean_line(self._names.get(student, ""))


# Unicode doesn't split these into a letter and an accent, so the accent can't be taken off.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)


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
    """Finds people by whatever a download calls them.

    Parameters
    ----------
    people : iterable of (str, Student)
        Each with the key that :meth:`find` returns for them.
    """

    def __init__(self, people: Iterable[tuple[str, Student]]) -> None:
        self._exact: dict[str, set[str]] = {}
        self._words: dict[str, set[str]] = {}
        self._whole: dict[str, set[str]] = {}
        self._folded: dict[str, set[str]] = {}
        self._numbers: dict[str, set[str]] = {}
        for key, student in people:
            for text in {student.id, student.login, student.lms_id} - {""}:
                self._exact.setdefault(text, set()).add(key)
            for text in {student.id, student.login} - {""}:
                self._words.setdefault(text, set()).add(key)
            for label in {*map(plain_label, (student.id, student.login, student.lms_id, student.email))} - {
                ""
            }:
                self._whole.setdefault(label, set()).add(key)
            for label in set(_names(student.name)):
                self._whole.setdefault(label, set()).add(key)
                self._folded.setdefault(plain_name(label), set()).add(key)
                self._folded.setdefault(_squeezed(label), set()).add(key)
            # Found last and only by find_number: a label "7" shouldn't mean 007 in a folder's name.
            if number := without_zeros(student.id):
                self._numbers.setdefault(number, set()).add(key)

    def find(self, label: str) -> tuple[str, ...]:
        """Return the keys of everybody whom a label can mean, sorted; several mean that it is ambiguous.

        Tried in turn, until something fits: id, login or number of the learning system as they are; the
        same without regard to case, email address, full name (``Ada Lovelace``, ``Lovelace, Ada``); the
        name without accents, or without anything between its words (``lovelaceada``); an id or login as a
        word of the label; the name before the first ``_``.
        """
        label = unicodedata.normalize("NFC", label).strip()
        # Ids and logins alone are looked for as words: a first name is a word of many labels.
        pieces = {piece for piece in re.split(r"[_\s]+", label) if piece}
        keys = (
            self._exact.get(label)
            or self._by_name(label)
            or {key for piece in pieces for key in self._words.get(piece, ())}
            # Moodle names a folder after the full name, a number and the kind of hand-in.
            or self._by_name(label.split("_")[0])
            or ()
        )
        return tuple(sorted(keys))

    def find_number(self, cell: str) -> tuple[str, ...]:
        """Return the keys of those whose id is this number with zeros before it, which spreadsheets drop."""
        return tuple(sorted(self._numbers.get(without_zeros(cell), ())))

    def _by_name(self, label: str) -> set[str] | None:
        joined = " ".join(_words(label))
        # From the strictest form to the loosest, so that an exact name is never ambiguous.
        for names, key in (
            (self._whole, plain_label(label)),
            (self._whole, joined),
            (self._folded, plain_name(joined)),
            (self._folded, _squeezed(label)),
        ):
            if key and (people := names.get(key)):
                return people
        return None


def name_key(name: str) -> str:
    """Return a whole name for comparison: without case, accents and the order of its words."""
    # Sorted: "Lovelace, Ada" and "Ada Lovelace" are one name.
    return " ".join(sorted(_words(plain_name(name))))


def plain_label(text: str) -> str:
    """Return an id, name or address for comparison: composed (NFC), without case and blanks around it."""
    return unicodedata.normalize("NFC", text).strip().casefold()


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,_]+", plain_label(text)) if word]


def _names(name: str) -> Iterator[str]:
    """Yield a name with each of its words in front: nothing says which of them is the first name."""
    words = _words(name)
    # Eight words are more than any real name has; without a limit a long cell would cost its square.
    for start in range(min(len(words), 8)):
        yield " ".join(words[start:] + words[:start])


def plain_name(text: str) -> str:
    """Return a name for comparison: without case and accents, ``ł`` as ``l`` and ``ß`` as ``ss``."""
    decomposed = unicodedata.normalize("NFKD", plain_label(text).translate(_LETTERS))
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _squeezed(text: str) -> str:
    """Return nothing but the letters and digits, as Canvas puts a name into a file's name."""
    return "".join(c for c in plain_name(text) if c.isalnum())


def without_zeros(text: str) -> str:
    """Return a number without the zeros before it, which spreadsheets drop; nothing for other text."""
    return text.lstrip("0") if text.isascii() and text.isdigit() else ""


# Of several heads for one field the first here counts; the others are columns that we ignore.
_HEADS: Mapping[str, tuple[str, ...]] = {
    "id": (
        *("sis user id", "id", "student id", "studentid", "sid", "id number", "idnumber", "student number"),
        *("matriculation number", "identifier"),
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
    """Return a heading for comparison: case, ``_``, ``-`` and blanks make no difference."""
    return re.sub(r"[\s_-]+", " ", text.casefold()).strip()


def person_columns(header: Sequence[str]) -> dict[str, int]:
    """Return the column of each field of a person that the header names.

    Fields are ``id``, ``lms_id``, ``login``, ``email``, ``name``, ``first``, ``last`` and ``section``.
    Canvas calls its own number ``ID`` beside ``SIS User ID``; elsewhere ``id`` is the id.
    """
    heads = [plain_head(cell) for cell in header]
    columns: dict[str, int] = {}
    for field, names in _HEADS.items():
        places = [heads.index(name) for name in names if name in heads]
        free = [place for place in places if place not in columns.values()]
        if free:
            columns[field] = free[0]
    return columns


def person_name(fields: Mapping[str, str]) -> str:
    """Return a person's name, put together where first and last name have columns of their own."""
    return fields.get("name", "") or f"{fields.get('first', '')} {fields.get('last', '')}".strip()
