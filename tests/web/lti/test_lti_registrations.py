"""One learning system with several registrations and deployments: none of them is taken for another."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.quiz.rules import now
from engine.store import Attempt, Store
from engine.web.lti.site_lti import send_marks
from engine.web.site import Site
from tests.live.lms import Lms
from tests.live.lti_site import Browser, forms
from tests.web.lti.conftest import LTI, page, sentence


@pytest.fixture
def twice(accepted: Lms, store: Store) -> Lms:
    """The learning system with a second client, which nobody has launched."""
    store.lti.add_platform(
        {**accepted.values(), "client_id": "client-2", "name": "Second"}, by="ivy", now=now()
    )
    return accepted


def as_client(lms: Lms, client: str, deployment: str, context: str = "course-7") -> None:
    """Have the next launches come from another registration."""
    lms.client_id, lms.deployment = client, deployment
    where = {f"{LTI}context": {"id": context, "title": context}}
    marks: Any = lambda launch: launch.set_ags(f"{lms.address}/items", f"{lms.address}/items/{client[-1]}")  # noqa: E731
    lms.launch = marks
    lms.token = lambda body: lms.sign({**body, **where, f"{LTI}custom": {"assignment": "softmax"}})
    lms.items[client[-1]] = {"id": f"{lms.address}/items/{client[-1]}", "scoreMaximum": 10, "label": client}


def test_two_registrations_have_deployments_courses_and_people_of_their_own(twice: Lms, store: Store) -> None:
    as_client(twice, "client-2", "other-1", "course-9")
    with Browser() as ada:
        assert "deployment isn&#39;t accepted" in sentence(ada.click(twice, "u-ada"))
    with Browser() as ivy:
        assert ivy.click(twice, "u-ivy").status_code == 303
    with Browser() as ada:
        assert ada.click(twice, "u-ada").status_code == 303
    first, second = store.lti.platforms()
    assert (first.deployments, first.accepted) == (("deployment-1",), ("course-7",))
    assert (second.deployments, second.accepted) == (("other-1",), ("course-9",))
    assert store.lti.person(first.id, "u-ada") is None and store.lti.person(second.id, "u-ada") == "ada"
    assert [link.platform for link in store.lti.links()] == [first.id, second.id]


def test_a_message_for_one_registration_is_none_for_the_other(twice: Lms) -> None:
    with Browser() as browser:
        other = browser.message(twice, "u-ada").fields["id_token"]
        twice.client_id = "client-2"
        mixed = browser.message(twice, "u-ada")
        mixed.fields["id_token"] = other
        assert "it is meant for another tool" in sentence(browser.send_launch(mixed))
        # Nor does a login of the one accept a message that names the other as well.
        twice.token = lambda body: twice.sign({**body, "aud": ["client-1", "client-2"], "azp": "client-1"})
        assert "it is meant for another tool" in sentence(browser.click(twice, "u-ada"))
        assert browser.session is None


def test_marks_go_back_through_the_registration_that_they_belong_to(
    twice: Lms, store: Store, served_site: Site
) -> None:
    for client, deployment in (("client-1", "deployment-1"), ("client-2", "other-1")):
        as_client(twice, client, deployment)
        for user in ("u-ivy", "u-ada"):
            with Browser() as browser:
                assert browser.click(twice, user).status_code == 303
    report = GradeReport("softmax", "v", Outcome.PARTIAL, 7.25, 10.0, mode=Mode.MARKS)
    store.record(Attempt.of_code("ada", CodeSubmission("# x", "a.py", "1" * 64, {}), report, started=now()))
    send_marks(served_site)
    store.lti_outbox.retry_all(now())  # whatever the site's own round has in hand
    send_marks(served_site)
    assert {item: mark["scoreGiven"] for (item, _), mark in twice.marks.items()} == {"1": 7.25, "2": 7.25}
    assert set(twice.clients) == {"client-1", "client-2"}


def test_a_disabled_registration_takes_the_other_along_in_nothing(twice: Lms, store: Store) -> None:
    as_client(twice, "client-2", "other-1")
    with Browser() as ivy:
        ivy.click(twice, "u-ivy")
    store.lti.enable_platform(1, disabled=now())
    with Browser() as ada:
        assert ada.click(twice, "u-ada").status_code == 303
        as_client(twice, "client-1", "deployment-1")
        start = ada.get(twice.login_url("u-ada"))
        assert "isn&#39;t registered here" in sentence(start)


def test_a_second_deployment_is_accepted_on_the_page_and_keeps_its_links_apart(
    accepted: Lms, store: Store, served_site: Site
) -> None:
    as_client(accepted, "client-1", "deployment-2")
    with Browser() as ada:
        assert "deployment isn&#39;t accepted" in sentence(ada.click(accepted, "u-ada"))
    accepted.deployment = "deployment-1"
    with Browser() as ivy:
        ivy.click(accepted, "u-ivy")
        shown = page(ivy, served_site, "/staff/lms")
        form = next(f for f in forms(shown.text) if f.fields.get("action") == "deployment")
        ivy.post(f"{served_site.address}{form.action}", data={**form.fields, "subject": "deployment-2"})
    accepted.deployment = "deployment-2"
    with Browser() as ada:
        assert ada.click(accepted, "u-ada").status_code == 303
    links = [(link.deployment, link.link) for link in store.lti.links()]
    assert sorted(links) == [("deployment-1", "link-1"), ("deployment-2", "link-1")]
