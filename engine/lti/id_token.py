"""Checks the signed message of a launch: who signed it, for whom, when, for which login, and what it holds.

Signature and times are checked by ``joserfc``: the library's own check requires no time of expiry, ignores
who else a message is for, and waits without end for a learning system's keys.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from joserfc import jws, jwt
from joserfc.errors import BadSignatureError, ClaimError, ExpiredTokenError, JoseError
from joserfc.jwk import Key, KeySet, import_key
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from engine.errors import LtiError, PlatformAwayError
from engine.lti.platform_http import PlatformSession, is_local
from engine.store.lti import LtiPlatform
from engine.text.words import clean_line, count_noun

MOST_TOKEN = 64 << 10  # characters; a launch has a few thousand
LEEWAY_S = 60
# Only algorithms with a public and a private key: what is public must not be able to sign.
_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384")
_RELOAD_S = 60.0
_FRESH_S, _LONGEST_S = 3600.0, 24 * 3600.0
_MOST_KEYS = 50
_MOST_NUMBER = 1400  # characters of a key's number: 8192 bits

_LTI = "https://purl.imsglobal.org/spec/lti/claim/"
DEPLOYMENT_CLAIM = _LTI + "deployment_id"
CONTEXT_CLAIM = _LTI + "context"
LINK_CLAIM = _LTI + "resource_link"
TARGET_CLAIM = _LTI + "target_link_uri"
CUSTOM_CLAIM = _LTI + "custom"
PRESENTATION_CLAIM = _LTI + "launch_presentation"
DEEP_LINK_CLAIM = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
MARKS_CLAIM = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
MEMBERS_CLAIM = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"

Id = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\x00-\x1f\x7f]*$")]
ShortText = Annotated[str, StringConstraints(max_length=2000)]
Url = Annotated[str, StringConstraints(max_length=1000)]


class _Claims(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class LinkClaim(_Claims):
    """The link that was clicked."""

    id: Id
    title: ShortText | None = None


class ContextClaim(_Claims):
    """The course of the learning system."""

    id: Id
    title: ShortText | None = None
    label: ShortText | None = None


class MarksClaim(_Claims):
    """Where marks go."""

    scope: list[ShortText] = Field(default_factory=list, max_length=100)
    lineitem: Url | None = None
    lineitems: Url | None = None


class MembersClaim(_Claims):
    """Where the members of the course are listed."""

    context_memberships_url: Url | None = None


class DeepLinkClaim(_Claims):
    """How a choice is sent back."""

    deep_link_return_url: Url
    accept_types: list[ShortText] = Field(max_length=100)
    accept_lineitem: bool | None = None
    title: ShortText | None = None
    data: ShortText | dict[str, Any] | None = None


class PresentationClaim(_Claims):
    """How the learning system shows us."""

    return_url: Url | None = None
    document_target: ShortText | None = None


class LaunchClaims(_Claims):
    """What we use of a launch, with its types checked; the rest is ignored."""

    sub: Id
    deployment: Id
    message_type: ShortText
    version: ShortText
    roles: list[ShortText] = Field(max_length=200)
    link: LinkClaim | None = None
    context: ContextClaim | None = None
    target: Url | None = None
    custom: dict[str, Any] | None = None
    presentation: PresentationClaim | None = None
    deep_link: DeepLinkClaim | None = None
    marks: MarksClaim | None = None
    members: MembersClaim | None = None


# Names in a message → ours.
_FIELDS = {
    "sub": "sub",
    DEPLOYMENT_CLAIM: "deployment",
    _LTI + "message_type": "message_type",
    _LTI + "version": "version",
    _LTI + "roles": "roles",
    LINK_CLAIM: "link",
    CONTEXT_CLAIM: "context",
    TARGET_CLAIM: "target",
    CUSTOM_CLAIM: "custom",
    PRESENTATION_CLAIM: "presentation",
    DEEP_LINK_CLAIM: "deep_link",
    MARKS_CLAIM: "marks",
    MEMBERS_CLAIM: "members",
}


def launch_claims(claims: Mapping[str, Any]) -> LaunchClaims:
    """Return the claims of a launch that we use.

    Raises
    ------
    LtiError
        One is missing or isn't of its type; its name is said, its value isn't.
    """
    try:
        return LaunchClaims.model_validate({_FIELDS[n]: claims[n] for n in _FIELDS.keys() & claims.keys()})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = [str(piece) for piece in fault["loc"]]
        raise LtiError(
            f"the launch has a field that can't be used: {clean_line('.'.join(place), 80)}",
            got=clean_line(fault["msg"], 120),
            next_step="this is for whoever runs the learning system: it doesn't follow LTI 1.3",
        ) from error


@dataclass
class _KnownKeys:
    keys: KeySet | None
    loaded: float
    tried: float


class PlatformKeys:
    """The public keys of learning systems, fetched again for an unknown one at most once a minute each.

    Parameters
    ----------
    clock : callable
        Seconds that never go back.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[tuple[int, str], _KnownKeys] = {}
        self._lock = threading.Lock()

    def find(self, platform: LtiPlatform, kid: str) -> Key:
        """Return the key of that id.

        Raises
        ------
        LtiError
            The learning system doesn't publish it, or its keys can't be read.
        """
        # One at a time: of a class that launches at once, one fetches and the others find it done.
        with self._lock:
            known = self._known.setdefault(
                (platform.id, platform.keys_url), _KnownKeys(None, -_LONGEST_S, -_RELOAD_S)
            )
            now = self._clock()
            key = _of_id(known.keys, kid)
            is_fresh = now - known.loaded < _FRESH_S
            if (key is None or not is_fresh) and now - known.tried >= _RELOAD_S:
                known.tried = now
                try:
                    known.keys, known.loaded = fetch_keys(platform), now
                except PlatformAwayError:
                    if key is None or now - known.loaded >= _LONGEST_S:
                        raise
                key = _of_id(known.keys, kid)
        if key is None:
            raise LtiError(
                "the launch is signed by a key that the learning system doesn't publish",
                next_step="open it again in a minute; if it stays so, check the address of its public keys",
            )
        return key


