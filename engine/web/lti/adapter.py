"""The library ``pylti1p3`` on our requests: its parameters, cookies, memory, registrations, login and launch.

Of a launch the library's own checks are used where they suffice. In their place stand: the check of the
signed message (:mod:`engine.lti.id_token`), a state that is used once and belongs to one login and one nonce,
and the browser that began it. Nothing is kept in browser sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pylti1p3.cookie import CookieService
from pylti1p3.deployment import Deployment
from pylti1p3.exception import LtiException, OIDCException
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.oidc_login import OIDCLogin
from pylti1p3.redirect import Redirect
from pylti1p3.registration import Registration
from pylti1p3.request import Request
from pylti1p3.session import SessionService
from pylti1p3.tool_config.abstract import ToolConfAbstract
from starlette.responses import RedirectResponse, Response

from engine.errors import LtiError
from engine.lti.id_token import LaunchClaims, launch_claims, verified_claims
from engine.lti.signing_keys import registration_of, signing_key
from engine.store.lti import LtiPlatform
from engine.text.words import clean_line
from engine.web.lti.site_lti import site_lti
from engine.web.security import set_cookie

if TYPE_CHECKING:
    from engine.web.visit import Visit

_LASTS = timedelta(minutes=10)  # from the click in the learning system to our page, signing in there included
_MOST_PARAMETER = 4096  # characters
_LOGIN_PARAMETERS = (
    *("iss", "login_hint", "target_link_uri", "lti_message_hint", "client_id"),
    "lti_deployment_id",
)


class VisitRequest(Request):
    """A request as the library reads it."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit

    def is_secure(self) -> bool:
        """Return whether it came over TLS."""
        return self.visit.site.is_secure

    def get_param(self, key: str) -> str:
        """Return a parameter of form or address; empty where there is none."""
        text = self.visit.form.text(key) or self.visit.query.get(key, "")
        if len(text) > _MOST_PARAMETER and key != "id_token":
            raise LtiError(f"the launch is refused: its parameter {key} is too long")
        return text


class StateCookies(CookieService):
    """The cookie that binds a login to its browser: named by the state, sent in frames too."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._new: list[tuple[str, str, int | None]] = []

    def get_cookie(self, name: str) -> str | None:
        """Return a cookie that the browser sent."""
        return self._visit.cookies.get(self._cookie_name(name))

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        """Set a cookie with the answer."""
        self._new.append((self._cookie_name(name), str(value), exp))

    def write(self, answer: Response) -> None:
        """Put the new cookies into an answer."""
        for name, value, lasts_s in self._new:
            set_cookie(answer, self._visit.site, name, value, lasts_s, framed=True)

    @staticmethod
    def _cookie_name(name: str) -> str:
        # A state of ours has nothing else; of another text nothing may get into a header.
        return "softmark-lti-" + "".join(c for c in name[:60] if c.isascii() and (c.isalnum() or c == "-"))


class LoginMemory(SessionService):
    """Logins under way, in the course's store: each state has one nonce and is used once."""

    def __init__(self, visit: Visit, platform: LtiPlatform | None = None) -> None:
        self._store = visit.site.store.lti
        self._now = visit.now
        self._platform = platform
        self._nonce = ""

    def save_nonce(self, nonce: str) -> None:
        """Take the nonce that belongs to the state which is saved next."""
        self._nonce = nonce

    def save_state_params(self, state: str, params: Mapping[str, object]) -> None:
        """Remember a login under way."""
        data = {**params, "nonce": self._nonce, "begun": self._now.isoformat()}
        self._store.begin("state", state, data, now=self._now, expires=self._now + _LASTS)


