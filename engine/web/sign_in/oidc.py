"""Single sign-on: an OpenID Connect provider says who somebody is (authorization code with PKCE).

The provider's answer is believed after its signature, issuer, audience, times and nonce have been checked,
and an address only if the provider has verified it. What belongs to one sign-in (state, nonce, the verifier
of PKCE) is in a sealed cookie of the browser that began it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from engine.course.people import Person
from engine.errors import InputError
from engine.quiz import rules as quiz_rules
from engine.text.words import clean_line
from engine.web.routes import WebRoute
from engine.web.security import safe_next, sealed, set_cookie, unsealed
from engine.web.sign_in.begin import begin_session, on_to
from engine.web.visit import ForbiddenError, NotFoundError, ServiceAwayError, Visit

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client
    from starlette.responses import Response

    from engine.web.settings import OidcSettings

_COOKIE = "softmark-oidc"
_LASTS = timedelta(minutes=10)
_READ_AGAIN = timedelta(hours=1)  # what the provider says of itself
_LEFT_ALONE = timedelta(seconds=30)  # after it didn't answer
_TIMEOUT_S = 10.0
_WAIT_S = 3.0  # for other threads that ask it
_LEEWAY_S = 120  # clocks differ
# Only signatures of keys that the provider alone has: with `none` or a shared key anybody could sign.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class ProviderError(InputError):
    """The provider's answer can't be used: whoever signs in can only try again."""

    def __init__(self, what: str, got: str | None = None) -> None:
        super().__init__(
            what,
            got=clean_line(got, 200) if got else None,
            next_step="go back to the home page and sign in again; if it fails again, tell your instructor",
        )


@dataclass(slots=True)
class _Provider:
    """What a provider says of itself, and its keys."""

    issuer: str
    metadata: Mapping[str, Any]
    keys: Mapping[str, Any]
    read: datetime


class _Providers:
    """What is known of providers, read by one thread at a time.

    A provider that hangs must not hold the threads that save answers: nobody waits long for the one that asks
    it, and after a failure it is left alone for a while.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Provider] = {}
        self._failures: dict[str, tuple[datetime, ServiceAwayError]] = {}
        self._reading = threading.Lock()

    def find(self, issuer: str, now: datetime, *, fresh: bool) -> _Provider:
        """Return a provider, read at most every hour, or again if its keys may have changed.

        Raises
        ------
        ServiceAwayError
            It can't be reached or isn't one, and nothing is known of it from before.
        """
        known = self._known.get(issuer)
        if self._is_new_enough(known, now, fresh) and known is not None:
            return known
        failure = self._failure(issuer)
        if failure is None and self._reading.acquire(timeout=_WAIT_S if known is None or fresh else 0):
            try:
                return self._read(issuer, now, fresh)
            except ServiceAwayError as error:
                failure = error
            finally:
                self._reading.release()
        if known is not None:  # of an hour ago, but rarely wrong
            return known
        raise failure or _unreachable(issuer, "it is being asked, and hasn't answered yet")

    @staticmethod
    def _is_new_enough(known: _Provider | None, now: datetime, fresh: bool) -> bool:
        return known is not None and now - known.read <= (timedelta(minutes=1) if fresh else _READ_AGAIN)

    def _failure(self, issuer: str) -> ServiceAwayError | None:
        at, error = self._failures.get(issuer, (None, None))
        # Not the time of the request, which may have waited for this very failure.
        return error if at is not None and timedelta() <= quiz_rules.now() - at < _LEFT_ALONE else None

    def _read(self, issuer: str, now: datetime, fresh: bool) -> _Provider:
        # Somebody else may have asked meanwhile.
        known, failure = self._known.get(issuer), self._failure(issuer)
        if self._is_new_enough(known, now, fresh) and known is not None:
            return known
        if failure is not None:
            raise failure
        try:
            provider = self._known[issuer] = _read_provider(issuer, now)
        except ServiceAwayError as error:
            self._failures[issuer] = (quiz_rules.now(), error)
            raise
        self._failures.pop(issuer, None)
        return provider


