"""Launches from an independent learning system over HTTP: who comes in, as whom, and everything refused."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import RSAKey

from engine.errors import LtiError
from engine.lti.users import LmsUser
from engine.quiz import rules as quiz_rules
from engine.store import Store
from engine.store.lti import LtiPerson
from engine.web.lti.arrivals import person_of_user
from engine.web.site import Site
from tests.live.lms import ASSISTANT, INSTRUCTOR, MENTOR, Lms, LmsMember
from tests.live.lti_site import Browser, forms
from tests.web.course_work import draw_quiz, hand_in_code
from tests.web.lti.conftest import LTI, claims, sentence


def test_the_instructors_first_launch_accepts_course_and_deployment(
    browser: Browser, lms: Lms, store: Store
) -> None:
    answer = browser.click(lms, "u-ivy")
    assert answer.status_code == 303 and "/lti/choose/" in answer.headers["location"]
    (platform,) = store.lti.platforms()
    assert platform.deployments == ("deployment-1",)
    assert platform.accepted == ("course-7",) and platform.contexts["course-7"].title == "Attention"
    assert browser.session is not None
    (session,) = store.sessions.of_person("ivy", platform.added)  # found in staff.csv by her address
    assert (session.role, session.way) == ("instructor", "lti")


def test_a_student_is_found_in_the_roster(browser: Browser, accepted: Lms, store: Store) -> None:
    answer = browser.click(accepted, "u-ada")
    assert answer.status_code == 303
    page = browser.follow(answer)
    assert page.status_code == 200 and "Ada Lovelace" in page.text
    assert store.lti.person(1, "u-ada") == "ada"


def test_somebody_unlisted_becomes_a_student_with_an_id_of_ones_own(
    accepted: Lms, store: Store, folder: Path
) -> None:
    people = []
    for _ in range(2):
        with Browser() as browser:
            assert browser.click(accepted, "u-eve").status_code == 303
        people.append(store.lti.person(1, "u-eve"))
    assert people[0] == people[1] and str(people[0]).startswith("lti-")


def test_an_unlisted_users_id_is_never_somebody_elses(site: Site) -> None:
    now = quiz_rules.now()
    names = ("login_url", "token_url", "keys_url")
    one, two = (
        site.store.lti.add_platform(
            {
                "issuer": f"https://{n}.edu",
                "client_id": "c",
                "name": n,
                "audience": None,
                "deployments": ["1"],
            }
            | {name: f"https://{n}.edu/{name}" for name in names},
            by="ivy",
            now=now,
        )
        for n in ("one", "two")
    )
    eve = LmsUser("sub-1", id="1001", name="Eve")
    person, _ = person_of_user(site, one, eve)
    assert person == "1001"
    site.store.lti.put_people([LtiPerson(one.id, "x", "sub-1", person, "Eve", "", now)])
    assert person_of_user(site, one, eve)[0] == "1001", "the same user stays"
    other, _ = person_of_user(site, two, LmsUser("sub-9", id="1001", name="Max"))
    assert other.startswith("lti-"), "another system's number"
    with pytest.raises(LtiError, match="another account"):
        person_of_user(site, one, LmsUser("sub-2", id="1001", name="Max"))
    hand_in_code(site, "2002", "def softmax(x):\n    return x\n")
    assert person_of_user(site, two, LmsUser("sub-10", id="2002"))[0].startswith("lti-"), "known from work"
    draw_quiz(site, students=("3003",))
    assert person_of_user(site, two, LmsUser("sub-11", id="3003"))[0].startswith("lti-"), "has a quiz"
    assert person_of_user(site, two, LmsUser("sub-12", id="4004"))[0] == "4004"


def test_a_course_that_refuses_unlisted_students_says_so(
    browser: Browser, accepted: Lms, folder: Path, served_site: Site
) -> None:
    path = folder / "course.yaml"
    path.write_text(path.read_text().replace("unlisted_students: grade", "unlisted_students: refuse"))
    time.sleep(1.1)  # files are looked at once a second
    assert sentence(browser.click(accepted, "u-eve")) == "You aren&#39;t in the roster of this course"
    assert browser.click(accepted, "u-ada").status_code == 303


def test_roles_come_from_the_launch(accepted: Lms, store: Store) -> None:
    accepted.members["u-ta"] = LmsMember("u-ta", "Tim", "tim@example.edu", (INSTRUCTOR, ASSISTANT))
    accepted.members["u-mum"] = LmsMember("u-mum", "Mum", "mum@example.edu", (MENTOR,))
    with Browser() as browser:
        assert browser.click(accepted, "u-ta").status_code == 303
    person = store.lti.person(1, "u-ta")
    assert person is not None
    (session,) = store.sessions.of_person(person, store.lti.platforms()[0].added)
    assert session.role == "marker"
    with Browser() as browser:
        answer = browser.click(accepted, "u-mum")
        assert sentence(answer) == "Your role in the learning system has no place in this course"
        assert browser.session is None


def test_nobody_comes_in_before_the_instructor(browser: Browser, lms: Lms) -> None:
    assert "deployment isn&#39;t accepted" in sentence(browser.click(lms, "u-ada"))
    assert browser.session is None


def test_another_course_of_the_same_system_waits_until_it_is_accepted(
    browser: Browser, accepted: Lms, store: Store
) -> None:
    claims(accepted, **{f"{LTI}context": {"id": "course-8", "title": "Somebody else's course"}})
    for user in ("u-ivy", "u-ada"):  # its teacher is no instructor here
        assert "isn&#39;t linked to this site" in sentence(browser.click(accepted, user))
    (platform,) = store.lti.platforms()
    assert platform.accepted == ("course-7",) and "course-8" in platform.contexts
    store.lti.put_context(1, "course-8", title=None, accepted=True)
    assert browser.click(accepted, "u-ada").status_code == 303


def test_another_deployment_is_refused(browser: Browser, accepted: Lms) -> None:
    accepted.deployment = "deployment-2"
    assert "its deployment isn&#39;t accepted" in sentence(browser.click(accepted, "u-ivy"))


def test_a_changed_address_makes_nobody_another_person(accepted: Lms) -> None:
    with Browser() as browser:
        assert browser.click(accepted, "u-ada").status_code == 303
    accepted.members["u-eve"] = LmsMember("u-eve", "Eve", "ada@example.edu")
    with Browser() as browser:
        assert "another account of the learning system" in sentence(browser.click(accepted, "u-eve")).lower()
        assert browser.session is None


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"aud": "another"}, "it is meant for another tool"),
        ({"azp": "another"}, "it is meant for another tool"),
        ({"iss": "https://evil.example"}, "it comes from another learning system"),
        ({"nonce": "old"}, "it belongs to another login"),
        ({"exp": 1_700_000_000}, "the clock of the learning system is"),
        ({"iat": int(time.time()) + 3600, "exp": int(time.time()) + 4000}, "ahead of this server"),
        ({"exp": ...}, "its field exp is missing"),
        ({f"{LTI}deployment_id": 7}, "a field that can&#39;t be used: deployment"),
        ({f"{LTI}version": "1.1"}, "this kind of launch isn&#39;t known here"),
        ({f"{LTI}message_type": "LtiSubmissionReviewRequest"}, "this kind of launch isn&#39;t known here"),
        ({f"{LTI}resource_link": ...}, "this kind of launch isn&#39;t known here"),
        ({f"{LTI}roles": "Instructor"}, "a field that can&#39;t be used: roles"),
        ({f"{LTI}context": ["x"]}, "a field that can&#39;t be used: context"),
        ({"sub": ""}, "its field sub is missing or can&#39;t be used"),
        ({"name": ["x"], "email": 5, f"{LTI}lis": 5, f"{LTI}ext": [], f"{LTI}custom": None}, None),
    ],
)
def test_wrong_claims(browser: Browser, accepted: Lms, changes: dict[str, Any], part: str | None) -> None:
    if changes.get("exp") == 1_700_000_000:
        changes = {**changes, "iat": 1_699_999_000}
    claims(accepted, **changes)
    answer = browser.click(accepted, "u-ada")
    if part is None:
        assert answer.status_code == 303
        return
    assert part.lower() in sentence(answer).lower()
    assert browser.session is None


def test_forged_messages(browser: Browser, accepted: Lms) -> None:
    right = accepted.token
    other = RSAKey.generate_key(2048)
    accepted.token = lambda body: accepted.sign(body, other)
    assert "its signature isn&#39;t the learning system&#39;s" in sentence(browser.click(accepted, "u-ada"))
    accepted.token = lambda body: accepted.sign(body, kid="unknown")
    assert "a key that the learning system doesn&#39;t publish" in sentence(browser.click(accepted, "u-ada"))
    accepted.token = lambda body: "x" * 70_000
    assert "longer than 64 KiB" in sentence(browser.click(accepted, "u-ada"))
    accepted.token = lambda body: right(body).rpartition(".")[0] + "."
    assert "signature" in sentence(browser.click(accepted, "u-ada"))
    accepted.token = right
    assert browser.click(accepted, "u-ada").status_code == 303


def test_a_message_is_used_once(browser: Browser, accepted: Lms) -> None:
    form = browser.message(accepted, "u-ada")
    assert browser.send_launch(form).status_code == 303
    assert sentence(browser.send_launch(form)) == "The launch is refused: it was used before"
    # An older message in a new login: the nonce belongs to the older one.
    fresh = browser.message(accepted, "u-ada")
    fresh.fields["id_token"] = form.fields["id_token"]
    assert "it belongs to another login" in sentence(browser.send_launch(fresh))


def test_a_state_is_the_browsers_own(accepted: Lms) -> None:
    with Browser() as victim, Browser() as thief:
        form = victim.message(accepted, "u-ada")
        answer = thief.send_launch(form)
        assert answer.status_code == 403 and "Open in a new window" in answer.text
        assert thief.session is None
        assert victim.send_launch(form).status_code == 303  # it wasn't used up
        form.fields["state"] = "made-up"
        assert "wasn&#39;t begun here" in sentence(victim.send_launch(form))


def test_a_browser_that_blocks_cookies_in_frames_goes_on_in_a_window_of_its_own(accepted: Lms) -> None:
    with Browser() as framed, Browser() as window:
        form = framed.message(accepted, "u-ada")
        framed.cookies.clear()
        page = framed.send_launch(form)
        url = page.text.split('href="')
        again = next(part.split('"')[0] for part in url if "/lti/login?" in part.split('"')[0])
        start = window.get(f"{accepted.tool}{again.replace('&amp;', '&')}")
        from tests.live.lti_site import forms

        (message,) = forms(window.get(start.headers["location"]).text)
        assert window.send_launch(message).status_code == 303
        assert window.session is not None


def test_what_the_log_says_is_about_nobody(
    browser: Browser, accepted: Lms, caplog: pytest.LogCaptureFixture
) -> None:
    claims(accepted, aud="another")
    with caplog.at_level(logging.INFO):
        browser.click(accepted, "u-ada")
    text = "\n".join(record.getMessage() for record in caplog.records if record.name != "httpx")
    assert "launch refused, platform 1: the launch is refused: it is meant for another tool" in text
    assert "ada" not in text.lower() and "lovelace" not in text.lower()


def test_unknown_systems_and_requests_without_sense(browser: Browser, lms: Lms, served_site: Site) -> None:
    login, launch = f"{served_site.address}/lti/login", f"{served_site.address}/lti/launch"
    assert "isn&#39;t registered here" in sentence(browser.get(login, params={"iss": "https://x.example"}))
    assert "isn&#39;t registered here" in sentence(browser.get(login))
    known = {"iss": lms.address, "client_id": lms.client_id}
    assert "doesn&#39;t say who" in sentence(browser.get(login, params=known))
    assert "too long" in sentence(browser.post(login, data={**known, "login_hint": "x" * 5000}))
    assert "is opened by a learning system" in sentence(browser.get(launch))
    assert "is opened by a learning system" in sentence(
        browser.post(launch, data={"error": "login_required"})
    )
    assert browser.post(launch, data={"id_token": "x" * 300_000, "state": "s"}).status_code == 413


def test_a_client_may_be_left_out_while_there_is_one(
    browser: Browser, accepted: Lms, store: Store, served_site: Site
) -> None:
    from engine.quiz.rules import now

    login = f"{served_site.address}/lti/login"
    hint = {"iss": accepted.address, "login_hint": "u-ada"}
    answer = browser.get(login, params=hint)
    assert answer.status_code == 302 and "client_id=client-1" in answer.headers["location"]
    store.lti.add_platform({**accepted.values(), "client_id": "client-2"}, by="ivy", now=now())
    assert "has several registrations here" in sentence(browser.get(login, params=hint))
    store.lti.enable_platform(1, disabled=now())
    assert "client_id=client-2" in browser.get(login, params=hint).headers["location"]


def test_a_disabled_system_signs_nobody_in(browser: Browser, accepted: Lms, store: Store) -> None:
    from engine.quiz.rules import now

    form = browser.message(accepted, "u-ada")
    store.lti.enable_platform(1, disabled=now())
    assert "isn&#39;t registered here any more" in sentence(browser.send_launch(form))


def test_only_pages_of_lti_sessions_may_stand_in_frames_of_the_system(
    browser: Browser, accepted: Lms, served_site: Site
) -> None:
    home = browser.get(f"{served_site.address}/")
    assert "frame-ancestors 'none'" in home.headers["content-security-policy"]
    answer = browser.click(accepted, "u-ada")
    for page in (answer, browser.get(f"{served_site.address}/")):
        assert f"frame-ancestors 'self' {accepted.address}" in page.headers["content-security-policy"]


def test_cookies_in_frames_are_partitioned_where_there_is_tls(
    accepted: Lms, served_site: Site, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Site, "is_secure", True)
    answer = browser.get(accepted.login_url("u-ada"))
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie.startswith("softmark-lti-state-")
    for part in ("SameSite=None", "Secure", "Partitioned", "HttpOnly"):
        assert part in cookie


def test_a_system_with_a_new_key_is_believed_and_one_that_is_away_is_said_to_be(
    browser: Browser, accepted: Lms, served_site: Site
) -> None:
    from engine.web.lti.site_lti import site_lti
    from tests.live.lms import LmsFault

    known = site_lti(served_site).keys
    accepted.key = RSAKey.generate_key(2048, auto_kid=True)
    known._clock = lambda: time.monotonic() + 100  # type: ignore[method-assign]
    assert browser.click(accepted, "u-ada").status_code == 303
    accepted.key = RSAKey.generate_key(2048, auto_kid=True)
    accepted.faults.append(LmsFault("/jwks", 500))
    known._clock = lambda: time.monotonic() + 200  # type: ignore[method-assign]
    assert "public keys can&#39;t be fetched" in sentence(browser.click(accepted, "u-ada"))


def test_a_link_opens_what_it_says(browser: Browser, accepted: Lms, store: Store) -> None:
    claims(accepted, **{f"{LTI}custom": {"assignment": "softmax"}})
    answer = browser.click(accepted, "u-ivy", "link-9")
    assert answer.headers["location"].endswith("/staff/assignments/softmax")
    link = store.lti.link(1, "deployment-1", "link-9")
    assert link is not None and link.assignment == "softmax"
    with Browser() as ada:
        opened = ada.follow(ada.click(accepted, "u-ada", "link-9"))
        assert opened.status_code == 200 and "/code/softmax" in str(opened.url)
    # Another choice would last until the next launch: none is offered, and none is taken.
    data = {"platform": "1", "deployment": "deployment-1", "link": "link-9"}
    page = browser.get(f"{accepted.tool}/staff/lms")
    assert "set in the learning system" in page.text and 'value="link-9"' not in page.text
    token = forms(page.text)[-1].fields["csrf"]
    refused = browser.post(f"{accepted.tool}/staff/lms/link", data={**data, "csrf": token})
    assert "is set in the learning system" in sentence(refused)
    claims(accepted, **{f"{LTI}custom": {}})
    browser.click(accepted, "u-ivy", "link-9")  # it says nothing any more
    token = forms(browser.get(f"{accepted.tool}/staff/lms").text)[-1].fields["csrf"]
    begun = browser.post(f"{accepted.tool}/staff/lms/link", data={**data, "csrf": token})
    assert "/lti/choose/" in begun.headers["location"]
    chooser = browser.follow(begun)
    token = forms(chooser.text)[-1].fields
    assert browser.post(str(chooser.url), data={**token, "name": "kv-cache"}).status_code == 303
    for _ in range(2):
        location = browser.click(accepted, "u-ivy", "link-9").headers["location"]
        assert location.endswith("/staff/assignments/kv-cache")
    claims(accepted, **{f"{LTI}custom": {"assignment": "../../etc/passwd"}})
    assert "/lti/choose/" in browser.click(accepted, "u-ivy", "link-10").headers["location"]
    target = f"{accepted.tool}/lti/launch?assignment=softmax"
    claims(accepted, **{f"{LTI}target_link_uri": target})
    assert browser.click(accepted, "u-ivy", "link-11").headers["location"].endswith("/softmax")
