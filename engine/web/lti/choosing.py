"""Choosing what a link opens, a quiz or a code exercise: a new link (deep linking), or one that is there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.lineitem import LineItem

from engine.course.people import Role
from engine.course.students import plain_label
from engine.errors import LtiError
from engine.lti.platform_http import origin_of
from engine.lti.signing_keys import registration_of, signing_key
from engine.store.lti import LtiLink, LtiPlatform
from engine.web.lti.arrivals import assignment_page
from engine.web.routes import WebRoute
from engine.web.security import security_headers
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.web.site import Site

_MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A quiz or exercise that a link can open."""

    name: str
    title: str
    kind: str
    points: float | None


def link_targets(site: Site, words: str) -> list[LinkTarget]:
    """Return the quizzes that were drawn and all code exercises whose name or title has these words."""
    titles, published = site.store.sittings.quiz_titles(), site.store.published.all()
    targets = [
        LinkTarget(name, title, "quiz" if name in published else "quiz, not published yet", None)
        for name, title in sorted(titles.items())
    ]
    bank = site.bank
    targets += [
        LinkTarget(item, bank.title_of(item), "code exercise", bank.code_points(item))
        for item in bank.code_ids()
    ]
    pieces = plain_label(words).split()
    return [
        target
        for target in targets
        if all(piece in plain_label(f"{target.name} {target.title} {target.kind}") for piece in pieces)
    ]


def full_points(site: Site, target: LinkTarget) -> float:
    """Return the full points of a quiz or exercise."""
    if target.points is not None:
        return target.points
    quizzes = site.store.quizzes(target.name)
    return math.fsum(question.points for question in quizzes[-1].questions) if quizzes else 0.0


def choose(visit: Visit) -> Response:
    """Show what can be chosen, or take the choice."""
    kind, data = _asked_for(visit)
    if visit.method == "POST":
        name = visit.form.text("name")
        target = next((t for t in link_targets(visit.site, "") if t.name == name), None)
        if target is None:
            raise LtiError("choose a quiz or an exercise from the list")
        return _take(visit, kind, data, target)
    words = visit.query.get("q", "")[:100]
    targets = link_targets(visit.site, words)
    return visit.page(
        "lti/choose.html.j2",
        words=words,
        targets=targets[:_MOST_SHOWN],
        count=len(targets),
        is_new=kind == "deep_link",
    )


def check_choosable(link: LtiLink) -> None:
    """Refuse a choice that the link's next launch would undo.

    Raises
    ------
    LtiError
        The link says itself what it opens.
    """
    if link.is_fixed:
        raise LtiError(
            "what this link opens is set in the learning system",
            got=link.assignment,
            next_step="choose again there: edit the link, or delete it and add a new one",
        )


def _asked_for(visit: Visit) -> tuple[str, Mapping[str, Any]]:
    token = visit.path["token"]
    for kind in ("deep_link", "choose"):
        begun = visit.site.store.lti.begun(kind, token, visit.now)
        if begun is not None:
            data, is_used = begun
            if is_used:
                raise _made_already()
            # A token in an address can get about: it is worth something only to who got it.
            if data["by"] != visit.me.id:
                raise NotFoundError
            return kind, data
    raise LtiError("the time for this choice is over", next_step="begin again in the learning system")


def _made_already() -> LtiError:
    return LtiError("this choice was made already", next_step="begin again in the learning system")


def _take(visit: Visit, kind: str, data: Mapping[str, Any], target: LinkTarget) -> Response:
    store = visit.site.store.lti
    platform = store.platform(data["platform"])
    if platform is None or platform.disabled is not None:
        raise LtiError("this learning system isn't registered here any more")
    if kind == "choose":
        link = store.link(platform.id, data["deployment"], data["link"])
        if link is None:
            raise NotFoundError
        check_choosable(link)
        # The link keeps its column; marks of what it opened before are cleared there.
        store.put_link(replace(link, assignment=target.name))
        visit.log("lti.choose", target.name, platform=platform.name)
        visit.notice(f"The link “{link.title or link.link}” opens {target.title} from now on.")
        route, values = assignment_page(visit, target.name, visit.me.role)
        return visit.redirect(route, **values)
    # Of two that are sent at once one is a choice: the learning system would make two links.
    if not store.use(kind, visit.path["token"], visit.now):
        raise _made_already()
    visit.log("lti.choose", target.name, platform=platform.name)
    message = _response(visit, platform, data, target)
    answer = visit.page(
        "lti/hand_over.html.j2", target=target, url=data["return_url"], message=message, name=platform.name
    )
    policy = security_headers(visit.site, frames=visit.frames, form_target=origin_of(data["return_url"]))[
        "Content-Security-Policy"
    ]
    answer.headers["Content-Security-Policy"] = policy
    return answer


def _response(visit: Visit, platform: LtiPlatform, data: Mapping[str, Any], target: LinkTarget) -> str:
    """Return the signed message that tells the learning system of the choice."""
    site = visit.site
    points = full_points(site, target)
    resource = DeepLinkResource()
    resource.set_title(target.title).set_url(visit.full_url("lti.launch"))
    resource.set_custom_params({"assignment": target.name})
    if data["with_marks"] and points > 0:
        item = LineItem()
        item.set_label(target.title).set_score_maximum(points).set_resource_id(target.name)
        resource.set_lineitem(item.set_tag("softmark"))
    registration = registration_of(platform, signing_key(site.store, visit.now))
    settings: dict[str, Any] = {"deep_link_return_url": data["return_url"], "data": data["data"]}
    link = DeepLink(registration, data["deployment"], settings)  # type: ignore[arg-type]  # its literal types
    message = link.get_message_jwt([resource])
    # Only what was given may be given back, and an empty value isn't nothing.
    if data["data"] is None:
        del message["https://purl.imsglobal.org/spec/lti-dl/claim/data"]
    encode: Any = link.encode_jwt  # the library says no types
    return str(encode(message))


ROUTES = (
    WebRoute("lti.choose", "/lti/choose/{token}", choose, Role.MARKER, ("GET", "POST"), most_bytes=64 << 10),
)