def fetch_keys(platform: LtiPlatform) -> KeySet:
    """Return the public keys that a learning system publishes now.

    Raises
    ------
    PlatformAwayError
        Nobody answers, or not in time.
    LtiError
        They can't be read.
    """
    step = "check the address of its public keys in the registration"
    http = PlatformSession(local=is_local(platform.issuer))
    response = http.get(platform.keys_url, headers={"Accept": "application/json"})
    if response.status_code != 200:
        error = PlatformAwayError if response.status_code >= 500 else LtiError
        raise error(
            "the learning system's public keys can't be fetched",
            got=f"status {response.status_code}",
            next_step=step,
        )
    try:
        keys = [key for entry in response.json()["keys"][:_MOST_KEYS] if (key := _public_key(entry))]
    except (ValueError, KeyError, TypeError, RecursionError):
        keys = []
    if not keys:
        raise LtiError("the learning system's public keys can't be read", next_step=step)
    return KeySet(keys)


def _public_key(entry: Any) -> Key | None:
    """Return a key of a published set; None for one that can't check signatures."""
    if not isinstance(entry, dict) or entry.get("kty") not in ("RSA", "EC"):
        return None
    if any(len(str(value)) > _MOST_NUMBER for value in entry.values()):
        return None  # checking one signature with it would take seconds
    try:
        return import_key(entry)
    except (JoseError, ValueError, TypeError, AttributeError):
        return None


def _of_id(keys: KeySet | None, kid: str) -> Key | None:
    return None if keys is None else next((key for key in keys.keys if key.kid == kid), None)