class Registrations(ToolConfAbstract[VisitRequest]):
    """The registered learning systems of a course."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit

    def check_iss_has_one_client(self, iss: str) -> bool:
        """Return False: several clients of one issuer are always possible."""
        return False

    def find_registration_by_issuer(self, iss: str, *args: Any, **kwargs: Any) -> NoReturn:
        """Never asked: see above."""
        raise NotImplementedError

    def find_deployment(self, iss: str, deployment_id: str) -> NoReturn:
        """Never asked: see above."""
        raise NotImplementedError

    def find_registration_by_params(
        self, iss: str, client_id: str, *args: Any, **kwargs: Any
    ) -> Registration:
        """Return the registration of an issuer and client."""
        key = signing_key(self._visit.site.store, self._visit.now)
        return registration_of(self.platform(iss, client_id), key)

    def find_deployment_by_params(
        self, iss: str, deployment_id: str, client_id: str, *args: Any, **kwargs: Any
    ) -> Deployment | None:
        """Return a deployment that is accepted."""
        platform = self.platform(iss, client_id)
        return Deployment() if deployment_id in platform.deployments else None

    def platform(self, issuer: str, client_id: str) -> LtiPlatform:
        """Return the learning system of an issuer and client; the client may be left out where there is one.

        Raises
        ------
        LtiError
            It isn't registered here, or is disabled, or several are meant.
        """
        store = self._visit.site.store
        known = [p for p in store.lti.platforms(enabled=True) if p.issuer == issuer]
        fitting = [p for p in known if p.client_id == client_id] if client_id else known
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise LtiError(
                "the learning system has several registrations here, and doesn't say which one it means",
                next_step="this is for whoever runs it: the parameter client_id is missing",
            )
        raise LtiError(
            "this learning system isn't registered here",
            got=clean_line(f"issuer {issuer}" + (f", client id {client_id}" if client_id else ""), 200),
            next_step="an instructor registers it on the page “Learning systems” of this site",
        )


class _PageRedirect(Redirect[Response]):
    def __init__(self, url: str) -> None:
        self._url = url

    def do_redirect(self) -> Response:
        return RedirectResponse(self._url, status_code=302)

    def do_js_redirect(self) -> Response:
        return self.do_redirect()

    def set_redirect_url(self, location: str) -> None:
        self._url = location

    def get_redirect_url(self) -> str:
        return self._url


class Login(OIDCLogin[VisitRequest, Registrations, LoginMemory, StateCookies, Response]):
    """The beginning of a launch: the browser is sent to the learning system, which says who this is."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._cookies = StateCookies(visit)
        super().__init__(
            VisitRequest(visit),
            Registrations(visit),
            session_service=LoginMemory(visit),
            cookie_service=self._cookies,
        )

    def get_redirect(self, url: str) -> Redirect[Response]:
        """Return a redirect."""
        return _PageRedirect(url)

    def respond(self) -> Response:
        """Return the answer that sends the browser on.

        Raises
        ------
        LtiError
            The learning system isn't registered here, or says too little.
        """
        parameters = {name: self._get_request_param(name) for name in _LOGIN_PARAMETERS}
        platform = self._tool_config.platform(parameters["iss"], parameters["client_id"])
        # The message must come from the system with which this login is begun.
        parameters["client_id"] = platform.client_id
        self.pass_params_to_launch({"platform": platform.id, "login": parameters})
        try:
            answer: Response = self.redirect(self._visit.full_url("lti.launch"))
        except OIDCException as error:
            raise LtiError(
                "the learning system doesn't say who is to be signed in",
                got=clean_line(str(error), 100),
                next_step="open the link in the learning system again",
            ) from error
        self._cookies.write(answer)
        return answer

    def _get_request_param(self, key: str) -> str:
        # The library looks the client up again: by then it is known, even where the request left it out.
        login = self._state_params.get("login")
        return (
            str(login[key]) if isinstance(login, dict) and key in login else super()._get_request_param(key)
        )


class OtherBrowserError(LtiError):
    """The message is fine, but the cookie of its login isn't there: frames that block them, or a theft.

    ``login`` holds the parameters with which the login can begin again in a window of its own.
    """

    login: Mapping[str, str]


class Launch(MessageLaunch[VisitRequest, Registrations, LoginMemory, StateCookies]):
    """The end of a launch: a signed message about who this is, and what was clicked."""

    platform: LtiPlatform
    claims: LaunchClaims

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        super().__init__(
            VisitRequest(visit),
            Registrations(visit),
            session_service=LoginMemory(visit),
            cookie_service=StateCookies(visit),
        )

    def _get_request_param(self, key: str) -> str:
        return self._request.get_param(key)

    def validate(self) -> Launch:
        """Check everything about the message but who may come in; its state is used up afterwards.

        Raises
        ------
        LtiError
            In one sentence; :class:`OtherBrowserError` where only the cookie is missing.
        """
        self._validated = True  # the library would begin again at each look into the message
        visit, store = self._visit, self._visit.site.store.lti
        state = self._get_request_param("state")
        known = store.begun("state", state, visit.now) if state else None
        if known is None:
            raise LtiError(
                "the launch is refused: it took too long, or wasn't begun here",
                next_step="open the link in the learning system again",
            )
        login, is_used = known
        if is_used:
            raise _used_before()
        platform = store.platform(login["platform"])
        if platform is None or platform.disabled is not None:
            raise LtiError("this learning system isn't registered here any more")
        self.platform = platform
        body = verified_claims(
            self._get_request_param("id_token"),
            platform,
            site_lti(visit.site).keys,
            nonce=login["nonce"],
            begun=datetime.fromisoformat(login["begun"]),
            now=visit.now,
        )
        self.claims = launch_claims(body)
        self.set_jwt(cast(Any, {"body": body}))
        self._registration = registration_of(platform, signing_key(visit.site.store, visit.now))
        try:
            self.validate_message()
        except LtiException as error:
            raise LtiError(
                "this kind of launch isn't known here",
                expected="a link to a quiz or exercise, or the choice of one",
                got=clean_line(str(error), 100),
            ) from error
        if self._cookie_service.get_cookie(state) != state:
            refusal = OtherBrowserError("the launch is refused: this browser didn't begin it")
            refusal.login = login["login"]
            raise refusal
        return self

    def use(self) -> None:
        """Use up the state; a second message with it is refused, in whichever process it arrives."""
        state = self._get_request_param("state")
        if not self._visit.site.store.lti.use("state", state, self._visit.now):
            raise _used_before()
        self._cookie_service.set_cookie(state, "", 0)

    def write_cookies(self, answer: Response) -> None:
        """Have the browser forget the cookie of the state."""
        self._cookie_service.write(answer)


def _used_before() -> LtiError:
    return LtiError(
        "the launch is refused: it was used before",
        next_step="open the link in the learning system again",
    )
