"""The web application: routes behind sign-in, limits and security headers; every error becomes a page."""

from __future__ import annotations

import base64
import errno
import hmac
import json
import logging
import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from engine.course.people import Person, Role
from engine.errors import InputError, SoftmarkError, StoreError, UnstorableError, UsageError
from engine.quiz import rules as quiz_rules
from engine.web.assets import ASSETS, asset, asset_digest
from engine.web.background import Background, all_jobs
from engine.web.forms import Form, FormTooLargeError, SlowFormError, read_form
from engine.web.limits import RateLimit, TooOftenError
from engine.web.logs import name_page, note_fault
from engine.web.lti.site_lti import site_lti
from engine.web.routes import WebRoute, all_routes
from engine.web.security import (
    ForeignHostError,
    check_host,
    check_origin,
    cookies_of,
    safe_next,
    security_headers,
    set_cookie,
    set_form_cookie,
)
from engine.web.sign_in.begin import extend_code_session
from engine.web.site import Site
from engine.web.visit import (
    NOTICE_COOKIE,
    SESSION_COOKIE,
    ForbiddenError,
    NotFoundError,
    ServiceAwayError,
    Visit,
    segment_text,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp

log = logging.getLogger("softmark.web")

# Of one person: more than anybody clicks, and than pages save by themselves.
_READS = RateLimit("reads", 1200, timedelta(minutes=1))
_WRITES = RateLimit("writes", 600, timedelta(minutes=1))
# Of all behind one address who aren't signed in: a lecture hall signs in beside somebody who tries things.
_FROM_ADDRESS = RateLimit("requests", 3000, timedelta(minutes=1))


def application(site: Site) -> ASGIApp:
    """Return the application that serves a course."""
    routes = all_routes()
    paths = {route.name: route.path for route in routes}
    handler = _Handler(site, paths)
    by_path: list[Route] = [
        Route("/static/{name}", handler.static, name="static"),
        *(Route(r.path, handler.endpoint(r), methods=list(r.methods), name=r.name) for r in routes),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        background = Background(site, all_jobs())
        background.start()
        await run_in_threadpool(site.hand_in_desk.start)
        try:
            yield
        finally:
            await run_in_threadpool(site.jobs.stop)
            await run_in_threadpool(site.hand_in_desk.stop)
            await run_in_threadpool(background.stop)

    app = Starlette(
        routes=by_path,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: handler.http_error,
        },
    )
    # Starlette would answer an address with a slash too many itself: without our headers, and with a link
    # made of whatever the browser says the site's name is.
    app.router.redirect_slashes = False
    return app


class _Handler:
    """Makes endpoints of views."""

    def __init__(self, site: Site, paths: dict[str, str]) -> None:
        self._site = site
        self._paths = {**paths, "static": "/static/{name}"}

    def endpoint(self, route: WebRoute) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a route."""

        async def respond(request: Request) -> Response:
            name_page(request.scope, route.name, "nobody")
            try:
                with _upload_folder(route, request.method) as folder:
                    return await self._answer(request, route, folder)
            except OSError as error:  # the folder can't be made: the disk is full
                visit = self._visit(request, route, cookie="")
                return _finished(visit, await run_in_threadpool(_error_page, visit, error))

        return respond

    async def _answer(self, request: Request, route: WebRoute, folder: Path | None) -> Response:
        try:
            check_host(request.headers.get("host", ""), self._site)
            visit = await run_in_threadpool(self._visit, request, route)
        except (StoreError, ForeignHostError) as error:
            # Who this is stands in the store, and is none of a foreign name's business.
            visit = self._visit(request, route, cookie="")
            return _finished(visit, await run_in_threadpool(_error_page, visit, error))
        if visit.person is not None:
            name_page(request.scope, route.name, str(visit.person.role))
        try:
            self._check(request, route, visit)
            refusal = _refusal(visit, route)
            if refusal is not None:
                return _finished(visit, refusal)
            if request.method not in ("GET", "HEAD"):
                visit.form = await self._form(request, route, folder)
                # It may have come slowly: what counts is when all of it was here.
                visit.now = quiz_rules.now()
                if route.csrf and not _has_token(request, visit):
                    return _finished(visit, await run_in_threadpool(_out_of_date, visit))
            answer = await run_in_threadpool(route.view, visit)
        except Exception as error:
            answer = await run_in_threadpool(_error_page, visit, error)
        return _finished(visit, answer)

    async def http_error(self, request: Request, error: Exception) -> Response:
        """Answer an address that no route has, or a method that it doesn't take."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        fault: SoftmarkError = NotFoundError()
        try:
            check_host(request.headers.get("host", ""), self._site)
            visit = await run_in_threadpool(self._visit, request, None)
        except (StoreError, ForeignHostError) as refusal:
            visit = self._visit(request, None, cookie="")
            return _finished(visit, await run_in_threadpool(_error_page, visit, refusal))
        if status == 405:
            fault = UsageError("this page doesn't accept that request", got=request.method)
        return _finished(visit, await run_in_threadpool(_error_page, visit, fault, status))

    async def static(self, request: Request) -> Response:
        """Answer with a file of the site's own."""
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404)
        # With its digest in the address a file never changes; without, whoever asked should ask again soon.
        is_exact = request.query_params.get("v") == asset_digest(name)
        lasts = {"Cache-Control": f"public, max-age={31536000 if is_exact else 300}"}
        return Response(asset(name), media_type=ASSETS[name], headers=security_headers(self._site) | lasts)

    def _check(self, request: Request, route: WebRoute, visit: Visit) -> None:
        """Refuse foreign forms, and who asks for more than anybody needs."""
        is_form = request.method not in ("GET", "HEAD")
        if route.csrf and is_form:
            check_origin(visit.headers, self._site)
        who = f"person {visit.person.id}" if visit.person else f"address {visit.client}"
        limit = (_WRITES if is_form else _READS) if visit.person else _FROM_ADDRESS
        self._site.rates.need(limit, who, visit.now, "too many requests came from here within a minute")

    def _visit(self, request: Request, route: WebRoute | None, cookie: str | None = None) -> Visit:
        cookies = cookies_of(request.headers.getlist("cookie"))
        if cookie is None:
            cookie = cookies.get(SESSION_COOKIE, "") if route is None or route.asks_who else ""
        now = quiz_rules.now()
        idle = timedelta(hours=self._site.settings.session_hours)
        session = self._site.store.sessions.find(cookie, now, idle=idle) if cookie else None
        if session is not None:
            extend_code_session(self._site, session, now)
        return Visit(
            site=self._site,
            person=_person(self._site, session) if session else None,
            session=session,
            now=now,
            path={name: segment_text(str(value)) for name, value in request.path_params.items()},
            query=dict(request.query_params),
            form=Form(),
            method=request.method,
            route=route.name if route else "",
            base=request.scope.get("root_path", "").rstrip("/"),
            cookie=cookie if session else "",
            client=request.client.host if request.client else "",
            notices=_notices(cookies),
            headers=dict(request.headers),
            cookies=cookies,
            routes=self._paths,
            frames=site_lti(self._site).frames(now) if session and session.way == "lti" else (),
        )

    async def _form(self, request: Request, route: WebRoute, folder: Path | None) -> Form:
        most = self._site.settings.most_upload_mib << 20 if route.takes_files else route.most_bytes
        return await read_form(request, most, folder)


