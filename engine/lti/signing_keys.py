"""Our own keys: what we send to learning systems is signed, and they fetch the public halves.

A new key is published at once but signs only after an hour: learning systems remember for a while which keys
we have. The one before it stays published for a week, so that nothing under way is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from joserfc.jwk import RSAKey
from pylti1p3.registration import Registration

from engine.store import Store
from engine.store.lti import LtiKey, LtiPlatform

_BITS = 2048
_BEFORE_USE = timedelta(hours=1)
_PUBLISHED_AFTER = timedelta(days=7)
_MOMENT = timedelta(microseconds=1)


def published_keys(store: Store, now: datetime) -> list[LtiKey]:
    """Return the keys whose public halves are published, newest first; the first one is made if need be."""
    keys = store.lti.keys(now)
    if not keys:
        # Two processes may come here at once; whichever is second takes the first one's key.
        store.lti.add_key(_new_key(now), retire_others=None, only_first=True)
        keys = store.lti.keys(now)
    return keys


def signing_key(store: Store, now: datetime) -> LtiKey:
    """Return the key that signs now."""
    keys = published_keys(store, now)
    return next((key for key in keys if now - key.created >= _BEFORE_USE), keys[-1])


def rotate_keys(store: Store, now: datetime, *, at_once: bool = False) -> LtiKey:
    """Make a new key; those before it go after a week, or now.

    Parameters
    ----------
    store : Store
    now : datetime
    at_once : bool
        Somebody may have a key of ours: it is withdrawn now, and the new one signs from now on.
    """
    # Later than any other, whatever the clock says: the order of keys is that of their times.
    newest = max((known.created for known in store.lti.keys(now)), default=now - _MOMENT)
    key = _new_key(max(now, newest + _MOMENT))
    store.lti.add_key(key, retire_others=now if at_once else now + _PUBLISHED_AFTER)
    return key


def _new_key(now: datetime) -> LtiKey:
    key = RSAKey.generate_key(_BITS, auto_kid=True)
    assert key.kid is not None
    return LtiKey(key.kid, key.as_pem(private=True).decode("ascii"), now)


def key_set(store: Store, now: datetime) -> Mapping[str, Any]:
    """Return the public keys as a JSON Web Key Set."""
    keys = []
    for stored in published_keys(store, now):
        public = RSAKey.import_key(stored.private).as_dict(private=False)
        keys.append({**public, "kid": stored.id, "use": "sig", "alg": "RS256"})
    return {"keys": keys}


def registration_of(platform: LtiPlatform, key: LtiKey) -> Registration:
    """Return a registration as the library takes it."""
    public = RSAKey.import_key(key.private).as_pem(private=False).decode("ascii")
    registration = Registration()
    registration.set_issuer(platform.issuer)
    registration.set_client_id(platform.client_id)
    registration.set_auth_login_url(platform.login_url)
    registration.set_auth_token_url(platform.token_url)
    registration.set_key_set_url(platform.keys_url)
    if platform.audience:
        registration.set_auth_audience(platform.audience)
    registration.set_tool_private_key(key.private)
    registration.set_tool_public_key(public)
    return registration
