"""Who comes by a launch, and which page that person wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.course.people import Person, Role
from engine.course.roster import id_fault
from engine.course.students import plain_label
from engine.errors import LtiError
from engine.lti.users import LmsUser, own_id, roster_id
from engine.store.lti import LtiPlatform
from engine.web.lti.site_lti import assignment_title

if TYPE_CHECKING:
    from engine.web.site import Site
    from engine.web.visit import Visit


def person_of_user(site: Site, platform: LtiPlatform, user: LmsUser) -> tuple[str, Role]:
    """Return who a user of a learning system is here, and in which role this time.

    Raises
    ------
    LtiError
        The user can't be told from somebody else, or isn't in a roster that everybody must be in.
    """
    role = Role(user.role or str(Role.STUDENT))
    person = _known_person(site, platform, user, role) or _new_person(site, platform, user, role)
    others = [s for s in site.store.lti.subjects(platform.id, person) if s != user.subject]
    if others:
        # Addresses can be changed in a learning system: nobody becomes somebody else that way.
        raise LtiError(
            "another account of the learning system is linked to this person already",
            next_step="ask your instructor: the page “Learning systems” lists accounts and can free this one",
        )
    return person, role


def _known_person(site: Site, platform: LtiPlatform, user: LmsUser, role: Role) -> str | None:
    before = site.store.lti.person(platform.id, user.subject)
    if role is not Role.STUDENT:
        return before or _staff_id(site, user) or roster_id(user, site.state.roster)
    if before is not None and (before in site.state.roster.by_id or _has_work(site, before)):
        return before
    return roster_id(user, site.state.roster) or before


def _has_work(site: Site, person: str) -> bool:
    return next(site.store.attempts(student=person), None) is not None


def _staff_id(site: Site, user: LmsUser) -> str | None:
    """Return the line of staff.csv that is this user, if there is exactly one."""

    def fits(person: Person) -> bool:
        pairs = ((user.email, person.email), (user.login, person.login), (user.id, person.id))
        return any(mine and plain_label(mine) == plain_label(theirs) for mine, theirs in pairs)

    fitting = [p.id for p in site.people.by_id.values() if p.is_staff and fits(p)]
    return fitting[0] if len(fitting) == 1 else None


def _new_person(site: Site, platform: LtiPlatform, user: LmsUser, role: Role) -> str:
    is_stranger = role is Role.STUDENT and bool(site.state.roster.students)
    if is_stranger and site.policies().unlisted_students == "refuse":
        raise LtiError(
            "you aren't in the roster of this course",
            next_step="ask your instructor to add you: roster and learning system must agree on id, login "
            "or address",
        )
    # The university's id reads better in a gradebook, as long as it can't be anybody else's.
    is_usable = bool(user.id) and id_fault(user.id, "student") is None
    if is_usable and not _is_taken(site, platform, user.id):
        return user.id
    return own_id(platform.issuer, user.subject)


def _is_taken(site: Site, platform: LtiPlatform, person: str) -> bool:
    """Return whether an id is somebody's already: in the course's files, by work, or by another system.

    Two systems can have the same number for two people, and only the roster says that they are one.
    """
    if person in site.people.by_id:
        return True
    if site.store.lti.subjects(platform.id, person):
        return False  # the same id in the same system: refused, so that the instructor decides
    is_elsewhere = any(user.person == person for user in site.store.lti.people())
    return is_elsewhere or bool(site.store.quizzes(student=person)) or _has_work(site, person)


def is_assignment(site: Site, name: str) -> bool:
    """Return whether a quiz or code exercise has this name."""
    return (
        bool(name)
        and len(name) <= 200
        and (name in site.store.quiz_names() or site.bank.code_points(name) is not None)
    )


def why_closed(site: Site, name: str, student: str) -> str | None:
    """Return a sentence about why an assignment has no page for a student; None where it has one.

    Exercises are there for everybody, quizzes once they are drawn and published.
    """
    if name not in site.store.quiz_names():
        return None
    title = assignment_title(site, name)
    if name not in site.store.published.all():
        return f"{title} isn't published yet: tell your instructor."
    # Somebody may have come into the course after its quizzes were drawn.
    return (
        None
        if site.store.quizzes(name, student)
        else f"There is no {title} for you yet: tell your instructor."
    )


def assignment_page(visit: Visit, name: str, role: Role) -> tuple[str, dict[str, Any]]:
    """Return the route of an assignment for somebody in this role, and its parameters."""
    if role is not Role.STUDENT:
        return "instructor.class.assignment", {"name": name}
    if name not in visit.site.store.quiz_names():
        return "student.exercise", {"item": name}
    return "student.quiz", {"quiz": name}
