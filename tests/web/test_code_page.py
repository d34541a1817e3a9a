"""The page of a code exercise: handing in every way, waiting, feedback, and what is refused."""

from __future__ import annotations

import hashlib
import html
import io
import re
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.cluster.program_standing import CourseStanding, ProgramStanding, QueueHold
from engine.cluster.work_queue import DEAD_AFTER_S
from engine.model import Check, CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.quiz import rules as quiz_rules
from engine.runs.hand_in_queue import QueuePlace
from engine.store import Attempt
from engine.web import application as web_application
from engine.web.coding import code_page
from engine.web.forms import Form
from engine.web.site import Site
from tests.web.browsing import forms_of
from tests.web.conftest import SignedIn
from tests.web.grading import Grading

PAGE = "/code/softmax"


@pytest.fixture
def grading(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grading]:
    started = Grading(site, monkeypatch)
    yield started
    started.stop()


def token(browser: TestClient) -> str:
    page = browser.get(PAGE if browser.get(PAGE).status_code == 200 else "/")
    return re.search(r'name="csrf" value="(\w+)"', page.text + browser.get(f"{PAGE}?write=1").text)[1]  # type: ignore[index]


def typed(browser: TestClient, code: str, item: str = "softmax"):
    values = {"csrf": token(browser), "way": "typed", "code": code}
    # As browsers send it: a form that takes files is multipart, with an empty file.
    return browser.post(f"/code/{item}/hand-in", data=values, files={"files": ("", b"")})


def uploaded(browser: TestClient, files: dict[str, bytes], field: str = "files"):
    return browser.post(
        f"{PAGE}/hand-in",
        data={"csrf": token(browser), "way": "files"},
        files=[(field, (name, data)) for name, data in files.items()],
    )


def followed(browser: TestClient, answer) -> str:
    assert answer.status_code == 303, answer.text
    page = browser.get(answer.headers["location"])
    assert page.status_code == 200
    return page.text


