"""Links, sessions and what protects them."""

from __future__ import annotations

import email
import email.policy
import re
import secrets
import string
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from engine.course import Course
from engine.course.sign_in_secrets import is_link_token, new_link_token
from engine.quiz import rules as quiz_rules
from engine.store.sessions import SignInSecrets, secret_hash
from engine.web.application import application
from engine.web.limits import RateCounter, RateLimit
from engine.web.sign_in.begin import device_of
from engine.web.sign_in.links_and_codes import terminal_link
from engine.web.site import Site
from engine.web.visit import FORM_COOKIE, SESSION_COOKIE
from tests.web.conftest import ADDRESS, SignedIn
from tests.web.forms import forms_of, send, token_of

MARKS = "https://marks.example.edu"
_LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"  # of base64, in its order

Clock = Callable[[timedelta], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a function that sets the clock forward, or back."""
    moment = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

    def forward(by: timedelta) -> None:
        nonlocal moment
        moment += by

    monkeypatch.setattr(quiz_rules, "now", lambda: moment)
    return forward


@pytest.fixture
def browser(site: Site) -> Iterator[TestClient]:
    """A browser; no background thread sends mails meanwhile."""
    client = TestClient(application(site), base_url=ADDRESS, follow_redirects=False)
    yield client
    client.close()


def mails(site: Site) -> list[email.message.EmailMessage]:
    site.outbox.work(site)
    folder = site.folder / ".softmark/mail"
    files = sorted(folder.glob("*.eml")) if folder.exists() else []
    policy = email.policy.default
    return [email.message_from_bytes(file.read_bytes(), policy=policy) for file in files]


def link_in(message: email.message.EmailMessage) -> str:
    body = message.get_content()
    (link,) = re.findall(r"^http\S+$", body, re.MULTILINE)
    return link.removeprefix(ADDRESS)


def ask(browser: TestClient, address: str, onward: str = "") -> None:
    page = browser.get("/sign-in", params={"next": onward} if onward else {})
    answer = send(browser, page, "/sign-in/mail", email=address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in/sent")


# --- links by mail ---


def test_a_link_signs_in_once(browser: TestClient, site: Site) -> None:
    ask(browser, " ADA@example.edu ")
    (message,) = mails(site)
    assert (message["To"], message["Auto-Submitted"]) == ("ada@example.edu", "auto-generated")
    assert "as a student" in message.get_content()
    link = link_in(message)
    for _ in range(2):  # a mail scanner opens it first, and changes nothing
        page = browser.get(link)
        assert page.status_code == 200 and "Sign in as Ada Lovelace" in page.text
    assert browser.get("/account").status_code == 303, "opening isn't signing in"
    answer = send(browser, page, "/use")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "Ada Lovelace" in browser.get("/account").text
    again = browser.get(link)
    assert again.status_code == 410 and "was used before" in again.text
    other = TestClient(application(site), base_url=ADDRESS, follow_redirects=False)
    other.cookies.set(FORM_COOKIE, browser.cookies[FORM_COOKIE])
    used = other.post(f"{link}/use", data={"csrf": forms_of(page)[-1].fields["csrf"]})
    assert used.status_code == 410 and SESSION_COOKIE not in used.cookies


def test_a_mail_in_the_folder_is_read_as_text(browser: TestClient, site: Site) -> None:
    (site.folder / "roster.csv").write_text("id,name,email\nzoe,Zoë Ångström,zoe@example.edu\n", "utf-8")
    site._looked = 0.0
    ask(browser, "zoe@example.edu", "/quiz/week-1/" + "9" * 60)
    (message,) = mails(site)
    (file,) = (site.folder / ".softmark/mail").glob("*.eml")
    lines = file.read_text("utf-8").splitlines()
    assert "Hello Zoë Ångström," in lines
    # In one piece: whoever copies it gets all of it.
    assert ADDRESS + link_in(message) in lines


def link_of(site: Site, person: str = "ada") -> str:
    """Return the path of a link that is in the store, as a mail would have it."""
    now = quiz_rules.now()
    expires = now + timedelta(minutes=15)
    token = new_link_token(site.secret, expires)
    site.store.sign_in_secrets.add([(person, secret_hash(token))], kind="mail", now=now, expires=expires)
    return f"/sign-in/link/{token}"


@pytest.fixture
def no_queries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is asked of the store about links, and nothing but requests as such is counted."""
    take = RateCounter.take

    def fail(*_args: object, **_more: object) -> None:
        raise AssertionError("a link that isn't ours costs more than its signature")

    def take_requests(counter: RateCounter, limit: RateLimit, *more: Any) -> bool:
        assert limit.name == "requests", limit
        return take(counter, limit, *more)

    with monkeypatch.context() as patch:
        for name in ("find", "use"):
            patch.setattr(SignInSecrets, name, fail)
        patch.setattr(RateCounter, "count", fail)
        patch.setattr(RateCounter, "take", take_requests)
        yield


def refused(browser: TestClient, path: str) -> None:
    page = browser.get("/sign-in")
    for answer in (browser.get(path), browser.post(f"{path}/use", data={"csrf": token_of(page)})):
        assert answer.status_code == 410 and "Ask for a new one." in answer.text
        assert SESSION_COOKIE not in answer.cookies


def test_a_flipped_bit_makes_a_link_another(browser: TestClient, site: Site, no_queries: None) -> None:
    path = link_of(site)
    token = path.rpartition("/")[2]
    for place, letter in enumerate(token):
        for bit in range(6):
            flipped = _LETTERS[_LETTERS.index(letter) ^ 1 << bit]
            changed = token[:place] + flipped + token[place + 1 :]
            assert not is_link_token(site.secret, changed, quiz_rules.now())
    for changed in ("A" if token[0] != "A" else "B") + token[1:], token[:-1] + "-_"[token[-1] == "-"]:
        refused(browser, f"/sign-in/link/{changed}")


def test_a_link_that_was_cut_off_or_is_none(browser: TestClient, site: Site, no_queries: None) -> None:
    token = link_of(site).rpartition("/")[2]
    near = (token[:-1], token[:40], token[1:], f"{token}A", f"{token}=", f"{token[:-1]}!", f" {token}")
    for text in (*near, "x", "\0", "\u0661" * 56, "A" * 56, "é" * 2000):
        refused(browser, f"/sign-in/link/{quote(text)}")


def test_a_link_of_another_course_is_none_here(browser: TestClient, site: Site, no_queries: None) -> None:
    token = new_link_token(b"x" * 32, quiz_rules.now() + timedelta(minutes=15))
    refused(browser, f"/sign-in/link/{token}")


def test_a_link_from_before_links_were_signed(browser: TestClient, site: Site, no_queries: None) -> None:
    token, now = secrets.token_urlsafe(32), quiz_rules.now()
    link = [("ada", secret_hash(token))]
    site.store.sign_in_secrets.add(link, kind="mail", now=now, expires=now + timedelta(minutes=15))
    refused(browser, f"/sign-in/link/{token}")


def test_a_link_that_has_expired_isnt_looked_up(
    browser: TestClient, site: Site, clock: Clock, no_queries: None
) -> None:
    path = link_of(site)
    clock(timedelta(minutes=15))
    refused(browser, path)


def test_a_link_is_taken_by_every_machine_with_the_secret(folder: Path, site: Site) -> None:
    path = link_of(site)
    with Course.open(folder).open_store() as store:
        other = Site(folder, store, ADDRESS)
        client = TestClient(application(other), base_url=ADDRESS, follow_redirects=False)
        assert send(client, client.get(path), "/use").status_code == 303
    assert TestClient(application(site), base_url=ADDRESS).get(path).status_code == 410


def test_of_two_clicks_at_the_same_time_one_signs_in(site: Site) -> None:
    clients = [TestClient(application(site), base_url=ADDRESS, follow_redirects=False) for _ in range(4)]
    for _ in range(5):
        path = link_of(site)
        pages = [client.get(path) for client in clients]
        with ThreadPoolExecutor(len(clients)) as pool:
            answers = list(pool.map(lambda each: send(*each, "/use"), zip(clients, pages, strict=True)))
        assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410]
        assert sum(SESSION_COOKIE in answer.cookies for answer in answers) == 1
        for client in clients:
            client.cookies.delete(SESSION_COOKIE) if SESSION_COOKIE in client.cookies else None