@contextmanager
def _upload_folder(route: WebRoute, method: str) -> Iterator[Path | None]:
    """Yield a folder for the files of a request, removed with it; None where the route takes none."""
    if not route.takes_files or method in ("GET", "HEAD"):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="softmark-") as folder:
        yield Path(folder)


def _person(site: Site, session: Any) -> Person | None:
    known = site.people.by_id.get(session.person)
    if session.role is None:
        return known
    name, email = (known.name, known.email) if known else (session.name, "")
    return Person(session.person, name or session.name, email, Role(session.role))


def _refusal(visit: Visit, route: WebRoute) -> Response | None:
    """Return where somebody is sent who isn't signed in; raise where the role doesn't reach."""
    if route.least is None:
        return None
    if visit.person is None:
        # A page is asked for after signing in; what a script asks for isn't a page.
        if visit.method in ("GET", "HEAD") and "application/json" not in visit.headers.get("accept", ""):
            here = visit.url(visit.route, **visit.path, **_plain_query(visit))
            return RedirectResponse(visit.url("sign_in", next=here), status_code=303)
        raise ForbiddenError("you aren't signed in", next_step="sign in, then send the form again")
    if not visit.person.role.includes(route.least):
        # As if it weren't there: what staff can do is none of a student's business.
        raise NotFoundError()
    return None


def _plain_query(visit: Visit) -> dict[str, str]:
    return {name: value for name, value in visit.query.items() if name not in visit.path}


def _has_token(request: Request, visit: Visit) -> bool:
    token = visit.form.text("csrf") or request.headers.get("x-csrf-token", "")
    return hmac.compare_digest(token.encode(), visit.form_token.encode())


def _out_of_date(visit: Visit) -> Response:
    """Answer a form of an earlier session: nothing is done, and nothing that was typed is lost."""
    form = visit.form
    # Offered only where the browser proves that the form is ours: otherwise a foreign page could fill it in.
    is_ours = visit.headers.get("sec-fetch-site") == "same-origin" or "origin" in visit.headers
    # Who signs in after somebody else at the same browser isn't offered what the other one has typed.
    is_ours = is_ours and form.text("csrf").endswith(visit.form_owner)
    is_script = "application/json" in visit.headers.get("accept", "")
    names = [name for name in form.fields if name != "csrf"]
    fields = [(name, text.replace("\r\n", "\n")) for name in names for text in form.texts(name)]
    # The two characters that a browser changes on the way through a page.
    is_whole = not any("\0" in text or "\r" in text for pair in fields for text in pair)
    if visit.person is None or form.uploads or not (is_ours and is_whole) or is_script:
        step = "go back, reload the page, and send it again"
        return _error_page(visit, ForbiddenError("this form is out of date", next_step=step))
    here = visit.url(visit.route, **visit.path)
    return visit.page("send_again.html.j2", status=403, fields=fields, address=here)