def zipped(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_what_is_asked(signed_in: SignedIn, site: Site) -> None:
    page = signed_in("ada").get(PAGE).text
    assert "turns scores into weights" in page
    assert "def softmax" in page, "the editor begins with the starter"
    assert "one number added to all scores" in page and "10 points" in page
    assert "Nothing yet" in page
    solution = (site.bank.path("softmax").parent / "solution_numpy.py").read_text()
    assert solution.strip() not in page
    starter = signed_in("ada").get(f"{PAGE}/starter/py")
    assert starter.headers["content-disposition"] == 'attachment; filename="softmax.py"'
    assert "def softmax" in starter.text and "turns scores into weights" in starter.text
    assert signed_in("ada").get(f"{PAGE}/starter/ipynb").json()["nbformat"] == 4
    assert signed_in("ada").get(f"{PAGE}/starter/exe").status_code == 404


@pytest.mark.parametrize("item", ["no-such", "softmax-weights", "../softmax", "SOFTMAX"])
def test_what_isnt_there(signed_in: SignedIn, item: str) -> None:
    browser = signed_in("ada")
    assert browser.get(f"/code/{item}").status_code == 404
    assert typed(browser, "# right", item).status_code in (404, 405)


def test_typed_code_has_its_feedback_on_the_next_page(signed_in: SignedIn, grading: Grading) -> None:
    browser = signed_in("ada")
    page = followed(browser, typed(browser, "# partial\r\ndef softmax(x): ...\r\n"))
    assert "7.5 of 10 points" in page and "It overflows." in page and "partly right" in page
    assert "data-handed" in page and "Receipt" in page
    assert grading.graded == ["# partial\ndef softmax(x): ...\n"]
    assert "# partial\ndef softmax(x): ...\n</textarea>" in page, "the editor goes on with it"
    followed(browser, typed(browser, "# right\ndef softmax(x): ...\n"))
    page = browser.get(PAGE).text
    assert page.index("10 of 10 points") < page.index("7.5 / 10")
    assert page.count('class="badge right">counts') == 1
    first = re.search(r"submission=(\w+)\"[^>]*>(?!.*submission=)", page, re.DOTALL)[1]  # type: ignore[index]
    assert "It overflows." in browser.get(f"{PAGE}?submission={first}").text
    assert signed_in("bob").get(f"{PAGE}?submission={first}").status_code == 404


@pytest.mark.parametrize(
    ("field", "files"),
    [
        ("files", {"mine.py": b"# right\n"}),
        (
            "files",
            {"softmax.py": b"# right\nimport helpers\ndef softmax(x): ...\n", "helpers.py": b"x = 1\n"},
        ),
        (
            "folder",
            {"w/softmax.py": b"# right\nimport helpers\ndef softmax(x): ...\n", "w/helpers.py": b"x = 1\n"},
        ),
        ("files", {"w.zip": zipped({"w/a.py": "# right\ndef softmax(x): ...\n", "w/notes.md": "x"})}),
    ],
)
def test_files_a_folder_and_an_archive(
    signed_in: SignedIn, grading: Grading, field: str, files: dict[str, bytes]
) -> None:
    browser = signed_in("ada")
    assert "10 of 10 points" in followed(browser, uploaded(browser, files, field))
    assert grading.graded[0].startswith("# right\n")


def test_the_same_again_costs_nothing(signed_in: SignedIn, grading: Grading) -> None:
    browser = signed_in("ada")
    followed(browser, typed(browser, "# wrong\n"))
    page = followed(browser, uploaded(browser, {"other-name.py": b"# wrong\n"}))
    assert "exactly this before" in page and "not right" in page
    assert len(grading.graded) == 1


def test_the_editor_has_the_whole_program(signed_in: SignedIn, grading: Grading) -> None:
    code = (
        "# right\n\f# \u06a9\u062a\u0627\u0628\u200c\u0647\u0627\n# \U0001f469\u200d\U0001f4bb </textarea>&\n"
        + 2_000 * "x = 12345  # padding\n"
    )
    browser = signed_in("ada")
    followed(browser, typed(browser, code))
    (form,) = [form for form in forms_of(browser.get(PAGE).text) if ("way", "typed") in form.fields]
    assert dict(form.fields)["code"] == code
    assert "exactly this before" in followed(browser, typed(browser, dict(form.fields)["code"]))


def test_waiting_and_its_place(signed_in: SignedIn, grading: Grading, site: Site) -> None:
    grading.gate.clear()
    ada, bob = signed_in("ada"), signed_in("bob")
    typed(ada, "# right\n")
    typed(ada, "# right 2\n")
    typed(bob, "# wrong\n")
    site.hand_in_desk._queue._looked = -1e9
    page = ada.get(PAGE)
    assert "Your code has been handed in" in page.text and 'http-equiv="refresh"' in page.text
    assert "is ahead of it" in page.text or "next in line" in page.text
    assert "<textarea" not in page.text
    writing = ada.get(f"{PAGE}?write=1").text
    assert "<textarea" in writing and 'http-equiv="refresh"' not in writing
    number = site.store.waiting.of_student("bob")[0].id
    state = f"{PAGE}/state/{number}"
    in_hand = {"open": True, "text": "Your code is being graded.", "held": False}
    end = time.monotonic() + 30
    # A worker takes it before long, and keeps it while the gate is shut.
    while bob.get(state).json() != in_hand:
        assert time.monotonic() < end, bob.get(state).json()
        time.sleep(0.02)
    for browser, address in [(ada, state), (bob, f"{PAGE}/state/x"), (bob, f"{PAGE}/state/{10**30}")]:
        assert browser.get(address).status_code == 404
    assert bob.get(f"/code/attention/state/{number}").status_code == 404
    grading.gate.set()
    end = time.monotonic() + 30
    while bob.get(state).json()["open"]:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert "not right" in bob.get(PAGE).text


IN_HAND = ProgramStanding(0, 2.0, 0, False)
SILENT = ProgramStanding(0, 2 * DEAD_AFTER_S, 0, False)
WAITS = ProgramStanding(3, None, 0, False)
AGAIN = ProgramStanding(3, None, 1, False)
RESTS = ProgramStanding(0, None, 0, True)


@pytest.mark.parametrize(
    ("program", "course", "text", "is_held"),
    [
        (IN_HAND, {}, "Your code is being graded.", False),
        # What a worker has in hand is graded, whatever becomes of the rest.
        (IN_HAND, {"hold": QueueHold.PAUSED}, "Your code is being graded.", False),
        (WAITS, {}, "Handed in. 3 hand-ins are ahead of it.", False),
        (RESTS, {}, "A machine failed to grade your code, and your code isn't the reason.", False),
        (SILENT, {}, "stopped. Another one takes over within a minute.", False),
        (AGAIN, {}, "stopped. Another one grades it as soon as it can.", False),
        (SILENT, {"hold": QueueHold.NO_WORKER}, "stopped. No machine is grading for this course", True),
        (WAITS, {"hold": QueueHold.NOT_TAKEN}, "No machine is grading for this course", True),
        (WAITS, {"hold": QueueHold.PAUSED}, "Grading is paused for this course.", True),
        # It waits in the store, behind what waits in the queue: 4 there, and one in front of it here.
        (None, {"waiting": 4}, "Handed in. 5 hand-ins are ahead of it: roughly 40 seconds.", False),
        (None, {"hold": QueueHold.NO_WORKER}, "No machine is grading for this course", True),
    ],
)
def test_what_is_said_while_other_machines_grade(
    site: Site,
    signed_in: SignedIn,
    monkeypatch: pytest.MonkeyPatch,
    program: ProgramStanding | None,
    course: dict[str, Any],
    text: str,
    is_held: bool,
) -> None:
    desk = site.hand_in_desk
    number = desk.hand_in(
        "ada", "softmax", CodeSubmission("x = 1\n", "f.py", "a" * 64), site.mode, lambda _: None
    )
    known = CourseStanding(**course)
    monkeypatch.setattr(desk, "course_standing", lambda: known)
    monkeypatch.setattr(desk, "program", lambda *_: program)
    monkeypatch.setattr(desk, "place", lambda _: QueuePlace(2, 40.0))
    browser = signed_in("ada")
    state = browser.get(f"{PAGE}/state/{number}").json()
    assert text in state["text"] and state["held"] is is_held
    page = html.unescape(browser.get(PAGE).text)
    assert text in page
    assert ('class="busy"' in page) is not is_held, "it turns only while something goes on"


def test_a_fault_of_the_machine_is_said_and_no_mark(
    signed_in: SignedIn, grading: Grading, site: Site
) -> None:
    browser = signed_in("ada")
    page = followed(browser, typed(browser, "# ungraded\n"))
    assert "Grading failed because of the server" in page
    (row,) = site.store.waiting.of_student("ada")
    assert (row.is_open, row.tries) == (True, 1)
    (attempt,) = site.store.attempts(student="ada")
    assert attempt.report.score is None


CELL = b'{"cell_type": "code", "source": "x"}'
NOTEBOOK = b'{"cells": [' + b",".join([CELL] * 30_000) + b"]}"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "nothing was chosen"),
        ({"a.txt": b"hello"}, "there is no code in it"),
        ({"a.zip": zipped({"softmax.py": "#" + "0" * 30_000_000})}, "bombs"),
        ({"a.py": b"def softmax(x): 1", "b.py": b"def softmax(x): 2"}, "two files define softmax"),
        ({"a.ipynb": NOTEBOOK}, "too many cells"),
        ({"<img src=x onerror=alert(1)>.txt": b"x"}, "&lt;img src=x"),
    ],
)  # fmt: skip
def test_what_is_refused_costs_nothing(
    signed_in: SignedIn, grading: Grading, site: Site, files: dict[str, bytes], message: str
) -> None:
    browser = signed_in("ada")
    answer = uploaded(browser, files)
    assert answer.status_code == 400
    assert message in answer.text and "No attempt was used" in answer.text
    assert "Traceback" not in answer.text and "/tmp" not in answer.text
    assert site.store.waiting.of_student("ada") == [] and grading.graded == []


