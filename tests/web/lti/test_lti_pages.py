"""Choices of what links open, systems and courses, members for the roster, marks back: all over HTTP."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.course import read_roster
from engine.course.roster_changes import roster_digest
from engine.model import (
    CodeSubmission,
    GradeReport,
    Mode,
    Outcome,
    Part,
    Quiz,
    QuizQuestion,
    RenderedText,
    Variant,
)
from engine.quiz.rules import now
from engine.store import Attempt, Store
from engine.store.lti import LtiStore
from engine.web.site import Site
from tests.live.lms import Lms, LmsFault, LmsMember
from tests.live.lti_site import Browser, forms
from tests.web.lti.conftest import claims, page, sentence


def a_quiz(store: Store, *, is_published: bool = True) -> None:
    word = RenderedText("w", "w", "w")
    part = Part("answer", "token", 4.0, key_ids=("a",))
    question = QuizQuestion(1, Variant("v", "one", "v", "One", word, (part,)), 4.0)
    for student in ("ada", "bob"):
        store.save_quiz(Quiz(f"q-{student}", "week-1", "Softmax, by hand & more", student, (question,)))
    if is_published:
        store.published.publish("week-1", "ivy", now())


def test_an_instructor_picks_a_quiz_and_the_system_gets_link_and_column(
    browser: Browser, accepted: Lms, store: Store
) -> None:
    a_quiz(store)
    accepted.launch = lambda launch: launch.set_dl(f"{accepted.address}/deep-link", extra_data={"csrf": "x"})
    chooser = browser.follow(browser.click(accepted, "u-ivy"))
    assert "Softmax, by hand &amp; more" in chooser.text and "Softmax" in chooser.text
    search = browser.get(str(chooser.url), params={"q": "BY HAND"})
    assert "week-1" in search.text and ">softmax<" not in search.text
    assert "Nothing matches" in browser.get(str(chooser.url), params={"q": "xyzzy"}).text
    token = forms(search.text)[-1].fields
    handed = browser.post(str(chooser.url), data={**token, "name": "week-1"})
    assert handed.status_code == 200
    assert f"form-action 'self' {accepted.address};" in handed.headers["content-security-policy"]
    form = next(f for f in forms(handed.text) if f.action == f"{accepted.address}/deep-link")
    assert browser.post(form.action, data=form.fields).status_code == 200
    (item,) = accepted.chosen
    assert item["title"] == "Softmax, by hand & more"
    assert item["custom"] == {"assignment": "week-1"}
    assert item["url"].endswith("/lti/launch")
    assert item["lineItem"]["scoreMaximum"] == 4.0 and item["lineItem"]["resourceId"] == "week-1"
    again = browser.post(str(chooser.url), data={**token, "name": "softmax"})
    assert sentence(again) == "This choice was made already"


def test_of_two_choices_that_are_sent_at_once_one_counts(
    browser: Browser, accepted: Lms, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted.launch = lambda launch: launch.set_dl(f"{accepted.address}/deep-link")
    chooser = browser.follow(browser.click(accepted, "u-ivy"))
    token = forms(chooser.text)[-1].fields
    # Both have looked before either is through.
    waits = [store.lti.begun("deep_link", str(chooser.url).rpartition("/")[2], now())]
    monkeypatch.setattr(LtiStore, "begun", lambda _, kind, *__: waits[0] if kind == "deep_link" else None)
    assert browser.post(str(chooser.url), data={**token, "name": "softmax"}).status_code == 200
    again = browser.post(str(chooser.url), data={**token, "name": "softmax"})
    assert sentence(again) == "This choice was made already"


def test_students_choose_nothing_and_choices_are_their_makers_own(
    browser: Browser, accepted: Lms, store: Store, served_site: Site
) -> None:
    accepted.launch = lambda launch: launch.set_dl(f"{accepted.address}/deep-link")
    assert "only staff choose" in sentence(browser.click(accepted, "u-ada")).lower()
    chooser = browser.follow(browser.click(accepted, "u-ivy"))
    accepted.members["u-prof"] = LmsMember("u-prof", "P", "p@x.edu", accepted.members["u-ivy"].roles)
    with Browser() as other:
        accepted.launch = lambda launch: None
        other.click(accepted, "u-prof")
        assert other.get(str(chooser.url)).status_code == 404
    with Browser() as other:
        other.click(accepted, "u-ada")
        assert other.get(str(chooser.url)).status_code == 404
    made_up = browser.get(f"{served_site.address}/lti/choose/xyz")
    assert sentence(made_up) == "The time for this choice is over"


def test_a_link_without_a_choice_gets_one_and_opens_it_for_students(
    ivy: Browser, lms: Lms, store: Store
) -> None:
    a_quiz(store)
    chooser = ivy.follow(ivy.click(lms, "u-ivy", "link-5"))
    with Browser() as ada:
        early = ada.follow(ada.click(lms, "u-ada", "link-5"))
        assert "hasn&#39;t been chosen yet" in early.text
    token = forms(chooser.text)[-1].fields
    assert sentence(ivy.post(str(chooser.url), data={**token, "name": "nothing"})).startswith("Choose")
    assert ivy.post(str(chooser.url), data={**token, "name": "week-1"}).status_code == 303
    with Browser() as ada:
        assert ada.click(lms, "u-ada", "link-5").headers["location"].endswith("/quiz/week-1")
        assert not [name for name in ada.cookies if name.startswith("softmark-lti-")]
    with Browser() as eve:  # nothing was drawn for somebody who isn't in the roster
        late = eve.follow(eve.click(lms, "u-eve", "link-5"))
        assert "There is no Softmax, by hand &amp; more for you yet" in late.text


def test_a_quiz_that_isnt_published_is_said_to_be_so(ivy: Browser, lms: Lms, store: Store) -> None:
    a_quiz(store, is_published=False)
    chooser = ivy.follow(ivy.click(lms, "u-ivy", "link-5"))
    assert "quiz, not published yet" in chooser.text
    token = forms(chooser.text)[-1].fields
    assert ivy.post(str(chooser.url), data={**token, "name": "week-1"}).status_code == 303
    with Browser() as ada:
        early = ada.follow(ada.click(lms, "u-ada", "link-5"))
        assert early.status_code == 200 and "by hand &amp; more isn&#39;t published yet" in early.text
        store.published.publish("week-1", "ivy", now())
        assert ada.follow(ada.click(lms, "u-ada", "link-5")).url.path == "/quiz/week-1"


def test_marks_reach_the_system_by_themselves(ivy: Browser, lms: Lms, store: Store) -> None:
    lms.items["1"] = {"id": f"{lms.address}/items/1", "scoreMaximum": 10, "label": "Softmax"}
    lms.launch = lambda launch: launch.set_ags(f"{lms.address}/items", f"{lms.address}/items/1")
    claims(lms, **{"https://purl.imsglobal.org/spec/lti/claim/custom": {"assignment": "softmax"}})
    with Browser() as ada:
        assert ada.click(lms, "u-ada").status_code == 303
    report = GradeReport("softmax", "v", Outcome.PARTIAL, 20 / 3, 10.0, mode=Mode.MARKS)
    code = CodeSubmission("# x", "a.py", "1" * 64, {})
    store.record(Attempt.of_code("ada", code, report, started=now()))
    until = time.monotonic() + 30
    while not lms.received and time.monotonic() < until:
        time.sleep(0.1)
    (mark,) = lms.received
    assert mark["userId"] == "u-ada" and mark["scoreGiven"] == pytest.approx(6.666667)
    assert mark["gradingProgress"] == "FullyGraded"


def test_marks_that_arent_taken_are_listed_and_sent_by_a_button(
    ivy: Browser, lms: Lms, store: Store, served_site: Site
) -> None:
    from engine.store.lti_outbox import MarkForLms

    lms.items["1"] = {"id": f"{lms.address}/items/1", "scoreMaximum": 10, "label": "Softmax"}
    lms.faults.append(LmsFault("/items/1/scores", 403))
    mark = MarkForLms(1, f"{lms.address}/items/1", "u-ada", "ada", 7.5, 10.0)
    store.lti_outbox.put([mark], now() - timedelta(minutes=1))
    until = time.monotonic() + 30
    while not store.lti_outbox.counts()["failed"] and time.monotonic() < until:
        time.sleep(0.1)
    shown = page(ivy, served_site, "/staff/lms")
    assert "status 403: it doesn&#39;t allow us to" in shown.text and "7.5 of 10.0" in shown.text
    lms.faults.clear()
    answer = ivy.follow(ivy.submit(shown, "/staff/lms/send"))
    assert "1 sent, 0 waiting, 0 not accepted" in answer.text
    assert lms.received[0]["scoreGiven"] == 7.5


def test_systems_and_courses_are_disabled_and_accepted(
    ivy: Browser, lms: Lms, store: Store, served_site: Site
) -> None:
    store.lti.put_context(1, "course-8", title="Other & course", accepted=None)
    shown = page(ivy, served_site, "/staff/lms")
    assert "Other &amp; course" in shown.text
    token = forms(shown.text)[0].fields["csrf"]

    def change(**fields: Any) -> Any:
        url = f"{served_site.address}/staff/lms/change"
        return ivy.follow(ivy.post(url, data={"csrf": token, "platform": "1", **fields}))

    assert "may come in" in change(action="accept", subject="course-8").text
    assert store.lti.platforms()[0].accepted == ("course-7", "course-8")
    change(action="refuse", subject="course-8")
    change(action="deployment", subject=" d2 ")
    assert store.lti.platforms()[0].deployments == ("deployment-1", "d2")
    with Browser() as ada:
        ada.click(lms, "u-ada")
        assert ada.get(f"{served_site.address}/work").status_code == 200
        assert "matched again" in change(action="forget", subject="u-ada").text
        assert ada.get(f"{served_site.address}/work").status_code == 303  # signed out
    assert store.lti.person(1, "u-ada") is None
    change(action="disable")
    assert store.lti.platforms()[0].disabled is not None
    change(action="enable")
    assert store.lti.platforms()[0].disabled is None
    assert change(action="accept", subject="made-up").status_code == 400
    assert change(action="disable", platform="99").status_code == 404
    assert change(action="disable", platform="x").status_code == 404
    actions = [entry.action for _, entry in store.audit.newest(50)]
    assert {"lti.accept", "lti.forget", "lti.disable"} <= set(actions)


def test_members_become_the_roster_after_a_look(
    ivy: Browser, lms: Lms, store: Store, served_site: Site, folder: Path
) -> None:
    lists = page(ivy, served_site, "/staff/lms/members")
    shown = ivy.follow(ivy.submit(lists, "/staff/lms/members/fetch"))
    assert "Ada Lovelace" not in shown.text.split("<h2>New</h2>")[0]
    assert "Eve" in shown.text and "Bob Moran" in shown.text
    before = (folder / "roster.csv").read_text()
    form = forms(shown.text)[-1]
    (folder / "roster.csv").write_text(before + "cyd,Cyd,\n")
    again = ivy.follow(ivy.post(str(shown.url), data=form.fields))
    assert "was changed meanwhile" in again.text
    form = forms(again.text)[-1]
    done = ivy.follow(ivy.post(str(shown.url), data={**form.fields, "missing": "remove"}))
    assert "2 students, 1 new" in done.text
    students = read_roster(folder / "roster.csv").students
    assert [s.name for s in students] == ["Ada Lovelace", "Eve"]
    (old,) = (folder / ".softmark" / "rosters").iterdir()
    assert old.read_text().endswith("cyd,Cyd,\n")
    ((_, entry),) = store.audit.newest(5, action="roster.write")
    digests = [roster_digest(path)[:16] for path in (old, folder / "roster.csv")]
    assert [entry.details["before"], entry.details["after"]] == digests
    assert store.lti.person(1, "u-eve") == students[1].id
    used = ivy.post(str(shown.url), data=form.fields)
    assert sentence(used) == "These members were fetched too long ago"


def test_members_that_cant_be_fetched_say_why(ivy: Browser, lms: Lms, served_site: Site) -> None:
    lists = page(ivy, served_site, "/staff/lms/members")
    lms.faults.append(LmsFault("/members", 403))
    answer = ivy.submit(lists, "/staff/lms/members/fetch")
    assert sentence(answer) == "Test LMS doesn&#39;t answer about the list of members"


def test_our_keys_are_public_and_new_ones_join_them(
    ivy: Browser, lms: Lms, store: Store, served_site: Site
) -> None:
    url = f"{served_site.address}/lti/keys"
    (first,) = ivy.get(url).json()["keys"]
    assert first["kty"] == "RSA" and "d" not in first and first["alg"] == "RS256"
    shown = page(ivy, served_site, "/staff/lms")
    ivy.submit(shown, "/staff/lms/key")
    keys = ivy.get(url).json()["keys"]
    assert len(keys) == 2 and first in keys
    ivy.post(
        f"{served_site.address}/staff/lms/key",
        data={"csrf": forms(shown.text)[0].fields["csrf"], "at_once": "yes"},
    )
    assert first not in ivy.get(url).json()["keys"]


def test_only_instructors_see_the_pages(lms: Lms, ivy: Browser, served_site: Site) -> None:
    with Browser() as ada:
        ada.click(lms, "u-ada")
        for path in ("/staff/lms", "/staff/lms/new", "/staff/lms/members", "/staff/lms/members/x"):
            assert ada.get(f"{served_site.address}{path}").status_code == 404