def test_a_lecture_hall_behind_one_address_signs_in(browser: TestClient, site: Site) -> None:
    path = link_of(site)
    assert {browser.get(path).status_code for _ in range(101)} == {200}
    assert {browser.get(f"/sign-in/link/x{n}").status_code for n in range(101)} == {410}
    assert browser.get(path).status_code == 200, "somebody's script there holds up nobody"


def test_a_link_is_short_lived(browser: TestClient, site: Site, clock: Clock) -> None:
    ask(browser, "ada@example.edu")
    link = link_in(mails(site)[0])
    clock(timedelta(minutes=14))
    page = browser.get(link)
    assert page.status_code == 200
    clock(timedelta(minutes=2))
    assert browser.get(link).status_code == 410
    assert send(browser, page, "/use").status_code == 410
    assert browser.get("/account").status_code == 303


def test_the_answer_says_nothing_about_who_is_in_the_course(browser: TestClient, site: Site) -> None:
    def answer(address: str) -> tuple[object, ...]:
        page = browser.get("/sign-in")
        sent = send(browser, page, "/sign-in/mail", email=address)
        after = browser.get(sent.headers["location"])
        return sent.status_code, sent.text, sent.headers["location"], after.status_code, after.text

    assert answer("ada@example.edu") == answer("nobody@example.edu") == answer("ivy@example.edu")
    assert {m["To"] for m in mails(site)} == {"ada@example.edu", "ivy@example.edu"}