def test_too_much_is_refused_while_it_streams(signed_in: SignedIn, site: Site) -> None:
    browser = signed_in("ada")
    answer = uploaded(browser, {"a.zip": b"\0" * (21 << 20)})
    assert answer.status_code == 413 and "at most 20 MiB" in answer.text


def test_typed_text_isnt_lost_when_it_is_refused(signed_in: SignedIn) -> None:
    browser = signed_in("ada")
    answer = typed(browser, "x = 1\0")
    assert answer.status_code == 400 and "x = 1" in answer.text
    assert typed(browser, "").status_code == 400


def test_staff_reads_and_doesnt_hand_in(signed_in: SignedIn, site: Site) -> None:
    browser = signed_in("ivy")
    assert "turns scores into weights" in browser.get(PAGE).text
    answer = typed(browser, "# right\n")
    assert answer.status_code == 400 and "only students hand in" in answer.text
    assert site.store.waiting.of_student("ivy") == []


def rule(folder: Path, site: Site, text: str) -> None:
    path = folder / "course.yaml"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    site._looked = -1e9


RULES = "  assignments:\n    softmax: {{ {} }}\n"


@pytest.mark.parametrize(
    ("words", "message", "status"),
    [
        ("closes: 2020-01-01", "This exercise is closed", 400),
        ("opens: 2900-01-01", "t open yet", 400),
        ("due: 2020-01-01", "Due", 303),
    ],
)
def test_times(
    folder: Path, site: Site, signed_in: SignedIn, grading: Grading, words: str, message: str, status: int
) -> None:
    browser = signed_in("ada")
    sent = token(browser)
    rule(folder, site, RULES.format(words))
    page = browser.get(PAGE).text
    assert ("<textarea" in page) is (status == 303)
    answer = browser.post(f"{PAGE}/hand-in", data={"csrf": sent, "way": "typed", "code": "# right\n"})
    assert answer.status_code == status
    text = answer.text if status == 400 else page
    assert message in text
    early = words.startswith("opens")
    assert ("turns scores into weights" in page) is not early
    assert browser.get(f"{PAGE}/starter/py").status_code == (404 if early else 200)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("due: 2900-01-01", "You may hand in again: the best of all hand-ins counts."),
        ("attempts: {count: 1}", "The first hand-in counts. You have made 0 hand-ins."),
        ("attempts: {count: 3, which: last}", "The last of the first 3 hand-ins counts. You have made 0"),
        ("attempts: {which: first}", "You may hand in again, but the first hand-in counts."),
        (
            "attempts: {which: decaying, shares: [1, 0.5]}",
            "the best of all hand-ins counts; later ones can earn less.",
        ),
    ],
)
def test_which_hand_in_counts_is_said_before(
    folder: Path, site: Site, signed_in: SignedIn, words: str, message: str
) -> None:
    browser = signed_in("ada")
    rule(folder, site, RULES.format(words))
    assert message in browser.get(PAGE).text