def verified_claims(
    token: str, platform: LtiPlatform, keys: PlatformKeys, *, nonce: str, begun: datetime, now: datetime
) -> dict[str, Any]:
    """Return the claims of a message that this learning system signed for us, now, and for this login.

    Parameters
    ----------
    token : str
    platform : LtiPlatform
        With which the login was begun: the message can't choose.
    keys : PlatformKeys
    nonce : str
        Of the login.
    begun : datetime
        When the login began, by our clock.
    now : datetime

    Raises
    ------
    LtiError
        In one sentence, without anything about the person.
    """
    claims = _signed_claims(token, platform, keys)
    registry = jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=LEEWAY_S,
        iss={"essential": True, "value": platform.issuer},
        aud={"essential": True, "value": platform.client_id},
        nonce={"essential": True, "value": nonce},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        registry.validate(claims)
    except ClaimError as error:
        raise _claim_fault(error, claims, begun, now) from error
    if not isinstance(claims["nonce"], str):
        raise _refusal("it belongs to another login")
    audience, party = claims["aud"], claims.get("azp")
    # A message for several must say that it is ours; for one it may.
    if (
        party is not None or (isinstance(audience, list) and len(audience) > 1)
    ) and party != platform.client_id:
        raise _refusal("it is meant for another tool")
    return claims


def _signed_claims(token: str, platform: LtiPlatform, keys: PlatformKeys) -> dict[str, Any]:
    if not token or len(token) > MOST_TOKEN:
        size = "it is empty" if not token else f"it is longer than {MOST_TOKEN >> 10} KiB"
        raise _refusal(size)
    try:
        header = jws.extract_compact(token.encode("ascii", "replace")).headers()
    except (JoseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _refusal("it can't be read") from error
    kid, algorithm = header.get("kid"), header.get("alg")
    if algorithm not in _ALGORITHMS:
        raise _refusal("it isn't signed in a way that proves anything")
    if not isinstance(kid, str) or not kid:
        raise _refusal("it doesn't say which key has signed it")
    key = keys.find(platform, kid)
    try:
        return dict(jwt.decode(token, key, algorithms=list(_ALGORITHMS)).claims)
    except BadSignatureError as error:
        raise _refusal("its signature isn't the learning system's") from error
    except (JoseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _refusal("its signature can't be checked") from error


def _claim_fault(error: ClaimError, claims: Mapping[str, Any], begun: datetime, now: datetime) -> LtiError:
    names = {
        "iss": "it comes from another learning system",
        "aud": "it is meant for another tool",
        "nonce": "it belongs to another login",
    }
    name = str(getattr(error, "claim", "") or "")
    issued = _moment(claims.get("iat"))
    if name in names and claims.get(name) is not None:
        return _refusal(names[name])
    if name in ("iat", "nbf") and issued is not None and issued > now:
        return _clock_fault("ahead of", (issued - now).total_seconds())
    if isinstance(error, ExpiredTokenError):
        # It answers a login that we began: it can't be older than that, unless the clocks differ.
        if issued is not None and (behind := (begun - issued).total_seconds()) > 2 * LEEWAY_S:
            return _clock_fault("behind", behind)
        return _refusal("it has expired", next_step="open the link in the learning system again")
    return _refusal(f"its field {clean_line(name, 40) or 'of time'} is missing or can't be used")


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(value, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _clock_fault(how: str, seconds: float) -> LtiError:
    minutes = max(1, round(seconds / 60))
    off = count_noun(minutes, "minute") if minutes < 120 else count_noun(round(minutes / 60), "hour")
    return LtiError(
        f"the clock of the learning system is {off} {how} this server's",
        next_step="set the wrong one by a time server, and open the link again",
    )


def _refusal(why: str, next_step: str | None = None) -> LtiError:
    return LtiError(
        f"the launch is refused: {why}",
        next_step=next_step
        or "open the link in the learning system again; if it stays so, tell your instructor",
    )
