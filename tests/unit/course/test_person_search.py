"""Whom staff mean: every way in which a person is named finds the same one."""

from __future__ import annotations

import pytest

from engine.course.person_search import PersonSearch, PersonSearchError, has_words, near_people
from engine.course.students import Student

PEOPLE = (
    Student("s01", "Ada Lovelace", "ada@example.edu", "lovelacea"),
    Student("s02", "Łucja Nowak", "lucja.nowak@example.edu"),
    Student("s03", "Jörg Müller-Strauß", "joerg@example.edu"),
    Student("s04", "Sørën Åberg", ""),
    Student("007", "Nowak, Jan", "jan@example.edu"),
    Student("x9"),
)
SEARCH = PersonSearch(PEOPLE)


@pytest.mark.parametrize(
    ("text", "student"),
    [
        ("s01", "s01"),
        ("S01", "s01"),
        ("lovelacea", "s01"),
        ("ADA@example.edu", "s01"),
        ("Ada", "s01"),
        ("lovelace, ada", "s01"),
        ("lov", "s01"),
        ("velac", "s01"),
        ("lucja", "s02"),
        ("Lucja Nowak", "s02"),
        ("Łucja", "s02"),
        ("muller", "s03"),
        ("Mueller", "s03"),
        ("strauss", "s03"),
        ("soren", "s04"),
        ("Aaberg", "s04"),
        ("Jan Nowak", "007"),
        ("007", "007"),
        ("x9", "x9"),
    ],
)
def test_one_person_is_found(text: str, student: str) -> None:
    assert SEARCH.person(text).id == student


def test_several_are_listed() -> None:
    with pytest.raises(PersonSearchError) as error:
        SEARCH.person("nowak")
    assert [person.id for person in error.value.people] == ["s02", "007"]
    assert "Łucja Nowak (s02) or Nowak, Jan (007)" in (error.value.expected or "")


@pytest.mark.parametrize("text", ["Lovlace", "s1", "Luzja"])
def test_nobody_gives_the_nearest(text: str) -> None:
    with pytest.raises(PersonSearchError) as error:
        SEARCH.person(text)
    assert error.value.people == ()
    assert "did you mean" in (error.value.next_step or "")


@pytest.mark.parametrize("text", ["", "   ", "zzzzzz", "@", "\0"])
def test_nobody_at_all(text: str) -> None:
    with pytest.raises(PersonSearchError) as error:
        SEARCH.person(text)
    assert error.value.next_step is None


def test_a_list_of_people() -> None:
    found = SEARCH.people("ada, s02;Jan Nowak\n007")
    assert [person.id for person in found] == ["s01", "s02", "007"]
    assert [person.id for person in SEARCH.people("s01 s02")] == ["s01", "s02"]
    assert SEARCH.people(" , ") == []
    with pytest.raises(PersonSearchError):
        SEARCH.people("ada, nobody-like-this")


def test_a_message_that_takes_ids_alone_says_whose_they_are() -> None:
    assert near_people("lucja", PEOPLE) == "; did you mean Łucja Nowak (s02)?"
    assert near_people("zzzzzz", PEOPLE) == ""


def test_words_of_a_line() -> None:
    assert has_words("LUCJA now", ["Łucja Nowak", "s02"])
    assert not has_words("lucja bob", ["Łucja Nowak", "s02"])
