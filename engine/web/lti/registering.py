"""Registering a learning system: by a link that is used once (dynamic registration), or field by field.

Canvas reads our side of it from an address.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.course.people import Role
from engine.errors import LtiError
from engine.lti.platform_http import check_url, is_local, origin_of
from engine.lti.registrations import (
    CUSTOM,
    USUAL,
    canvas_configuration,
    register_dynamically,
    registration_values,
    usual_values,
)
from engine.store.lti import LtiPlatform
from engine.web.limits import RateLimit
from engine.web.lti.site_lti import tool_addresses
from engine.web.routes import WebRoute
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_INVITATION_LASTS = timedelta(days=7)
_TRIES = RateLimit("lti-register", 30, timedelta(hours=1))
_FIELDS = ("issuer", "client_id", "login_url", "token_url", "keys_url", "name", "audience", "deployments")


def new_system(visit: Visit) -> Response:
    """Show the addresses of both sides as a form, or register what was entered."""
    local = is_local(visit.site.address)
    if visit.method == "POST":
        fields = {name: visit.form.text(name) for name in _FIELDS}
        try:
            values = registration_values(fields, local=local)
        except LtiError as error:
            return _form(visit, fields, error, status=400)
        platform = visit.site.store.lti.add_platform(values, by=visit.me.id, now=visit.now)
        _note(visit, platform, "by hand")
        visit.notice(f"{platform.name} is registered: open the link there once, as its instructor.")
        return visit.redirect("lti.systems")
    fields = {}
    kind, base = visit.query.get("kind", ""), visit.query.get("base", "").strip()
    if kind in USUAL:
        if base or kind != "canvas":
            check_url(base, "the address of the learning system", local=local)
        fields = usual_values(kind, base)
    return _form(visit, fields, None)


def _form(visit: Visit, fields: dict[str, str], error: LtiError | None, status: int = 200) -> Response:
    return visit.page(
        "lti/new_system.html.j2",
        status=status,
        fields=fields,
        error=error,
        kind=visit.query.get("kind", ""),
        base=visit.query.get("base", ""),
        ours=tool_addresses(visit),
        custom=CUSTOM,
        kinds=USUAL,
    )


def canvas(visit: Visit) -> Response:
    """Answer with the configuration that Canvas reads where an LTI key is made."""
    answer = visit.json(canvas_configuration(tool_addresses(visit)))
    answer.headers["Cache-Control"] = "public, max-age=300"
    return answer


def _note(visit: Visit, platform: LtiPlatform, way: str) -> None:
    visit.log("lti.register", platform.name, issuer=platform.issuer, client=platform.client_id, way=way)


def invite(visit: Visit) -> Response:
    """Make a link with which a learning system is registered once."""
    token = secrets.token_urlsafe(32)
    until = visit.now + _INVITATION_LASTS
    visit.site.store.lti.begin("registration", token, {"by": visit.me.id}, now=visit.now, expires=until)
    visit.log("lti.invite", "registration link")
    url = visit.full_url("lti.register", token=token)
    return visit.page("lti/invited.html.j2", url=url, until=until)


def register(visit: Visit) -> Response:
    """Register the learning system that opens the link: shown first, done when its administrator says so."""
    store = visit.site.store.lti
    visit.site.rates.need(_TRIES, visit.client, visit.now, "too many registrations from this address")
    token = visit.path["token"]
    invitation = store.begun("registration", token, visit.now)
    if invitation is None or invitation[1]:
        raise LtiError(
            "this registration link is unknown, or was used before",
            next_step="ask the instructor of the course for a new one",
        )
    parameter = visit.form.text if visit.method == "POST" else visit.query.get
    configuration = parameter("openid_configuration") or ""
    if not configuration:
        raise LtiError(
            "this link isn't for a browser",
            next_step="paste it in the learning system where it asks for a tool's registration URL",
        )
    check_url(configuration, "the address of the OpenID configuration", local=is_local(visit.site.address))
    # The page of the learning system shows this one in a frame.
    visit.frames = tuple(filter(None, [origin_of(configuration)]))
    if visit.method != "POST":
        return visit.page(
            "lti/register.html.j2",
            configuration=configuration,
            token=visit.query.get("registration_token", ""),
            host=visit.frames[0] if visit.frames else configuration,
        )
    # Used up before anything is sent: a link that was passed on registers one system, not two.
    if not store.use("registration", token, visit.now):
        raise LtiError("this registration link was used before")
    return _registered(visit, configuration, str(invitation[0]["by"]))


def _registered(visit: Visit, configuration: str, by: str) -> Response:
    values = register_dynamically(
        tool_addresses(visit), configuration, visit.form.text("registration_token") or None
    )
    store = visit.site.store.lti
    known = [p for p in store.platforms() if p.issuer == values["issuer"]]
    if any(p.client_id == values["client_id"] for p in known):
        # Only whoever can sign in here may change where an existing registration sends people.
        raise LtiError(
            "the learning system gives a client id that it has given before",
            next_step="an instructor changes the addresses of a registration by hand",
        )
    platform = store.add_platform(values, by=by, now=visit.now)
    visit.log_by(
        by, str(Role.INSTRUCTOR), "lti.register", platform.name,
        issuer=platform.issuer, client=platform.client_id, way="by link",
    )  # fmt: skip
    return visit.page("lti/registered.html.j2", platform=platform)


ROUTES = (
    WebRoute("lti.canvas", "/lti/canvas.json", canvas, None),
    WebRoute("lti.new", "/staff/lms/new", new_system, Role.INSTRUCTOR, ("GET", "POST"), most_bytes=64 << 10),
    WebRoute("lti.invite", "/staff/lms/invite", invite, Role.INSTRUCTOR, ("POST",), most_bytes=10_000),
    WebRoute(
        "lti.register",
        "/lti/register/{token}",
        register,
        None,
        ("GET", "POST"),
        most_bytes=64 << 10,
        csrf=False,
    ),
)