def test_a_course_that_names_its_exercises_has_no_others(
    folder: Path, site: Site, signed_in: SignedIn
) -> None:
    browser = signed_in("ada")
    known = next(item for item in site.bank.code_ids() if item != "softmax")
    other = f"/code/{known}"
    assert browser.get(other).status_code == 200
    rule(folder, site, RULES.format("due: 2900-01-01"))
    assert browser.get(PAGE).status_code == 200
    assert browser.get(other).status_code == 404


def test_results_that_arent_shown_yet(
    folder: Path, site: Site, signed_in: SignedIn, grading: Grading
) -> None:
    browser = signed_in("ada")
    rule(folder, site, RULES.format("due: 2900-01-01, release: at due"))
    page = followed(browser, typed(browser, "# partial\n"))
    assert "isn't shown now" in page
    assert "It overflows." not in page and "7.5" not in page and "partly right" not in page


def test_nothing_tells_which_hand_in_is_best_while_checks_are_hidden(
    folder: Path, site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(site.bank), "hidden_checks", lambda *_: frozenset({"hidden"}))
    receipts = []
    for number, hidden in enumerate((10, 5, 0)):
        source = f"# program {number}\n"
        code = CodeSubmission(source, "softmax.py", hashlib.sha256(source.encode()).hexdigest())
        verdict = Verdict.PASSED if hidden else Verdict.FAILED
        checks = (Check("shown", Verdict.PASSED, 1, 1, ""), Check("hidden", verdict, hidden, 10, ""))
        report = GradeReport(
            "softmax", "v1", Outcome.PARTIAL, 1.0 + hidden, 11, checks, student="ada", mode=Mode.MARKS
        )
        site.store.record(Attempt.of_code("ada", code, report, started=datetime.now(UTC)))
        receipts.append(code.sha256)
    browser = signed_in("ada")
    rule(folder, site, RULES.format("due: 2900-01-01, limits: {hidden_checks: after due}"))
    for submission in receipts:
        page = browser.get(f"{PAGE}?submission={submission}").text
        assert "counts</span>" not in page and "Another hand-in counts" not in page
    # The page of all marks shows the newest, as it would whichever were the best.
    marks = browser.get("/marks").text
    assert receipts[2] in marks and receipts[0] not in marks and receipts[1] not in marks
    assert "11" in signed_in("ivy").get("/staff/class").text
    settings = folder / "course.yaml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("2900", "2020"), encoding="utf-8")
    rule(folder, site, "")
    assert receipts[0] in browser.get("/marks").text
    assert "counts</span>" in browser.get(PAGE).text


