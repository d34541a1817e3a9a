"""Users of a learning system: what it says about them, their role here, and who they are in the course.

A user is found in the roster by what both know: the university's id, the account's name, the number of the
learning system, the address. All that fit must mean one person. Names are never compared: two people can
share one. Once known, a user stays that person, and nobody else's account of the same system becomes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pylti1p3 import roles as lti_roles

from engine.course import Roster, Student
from engine.course.roster import id_fault
from engine.course.students import plain_label
from engine.errors import LtiError
from engine.text.words import clean_line, join_words

ROLES_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/roles"
_CUSTOM_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/custom"
_LIS_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/lis"
_EXT_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/ext"
_MOST = 200
_LONGEST_SUBJECT = 300  # as much as the store takes


@dataclass(frozen=True, slots=True)
class LmsUser:
    """A user as a learning system describes them; everything but ``subject`` may be empty.

    Parameters
    ----------
    subject : str
        The learning system's own id, which never changes.
    id : str
        The university's id.
    login, email, name : str
    roles : tuple of str
        As the learning system writes them.
    lms_id : str
        The number that its downloads have.
    """

    subject: str
    id: str = ""
    login: str = ""
    email: str = ""
    name: str = ""
    roles: tuple[str, ...] = ()
    lms_id: str = ""

    @property
    def role(self) -> str | None:
        """``student``, ``marker`` or ``instructor``; None for a role that has no place in a course."""
        # A teaching assistant is often called an instructor as well: the lesser of the two holds.
        if self._is(lti_roles.TeachingAssistantRole):
            return "marker"
        if any(map(self._is, (lti_roles.TeacherRole, lti_roles.DesignerRole, _AdministratorRole))):
            return "instructor"
        # Whoever has no role at all is a guest of the course; an observer would see another one's work.
        is_observer = self._is(lti_roles.ObserverRole) and not self._is(lti_roles.StudentRole)
        return None if is_observer else "student"

    def _is(self, kind: Any) -> bool:
        return bool(kind({ROLES_CLAIM: list(self.roles)}).check())


class _AdministratorRole(lti_roles.AbstractRole):
    _system_roles = ("Administrator", "SysAdmin")
    _institution_roles = ("Administrator", "SysAdmin")


def _text(value: Any) -> str:
    return clean_line(value.strip(), _MOST) if isinstance(value, str) else ""


def _first_text(*values: Any) -> str:
    return next((text for text in map(_text, values) if text), "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _custom(values: Mapping[str, Any], name: str) -> str:
    text = _text(values.get(name))
    # A learning system that doesn't know a variable hands over its name.
    return "" if text.startswith("$") else text


def user_of_claims(claims: Mapping[str, Any]) -> LmsUser:
    """Return the user of a launch."""
    custom, lis, ext = (_mapping(claims.get(name)) for name in (_CUSTOM_CLAIM, _LIS_CLAIM, _EXT_CLAIM))
    is_checked = claims.get("email_verified") is not False
    return LmsUser(
        subject=str(claims.get("sub", "")),
        id=_custom(custom, "student_id") or _text(lis.get("person_sourcedid")),
        login=_custom(custom, "login")
        or _first_text(ext.get("user_username"), claims.get("preferred_username")),
        email=_text(claims.get("email")) if is_checked else "",
        name=_name(claims),
        roles=_roles(claims.get(ROLES_CLAIM)),
        lms_id=_custom(custom, "lms_id") or _text(claims.get("sub")),
    )


def user_of_member(member: Mapping[str, Any]) -> LmsUser | None:
    """Return the user of a line of a membership list; None for one that is inactive or has no id."""
    subject = member.get("user_id")
    is_id = isinstance(subject, str) and 0 < len(subject) <= _LONGEST_SUBJECT and subject.isprintable()
    if not is_id or member.get("status", "Active") != "Active":
        return None
    assert isinstance(subject, str)
    messages = member.get("message")
    first = messages[0] if isinstance(messages, list) and messages else messages
    custom = _mapping(_mapping(first).get(_CUSTOM_CLAIM))
    ext = _mapping(member.get("ext"))
    return LmsUser(
        subject=subject,
        id=_custom(custom, "student_id") or _text(member.get("lis_person_sourcedid")),
        login=_custom(custom, "login")
        or _first_text(member.get("ext_user_username"), ext.get("user_username")),
        email=_text(member.get("email")),
        name=_name(member),
        roles=_roles(member.get("roles")),
        lms_id=_custom(custom, "lms_id") or subject,
    )


def _name(fields: Mapping[str, Any]) -> str:
    parts = [_text(fields.get(name)) for name in ("given_name", "family_name")]
    return _text(fields.get("name")) or " ".join(part for part in parts if part)


def _roles(value: Any) -> tuple[str, ...]:
    roles = value if isinstance(value, list | tuple) else ()
    # Names without a prefix are roles of the course, in launches and in lists alike.
    return tuple(role for role in roles[:100] if isinstance(role, str))


def own_id(issuer: str, subject: str) -> str:
    """Return the id of a user who isn't in the roster: the same at each launch, and no one else's."""
    return "lti-" + hashlib.sha256(f"{issuer} {subject}".encode("utf-8", "replace")).hexdigest()[:16]


def roster_id(user: LmsUser, roster: Roster) -> str | None:
    """Return the id of the student in the roster who is this user; None where nobody is.

    Raises
    ------
    LtiError
        Its fields mean different people, or somebody whose line in the roster is at fault.
    """
    holders = {field: _holders(roster.students, user, field) for field in _FIELDS}
    candidates = {field: ids for field, ids in holders.items() if ids}
    if any(_holders(fault.people, user, field) for fault in roster.faults for field in _FIELDS):
        raise LtiError(
            "your line in the roster of this course is at fault",
            next_step="ask the instructor to fix it: `grade course check` names the line",
        )
    if not candidates:
        return None
    ids = set.intersection(*candidates.values())
    if len(ids) == 1:
        return ids.pop()
    raise LtiError(
        "your account fits more than one person of this course",
        expected="a roster that agrees with the learning system on id, login and address",
        got=f"{join_words(sorted(candidates))} don't mean one person",
        next_step="ask the instructor to compare the roster with the learning system",
    )


_FIELDS = ("id", "login", "lms_id", "email")


def _holders(students: Sequence[Student], user: LmsUser, field: str) -> set[str]:
    """Return the ids of those who have exactly this: nobody may come in as somebody with a similar name."""
    text = plain_label(getattr(user, field))
    if not text:
        return set()
    # An account's name is the id in many rosters.
    fields = ("login", "id") if field == "login" else (field,)
    return {s.id for s in students if any(plain_label(getattr(s, name)) == text for name in fields)}


def student_of_user(user: LmsUser, roster: Roster, person: str | None, issuer: str) -> Student:
    """Return the line of the roster for a user.

    Parameters
    ----------
    user : LmsUser
    roster : Roster
    person : str or None
        Who the user is already known to be.
    issuer : str
        Of the learning system.

    Raises
    ------
    LtiError
        As :func:`roster_id`.
    """
    known = person if person in roster.by_id else roster_id(user, roster)
    # Work that was done under an id before the roster had one stays there.
    university_id = "" if id_fault(user.id, "student") else user.id
    student = known or person or university_id or own_id(issuer, user.subject)
    # The number that downloads have may differ from the one that launches have.
    lms_id = roster.by_id[student].lms_id if student in roster.by_id else ""
    return Student(student, user.name, user.email, user.login, "", lms_id or user.lms_id)


def roles_text(roles: Sequence[str]) -> str:
    """Return roles as people say them, for messages."""
    return ", ".join(sorted({clean_line(role.rpartition("#")[2].rpartition("/")[2], 40) for role in roles}))
