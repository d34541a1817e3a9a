"""What we ask of a learning system: members of a course, columns of its gradebook, marks into them.

The library speaks the protocol; here its answers are bounded and checked, tokens are kept until they expire,
and whatever goes wrong becomes one sentence and the answer to one question: does trying again later help?
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.names_roles import NamesRolesProvisioningService
from pylti1p3.service_connector import ServiceConnector, TServiceConnectorResponse

from engine.errors import LtiError, PlatformAwayError
from engine.lti.platform_http import PlatformSession, check_url, is_local, origin_of
from engine.lti.signing_keys import registration_of
from engine.store.lti import LtiKey, LtiPlatform
from engine.text.words import clean_line, count_noun

SCORE_SCOPE: Final = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
LINE_ITEM_SCOPE: Final = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
MEMBER_SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"

_MOST_PAGES = 200
_MOST_MEMBERS = 20_000
_TOKEN_SPARE_S = 60.0  # a token that expires on its way is refused
_LONGEST_TOKEN_S = 3600.0


class AccessTokens:
    """Access tokens of all learning systems, as long as they are valid; for all threads of the process."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        """Return a token that is still valid."""
        with self._lock:
            token, until = self._tokens.get(key, ("", 0.0))
        return token if token and time.monotonic() < until else None

    def put(self, key: str, token: str, lasts_s: float) -> None:
        """Keep a token."""
        until = time.monotonic() + min(lasts_s, _LONGEST_TOKEN_S) - _TOKEN_SPARE_S
        with self._lock:
            self._tokens[key] = (token, until)

    def drop(self, key: str) -> None:
        """Forget a token that was refused."""
        with self._lock:
            self._tokens.pop(key, None)


class _Connector(ServiceConnector):
    """The library's connector, with tokens kept by registration and refused ones fetched again once."""

    def __init__(
        self, platform: LtiPlatform, key: LtiKey, http: PlatformSession, tokens: AccessTokens
    ) -> None:
        super().__init__(registration_of(platform, key), http)
        self._platform = platform
        self._tokens = tokens

    def _scope_key(self, scopes: Any) -> str:
        # By registration: two clients of one issuer mustn't share tokens.
        p = self._platform
        return " ".join([p.issuer, p.client_id, p.token_url, *sorted(scopes)])

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        return self._tokens.get(scope_key)

    def _cache_access_token(self, scope_key: str, access_token: str, expires_in: float) -> None:
        if not isinstance(access_token, str) or not access_token:
            raise LtiError("the learning system gave no access token", next_step=_TOKEN_STEP)
        # Some write the seconds as text; without any the token serves this request only.
        self._tokens.put(scope_key, access_token, float(expires_in or 0))

    def make_service_request(
        self, scopes: Sequence[str], url: str, **options: Any
    ) -> TServiceConnectorResponse:
        """Ask a service; a token that isn't taken any more is fetched again once."""
        options["case_insensitive_headers"] = True
        try:
            answer = super().make_service_request(scopes, url, **options)
        except LtiServiceException as error:
            if error.response.status_code != 401 or error.response.url == self._platform.token_url:
                raise
            self._tokens.drop(self._scope_key(scopes))
            answer = super().make_service_request(scopes, url, **options)
        # The library sees a further page only where `rel="next"` is in quotes, which needn't be.
        links = requests.utils.parse_header_links(answer["headers"].get("link", ""))
        answer["next_page_url"] = next((link["url"] for link in links if _is_next(link)), None)
        return answer


def _is_next(link: dict[str, str]) -> bool:
    return "next" in link.get("rel", "").casefold().split()


_TOKEN_STEP = "check client id and addresses of its registration, and that it may fetch our public keys"


