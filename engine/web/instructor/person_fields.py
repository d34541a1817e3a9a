"""Fields in which staff name a student: whom the text means, and what the page says if that isn't clear.

All of them take what :class:`engine.course.person_search.PersonSearch` takes. Only instructors get such
fields: where the course marks blind, a search by name would say who is behind a code.
"""

from __future__ import annotations

from engine.course.person_search import PersonSearch
from engine.course.students import Student
from engine.errors import SoftmarkError
from engine.text.words import as_sentence
from engine.web.instructor.staff import StudentNames
from engine.web.visit import Visit


def known_students(visit: Visit) -> list[Student]:
    """Return the students whom a field can name: those of the roster, and others with work in the store."""
    roster = visit.site.state.roster.by_id
    return [roster.get(student) or Student(student) for student in StudentNames(visit).everybody()]


def search_students(visit: Visit) -> PersonSearch:
    """Return the search among them."""
    return PersonSearch(known_students(visit))


def student_named(visit: Visit, text: str) -> str:
    """Return the id of the student whom a text means.

    Raises
    ------
    PersonSearchError
        It means nobody, or several people; :func:`fault_of` and the page's field show that.
    """
    return search_students(visit).person(text).id


def fault_of(error: SoftmarkError) -> str:
    """Return what is wrong with a form as one text, to stand above it."""
    pieces = [as_sentence(error.what)]
    if error.expected:
        pieces.append(f"Expected: {error.expected}.")
    if error.got:
        pieces.append(f"Got: {error.got}.")
    if error.next_step:
        pieces.append(as_sentence(error.next_step))
    return " ".join(pieces)
