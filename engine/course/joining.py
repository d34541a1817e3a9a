"""Match a row of a table to a student; every field that identifies somebody must agree.

A row with Ada's id and Bob's address is nobody's: a mark that goes to the wrong person is worse than a row
that somebody has to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.course.people import person_name
from engine.course.roster import Roster
from engine.errors import IntakeError
from engine.text.escape import clean_line
from engine.text.words import near_words

__all__ = ["candidate_ids", "common_ids", "describe_conflict", "student_of", "suggest_student"]

Candidates = Mapping[str, set[str]]
_FIELDS = ("id", "login", "lms_id", "email", "name")


def student_of(row: Mapping[str, str], roster: Roster, *, refuse_unlisted: bool) -> str:
    """Return the id of the student whom a row names.

    Parameters
    ----------
    row : mapping of str to str
        Field → text, none of them blank.
    roster : Roster
        Without students in it the row's own id is taken as it is.
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.

    Raises
    ------
    IntakeError
        Nobody is named, that row of the roster is at fault, several people fit, fields contradict each
        other, or this person isn't in the roster and is refused.
    """
    fields = {field: row[field] for field in _FIELDS if field in row}
    if name := person_name(row):
        fields["name"] = name
    if not fields:
        raise IntakeError("nothing in this row tells whose it is", next_step="fill in the student's id")
    candidates = candidate_ids(fields, roster, roster.match_cell)
    if not candidates:
        text = next(iter(fields.values()))
        if roster.students and refuse_unlisted:
            raise IntakeError(
                f"{clean_line(text, 60)} isn't in the roster", next_step=suggest_student(text, roster)
            )
        return text
    ids = common_ids(candidates)
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise IntakeError(f"this can be {' or '.join(ids)}", next_step="fill in the student's id")
    raise IntakeError(
        f"this row names more than one student: {describe_conflict(candidates)}",
        next_step="see whose answers these are",
    )


def candidate_ids(
    fields: Mapping[str, str], roster: Roster, match: Callable[[str], Sequence[str]] | None = None
) -> Candidates:
    """Return the candidate ids for each field; fields that match nobody are left out.

    Parameters
    ----------
    fields : mapping of str to str
        ``id``, ``login``, ``lms_id``, ``email``, ``name`` or another field → text.
    roster : Roster
    match : callable, optional
        Finds people by any field but the name; `roster.match` by default.

    Raises
    ------
    IntakeError
        A text fits a row of the roster that is at fault, and the row's id isn't a valid one.
    """
    has_valid_id = fields.get("id", "") in roster.by_id
    candidates: dict[str, set[str]] = {}
    for field, text in fields.items():
        dispute = None if has_valid_id else roster.dispute(text)
        if dispute is not None:
            raise IntakeError(dispute, next_step="mend the roster, then grade again")
        if field == "lms_id" and roster.by_lms_id:  # somebody else's id can be the same number
            ids = {roster.by_lms_id[text]} if text in roster.by_lms_id else set()
        else:
            ids = set(roster.match(text) if field == "name" or match is None else match(text))
        if ids:
            candidates[field] = ids
    return candidates


def common_ids(candidates: Candidates) -> list[str]:
    """Return the ids that fit all fields, in order."""
    return sorted(set.intersection(*candidates.values())) if candidates else []


def describe_conflict(candidates: Candidates) -> str:
    """Return which field means whom."""
    return ", ".join(f"{field} means {' or '.join(sorted(ids))}" for field, ids in candidates.items())


def suggest_student(
    text: str, roster: Roster, *, otherwise: str = "add the student to the roster, or mend the row"
) -> str:
    """Return the next step for somebody who isn't in the roster: the student with the nearest id or name."""
    people = {label: s.id for s in roster.students for label in (s.id, s.name) if label}
    near = near_words(text, people)
    return f"did you mean {people[near[0]]}?" if near else otherwise