_providers = _Providers()
# So many threads at most wait for a provider's answer; the others are for those who are signed in already.
_asking = threading.BoundedSemaphore(8)


def _provider(settings: OidcSettings, now: datetime, *, fresh: bool = False) -> _Provider:
    return _providers.find(settings.issuer.rstrip("/"), now, fresh=fresh)


def _read_provider(issuer: str, now: datetime) -> _Provider:
    metadata = _get_json(f"{issuer}/.well-known/openid-configuration")
    if str(metadata.get("issuer", "")).rstrip("/") != issuer:
        raise _unreachable(issuer, f"it calls itself {metadata.get('issuer')}")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        if not isinstance(metadata.get(name), str):
            raise _unreachable(issuer, f"it names no {name}")
    return _Provider(str(metadata["issuer"]), metadata, _get_json(metadata["jwks_uri"]), now)


def _get_json(url: str, token: str | None = None) -> dict[str, Any]:
    import httpx

    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        answer = httpx.get(url, timeout=_TIMEOUT_S, headers=headers, follow_redirects=token is None)
        answer.raise_for_status()
        value = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise _unreachable(url, str(error) or type(error).__name__) from error
    if not isinstance(value, dict):
        raise _unreachable(url, "its answer isn't a JSON object")
    return value


def _unreachable(where: str, got: str) -> ServiceAwayError:
    return ServiceAwayError(
        "the sign-in service doesn't answer as it should",
        where=clean_line(where, 200),
        got=clean_line(got, 200),
        next_step="try again in a few minutes, or sign in another way",
    )


def _settings(visit: Visit) -> OidcSettings:
    settings = visit.site.settings.oidc
    if settings is None:
        raise NotFoundError()
    return settings


def _client(visit: Visit, settings: OidcSettings) -> OAuth2Client:
    from authlib.integrations.httpx_client import OAuth2Client

    secret = settings.secret(visit.site.folder)
    return OAuth2Client(
        settings.client_id,
        secret,
        token_endpoint_auth_method="client_secret_basic" if secret else "none",
        scope="openid email profile",
        redirect_uri=visit.full_url("sign_in.oidc_return"),
        code_challenge_method="S256",
        timeout=_TIMEOUT_S,
    )


def start(visit: Visit) -> Response:
    """Send the browser to the provider."""
    from starlette.responses import RedirectResponse

    settings = _settings(visit)
    provider = _provider(settings, visit.now)
    values = {
        "state": secrets.token_urlsafe(24),
        "nonce": secrets.token_urlsafe(24),
        "verifier": secrets.token_urlsafe(48),
        "next": safe_next(visit.base, visit.query.get("next", "")) or "",
    }
    with _client(visit, settings) as client:
        address, _ = client.create_authorization_url(
            provider.metadata["authorization_endpoint"],
            state=values["state"],
            nonce=values["nonce"],
            code_verifier=values["verifier"],
        )
    answer = RedirectResponse(address, status_code=303)
    text = sealed(visit.site, "oidc", values, visit.now + _LASTS)
    set_cookie(answer, visit.site, _COOKIE, text, int(_LASTS.total_seconds()))
    return answer


def come_back(visit: Visit) -> Response:
    """Sign in whom the provider names."""
    settings = _settings(visit)
    begun = unsealed(visit.site, "oidc", visit.cookies.get(_COOKIE, ""), visit.now)
    if begun is None:
        raise ProviderError("this sign-in took too long, or began in another browser")
    if not secrets.compare_digest(visit.query.get("state", "").encode(), begun["state"].encode()):
        raise ProviderError("this answer belongs to another sign-in")
    if "error" in visit.query:
        words = visit.query.get("error_description") or visit.query["error"]
        raise ProviderError("the sign-in service refused", got=words)
    if not _asking.acquire(timeout=_WAIT_S):
        raise _unreachable(settings.issuer, "others wait for its answers")
    try:
        claims = _claims(visit, settings, begun)
    finally:
        _asking.release()
    person = _person(visit, settings, claims)
    answer = begin_session(visit, on_to(visit, begun["next"]), person.id, way="oidc")
    set_cookie(answer, visit.site, _COOKIE, "", 0)  # once
    return answer


