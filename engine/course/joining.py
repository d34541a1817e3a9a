"""Whose a row is: everything in it that tells the student must agree."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from engine.course.person_columns import person_name
from engine.course.roster import Roster
from engine.errors import IntakeError
from engine.foreign import clean_line

__all__ = ["nearest", "student_of"]

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
    in_order = named.get("id", "") in roster.by_id
    found: dict[str, set[str]] = {}
    for field, text in named.items():
        dispute = None if in_order else roster.dispute(text)
        if dispute is not None:
            raise IntakeError(dispute, next_step="mend the roster, then grade again")
        ids = roster.match(text) if field == "name" else roster.match_cell(text)
        if ids:
            found[field] = set(ids)
    if not found:
        text = next(iter(named.values()))
        if roster.students and refuse_unlisted:
            raise IntakeError(f"{clean_line(text, 60)} isn't in the roster", next_step=nearest(text, roster))
        return text
    agreed = set.intersection(*found.values())
    if len(agreed) == 1:
        return agreed.pop()
    if agreed:
        raise IntakeError(f"this can be {' or '.join(sorted(agreed))}", next_step="fill in the student's id")
    told = ", ".join(f"{field} means {' or '.join(sorted(ids))}" for field, ids in found.items())
    raise IntakeError(
        f"this row names more than one student: {told}", next_step="see whose answers these are"
    )


def nearest(text: str, roster: Roster) -> str:
    """Return what to do about somebody who isn't in the roster: whose id or name is most like this."""
    people = {label.casefold(): s.id for s in roster.students for label in (s.id, s.name) if label}
    close = difflib.get_close_matches(text.casefold(), people, n=1, cutoff=0.7)
    return f"did you mean {people[close[0]]}?" if close else "add the student to the roster, or mend the row"