def test_nothing_is_looked_up_before_the_answer(
    browser: TestClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of an answer says nothing either: people and store are only asked in the background."""
    from engine.course.people import People
    from engine.store.sessions import SignInSecrets

    def fail(*_args: object, **_more: object) -> None:
        raise AssertionError("looked up while somebody waits")

    with monkeypatch.context() as patch:
        patch.setattr(People, "with_email", fail)
        patch.setattr(SignInSecrets, "add", fail)
        ask(browser, "ada@example.edu")
    assert len(mails(site)) == 1


def test_a_mailbox_isnt_flooded(browser: TestClient, site: Site, clock: Clock) -> None:
    for _ in range(6):
        ask(browser, "ada@example.edu")
    assert len(mails(site)) == 3
    ask(browser, "bob@example.edu")
    assert len(mails(site)) == 4
    clock(timedelta(minutes=16))
    ask(browser, "ada@example.edu")
    assert len(mails(site)) == 5


def test_mails_go_to_the_address_in_the_roster(browser: TestClient, site: Site) -> None:
    for address in ("ada@example.edu\u0131", "\u212aim@example.edu", "ada@example.edu, eve@evil.example"):
        ask(browser, address)
    assert mails(site) == []


@pytest.mark.parametrize("address", ["", "ada", "x@" + "y" * 400])
def test_what_is_no_address(browser: TestClient, address: str) -> None:
    page = browser.get("/sign-in")
    answer = send(browser, page, "/sign-in/mail", email=address)
    assert answer.status_code == 400 and "isn&#39;t an email address" in answer.text


def test_two_people_with_one_address_get_a_link_each(folder: Path, site: Site, browser: TestClient) -> None:
    with (folder / "roster.csv").open("a", encoding="utf-8") as file:
        file.write("ivy-try,Ivy as a student,ivy@example.edu\n")
    site._looked = 0.0
    ask(browser, "ivy@example.edu")
    assert sorted(re.search(r"as an? (\w+):", m.get_content())[1] for m in mails(site)) == [
        "instructor",
        "student",
    ]


def test_whoever_left_the_course_isnt_signed_in(folder: Path, site: Site, browser: TestClient) -> None:
    ask(browser, "ada@example.edu")
    link = link_in(mails(site)[0])
    page = browser.get(link)
    (folder / "roster.csv").write_text("id,name,email\nbob,Bob,bob@example.edu\n", encoding="utf-8")
    site._looked = 0.0
    assert browser.get(link).status_code == 410
    assert send(browser, page, "/use").status_code == 410


# --- where signing in leads to ---


def test_on_to_the_page_that_was_asked_for(browser: TestClient, site: Site) -> None:
    asked = browser.get("/account?x=1")
    assert asked.headers["location"] == "/sign-in?next=%2Faccount%3Fx%3D1"
    page = browser.get(asked.headers["location"])
    send(browser, page, "/sign-in/mail", email="ada@example.edu")
    page = browser.get(link_in(mails(site)[0]))
    assert send(browser, page, "/use").headers["location"] == "/account?x=1"


@pytest.mark.parametrize(
    "onward",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/\\/evil.example",
        "/\t/evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "account",
        "/x\r\nSet-Cookie: a=b",
        "/../x",
        "/" + "x" * 2000,
        " /account",
    ],
)
def test_nowhere_else(browser: TestClient, site: Site, onward: str) -> None:
    ask(browser, "ada@example.edu", onward)
    link = link_in(mails(site)[0])
    assert "next" not in link
    page = browser.get(link)
    assert send(browser, page, "/use", next=onward).headers["location"] == "/"
    assert browser.get("/sign-in", params={"next": onward}).headers["location"] == "/", "signed in already"


# --- the terminal's link ---


def test_the_terminal_signs_in_the_first_instructor(browser: TestClient, site: Site, clock: Clock) -> None:
    link = terminal_link(site)
    assert link is not None and link.startswith(f"{ADDRESS}/sign-in/link/")
    page = browser.get(link)
    assert "Sign in as Ivy Prof" in page.text
    send(browser, page, "/use")
    assert "by the link in the terminal" in browser.get("/account").text
    assert browser.get(link).status_code == 410
    clock(timedelta(minutes=61))
    assert browser.get(terminal_link(site) or "").status_code == 200


def test_without_an_instructor_the_terminal_has_no_link(folder: Path, site: Site) -> None:
    (folder / "staff.csv").write_text("id,name,email,role\nmia,Mia,m@x,marker\n", encoding="utf-8")
    site._looked = 0.0
    assert terminal_link(site) is None


# --- sessions ---


def test_the_cookie(browser: TestClient, folder: Path, site: Site) -> None:
    page = browser.get(terminal_link(site) or "")
    cookie = send(browser, page, "/use").headers["set-cookie"]
    assert "; Path=/; HttpOnly; Max-Age=1209600; SameSite=Lax" in cookie and "Secure" not in cookie
    (folder / "web.yaml").write_text(f"address: {MARKS}/nlp\nsession_days: 1\n", encoding="utf-8")
    site._looked = 0.0
    with TestClient(application(site), base_url="https://marks.example.edu", root_path="/nlp") as secure:
        page = secure.get((terminal_link(site) or "").removeprefix("https://marks.example.edu"))
        answer = send(secure, page, "/use")
        assert answer.history[0].headers["location"] == "/nlp/"
        (cookie,) = [
            c for c in answer.history[0].headers.get_list("set-cookie") if c.startswith(SESSION_COOKIE)
        ]
        assert cookie.endswith("; Path=/nlp; HttpOnly; Max-Age=86400; Secure; SameSite=Lax")
        assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_nobody_goes_on_with_a_cookie_from_before(browser: TestClient, site: Site) -> None:
    """Session fixation: a cookie that an attacker knows is worth nothing after signing in."""
    planted = site.store.sessions.begin("bob", way="mail", now=quiz_rules.now(), lasts=timedelta(hours=1))
    browser.cookies.set(SESSION_COOKIE, planted)
    page = browser.get(terminal_link(site) or "")
    assert "You are signed in as" in page.text and "Bob Moran" in page.text
    fresh = send(browser, page, "/use").cookies[SESSION_COOKIE]
    assert fresh != planted
    assert site.store.sessions.find(planted, quiz_rules.now()) is None, "the old session has ended"
    made_up = TestClient(application(site), base_url=ADDRESS, follow_redirects=False)
    made_up.cookies.set(SESSION_COOKIE, "x" * 43)
    assert made_up.get("/account").status_code == 303


def test_a_session_slides_and_ends(signed_in: SignedIn, clock: Clock) -> None:
    ada = signed_in("ada")
    ada_session = ada.cookies[SESSION_COOKIE]
    assert ada_session
    clock(timedelta(minutes=50))
    assert ada.get("/account").status_code == 200
    clock(timedelta(minutes=11))  # its hour is over, whatever was seen
    assert ada.get("/account").status_code == 303


def test_a_session_ends_without_visits(site: Site, browser: TestClient, clock: Clock) -> None:
    page = browser.get(terminal_link(site) or "")
    send(browser, page, "/use")
    for _ in range(5):
        clock(timedelta(hours=11))
        assert browser.get("/account").status_code == 200
    clock(timedelta(hours=12, minutes=6))
    assert browser.get("/account").status_code == 303
    page = browser.get(terminal_link(site) or "")
    send(browser, page, "/use")
    for _ in range(14 * 2 + 3):
        clock(timedelta(hours=11))
        last = browser.get("/account").status_code
    assert last == 303, "two weeks are the end in any case"


def test_a_clock_that_was_set_back_signs_nobody_out(site: Site, browser: TestClient, clock: Clock) -> None:
    page = browser.get(terminal_link(site) or "")
    send(browser, page, "/use")
    clock(timedelta(hours=-1))
    assert browser.get("/account").status_code == 200


def test_signing_out(signed_in: SignedIn, site: Site) -> None:
    ada = signed_in("ada")
    cookie = ada.cookies[SESSION_COOKIE]
    answer = send(ada, ada.get("/account"), "/sign-out")
    assert answer.status_code == 303 and f"{SESSION_COOKIE}=; " in answer.headers["set-cookie"]
    assert site.store.sessions.find(cookie, quiz_rules.now()) is None
    assert signed_in("ada").get("/account").status_code == 200


def test_where_somebody_is_signed_in(signed_in: SignedIn, site: Site) -> None:
    here, there, third = signed_in("ada"), signed_in("ada"), signed_in("ada")
    page = here.get("/account")
    assert page.text.count("by a link in an email") == 3 and page.text.count("this browser") == 1
    one = next(f for f in forms_of(page) if f.fields.get("session", "others") != "others")
    here.post("/account/end", data=one.fields)
    assert sorted(b.get("/account").status_code for b in (here, there, third)) == [200, 200, 303]
    page = here.get("/account")
    answer = here.post("/account/end", data={"csrf": token_of(page), "session": "others"})
    assert answer.status_code == 303
    assert [b.get("/account").status_code for b in (there, third, here)] == [303, 303, 200]


def test_nobody_ends_anothers_session(signed_in: SignedIn, site: Site) -> None:
    ada, bob = signed_in("ada"), signed_in("bob")
    (session,) = site.store.sessions.of_person("bob", quiz_rules.now())
    page = ada.get("/account")
    answer = ada.post("/account/end", data={"csrf": token_of(page), "session": session.id})
    assert answer.status_code == 404
    assert bob.get("/account").status_code == 200


def test_staff_ends_a_students_sessions(signed_in: SignedIn) -> None:
    mia, ivy, ada = signed_in("mia"), signed_in("ivy"), signed_in("ada")
    page = mia.get("/people/ada/sessions")
    assert "by a link in an email" in page.text
    assert send(mia, page, "/end").status_code == 303
    assert ada.get("/account").status_code == 303
    assert "Not signed in anywhere" in mia.get("/people/ada/sessions").text
    assert mia.get("/people/ivy/sessions").status_code == 404, "nobody signs out those above them"
    assert ivy.get("/people/mia/sessions").status_code == 200
    assert ada.get("/people/bob/sessions").status_code == 303
    assert signed_in("ada").get("/people/bob/sessions").status_code == 404


def test_a_role_that_changes_counts_at_once(signed_in: SignedIn, folder: Path, site: Site) -> None:
    mia = signed_in("mia")
    assert mia.get("/people/ada/sessions").status_code == 200
    (folder / "staff.csv").write_text(
        "id,name,email,role\nivy,Ivy,ivy@example.edu,instructor\n", encoding="utf-8"
    )
    site._looked = 0.0
    assert mia.get("/people/ada/sessions").status_code == 303, "nobody knows her any more"


def test_the_log_says_who_came_and_went(browser: TestClient, site: Site) -> None:
    page = browser.get(terminal_link(site) or "")
    send(browser, page, "/use")
    send(browser, browser.get("/account"), "/sign-out")
    entries = [entry for _, entry in site.store.audit.newest(5)]
    assert [(e.by, e.role, e.action, e.subject) for e in entries] == [
        ("ivy", "instructor", "session.end", "sign out"),
        ("ivy", "instructor", "session.begin", "terminal"),
    ]


def test_old_sessions_are_forgotten(site: Site) -> None:
    now = quiz_rules.now()
    long_ago = now - timedelta(days=60)
    site.store.sessions.begin("ada", way="mail", now=long_ago, lasts=timedelta(days=1))
    kept = site.store.sessions.begin("ada", way="mail", now=now, lasts=timedelta(days=1))
    site.store.sign_in_secrets.add([("ada", "h")], kind="mail", now=long_ago, expires=long_ago)
    assert site.store.sessions.forget_old(now) == 2
    assert site.store.sessions.find(kept, now) is not None


@pytest.mark.parametrize(
    ("user_agent", "device"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Safari/604.1",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Linux; Android 10; K) Chrome/126.0.0.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8", "a browser"),
        ("", "a browser"),
    ],
)
def test_devices(user_agent: str, device: str) -> None:
    assert device_of(user_agent) == device


# --- forms of an earlier session ---


def test_what_was_typed_before_signing_in_anew_isnt_lost(signed_in: SignedIn, site: Site) -> None:
    old = token_of(signed_in("ada").get("/account"))
    ada = signed_in("ada")
    text = "line 1\n<b>line 2</b>" + 21_000 * "\u200d"
    typed = {"csrf": old, "kind": "regrade", "subject": "softmax", "text": text}
    as_sent = {name: text.replace("\n", "\r\n") for name, text in typed.items()}  # as browsers do
    refused = ada.post("/requests", data=as_sent, headers={"origin": ADDRESS})
    assert refused.status_code == 403 and "Send it again?" in refused.text
    assert "&lt;b&gt;line 2" in refused.text and old not in refused.text
    form = next(form for form in forms_of(refused) if form.action == "/requests")
    assert {**form.fields, "csrf": old} == typed
    assert form.fields["csrf"] == token_of(ada.get("/account"))


@pytest.mark.parametrize("value", ['"' + "\\" * 60_000 + '"', '"' + "\\1" * 30_000 + '"', "a=b;" * 15_000])
def test_no_cookie_holds_up_the_site(client: TestClient, value: str) -> None:
    begun = time.process_time()
    assert client.get("/", headers={"cookie": f"x={value}"}).status_code == 200
    assert time.process_time() - begun < 1


def test_of_two_sessions_that_of_the_longer_path_counts(client: TestClient, signed_in: SignedIn) -> None:
    cookie = signed_in("ada").cookies[SESSION_COOKIE]
    for header, status in (
        (f"{cookie}; {SESSION_COOKIE}=other", 200),
        (f"other; {SESSION_COOKIE}={cookie}", 303),
    ):
        answer = client.get("/work", headers={"cookie": f"{SESSION_COOKIE}={header}"})
        assert answer.status_code == status


def test_who_signs_in_next_isnt_offered_what_the_last_one_typed(signed_in: SignedIn, site: Site) -> None:
    old = token_of(signed_in("ada").get("/account"))
    typed = {"csrf": old, "kind": "regrade", "subject": "softmax", "text": "about my illness"}
    refused = signed_in("bob").post("/requests", data=typed, headers={"origin": ADDRESS})
    assert refused.status_code == 403 and "out of date" in refused.text
    assert "illness" not in refused.text and not site.store.requests.all()


def test_nothing_is_offered_to_a_form_of_unknown_origin(signed_in: SignedIn) -> None:
    ada = signed_in("ada")
    for headers in ({}, {"sec-fetch-site": "none"}, {"origin": ADDRESS, "accept": "application/json"}):
        refused = ada.post("/requests", data={"csrf": "x", "text": "typed"}, headers=headers)
        assert refused.status_code == 403 and "Send it again?" not in refused.text
        assert "typed" not in refused.text
    for text in ("a\rb", "a\0b"):  # what a page can't give back whole, it doesn't offer
        refused = ada.post("/requests", data={"csrf": "x", "text": text}, headers={"origin": ADDRESS})
        assert refused.status_code == 403 and "Send it again?" not in refused.text
