"""The members of a learning system's course, as the roster would have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.course import Roster, Student
from engine.course.roster_changes import RosterChanges, changes_by
from engine.errors import LtiError
from engine.lti.users import LmsUser, student_of_user, user_of_member
from engine.store import Store
from engine.store.lti import LtiLink, LtiPerson, LtiPlatform


@dataclass(frozen=True, slots=True)
class MemberList:
    """A course's list of members, at one address.

    Parameters
    ----------
    platform : LtiPlatform
    context, title, url : str
    """

    platform: LtiPlatform
    context: str
    title: str
    url: str

    @property
    def key(self) -> str:
        """A name of it for forms and commands."""
        return f"{self.platform.id}/{self.context}"


def member_lists(store: Store) -> list[MemberList]:
    """Return the lists that learning systems offer for the courses that are accepted."""
    newest: dict[tuple[int, str], LtiLink] = {}
    for link in store.lti.links():
        known = newest.get((link.platform, link.context))
        if link.members_url and (known is None or known.seen < link.seen):
            newest[link.platform, link.context] = link
    lists = []
    for platform in store.lti.platforms(enabled=True):
        for context in platform.accepted:
            place = newest.get((platform.id, context))
            if place is not None and place.members_url is not None:
                title = platform.contexts[context].title or context
                lists.append(MemberList(platform, context, title, place.members_url))
    return lists


@dataclass(frozen=True, slots=True)
class MemberPreview:
    """What a list of members would change, before anything is written.

    Parameters
    ----------
    changes : RosterChanges
    people : tuple of LtiPerson
        Who the members are here.
    staff : int
        Members who aren't students: the roster doesn't have them.
    faults : tuple of str
        One sentence for each member who can't be taken over.
    """

    changes: RosterChanges
    people: tuple[LtiPerson, ...]
    staff: int
    faults: tuple[str, ...]


def preview_members(
    members: Iterable[Mapping[str, Any]], place: MemberList, roster: Roster, store: Store, now: datetime
) -> MemberPreview:
    """Return what the members of a course would change in the roster.

    Parameters
    ----------
    members : iterable of mapping
        As the learning system describes them.
    place : MemberList
        Where they are from.
    roster : Roster
    store : Store
        Knows users by their launches.
    now : datetime
    """
    known = {p.subject: p.person for p in store.lti.people(place.platform.id)}
    students: dict[str, Student] = {}
    people: list[LtiPerson] = []
    faults: list[str] = []
    staff = 0
    for user in _users(members):
        if user.role != "student":
            staff += 1
            continue
        try:
            student = student_of_user(user, roster, known.get(user.subject), place.platform.issuer)
        except LtiError as error:
            faults.append(f"{user.name or user.subject}: {error.got or error.what}")
            continue
        if student.id in students:
            faults.append(f"{user.name or user.subject}: {student.id} is another member already")
            continue
        students[student.id] = student
        people.append(
            LtiPerson(place.platform.id, place.context, user.subject, student.id, user.name, user.email, now)
        )
    return MemberPreview(changes_by(roster, students.values()), tuple(people), staff, tuple(faults))


def _users(members: Iterable[Mapping[str, Any]]) -> Sequence[LmsUser]:
    users: dict[str, LmsUser] = {}
    for member in members:
        user = user_of_member(member)
        if user is not None:
            users.setdefault(user.subject, user)
    return list(users.values())
