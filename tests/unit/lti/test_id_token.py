"""The signed message of a launch: what is hostile or broken is refused, with one sentence about it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt as pyjwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from engine.errors import LtiError, PlatformAwayError
from engine.lti.id_token import PlatformKeys, launch_claims, verified_claims
from engine.store import Store
from engine.store.lti import LtiPlatform
from tests.live.lms import LEARNER, Lms, LmsFault

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
LTI = "https://purl.imsglobal.org/spec/lti/claim/"


def claims_of(lms: Lms, **changes: Any) -> dict[str, Any]:
    claims = {
        "iss": lms.address,
        "aud": lms.client_id,
        "azp": lms.client_id,
        "sub": "u-ada",
        "nonce": "nonce-1",
        "iat": int(NOW.timestamp()),
        "exp": int(NOW.timestamp()) + 300,
        f"{LTI}deployment_id": "deployment-1",
        f"{LTI}message_type": "LtiResourceLinkRequest",
        f"{LTI}version": "1.3.0",
        f"{LTI}roles": [LEARNER],
        f"{LTI}resource_link": {"id": "link-1"},
        f"{LTI}context": {"id": "course-7", "title": "Attention"},
        "name": "Ada Lovelace",
        "email": "ada@example.edu",
        **changes,
    }
    return {name: value for name, value in claims.items() if value is not ...}


Verify = Callable[[str], dict[str, Any]]


@pytest.fixture
def keys() -> PlatformKeys:
    return PlatformKeys()


@pytest.fixture
def verify(platform: LtiPlatform, keys: PlatformKeys) -> Verify:
    def check(token: str) -> dict[str, Any]:
        begun = NOW - timedelta(seconds=5)
        return verified_claims(token, platform, keys, nonce="nonce-1", begun=begun, now=NOW)

    return check


def refusal(verify: Verify, token: str) -> str:
    with pytest.raises(LtiError) as error:
        verify(token)
    text = str(error.value)
    assert "ada" not in text.lower() and "Traceback" not in text
    return error.value.what


def test_a_right_message_is_taken(lms: Lms, verify: Verify) -> None:
    claims = verify(lms.sign(claims_of(lms)))
    assert claims["sub"] == "u-ada"
    assert launch_claims(claims).link is not None
    for same in ({"aud": [lms.client_id]}, {"azp": ..., "aud": lms.client_id}, {"aud": [lms.client_id, "x"]}):
        verify(lms.sign(claims_of(lms, **same)))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"aud": "another"}, "it is meant for another tool"),
        ({"aud": ["another"]}, "it is meant for another tool"),
        ({"aud": ...}, "its field aud is missing"),
        ({"azp": "another"}, "it is meant for another tool"),
        ({"azp": ..., "aud": ["client-1", "another"]}, "it is meant for another tool"),
        ({"iss": "https://evil.example"}, "it comes from another learning system"),
        ({"iss": ...}, "its field iss is missing"),
        ({"nonce": "nonce-2"}, "it belongs to another login"),
        ({"nonce": ["nonce-1"]}, "it belongs to another login"),
        ({"nonce": ...}, "its field nonce is missing"),
        ({"exp": ...}, "its field exp is missing"),
        ({"iat": ...}, "its field iat is missing"),
        ({"sub": ...}, "its field sub is missing"),
        ({"exp": "later"}, "its field exp is missing or can't be used"),
        ({"iat": True}, "its field iat is missing or can't be used"),
        ({"exp": float("inf")}, "its field exp is missing or can't be used"),
        ({"exp": int(NOW.timestamp()) - 120}, "it has expired"),
        ({"nbf": int(NOW.timestamp()) + 600}, "its field nbf is missing or can't be used"),
    ],
)
def test_wrong_claims(lms: Lms, verify: Verify, changes: dict[str, Any], sentence: str) -> None:
    assert sentence in refusal(verify, lms.sign(claims_of(lms, **changes)))


def test_clocks_that_are_off_by_an_hour_are_named(lms: Lms, verify: Verify) -> None:
    hour = 3600
    ahead = {"iat": int(NOW.timestamp()) + hour, "exp": int(NOW.timestamp()) + hour + 300}
    said = refusal(verify, lms.sign(claims_of(lms, **ahead)))
    assert said == "the clock of the learning system is 60 minutes ahead of this server's"
    behind = {"iat": int(NOW.timestamp()) - hour, "exp": int(NOW.timestamp()) - hour + 300}
    said = refusal(verify, lms.sign(claims_of(lms, **behind)))
    assert said == "the clock of the learning system is 60 minutes behind this server's"
    # A minute is what clocks may differ by.
    near = {"iat": int(NOW.timestamp()) + 50, "exp": int(NOW.timestamp()) + 350}
    verify(lms.sign(claims_of(lms, **near)))


def test_an_unsigned_message(lms: Lms, verify: Verify) -> None:
    for algorithm in ("none", "None", "NONE"):
        header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": lms.key.kid}).encode())
        body = base64.urlsafe_b64encode(json.dumps(claims_of(lms)).encode())
        token = f"{header.decode().rstrip('=')}.{body.decode().rstrip('=')}."
        assert "isn't signed in a way that proves anything" in refusal(verify, token)


def test_the_public_key_as_a_shared_secret(lms: Lms, verify: Verify) -> None:
    public = lms.key.as_pem(private=False)
    token = jwt.encode({"alg": "HS256", "kid": lms.key.kid}, claims_of(lms), OctKey.import_key(b"x" * 32))
    # The package refuses to sign with a public key, so the signature is made by hand.
    import hashlib
    import hmac

    message = token.rpartition(".")[0]
    digest = hmac.new(public, message.encode(), hashlib.sha256).digest()
    token = f"{message}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"
    assert "isn't signed in a way that proves anything" in refusal(verify, token)


def test_another_key_under_the_known_name(lms: Lms, verify: Verify) -> None:
    other = RSAKey.generate_key(2048)
    token = lms.sign(claims_of(lms), other)
    assert refusal(verify, token) == "the launch is refused: its signature isn't the learning system's"
    # Nor one that the message itself brings along.
    own = pyjwt.encode(
        claims_of(lms),
        other.as_pem(private=True),
        algorithm="RS256",
        headers={"kid": lms.key.kid, "jwk": other.as_dict(private=False), "jku": "https://evil.example"},
    )
    assert refusal(verify, own) == "the launch is refused: it can't be read"


def test_a_changed_body(lms: Lms, verify: Verify) -> None:
    header, _, signature = lms.sign(claims_of(lms)).split(".")
    body = base64.urlsafe_b64encode(json.dumps(claims_of(lms, sub="u-bob")).encode()).decode().rstrip("=")
    assert "its signature isn't the learning system's" in refusal(verify, f"{header}.{body}.{signature}")


def test_an_unknown_key_is_looked_for_once_a_minute(lms: Lms, platform: LtiPlatform) -> None:
    seconds = [0.0]
    keys = PlatformKeys(clock=lambda: seconds[0])
    for _ in range(5):
        with pytest.raises(LtiError, match="a key that the learning system doesn't publish"):
            keys.find(platform, "unknown")
    assert lms.requests == ["GET /jwks"]
    seconds[0] = 61.0
    assert lms.key.kid is not None
    assert keys.find(platform, lms.key.kid).kid == lms.key.kid  # known already: nothing is fetched
    assert lms.requests == ["GET /jwks"]
    old, lms.key = lms.key, RSAKey.generate_key(2048, auto_kid=True)
    assert lms.key.kid is not None
    assert keys.find(platform, lms.key.kid).kid == lms.key.kid  # the system has a new key
    assert lms.requests == ["GET /jwks"] * 2
    assert old.kid is not None
    with pytest.raises(LtiError):
        keys.find(platform, old.kid)


def test_keys_outlast_a_system_that_is_away_for_a_while(lms: Lms, platform: LtiPlatform) -> None:
    seconds = [0.0]
    keys = PlatformKeys(clock=lambda: seconds[0])
    assert lms.key.kid is not None
    keys.find(platform, lms.key.kid)
    lms.faults.append(LmsFault("/jwks", 503))
    seconds[0] = 2 * 3600.0
    keys.find(platform, lms.key.kid)
    seconds[0] = 30 * 3600.0
    with pytest.raises(PlatformAwayError):
        keys.find(platform, lms.key.kid)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"keys": 5}',
        b'{"keys": []}',
        b'{"keys": [5]}',
        b'{"keys": [{"kty": "RSA"}]}',
        b'{"keys": [{"kty": "RSA", "n": "AQAB", "e": 3}]}',
        b'{"keys": [{"kty": "oct", "k": "AAAA", "kid": "k"}]}',
        b'{"keys": [{"kty": "RSA", "kid": "k", "e": "AQAB", "n": "' + b"A" * 5000 + b'"}]}',
        b"<html>",
        b"[" * 50_000,
    ],
)
def test_keys_that_cant_be_used(lms: Lms, platform: LtiPlatform, keys: PlatformKeys, body: bytes) -> None:
    lms.faults.append(LmsFault("/jwks", 200, body))
    with pytest.raises(LtiError):
        keys.find(platform, "k2")


@pytest.mark.parametrize(
    "token", ["", "x", "a.b", "a.b.c", "....", "é.b.c", "\0.\0.\0", "e30.e30.e30", "A" * 70_000]
)
def test_what_is_no_message_at_all(verify: Verify, token: str) -> None:
    assert refusal(verify, token).startswith("the launch is refused: it")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
USED = [
    *("sub", "iss", "aud", "azp", "exp", "iat", "nbf", "nonce", "name", "email"),
    *(f"{LTI}{name}" for name in ("deployment_id", "message_type", "version", "roles", "resource_link")),
    *(
        f"{LTI}{name}"
        for name in ("context", "custom", "launch_presentation", "target_link_uri", "lis", "ext")
    ),
    "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint",
    "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice",
    "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings",
]


@pytest.fixture(scope="module")
def signer() -> RSAKey:
    return RSAKey.generate_key(2048, auto_kid=True)


@settings(max_examples=150, deadline=None)
@given(changes=st.dictionaries(st.sampled_from(USED), JSON, min_size=1, max_size=4))
def test_claims_of_any_type_are_taken_or_refused_with_a_sentence(
    signer: RSAKey, changes: dict[str, Any]
) -> None:
    class Keys(PlatformKeys):
        def find(self, platform: LtiPlatform, kid: str) -> Any:
            return RSAKey.import_key(signer.as_dict(private=False))

    issuer = "https://lms.example"
    platform = LtiPlatform(1, issuer, "client-1", "n", (), {}, (), "", "", "", None, NOW, "by")

    class Address:
        address, client_id = issuer, "client-1"

    body = claims_of(Address, **changes)  # type: ignore[arg-type]
    token = jwt.encode({"alg": "RS256", "kid": "k"}, body, signer)
    from engine.lti.users import user_of_claims

    try:
        claims = verified_claims(token, platform, Keys(), nonce="nonce-1", begun=NOW, now=NOW)
        launch_claims(claims)
        assert user_of_claims(claims).role in ("student", "marker", "instructor", None)
    except LtiError as error:
        assert error.what and "\n" not in error.what


def test_a_store_isnt_asked_about_hostile_messages(store: Store, verify: Verify, lms: Lms) -> None:
    refusal(verify, lms.sign(claims_of(lms, aud="another")))
    assert store.lti.people() == []
