"""The course's disk is full to the last byte: everybody is told, and all goes on with room again."""

from __future__ import annotations

import itertools
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from engine.course import Course
from engine.model import Mode
from engine.store.waiting import HandInState
from tests.live.code_visitor import CodeVisitor
from tests.live.quiz_visitor import QUIZ, QuizVisitor, publish_quiz
from tests.live.site import LiveSite, form_token, new_course
from tests.live.small_disk import SmallDisk, small_disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="disks are mounted as on Linux")

ROOT = Path(__file__).parents[2]
RIGHT = (ROOT / "problems/code/softmax/solution_numpy.py").read_text(encoding="utf-8")
PATIENCE_S = 60.0
FULL = "disk is full"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", 48) as mounted:
        yield mounted


def test_a_full_disk_under_everything(disk: SmallDisk) -> None:
    """Store, mails, uploads and log lie on it."""
    course = new_course(disk.folder / "course")
    (course / "web.yaml").write_text("mail: {folder: mails}\n", encoding="utf-8")
    (disk.folder / "temporary").mkdir()
    publish_quiz(course, "ada", "bob")
    environment = {"TMPDIR": str(disk.folder / "temporary")}
    log = disk.folder / "site.log"
    with LiveSite(course, "--workers", "1", "--log", str(log), environment=environment) as site:
        writer, coder = QuizVisitor(site, "ada"), CodeVisitor(site, "bob")
        first = coder.hand_in("softmax", f"{RIGHT}\n# first\n")
        coder.feedback("softmax", first)
        numbers = itertools.count(1)
        disk.fill()
        texts = save_until_refused(writer, numbers)
        see_what_is_said(site, disk, writer, coder)
        disk.make_room()
        see_it_go_on(site, writer, coder, numbers)
        assert log.read_text(encoding="utf-8").endswith("\n")
        with Course.open(course).open_store() as store:
            (quiz,) = store.quizzes(QUIZ, "ada")
            (draft,) = store.drafts.of_quiz(quiz)
            assert draft.text == writer.confirmed["text"] and draft.revision == writer.confirmed["revision"]
            assert draft.revision >= len(texts)
            sources = [attempt.source for attempt in store.attempts(mode=Mode.MARKS)]
            assert len(sources) == len(set(sources))
            assert {f"{RIGHT}\n# first\n", f"{RIGHT}\n# after\n"} <= set(sources)
            assert not store.waiting.in_state([HandInState.SET_ASIDE])
            assert store.upkeep.check().faults == ()
        writer.close()
        coder.close()
        assert site.stop() == 0
    assert "Traceback" not in site.complaints()


def save_until_refused(writer: QuizVisitor, numbers: Iterator[int]) -> list[str]:
    """Save long texts until one is refused: the store may have some room of its own left."""
    texts = []
    while True:
        text = f"{next(numbers)} " + "0" * 20_000
        answer = writer.save(text)
        if answer.status_code != 200:
            break
        texts.append(text)
        assert len(texts) < 500
    assert answer.status_code == 503, answer.text
    assert FULL in answer.json()["error"], answer.text
    return texts


def see_what_is_said(site: LiveSite, disk: SmallDisk, writer: QuizVisitor, coder: CodeVisitor) -> None:
    with site.browser() as nobody:
        assert nobody.get("/health/live").status_code == 200
        page = nobody.get("/sign-in")
        asked = nobody.post("/sign-in/mail", data={"csrf": form_token(page.text), "email": "ada@example.edu"})
        assert asked.status_code in (200, 303), asked.text
    disk.fill()
    token = coder.token()
    for data, files in (
        ({"way": "typed", "code": f"{RIGHT}\n# full {'#' * 200_000}\n"}, None),
        ({"way": "files"}, {"files": ("softmax.py", f"{RIGHT}\n# {'#' * 200_000}\n".encode())}),
        ({"way": "files"}, {"files": ("all.zip", b"PK" + b"\0" * (5 << 20))}),
    ):
        disk.fill()
        answer = coder.client.post("/code/softmax/hand-in", data={"csrf": token, **data}, files=files)
        assert answer.status_code == 503, (data["way"], answer.status_code, said(answer))
        main = answer.text.partition("<main")[2]
        assert main.count(FULL) == 1 and "nothing that was saved" in main, said(answer)
        assert str(disk.folder) not in answer.text
        if "code" in data:
            assert "# full" in main, "what was typed can be copied"
    for path in ("/quiz/week-1/1", "/work", "/code/softmax", "/account", "/marks"):
        page = writer.client.get(path)
        assert page.status_code in (200, 404, 503) and (page.status_code != 503 or FULL in page.text), path


def see_it_go_on(site: LiveSite, writer: QuizVisitor, coder: CodeVisitor, numbers: Iterator[int]) -> None:
    assert writer.save(f"0.{next(numbers)}").status_code == 200
    coder.feedback("softmax", coder.hand_in("softmax", f"{RIGHT}\n# after\n"))
    end = time.monotonic() + PATIENCE_S
    mails = site.folder / "mails"
    while not (mails.exists() and list(mails.glob("*.eml"))):
        assert time.monotonic() < end, "the mail never came"
        time.sleep(0.2)
    (mail,) = mails.glob("*.eml")
    link = re.search(r"http://\S+", mail.read_text(encoding="utf-8"))
    assert link is not None
    with site.browser() as browser:
        page = browser.get(link[0])
        action = re.search(r'<form[^>]*action="([^"]*link[^"]*)"', page.text)
        assert action is not None, page.text
        assert browser.post(action[1], data={"csrf": form_token(page.text)}).status_code == 303


def said(answer: httpx.Response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))[:800]
