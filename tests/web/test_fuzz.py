"""Anything may be sent to any address: the answer is a page, never a fault of ours."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Iterator, MutableMapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from engine.course import Course
from engine.quiz import rules as quiz_rules
from engine.web.application import application
from engine.web.limits import RateLimit
from engine.web.routes import WebRoute, all_routes
from engine.web.site import Site
from engine.web.visit import FORM_COOKIE, NOTICE_COOKIE, SESSION_COOKIE, path_segment
from tests.web.conftest import ADDRESS, ROSTER, STAFF
from tests.web.filled_class import PEOPLE, FilledClass, fill_class
from tests.web.test_access import check_headers

pytestmark = pytest.mark.slow

# Names of fields that some page reads, so that what is sent gets past the first question.
FIELDS = (
    *("next", "email", "code", "session", "seen", "score", "comment", "action", "reason", "extra", "quiz"),
    *("kind", "subject", "text", "way", "name", "deadline", "items", "line", "points", "after", "page"),
    *("sort", "section", "student", "item", "submission", "handed", "before", "do", "state", "iss", "error"),
    *("row.0", "blank", "print", "show"),
    *("digest", "agreed", "students", "missing", "checked", "roster"),
    *("id_token", "target_link_uri", "login_hint", "client_id", "openid_configuration", "blueprint"),
)
NASTY = (
    *("", "0", "-1", "1e999", "nan", "9" * 400, "١", "softmax", "week-1", "open", "ada", "withdraw"),
    *("../../etc/passwd", "..\\..\\x", "%00", "\0", "a\r\nb: c", "{{7*7}}", "<script>x</script>"),
    *("' OR 1=1 --", "2026-99-99T99:99", "2026-12-03 10:00", "\ud800", "💥" * 50, "x" * 5000),
    *("[" * 2000, "true", "null", "{}", "title: [", "&a [*a]", "~", "~2F", "~zz"),
    *("roster.csv", "blueprints/x.yaml", "id,name\nada,Ada\n", 'id\n"a', "check", "remove"),
)
TEXTS = st.text(max_size=40) | st.sampled_from(NASTY)
MAPPINGS = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=8), TEXTS, max_size=5)
FILE_NAMES = ["softmax.py", "x.ipynb", "x.zip", "../../x.py", "", "x\0.py", "a" * 300]
CONTENTS = st.binary(max_size=60) | st.sampled_from(
    [b"PK\x03\x04", b"{", b"import os\n", b"\xff\xfe", b"id\n7\n"]
)
FILES = st.lists(
    st.tuples(
        st.sampled_from(["files", "folder", "download", "roster", "x"]), st.sampled_from(FILE_NAMES), CONTENTS
    ),
    max_size=3,
)
HEADERS = st.dictionaries(
    st.sampled_from(["accept", "user-agent", "referer", "range", "if-none-match", "x-forwarded-for"]),
    st.sampled_from(["", "application/json", "x" * 3000, "bytes=0-", "*"]),
    max_size=2,
)
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "X-Y"]
PIECES = st.sampled_from(["staff", "quiz", "code", "..", ".", "", "sign-in", "static", "~2F", "x"])
PATHS = st.lists(PIECES, max_size=5).map("/".join) | st.text(max_size=30).map(
    lambda t: path_segment(clean(t))
)
VISIBLE = st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=';,"\\')
COOKIES = st.dictionaries(
    st.sampled_from([SESSION_COOKIE, FORM_COOKIE, NOTICE_COOKIE, "softmark-oidc", "x"]),
    st.text(VISIBLE, max_size=60)
    | st.sampled_from(["e30=", "WyJhIl0=", "WzFd", "W1tbW1tbW1tbW1tbXQ==", "MQ==", "/w==", "x" * 3000]),
    max_size=3,
)
KINDS = [
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "a/b",
    "",
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilledClass]:
    folder = tmp_path_factory.mktemp("fuzz") / "course"
    Course.init(folder, "Attention")
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (folder / "staff.csv").write_text(STAFF, encoding="utf-8")
    with Course.open(folder).open_store() as store:
        yield fill_class(Site(folder, store, ADDRESS), tmp_path_factory.mktemp("items"))


@pytest.fixture(scope="module")
def app(filled: FilledClass) -> ASGIApp:
    return application(filled.site)


@pytest.fixture(autouse=True)
def _without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_READS", "_WRITES", "_FROM_ADDRESS"):
        monkeypatch.setattr(f"engine.web.application.{name}", RateLimit(name, 10**9, timedelta(minutes=1)))


def signed_in(filled: FilledClass, app: ASGIApp, who: str | None) -> tuple[TestClient, str]:
    """Return a browser, and the token that its forms carry."""
    client = TestClient(app, base_url=ADDRESS, follow_redirects=False)
    cookie = "f" * 43
    if who is None:
        client.cookies.set(FORM_COOKIE, cookie)
    else:
        now = quiz_rules.now()
        cookie = filled.site.store.sessions.begin(who, way="mail", now=now, lasts=timedelta(hours=1))
        client.cookies.set(SESSION_COOKIE, cookie)
    token = hmac.new(filled.site.form_secret, f"form {cookie}".encode(), hashlib.sha256).hexdigest()
    return client, token


def known_or_any(name: str, route: WebRoute, filled: FilledClass) -> st.SearchStrategy[str]:
    key = f"{route.name}.{name}"
    return st.one_of(st.just(filled.own.get(key, filled.own.get(name, ""))), TEXTS)


@pytest.mark.parametrize("route", all_routes(), ids=lambda route: route.name)
def test_no_address_fails_whatever_is_sent(route: WebRoute, filled: FilledClass, app: ASGIApp) -> None:
    names = [piece.split("}")[0] for piece in route.path.split("{")[1:]]

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        who=st.sampled_from([p for p in PEOPLE if p != "bob"]),
        method=st.sampled_from(route.methods),
        values=st.fixed_dictionaries({name: known_or_any(name, route, filled) for name in names}),
        query=MAPPINGS,
        fields=MAPPINGS,
        files=FILES if route.takes_files else st.just([]),
        headers=HEADERS,
    )
    def send(who, method, values, query, fields, files, headers) -> None:
        # Characters that no address can hold are what a browser would have replaced.
        plain = {name: text.encode("utf-8", "replace").decode() for name, text in values.items()}
        path = route.path.format_map({name: path_segment(text) for name, text in plain.items()})
        query = {clean(k): clean(v) for k, v in query.items()}
        client, token = signed_in(filled, app, who)
        if method == "GET":
            answer = client.get(path, params=query, headers=headers)
        else:
            data = {clean(k): clean(v) for k, v in fields.items()} | {"csrf": token}
            upload = [(field, (name, content)) for field, name, content in files]
            answer = client.post(path, params=query, data=data, files=upload or None, headers=headers)
        assert answer.status_code < 500, (answer.status_code, path, answer.text[:3000])
        check_headers(answer)

    send()


def clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    method=st.sampled_from(METHODS),
    path=PATHS,
    cookies=COOKIES,
    body=st.binary(max_size=80),
    kind=st.sampled_from(KINDS),
)
def test_no_request_fails_whatever_it_is(
    filled: FilledClass, app: ASGIApp, method, path, cookies, body, kind
) -> None:
    client, _ = signed_in(filled, app, None)
    jar = "; ".join(f"{name}={value}" for name, value in cookies.items())
    headers = {"content-type": kind, "cookie": jar} if jar else {"content-type": kind}
    answer = client.request(method, f"/{path}", content=body, headers=headers)
    assert answer.status_code < 500, (answer.status_code, path, answer.text[:3000])
    check_headers(answer)


@pytest.mark.parametrize("path", ["/account/end", "/sign-in/code", "/code/softmax/hand-in"])
def test_bodies_are_bounded_while_they_stream(filled: FilledClass, app: ASGIApp, path: str) -> None:
    client, _ = signed_in(filled, app, "ada")
    cookie = client.cookies[SESSION_COOKIE]
    read, status = 0, 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1 << 20
        assert read < 100 << 20, "it is read on and on"
        return {"type": "http.request", "body": b"a" * (1 << 20), "more_body": True}

    async def answer(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    headers = {"host": "testserver", "content-type": KINDS[0], "cookie": f"{SESSION_COOKIE}={cookie}"}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
    }
    asyncio.run(app(scope, receive, answer))
    assert status == 413
    too_long = {"content-length": str(1 << 40), "content-type": KINDS[2]}
    refused = client.post(path, content=b"x", headers=too_long)
    assert refused.status_code == 413
    check_headers(refused)


def test_a_thousand_fields_and_more(filled: FilledClass, app: ASGIApp) -> None:
    client, token = signed_in(filled, app, "ada")
    many = {f"field{number}": "x" for number in range(1500)}
    answer = client.post("/requests", data={"csrf": token, **many})
    assert answer.status_code in (400, 413) and "field" in answer.text