class PlatformCalls:
    """Requests to one learning system.

    Parameters
    ----------
    platform : LtiPlatform
    key : LtiKey
        Signs them.
    tokens : AccessTokens
    """

    def __init__(self, platform: LtiPlatform, key: LtiKey, tokens: AccessTokens) -> None:
        self._platform = platform
        # One that is on this machine was registered for trying things out; any other stays outside it.
        self._local = is_local(platform.issuer)
        self._http = PlatformSession(local=self._local)
        self._connector = _Connector(platform, key, self._http, tokens)

    def members(self, url: str) -> list[dict[str, Any]]:
        """Return all members of a course as the learning system describes them.

        Raises
        ------
        LtiError
            It refuses, or its answer isn't a list of members.
        """
        check_url(url, "the address of the members", local=self._local)
        service = NamesRolesProvisioningService(self._connector, {"context_memberships_url": url})
        members: list[dict[str, Any]] = []
        next_url: str | None = url
        seen: set[str] = set()
        while next_url is not None:
            if next_url in seen or len(seen) >= _MOST_PAGES or len(members) > _MOST_MEMBERS:
                raise LtiError(
                    f"the list of members of {self._name} doesn't end",
                    got=f"{count_noun(len(members), 'member')} on {count_noun(len(seen), 'page')}",
                )
            if origin_of(next_url) != origin_of(url):
                raise LtiError(f"{self._name} sends us elsewhere for the next page of its members")
            seen.add(next_url)
            with self._faults("the list of members"):
                page, next_url = service.get_members_page(next_url)
                members += [dict(member) for member in page]
        return members

    def put_score(self, line_item: str, grade: Grade) -> None:
        """Send one user's mark to a column.

        Raises
        ------
        LtiError
            It isn't taken; :class:`ScoreIsOlderError` where the column has a newer one.
        """
        service = AssignmentsGradesService(
            self._connector, {"scope": [SCORE_SCOPE], "lineitem": line_item, "lineitems": ""}
        )
        with self._faults("a mark"):
            service.put_grade(grade)

    def line_item_of(self, line_items: str, link: str, label: str, maximum: float, assignment: str) -> str:
        """Return the address of a link's column, which is made where there is none.

        Parameters
        ----------
        line_items : str
            Where the learning system keeps its columns.
        link : str
            Id of the link.
        label : str
            Heading of a new column.
        maximum : float
            Its full points.
        assignment : str
            Our name of what is marked.
        """
        service = AssignmentsGradesService(
            self._connector, {"scope": [LINE_ITEM_SCOPE], "lineitem": "", "lineitems": line_items}
        )
        wanted_item = LineItem()
        wanted_item.set_label(label).set_score_maximum(maximum).set_resource_id(assignment)
        wanted_item.set_resource_link_id(link).set_tag("softmark")
        with self._faults("a column of its gradebook"):
            item = _first(service.get_lineitems(), link, assignment) or service.create_lineitem(wanted_item)
            address = item.get_id()
        if not isinstance(address, str):
            raise LtiError(f"{self._name} gave the new column no address")
        return check_url(address, "the address of the column", local=self._local)

    @property
    def _name(self) -> str:
        return clean_line(self._platform.name, 80)

    @contextlib.contextmanager
    def _faults(self, noun: str) -> Iterator[None]:
        try:
            yield
        except LtiServiceException as error:
            raise _refusal(error.response, self._name, noun, self._platform) from error
        except LtiException as error:
            raise LtiError(f"{self._name} doesn't offer {noun}", got=clean_line(str(error), 200)) from error
        # The library takes answers for what they should be: any other type shows as one of these.
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LtiError(
                f"the answer of {self._name} about {noun} can't be read",
                got=type(error).__name__,
                next_step="check the addresses of its registration; a page that asks to sign in isn't one",
            ) from error


def _first(items: Iterator[Any], link: str, assignment: str) -> LineItem | None:
    for count, item in enumerate(items):
        if count >= _MOST_MEMBERS:
            raise ValueError("columns without end")
        if item.get("resourceLinkId") == link and item.get("resourceId") in (assignment, None, ""):
            return LineItem(item)
    return None


class ScoreIsOlderError(LtiError):
    """The column has a mark of a later time than the one that was sent."""


# What a learning system means by a status, and what to do.
_STATUSES = {
    400: "it can't read what we sent",
    401: "it doesn't accept our signature or token",
    403: "it doesn't allow us to",
    404: "it no longer has this column or course",
    422: "it can't take what we sent",
    429: "it wants fewer requests",
}

# Canvas has no 409 for it: "Provided timestamp of … before last updated timestamp of …".
_CANVAS_OLDER = "before last updated timestamp"


def _refusal(response: requests.Response, name: str, noun: str, platform: LtiPlatform) -> LtiError:
    status = response.status_code
    at_token = response.url == platform.token_url
    if not at_token and (status == 409 or (status == 400 and _CANVAS_OLDER in response.text[:1000])):
        return ScoreIsOlderError(f"{name} has a newer mark")
    meaning = _STATUSES.get(status, "it has a fault of its own" if status >= 500 else "refused")
    got = f"status {status}: {meaning}"
    what = f"{name} gives no access token" if at_token else f"{name} doesn't answer about {noun}"
    # Canvas says 403 for too many requests as well.
    is_limit = status == 403 and "rate limit" in response.text[:500].casefold()
    if status >= 500 or status in (408, 425, 429) or is_limit:
        away = PlatformAwayError(what, got=got, next_step="it is tried again by itself")
        away.retry_after = _seconds(response.headers.get("retry-after"))
        return away
    step = _TOKEN_STEP if at_token or status == 401 else "look at the tool's settings in the learning system"
    return LtiError(what, got=got, next_step=step)


def _seconds(text: str | None) -> float | None:
    # A date is allowed too; nobody sends one here, and the usual pause is right then.
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