def test_a_program_that_comes_slowly_is_in_time_if_all_of_it_is(
    folder: Path, site: Site, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, moment = signed_in("ada"), quiz_rules.now()
    rule(folder, site, RULES.format(f"closes: {moment + timedelta(hours=2):%Y-%m-%dT%H:%M}"))
    read = web_application.read_form

    async def read_slowly(*arguments: Any) -> Form:
        form = await read(*arguments)
        monkeypatch.setattr(quiz_rules, "now", lambda: moment + timedelta(hours=3))
        return form

    monkeypatch.setattr(web_application, "read_form", read_slowly)
    answer = typed(browser, "# right\n")
    assert answer.status_code == 400 and "This exercise is closed" in answer.text
    assert not site.store.waiting.of_student("ada")


def test_the_last_hand_in_of_a_day_is_used_once(
    folder: Path, site: Site, signed_in: SignedIn, grading: Grading
) -> None:
    browser = signed_in("ada")
    rule(folder, site, RULES.format("limits: {per_day: 2}"))
    sent = token(browser)
    grading.gate.clear()
    tabs = [signed_in("ada") for _ in range(4)]
    tokens = [token(tab) for tab in tabs]
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda n: tabs[n].post(
                    f"{PAGE}/hand-in", data={"csrf": tokens[n], "way": "typed", "code": f"# right {n}\n"}
                ),
                range(4),
            )
        )
    assert sorted(answer.status_code for answer in answers) == [303, 303, 400, 400]
    grading.gate.set()
    refused = browser.post(f"{PAGE}/hand-in", data={"csrf": sent, "way": "typed", "code": "# right\n"})
    assert refused.status_code == 400
    assert "2 hand-ins a day count" in refused.text and "# right\n</textarea>" in refused.text


def test_few_archives_are_unpacked_at_the_same_time(
    signed_in: SignedIn, grading: Grading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_page, "_UNPACKING_S", 0.05)
    archive = {"w.zip": zipped({"a.py": "# right\n"})}
    browser = signed_in("ada")
    with ExitStack() as busy:
        for _ in range(4):
            busy.enter_context(code_page._UNPACKING)
        refused = uploaded(browser, archive)
        assert refused.status_code == 400 and "many archives" in refused.text
        followed(browser, uploaded(browser, {"a.py": b"# right 2\n"}))
    followed(browser, uploaded(browser, archive))


def test_a_students_queue_has_an_end(signed_in: SignedIn, grading: Grading, site: Site) -> None:
    grading.gate.clear()
    browser = signed_in("ada")
    for number in range(20):
        code = CodeSubmission(f"# right {number}\n", "f.py", f"{number:064x}")
        site.hand_in_desk.hand_in("ada", "softmax", code, site.mode, lambda times: None)
    refused = typed(browser, "# right at last\n")
    assert refused.status_code == 400
    assert "20 of your programs wait" in refused.text and "# right at last\n</textarea>" in refused.text
    assert typed(signed_in("bob"), "# right\n").status_code == 303


def test_what_was_set_aside_isnt_begun_again_by_its_student(
    signed_in: SignedIn, grading: Grading, site: Site
) -> None:
    grading.gate.clear()
    browser = signed_in("ada")
    typed(browser, "# right\n")
    (row,) = site.store.waiting.of_student("ada")
    assert site.store.waiting.set_aside(row, row.handed, "it kills")
    assert "staff will look at it" in followed(browser, typed(browser, "# right\n"))
    assert [hand_in.id for hand_in in site.store.waiting.of_student("ada")] == [row.id]


def test_staff_sees_what_waits_and_lets_it_be_tried_again(
    signed_in: SignedIn, grading: Grading, site: Site
) -> None:
    grading.gate.clear()
    typed(signed_in("ada"), "# right\n")
    (row,) = site.store.waiting.of_student("ada")
    staff = signed_in("ivy")
    assert "being graded" in staff.get("/staff/waiting").text
    assert signed_in("ada").get("/staff/waiting").status_code == 404
    sent = {"csrf": token(staff), "hand_in": str(row.id)}
    assert staff.post("/staff/waiting/again", data=sent).status_code == 400, "it isn't set aside"
    running = site.store.waiting.find(row.id)
    assert running is not None and site.store.waiting.set_aside(running, running.handed, "it killed <two>")
    page = staff.get("/staff/waiting").text
    assert "it killed &lt;two&gt;" in page and "Set aside" in page
    student = signed_in("ada").get(PAGE).text
    assert "couldn't be graded" in student and "<textarea" in student
    grading.gate.set()
    assert staff.post("/staff/waiting/again", data=sent).status_code == 303
    end = time.monotonic() + 30
    while site.store.waiting.of_student("ada")[0].is_open:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert "10 of 10 points" in signed_in("ada").get(PAGE).text
    assert "Nothing is waiting" in staff.get("/staff/waiting").text


def test_the_editor_goes_on_with_all_of_a_program(signed_in: SignedIn, grading: Grading) -> None:
    browser = signed_in("ada")
    source = "# right\ndef softmax(x):\n    return 'a\u200cb\u00ad'\n" + "# padding\n" * 4000
    followed(browser, typed(browser, source))
    (form,) = (form for form in forms_of(browser.get(PAGE).text) if "code" in form.names())
    assert dict(form.fields)["code"] == source
