"""The roster from a learning system: its members, what they would change, and writing that on demand."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engine.course.people import Role
from engine.course.roster_changes import changed_fields, roster_digest
from engine.errors import LtiError
from engine.lti.members import MemberList, MemberPreview, member_lists, preview_members
from engine.text.files import folder_lock
from engine.web.instructor.roster_upload import write_changes
from engine.web.lti.site_lti import site_lti
from engine.web.routes import WebRoute
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_LASTS = timedelta(hours=1)


def fetch_members(visit: Visit) -> Response:
    """Fetch the members of a course, and go on to the preview."""
    place = _place(visit, visit.form.text("list"))
    members = site_lti(visit.site).sender.calls(place.platform).members(place.url)
    token = secrets.token_urlsafe(24)
    # Kept as fetched: what is written is what was shown.
    data = {"by": visit.me.id, "list": place.key, "members": members}
    visit.site.store.lti.begin("members", token, data, now=visit.now, expires=visit.now + _LASTS)
    return visit.redirect("lti.members", token=token)


def _place(visit: Visit, key: str) -> MemberList:
    place = next((place for place in member_lists(visit.site.store) if place.key == key), None)
    if place is None:
        raise LtiError(
            "this course offers no list of its members",
            next_step="in the learning system, allow the tool to see names and roles, and open a link once",
        )
    return place


def lists(visit: Visit) -> Response:
    """Show the courses whose members can be fetched."""
    return visit.page("lti/member_lists.html.j2", lists=member_lists(visit.site.store))


def preview(visit: Visit) -> Response:
    """Show what the members change in the roster; on a POST, write it."""
    token = visit.path["token"]
    begun = visit.site.store.lti.begun("members", token, visit.now)
    if begun is None or begun[1] or begun[0]["by"] != visit.me.id:
        raise LtiError("these members were fetched too long ago", next_step="fetch them again")
    data: Mapping[str, Any] = begun[0]
    place = _place(visit, data["list"])
    outcome = _preview(visit, data, place)
    path = visit.site.folder / "roster.csv"
    if visit.method == "POST":
        with folder_lock(visit.site.folder):
            digest = roster_digest(path)
            if visit.form.text("roster") == digest:
                return _write(visit, token, outcome, digest)
        visit.notice("The roster was changed meanwhile. Check the changes again.")
        return visit.redirect("lti.members", token=token)
    return visit.page(
        "lti/members.html.j2",
        place=place,
        preview=outcome,
        changed=[(after, changed_fields(before, after)) for before, after in outcome.changes.changed],
        digest=roster_digest(path),
        roster_faults=visit.site.state.roster.faults,
    )


def _preview(visit: Visit, data: Mapping[str, Any], place: MemberList) -> MemberPreview:
    roster = visit.site.course.roster(tolerant=True)
    return preview_members(data["members"], place, roster, visit.site.store, visit.now)


def _write(visit: Visit, token: str, outcome: MemberPreview, digest: str) -> Response:
    store = visit.site.store
    write_changes(visit, outcome.changes, digest, removes=visit.form.text("missing") == "remove")
    store.lti.put_people(outcome.people)
    store.lti.use("members", token, visit.now)
    return visit.redirect("lti.member_lists")


ROUTES = (
    WebRoute("lti.member_lists", "/staff/lms/members", lists, Role.INSTRUCTOR),
    WebRoute(
        "lti.fetch_members", "/staff/lms/members/fetch", fetch_members, Role.INSTRUCTOR, ("POST",),
        most_bytes=64 << 10,
    ),
    WebRoute(
        "lti.members", "/staff/lms/members/{token}", preview, Role.INSTRUCTOR, ("GET", "POST"),
        most_bytes=64 << 10,
    ),
)  # fmt: skip
