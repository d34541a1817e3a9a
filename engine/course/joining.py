"""Whose a row is: everything in it that tells the student must agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.course.people import person_name
from engine.course.roster import Roster
from engine.errors import IntakeError
from engine.text.escape import clean_line
from engine.text.words import near_words

__all__ = ["agreed", "contradiction", "meant", "nearest", "student_of"]

Found = Mapping[str, set[str]]
_FIELDS = ("id", "login", "lms_id", "email", "name")


def student_of(who: Mapping[str, str], roster: Roster, *, refuse_unlisted: bool) -> str:
    """Return the id of the student whom a row names.

    Parameters
    ----------
    who : mapping of str to str
        Field → text, none of them blank.
    roster : Roster
        Without students in it the row's own id is taken as it is.
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.

    Raises
    ------
    IntakeError
        Nobody is named, the roster is at fault there, several people can be meant, fields contradict one
        another, or this person isn't in the roster and is refused.
    """
    named = {field: who[field] for field in _FIELDS if field in who}
    if name := person_name(who):
        named["name"] = name
    if not named:
        raise IntakeError("nothing in this row tells whose it is", next_step="fill in the student's id")
    found = meant(named, roster, roster.match_cell)
    if not found:
        text = next(iter(named.values()))
        if roster.students and refuse_unlisted:
            raise IntakeError(f"{clean_line(text, 60)} isn't in the roster", next_step=nearest(text, roster))
        return text
    ids = agreed(found)
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise IntakeError(f"this can be {' or '.join(ids)}", next_step="fill in the student's id")
    raise IntakeError(
        f"this row names more than one student: {contradiction(found)}",
        next_step="see whose answers these are",
    )


def meant(
    named: Mapping[str, str], roster: Roster, match: Callable[[str], Sequence[str]] | None = None
) -> Found:
    """Return the ids that each thing known of a person can mean; what means nobody is left out.

    Parameters
    ----------
    named : mapping of str to str
        ``id``, ``login``, ``lms_id``, ``email``, ``name`` or another field → text.
    roster : Roster
    match : callable, optional
        Finds people by any field but the name; `roster.match` by default.

    Raises
    ------
    IntakeError
        A text fits a row of the roster that is at fault, and no id is in good order.
    """
    in_order = named.get("id", "") in roster.by_id
    found: dict[str, set[str]] = {}
    for field, text in named.items():
        dispute = None if in_order else roster.dispute(text)
        if dispute is not None:
            raise IntakeError(dispute, next_step="mend the roster, then grade again")
        if field == "lms_id" and roster.by_lms_id:  # somebody else's id can be the same number
            ids = {roster.by_lms_id[text]} if text in roster.by_lms_id else set()
        else:
            ids = set(roster.match(text) if field == "name" or match is None else match(text))
        if ids:
            found[field] = ids
    return found


def agreed(found: Found) -> list[str]:
    """Return the ids that all fields can mean, in order."""
    return sorted(set.intersection(*found.values())) if found else []


def contradiction(found: Found) -> str:
    """Return which field means whom."""
    return ", ".join(f"{field} means {' or '.join(sorted(ids))}" for field, ids in found.items())


def nearest(
    text: str, roster: Roster, *, otherwise: str = "add the student to the roster, or mend the row"
) -> str:
    """Return what to do about somebody who isn't in the roster: whose id or name is most like this."""
    people = {label: s.id for s in roster.students for label in (s.id, s.name) if label}
    near = near_words(text, people)
    return f"did you mean {people[near[0]]}?" if near else otherwise
