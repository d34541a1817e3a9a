"""Every page as everybody: who sees what, and what nobody may see."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx2
import pytest
from starlette.testclient import TestClient

from engine.course import Course
from engine.course.people import Role
from engine.quiz import rules as quiz_rules
from engine.web.application import application
from engine.web.limits import RateLimit
from engine.web.routes import WebRoute, all_routes
from engine.web.site import Site
from engine.web.visit import SESSION_COOKIE
from tests.web.conftest import ADDRESS, ROSTER, STAFF
from tests.web.filled_class import PEOPLE, FilledClass, fill_class, text_of
from tests.web.forms import token_of

ROUTES = all_routes()
# What somebody may open who isn't signed in. A page that is added here shows nothing about anybody.
PUBLIC = {
    "home", "health", "health.live", "health.ready", "sign_in", "sign_in.mail", "sign_in.sent",
    "sign_in.link", "sign_in.use_link", "sign_in.code", "sign_in.oidc", "sign_in.oidc_return", "sign_in.out",
    "lti.login", "lti.launch", "lti.keys", "lti.canvas", "lti.register",
}  # fmt: skip
# Messages of learning systems, which prove themselves by a signature; nothing else goes without a token.
WITHOUT_TOKEN = {"lti.login", "lti.launch", "lti.register"}

Browser = Callable[[str | None], TestClient]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilledClass]:
    folder = tmp_path_factory.mktemp("access") / "course"
    Course.init(folder, "Attention")
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (folder / "staff.csv").write_text(STAFF, encoding="utf-8")
    with Course.open(folder).open_store() as store:
        yield fill_class(Site(folder, store, ADDRESS), tmp_path_factory.mktemp("items"))


@pytest.fixture
def browser(filled: FilledClass) -> Iterator[Browser]:
    """Return browsers by who is signed in; each call signs in anew."""
    opened: list[TestClient] = []

    def browser_of(person: str | None) -> TestClient:
        client = TestClient(application(filled.site), base_url=ADDRESS, follow_redirects=False)
        opened.append(client)
        if person is not None:
            now = quiz_rules.now()
            cookie = filled.site.store.sessions.begin(person, way="mail", now=now, lasts=timedelta(hours=1))
            client.cookies.set(SESSION_COOKIE, cookie)
        return client

    yield browser_of
    for client in opened:
        client.close()


def check_headers(answer: httpx2.Response) -> None:
    """Hold what every answer says to the browser."""
    headers = answer.headers
    policy = dict(
        directive.strip().partition(" ")[::2] for directive in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'" and policy.get("script-src", "'none'") in ("'self'", "'none'")
    assert policy["base-uri"] == "'none'" and "frame-ancestors" in policy and "form-action" in policy
    assert "*" not in policy["frame-ancestors"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    if not answer.request.url.path.startswith(("/static/", "/lti/keys", "/lti/canvas.json")):
        assert headers["cache-control"] == "no-store"
    assert "server" not in headers and "x-powered-by" not in headers
    for cookie in headers.get_list("set-cookie"):
        assert "HttpOnly" in cookie and "SameSite=" in cookie and "Path=/" in cookie
    if headers.get("content-type", "").startswith("text/html"):
        check_markup(answer.text)


def check_markup(page: str) -> None:
    """Hold that a page has nothing that the policy would refuse, and no traceback."""
    assert "Traceback (most recent call last)" not in page
    assert not re.search(r"<[^>]+\s(on\w+|style)\s*=", page), "inline script or style"
    for script in re.findall(r"<script[^>]*>([^<]*)</script>", page):
        assert script.strip() == ""
    assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', page), "something from elsewhere"


def ask(client: TestClient, method: str, path: str) -> httpx2.Response:
    if method == "GET":
        answer = client.get(path)
    else:
        page = client.get("/account" if SESSION_COOKIE in client.cookies else "/sign-in")
        answer = client.post(path, data={"csrf": token_of(page)})
    check_headers(answer)
    return answer


CALLS = [(route, method) for route in ROUTES for method in route.methods]
CALL_NAMES = [f"{route.name}-{method}" for route, method in CALLS]


# --- roles ---


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_is_expected_here(route: WebRoute, filled: FilledClass) -> None:
    """A new route must say who may use it, and a value for each parameter of its address must be known."""
    assert filled.has_values(route), f"fill_class has no value for a parameter of {route.path}"
    assert (route.least is None) == (route.name in PUBLIC), "a page for everybody is named in PUBLIC"
    assert route.csrf or route.name in WITHOUT_TOKEN
    assert set(route.methods) <= {"GET", "POST"} and route.methods


@pytest.mark.parametrize(("route", "method"), CALLS, ids=CALL_NAMES)
@pytest.mark.parametrize("who", PEOPLE, ids=str)
def test_everybody_at_every_route(
    route: WebRoute, method: str, who: str | None, filled: FilledClass, browser: Browser
) -> None:
    role = PEOPLE[who]
    client = browser(who)
    answer = ask(client, method, filled.path(route))
    status = answer.status_code
    assert status < 500, (method, route.path)
    if route.least is None:
        assert status != 403 or method == "POST"
    elif role is None:
        if method == "GET":
            assert status == 303 and answer.headers["location"].startswith("/sign-in?next=")
        else:
            assert status == 403
    elif not role.includes(route.least):
        assert status == 404, "as if it weren't there"
        nowhere = client.get("/no/such/page/at/all")
        assert answer.text == nowhere.text, "and just as a page that isn't there"
    else:
        assert status not in (401, 403), (method, route.path)


# --- what belongs to another student ---


def test_objects_of_others_arent_there(filled: FilledClass, browser: Browser) -> None:
    cases = filled.foreign_routes()
    assert {route.name for route, _ in cases} >= {"student.withdraw", "code.state"}
    for route, values in cases:
        absent = dict.fromkeys(values, "999999")
        for method in route.methods:
            ada = browser("ada")
            foreign = ask(ada, method, filled.path(route, values))
            assert foreign.status_code == 404, (route.name, values)
            nothing = ask(ada, method, filled.path(route, absent))
            assert (nothing.status_code, nothing.text) == (404, foreign.text), "neither shows that it exists"
    ada = browser("ada")
    for path in ("/quiz/secret-quiz", "/quiz/secret-quiz/1", "/quiz/no-such-quiz"):
        assert ada.get(path).status_code == 404, "not published is not there"


# --- forms ---


POSTS = [route for route in ROUTES if "POST" in route.methods and route.csrf]


@pytest.mark.parametrize("route", POSTS, ids=lambda route: route.name)
def test_no_form_goes_without_its_token(route: WebRoute, filled: FilledClass, browser: Browser) -> None:
    client, path = browser("ivy"), filled.path(route)
    mine = token_of(client.get("/account"))
    theirs = token_of(browser("ada").get("/account"))
    nobodys = token_of(browser(None).get("/sign-in"))
    for data in ({}, {"csrf": ""}, {"csrf": theirs}, {"csrf": nobodys}, {"csrf": "x" * 64}, {"csrf": "é"}):
        refused = client.post(path, data=data)
        assert refused.status_code == 403, (route.name, data)
        check_headers(refused)
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://testserver.evil.example"},
    ):
        refused = client.post(path, data={"csrf": mine}, headers=headers)
        assert refused.status_code == 403 and "came from another site" in refused.text, (route.name, headers)
    asked = client.get(path, params={"csrf": mine})
    assert "GET" in route.methods or asked.status_code >= 400, "nothing is done by opening an address"


def test_what_is_opened_changes_nothing(filled: FilledClass, browser: Browser) -> None:
    """GET is safe: a page that is only looked at writes nothing but who was seen, and who saw keys."""
    from engine.lti.signing_keys import signing_key
    from engine.store.sql_tables import metadata

    def rows() -> dict[str, int]:
        counts = filled.site.store.upkeep.check().rows
        return {name: count for name, count in counts.items() if name not in ("sessions", "audit_log")}

    signing_key(filled.site.store, quiz_rules.now())  # made when it is first asked for, by whomever
    before = rows()
    assert before.keys() == metadata.tables.keys() - {"sessions", "audit_log"}
    for who in ("ada", "ivy"):
        client = browser(who)
        for route in ROUTES:
            if "GET" in route.methods:
                client.get(filled.path(route))
    assert rows() == before


# --- what no student may read ---


def pages_from(client: TestClient, start: str, most: int = 300) -> dict[str, str]:
    """Return all pages of the site that can be reached from one, by path."""
    pages: dict[str, str] = {}
    waiting = [start]
    while waiting and len(pages) < most:
        path = waiting.pop(0)
        if path in pages:
            continue
        answer = client.get(path, follow_redirects=True)
        check_headers(answer)
        assert answer.status_code < 400, path
        pages[path] = answer.text
        if answer.headers.get("content-type", "").startswith("text/html"):
            links = [html.unescape(link) for link in re.findall(r'href="(/[^"#]*)', answer.text)]
            waiting += [link for link in links if link not in pages and not link.startswith("/static/")]
    return pages


@pytest.fixture
def student_pages(filled: FilledClass, browser: Browser) -> dict[str, str]:
    client = browser("ada")
    pages = pages_from(client, "/")
    for route in ROUTES:
        if route.least in (None, Role.STUDENT) and "GET" in route.methods:
            path = filled.path(route)
            pages.setdefault(path, client.get(path, follow_redirects=True).text)
    assert len(pages) > 15, sorted(pages)
    return pages


def offences(pages: dict[str, str], words: list[str]) -> list[tuple[str, str]]:
    return [(path, word) for path, page in pages.items() for word in words if word in html.unescape(page)]


def test_students_read_their_own_work(student_pages: dict[str, str]) -> None:
    """The search below would find what it looks for."""
    everything = "".join(student_pages.values())
    for what in ("draft", "asked"):
        assert text_of("ada", what) in everything, what


def test_no_page_of_a_student_shows_another(student_pages: dict[str, str]) -> None:
    words = ["Bob Moran", "bob@example.edu", "zqbob", "zqstaff", "Mia Marker", "mia@example.edu"]
    assert offences(student_pages, words) == []


def test_no_page_of_a_student_names_a_known_mistake_or_solution(
    filled: FilledClass, student_pages: dict[str, str]
) -> None:
    ids = {w.misconception for v in filled.variants for part in v.parts for w in part.known_wrong}
    ids |= {o.misconception for v in filled.variants for p in v.parts for o in p.options if o.misconception}
    assert len(ids) > 5
    assert offences(student_pages, sorted(ids)) == []
    open_variants = [q.variant for quiz in filled.quizzes if quiz.name == "open" for q in quiz.questions]
    texts = [v.solution.plain for v in open_variants if v.solution] + [
        hint.plain for v in open_variants for hint in (*v.hints, *v.told_after)
    ]
    texts += [w.feedback for v in open_variants for part in v.parts for w in part.known_wrong]
    lines = {line.strip() for text in texts for line in text.splitlines() if len(line.strip()) > 25}
    assert len(lines) > 5
    assert offences({p: _plain(t) for p, t in student_pages.items()}, sorted(lines)) == []


def test_no_page_of_a_student_has_the_key_of_an_open_question(
    filled: FilledClass, student_pages: dict[str, str]
) -> None:
    keys = set()
    for quiz in filled.quizzes:
        for question in quiz.questions if quiz.name == "open" else ():
            variant = question.variant
            prompts = [part.prompt.plain for part in variant.parts if part.prompt]
            shown = variant.stem.plain + "".join(prompts)
            for part in variant.parts:
                numbers = [f"{value:.4f}" for value in getattr(part.key, "data", ())]
                keys |= {n for n in numbers if len(set(n) - {"0", ".", "-"}) > 1 and n not in shown}
    assert keys, "there are keys to look for"
    assert offences(student_pages, sorted(keys)) == []


def test_files_of_the_engine_and_the_course_arent_served(browser: Browser) -> None:
    for who in ("ada", None):
        client = browser(who)
        for path in (
            "/static/../application.py", "/static/%2e%2e/application.py", "/static/..%2f..%2fsite.py",
            "/static/layout.html.j2", "/.softmark/secret", "/course.yaml", "/roster.csv", "/staff.csv",
            "/code/..~2F..~2Fcourse", "/code/softmax~2Fsolution_numpy.py", "/code/softmax/starter/..~2Fx",
        ):  # fmt: skip
            assert client.get(path).status_code in (303, 404), path


def _plain(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", page)))


# --- names of the site ---


@pytest.mark.parametrize(
    "host", ["evil.example", "testserver.evil.example", "", "evil@testserver:80", "[", "a b"]
)
def test_a_name_that_isnt_ours(browser: Browser, host: str) -> None:
    answer = browser("ada").get("/account", headers={"host": host})
    assert answer.status_code == 421 and "Ada" not in answer.text
    check_headers(answer)


@pytest.mark.parametrize("host", ["testserver", "TestServer:8000", "localhost", "127.0.0.1:1", "[::1]:80"])
def test_names_that_are_ours(browser: Browser, host: str) -> None:
    assert browser("ada").get("/account", headers={"host": host}).status_code == 200


def test_headers_of_a_proxy_are_no_ones_by_default(browser: Browser) -> None:
    forged = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        "x-forwarded-for": "10.9.9.9",
        "forwarded": "host=evil.example",
        "x-forwarded-prefix": "/evil",
    }
    answer = browser("ada").get("/account", headers=forged)
    assert answer.status_code == 200 and "evil" not in answer.text
    assert "evil" not in str(answer.headers)


def test_who_asks_too_often_waits(
    filled: FilledClass, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.web.application._READS", RateLimit("test", 5, timedelta(minutes=1)))
    client = browser("bob")
    assert [client.get("/account").status_code for _ in range(6)] == [200] * 5 + [429]
    answer = client.get("/account")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    check_headers(answer)
    assert browser("ada").get("/account").status_code == 200, "others aren't held up"
    strangers = browser(None)
    assert {strangers.get("/sign-in").status_code for _ in range(10)} == {200}
    monkeypatch.setattr("engine.web.application._FROM_ADDRESS", RateLimit("more", 5, timedelta(minutes=1)))
    assert [strangers.get("/sign-in").status_code for _ in range(6)] == [200] * 5 + [429]
