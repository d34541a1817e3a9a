"""Any request to the addresses that learning systems use is answered by a page, not with a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from engine.course import Course
from engine.quiz.rules import now
from engine.web.application import application
from engine.web.site import Site
from tests.unit.store.test_store_lti import MOODLE

NAMES = [
    *("iss", "login_hint", "target_link_uri", "lti_message_hint", "client_id", "lti_deployment_id"),
    *("state", "id_token", "error", "openid_configuration", "registration_token", "q", "name", "csrf"),
]
TEXTS = st.text(max_size=40) | st.sampled_from(
    [MOODLE["issuer"], MOODLE["client_id"], "a.b.c", "e30.e30.e30", "https://x/\0", "\ud800", "http://["]
)
FIELDS = st.dictionaries(st.sampled_from(NAMES), TEXTS, max_size=6)
PATHS = st.sampled_from(["/lti/login", "/lti/launch", "/lti/keys", "/lti/register/x", "/lti/choose/x"])


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder: Path = tmp_path_factory.mktemp("fuzz") / "course"
    course = Course.init(folder, "T")
    store = course.open_store()
    store.lti.add_platform(MOODLE, by="prof", now=now())
    return TestClient(application(Site(folder, store, "http://testserver")), follow_redirects=False)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PATHS, fields=FIELDS, is_post=st.booleans())
def test_no_request_is_a_fault(browser: TestClient, path: str, fields: dict[str, str], is_post: bool) -> None:
    safe = {name: text.encode("utf-8", "replace").decode() for name, text in fields.items()}
    answer = browser.post(path, data=safe) if is_post else browser.get(path, params=safe)
    assert answer.status_code < 500, (path, fields, answer.text[:2000])
    assert "Traceback" not in answer.text
