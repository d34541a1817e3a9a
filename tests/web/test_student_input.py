"""Whatever a browser sends to a student's pages gets a sentence, and never a fault of ours."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import engine.web
from engine.web.site import Site
from tests.web.browsing import draw, form_with, open_page
from tests.web.conftest import SignedIn

QUIZ = """
title: All kinds
attempts: 2
hint_cost: 0.5
sections:
  - items: [softmax-temperature, greedy-trace-order, claims-solve-or-mitigate, history-impact, greedy-path]
"""
PATHS = (
    "/quiz/week-1/{n}",
    "/quiz/week-1/{n}/save",
    "/quiz/week-1/hand-in",
    "/quiz/week-1/begin",
    "/requests",
)
PARTS = ("w", "answer", "limit_of", "", "zz", "w.1", "answer.1", "answer.99", "answer.x")
KINDS = ("text", "pick", "place", "pair", "revision", "before")
TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "0", "1", "-1", "save", "hint.1", "hand_in.sure", "again", "save.99", "٣", "²"]
    ),
    st.text(alphabet=string.printable + "é∎\x00\u202e\U0001f600", max_size=60),
    st.just("9" * 60_000),
)
NAMES = st.one_of(
    st.builds("{}.{}".format, st.sampled_from(KINDS), st.sampled_from(PARTS)),
    st.sampled_from(["do", "retry", "read", "kind", "subject", "text"]),
)
FORMS = st.dictionaries(NAMES, st.lists(TEXTS, min_size=1, max_size=3), max_size=8)


@pytest.fixture
def ada(site: Site, signed_in: SignedIn) -> TestClient:
    draw(site, QUIZ)
    site.rates.need = lambda *_: None  # type: ignore[method-assign]
    return signed_in("ada")


def token(browser: TestClient) -> str:
    return dict(form_with(open_page(browser, "/quiz/week-1/1"), "save").fields)["csrf"]


@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    path=st.sampled_from(PATHS),
    number=st.sampled_from(["1", "2", "3", "4", "5", "0", "99", "٣", "x"]),
    form=FORMS,
)
def test_any_form_gets_an_answer(ada: TestClient, path: str, number: str, form: dict[str, list[str]]) -> None:
    data = {**form, "csrf": token(ada)}
    answer = ada.post(path.format(n=number), data=data)
    assert answer.status_code < 500, (path, number, form)
    if answer.status_code == 303:
        assert open_page(ada, answer.headers["location"])


@pytest.mark.parametrize(
    "path",
    [
        "/quiz/week-1/1?x=%00",
        "/quiz/%00",
        "/quiz/week-1/1e9",
        "/requests?kind=%FF&subject=a",
        "/work?x",
        "/marks/x",
    ],
)
def test_any_address_gets_an_answer(ada: TestClient, path: str) -> None:
    assert ada.get(path).status_code < 500


@pytest.mark.parametrize(
    "text",
    [
        "0.5\u200e",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f468\u200d\U0001f469",
        "so\u00adft",
        "1" * 30_000,
        "<b>&amp;\"'",
    ],
    ids=["mark", "joiners", "hyphen", "long", "tags"],
)
def test_a_field_comes_back_as_it_was_typed(ada: TestClient, site: Site, text: str) -> None:
    """What a form shows is what it sends: anything lost on the way would be handed in like that."""
    form = form_with(open_page(ada, "/quiz/week-1/5"), "save")
    (name,) = (name for name in form.names() if name.startswith("text."))
    assert form.fill(name, text).send(ada, "save").status_code == 303
    fields = dict(form_with(open_page(ada, "/quiz/week-1/5"), "save").fields)
    assert fields[name] == fields[name.replace("text.", "before.")] == text


@pytest.mark.parametrize("charset", ["unicode_escape", "idna", "utf-7", "utf-16", "rot13", '"a;b"'])
def test_a_form_in_another_coding_is_refused(ada: TestClient, charset: str) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n\\ud800\xff..\r\n--x--\r\n'
    headers = {"content-type": f"multipart/form-data; boundary=x; charset={charset}"}
    answer = ada.post("/requests", content=body, headers=headers)
    assert answer.status_code == 400 and "UTF-8" in answer.text


def test_no_value_of_a_form_is_cleaned_for_reading() -> None:
    begins = r'(?:<(?:input|button|option)\b[^\n]*?\bvalue="|^)'
    values = re.compile(begins + r'\{\{ (.*?) \}\}(?="|</textarea>)', re.MULTILINE)
    seen = 0
    for path in Path(engine.web.__file__).parent.joinpath("templates").rglob("*.j2"):
        for expression in values.findall(path.read_text(encoding="utf-8")):
            seen += 1
            assert expression.endswith("|verbatim"), f"{path.name}: {expression}"
    assert seen > 30
