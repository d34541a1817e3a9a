"""What ``grade serve --check`` finds out about learning systems: registrations, keys, and marks that wait."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from engine.errors import LtiError
from engine.lti.id_token import fetch_keys
from engine.lti.platform_http import check_url, is_local
from engine.store import Store, open_store
from engine.store.lti import LtiKey, LtiPlatform
from engine.text.words import clean_line, count_noun

# A key that signed so long is worth changing: whoever read a backup of the store then has it still.
_OLD_KEY = timedelta(days=365)
_AT_ONCE = 8  # each that doesn't answer takes its time
_MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class LtiFinding:
    """One thing that was looked at; what to do is said where something isn't in order.

    Parameters
    ----------
    text : str
    next_step : str
    is_fault : bool
        Something doesn't work; otherwise it is worth knowing, where there is a next step.
    """

    text: str
    next_step: str = ""
    is_fault: bool = False


def check_learning_systems(place: str | Path, now: datetime) -> Iterator[LtiFinding]:
    """Yield what is found out; learning systems are asked for their public keys, and nothing is changed.

    Parameters
    ----------
    place : str or Path
        Address or path of a store of the newest schema.
    now : datetime
    """
    with open_store(place, busy_timeout_s=5.0) as store:
        platforms = store.lti.platforms()
        if not platforms:
            yield LtiFinding("no learning system is registered")
            return
        keys = store.lti.keys(now)
        yield from _our_keys(keys, now)
        yield from _marks(store)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(_system, platforms)


def _system(platform: LtiPlatform) -> LtiFinding:
    name = clean_line(platform.name, 80)
    if platform.disabled is not None:
        return LtiFinding(f"{name}: disabled", "enable it on the page Learning systems if it is used")
    local = is_local(platform.issuer)
    try:
        for noun, url in (
            ("login", platform.login_url),
            ("access tokens", platform.token_url),
            ("public keys", platform.keys_url),
        ):
            check_url(url, f"the address of its {noun}", local=local)
        count = len(fetch_keys(platform).keys)
    except LtiError as error:
        got = f" ({error.got})" if error.got else ""
        return LtiFinding(f"{name}: {error.what}{got}", error.next_step or "", is_fault=True)
    if not platform.accepted:
        return LtiFinding(
            f"{name}: none of its courses is accepted yet",
            "launch it there as an instructor, or accept a course on the page Learning systems",
        )
    return LtiFinding(f"{name}: {count_noun(count, 'public key')} can be fetched")


def _our_keys(keys: list[LtiKey], now: datetime) -> Iterator[LtiFinding]:
    for key in keys:
        try:
            RSAKey.import_key(key.private)
        except (JoseError, ValueError, TypeError):
            yield LtiFinding(
                "a signing key of ours can't be read",
                "make a new one: grade lti keys rotate --at-once",
                is_fault=True,
            )
            return
    if not keys:
        yield LtiFinding("our signing key is made when a learning system first asks for it")
        return
    age = now - keys[0].created
    text = f"our signing key is {count_noun(max(0, age.days), 'day')} old"
    yield LtiFinding(text, "change it in a quiet week: grade lti keys rotate" if age > _OLD_KEY else "")


def _marks(store: Store) -> Iterator[LtiFinding]:
    counts = store.lti_outbox.counts()
    text = f"{count_noun(counts['sent'], 'mark')} sent, {counts['waiting']} waiting"
    if not counts["failed"]:
        yield LtiFinding(text)
        return
    reasons = sorted(
        {clean_line(row.reason, 200) for row in store.lti_outbox.rows(waiting=True) if row.reason}
    )
    more = f" and {len(reasons) - _MOST_REASONS} more" if len(reasons) > _MOST_REASONS else ""
    yield LtiFinding(
        f"{text}, {counts['failed']} not taken: {'; '.join(reasons[:_MOST_REASONS])}{more}",
        "see grade lti status; what isn't taken is tried again by itself",
    )
