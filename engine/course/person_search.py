"""Whom staff mean by what they type: an id, a login, an address, or a name or a part of one.

Case and accents make no difference, and neither do letters that other keyboards lack: ``lucja`` finds
Łucja, ``strasse`` Straße, and ``mueller`` as well as ``muller`` Müller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from engine.course.students import Student, name_key, plain_label, plain_name
from engine.errors import UsageError
from engine.text.words import clean_line, join_words, near_words

_MOST_NAMED = 8  # of those who fit, in a sentence
_NEAREST = 3
# As German and Scandinavian names are written where these letters are missing.
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


class PersonSearchError(UsageError):
    """A text, ``typed``, means nobody, or several: ``people`` are those to choose from."""

    def __init__(
        self, what: str, typed: str, *, people: tuple[Student, ...] = (), **more: str | None
    ) -> None:
        super().__init__(what, **more)
        self.typed = typed
        self.people = people


def person_label(person: Student) -> str:
    """Return ``Ada Lovelace (s01)``, or the id alone where there is no name."""
    name = clean_line(person.name, 80)
    return f"{name} ({clean_line(person.id)})" if name else clean_line(person.id)


class PersonSearch:
    """Finds people of a course by what somebody types.

    Parameters
    ----------
    people : iterable of Student
        In the order in which several are listed.
    """

    def __init__(self, people: Iterable[Student]) -> None:
        self._people = tuple(people)

    def matches(self, text: str) -> tuple[Student, ...]:
        """Return everybody whom a text can mean.

        Tried in turn, until something fits: the id as it is; id, login, number of the learning system or
        address without regard to case; the whole name, its words in any order; words of the name; how these
        words, or a login or address, begin; any part of one of them.
        """
        if exact := [person for person in self._people if person.id == text.strip()]:
            return tuple(exact)
        label, whole, words = plain_label(text), name_key(text), _words(text)
        if not words:
            return ()
        tests: tuple[Callable[[Student], bool], ...] = (
            lambda person: label in _labels(person),
            lambda person: whole == name_key(person.name),
            lambda person: words <= _name_words(person),
            lambda person: all(any(k.startswith(w) for k in _known_words(person)) for w in words),
            lambda person: all(any(w in k for k in _known_words(person)) for w in words),
        )
        for test in tests:
            if people := tuple(person for person in self._people if test(person)):
                return people
        return ()

    def person(self, text: str) -> Student:
        """Return the one person whom a text means.

        Raises
        ------
        PersonSearchError
            It means nobody, or several; the error has those to choose from.
        """
        fitting = self.matches(text)
        if len(fitting) == 1:
            return fitting[0]
        typed = clean_line(text, 60)
        if fitting:
            raise PersonSearchError(
                f"several people are meant by '{typed}'",
                text,
                expected=join_words(map(person_label, fitting), "or", _MOST_NAMED),
                next_step="choose one of them, or type the id",
                people=fitting,
            )
        near = self.nearest(text)
        raise PersonSearchError(
            f"nobody is called '{typed}'" if typed else "it isn't said who is meant",
            text,
            expected="an id, a login, an email address, or a name or part of one",
            next_step=f"did you mean {join_words(map(person_label, near), 'or')}?" if near else None,
        )

    def people(self, text: str) -> list[Student]:
        """Return the people of a list with commas, semicolons or line ends between them, each once.

        Ids and other single words may also have blanks between them.

        Raises
        ------
        PersonSearchError
            An entry means nobody, or several people.
        """
        by_id: dict[str, Student] = {}
        for entry in filter(None, map(str.strip, re.split(r"[,;\n]", text))):
            # A name has blanks in it too: only what means nobody as a whole is taken apart.
            pieces = [entry] if self.matches(entry) else entry.split()
            by_id |= {person.id: person for person in map(self.person, pieces)}
        return list(by_id.values())

    def nearest(self, text: str) -> tuple[Student, ...]:
        """Return those whose name, id or login looks most like a text that means nobody."""
        by_label: dict[str, list[Student]] = {}
        for person in self._people:
            labels = {plain_name(person.name), plain_label(person.id), plain_label(person.login)}
            for label in (labels | _name_words(person)) - {""}:
                by_label.setdefault(label, []).append(person)
        near = near_words(plain_name(text), by_label, _NEAREST)
        people = {person.id: person for label in near for person in by_label[label]}
        return tuple(people.values())[:_NEAREST]


def near_people(text: str, people: Iterable[Student]) -> str:
    """Return ``; did you mean Ada Lovelace (s01)?``, which ends a sentence where only exact ids are taken.

    Empty where nobody is near.
    """
    search = PersonSearch(people)
    near = search.matches(text) or search.nearest(text)
    return f"; did you mean {join_words(map(person_label, near), 'or', _MOST_NAMED)}?" if near else ""


def has_words(text: str, labels: Iterable[str]) -> bool:
    """Return whether each word of a text is part of one of some labels, case and accents aside."""
    known = {form for label in labels for form in _forms(label)}
    return all(any(word in label for label in known) for word in _words(text))


def _forms(text: str) -> set[str]:
    """Return a text without accents: with the letters below them, and as they are written out."""
    return {plain_name(text), plain_name(plain_label(text).translate(_WRITTEN_OUT))}


def _words(text: str) -> set[str]:
    return set(re.split(r"[\s,]+", plain_name(text))) - {""}


def _labels(person: Student) -> set[str]:
    return {plain_label(text) for text in (person.id, person.login, person.lms_id, person.email)} - {""}


def _name_words(person: Student) -> set[str]:
    return {word for form in _forms(person.name) for word in _words(form)}


def _known_words(person: Student) -> set[str]:
    # What stands before the @ is what tells people apart; the rest is the same for a whole class.
    address = plain_name(person.email.partition("@")[0])
    return (_name_words(person) | {plain_name(person.id), plain_name(person.login), address}) - {""}