def _claims(visit: Visit, settings: OidcSettings, begun: Mapping[str, Any]) -> dict[str, Any]:
    """Exchange the code for the provider's token, and return what it says after all checks."""
    from authlib.common.errors import AuthlibBaseError
    from httpx import HTTPError

    provider = _provider(settings, visit.now)
    if visit.query.get("iss", provider.issuer) != provider.issuer:  # RFC 9207
        raise ProviderError("this answer comes from another sign-in service", got=visit.query["iss"])
    try:
        with _client(visit, settings) as client:
            token = client.fetch_token(
                provider.metadata["token_endpoint"],
                grant_type="authorization_code",
                code=visit.query.get("code", ""),
                code_verifier=begun["verifier"],
            )
    except (AuthlibBaseError, HTTPError, ValueError) as error:
        raise ProviderError("the sign-in service didn't confirm this sign-in", got=str(error)) from error
    raw = token.get("id_token")
    if not isinstance(raw, str):
        raise ProviderError("the sign-in service doesn't say who you are", got="no ID token")
    claims = _verified(visit, settings, raw, begun["nonce"])
    endpoint = provider.metadata.get("userinfo_endpoint")
    if settings.claim not in claims and isinstance(endpoint, str) and token.get("access_token"):
        more = _get_json(endpoint, str(token["access_token"]))
        if more.get("sub") == claims.get("sub"):  # otherwise it speaks of somebody else
            claims = {**more, **claims}
    return claims


def _verified(visit: Visit, settings: OidcSettings, raw: str, nonce: str) -> dict[str, Any]:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    for fresh in (False, True):
        provider = _provider(settings, visit.now, fresh=fresh)
        try:
            token = jwt.decode(raw, KeySet.import_key_set(cast("Any", provider.keys)), algorithms=_ALGORITHMS)
            registry = jwt.JWTClaimsRegistry(
                now=int(visit.now.timestamp()),
                leeway=_LEEWAY_S,
                iss={"essential": True, "value": provider.issuer},
                aud={"essential": True, "value": settings.client_id},
                sub={"essential": True},
                exp={"essential": True},
                nonce={"essential": True, "value": nonce},
            )
            registry.validate(token.claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            # Its keys may have changed since they were read.
            if fresh or "key" not in str(error).lower():
                raise ProviderError("the sign-in service's answer isn't valid", got=str(error)) from error
            continue
        claims = dict(token.claims)
        audience = claims["aud"]
        if isinstance(audience, list) and len(audience) > 1 and claims.get("azp") != settings.client_id:
            raise ProviderError("the sign-in service's answer isn't valid", got="it is for another program")
        return claims
    raise AssertionError("the second round returns or raises")


def _person(visit: Visit, settings: OidcSettings, claims: Mapping[str, Any]) -> Person:
    value = claims.get(settings.claim)
    if not isinstance(value, str) or not value.strip():
        raise ProviderError(f"the sign-in service doesn't say your {settings.claim}")
    if settings.claim == "email" and claims.get("email_verified") is not True and not settings.unverified:
        raise ForbiddenError(
            "the sign-in service hasn't verified your address",
            next_step="confirm your address there, then sign in again",
        )
    people = visit.site.people
    if settings.field == "id":
        matches = tuple(p for p in (people.by_id.get(value.strip()),) if p is not None)
    else:
        matches = people.with_email(value) if settings.field == "email" else people.with_login(value)
    # An instructor may have a second line for trying the site as a student.
    matches = tuple(p for p in matches if p.is_staff) or matches
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ForbiddenError(
            "several people of this course have your address",
            next_step="ask your instructor to give each line of the roster its own",
        )
    raise ForbiddenError(
        "you are signed in there, but aren't in this course",
        got=clean_line(value, 100),
        next_step="ask your instructor to add you to the roster with exactly this",
    )


ROUTES = (
    WebRoute("sign_in.oidc", "/sign-in/oidc", start, None),
    WebRoute("sign_in.oidc_return", "/sign-in/oidc/return", come_back, None),
)