def _error_page(visit: Visit, error: Exception, status: int | None = None) -> Response:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        error = StoreError("the server's disk is full")
    if not isinstance(error, SoftmarkError):
        # Foreign text may be in the message: the log gets it, the page gets the number under which it is.
        number = secrets.token_hex(4)
        note_fault(number, visit.route, error)
        error = SoftmarkError(
            "something went wrong on the server, and it isn't your fault",
            got=f"fault {number}, noted in the server's log",
            next_step="try again in a moment; nothing that was saved is lost",
        )
        status = status or 500
    elif status is None:
        status = _status(error)
    if status >= 500:
        log.error("status %s at %s: %s", status, visit.route, error.what)
    if isinstance(error, StoreError) and not isinstance(error, UnstorableError):
        # Where the store is, and how it is put right, is none of a visitor's business.
        error = StoreError(error.what, next_step=_STORE_AWAY)
    if "application/json" in visit.headers.get("accept", ""):
        answer = visit.json({"error": error.what, "next": error.next_step}, status=status)
        return _with_wait(answer, error)
    try:
        entered = _entered(visit) if status in (400, 503) else []
        form_page = _form_page(visit)
        page = visit.page(
            "error.html.j2", status=status, error=error, code=status, entered=entered, form_page=form_page
        )
        return _with_wait(page, error)
    except StoreError:  # even the head of the page asks the store
        return Response(error.what, status_code=503, media_type="text/plain")


_STORE_AWAY = (
    "try again in a minute, and tell your course if it stays so; nothing that was saved before is lost"
)

# What a form carries beside what somebody entered.
_NOT_ENTERED = re.compile(r"csrf|seen|action|do|retry|draw|revision\..*|before\..*")


def _entered(visit: Visit) -> list[tuple[str, str]]:
    """Return what was entered into a refused form of ours, to be read and copied."""
    # With the token it is a form of ours: a foreign page could make somebody believe to have typed this.
    is_ours = hmac.compare_digest(visit.form.text("csrf").encode(), visit.form_token.encode())
    if visit.person is None or not is_ours:
        return []
    names = [name for name in visit.form.fields if not _NOT_ENTERED.fullmatch(name)]
    return [(name, text) for name in names for text in visit.form.texts(name) if text.strip()]


def _form_page(visit: Visit) -> str | None:
    """Return the page of this site from which a form was sent, as far as the browser says so."""
    try:
        pieces = urlsplit(visit.headers.get("referer", ""))
    except ValueError:
        return None
    ours = (visit.headers.get("host", ""), urlsplit(visit.site.address).netloc)
    if visit.method in ("GET", "HEAD") or pieces.netloc not in ours:
        return None
    return safe_next(visit.base, pieces.path + (f"?{pieces.query}" if pieces.query else ""))


def _with_wait(answer: Response, error: Exception) -> Response:
    if isinstance(error, TooOftenError):
        answer.headers["Retry-After"] = str(max(1, error.wait.seconds))
    return answer


def _status(error: SoftmarkError) -> int:
    statuses: tuple[tuple[type[SoftmarkError], int], ...] = (
        (NotFoundError, 404),
        (ForbiddenError, 403),
        (TooOftenError, 429),
        (ForeignHostError, 421),
        (FormTooLargeError, 413),
        (SlowFormError, 408),
        (InputError, 400),
        (UnstorableError, 400),  # a text that no database takes, in an address or a form
        (StoreError, 503),
        (ServiceAwayError, 503),
    )
    return next((status for kind, status in statuses if isinstance(error, kind)), 500)


def _notices(cookies: Mapping[str, str]) -> tuple[str, ...]:
    """Return the sentences that the page before left in a cookie; whoever forges one fools only himself."""
    try:
        value = json.loads(base64.urlsafe_b64decode(cookies.get(NOTICE_COOKIE, "")))
    except (ValueError, RecursionError):  # a list in a list in a list …
        return ()
    return tuple(v[:500] for v in value[:5] if isinstance(v, str)) if isinstance(value, list) else ()


def _finished(visit: Visit, answer: Response) -> Response:
    site = visit.site
    for name, value in security_headers(site, frames=visit.frames).items():
        answer.headers.setdefault(name, value)
    if visit._new_notices:
        text = base64.urlsafe_b64encode(json.dumps(visit._new_notices).encode()).decode()
        set_cookie(answer, site, NOTICE_COOKIE, text, 60, framed=visit.is_framed)
    elif visit.notices and answer.status_code == 200:
        set_cookie(answer, site, NOTICE_COOKIE, "", 0, framed=visit.is_framed)
    if visit.new_form_cookie is not None:
        set_form_cookie(answer, site, visit.new_form_cookie)
    return answer
