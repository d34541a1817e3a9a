"""Files and forms that are small enough to be taken and would cost too much: a sentence each, in time."""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from collections.abc import Iterator

import httpx
import pytest

from engine.quiz.answer_sheet import LONGEST_ANSWER
from tests.live.quiz_visitor import QUIZ, QuizVisitor, publish_quiz
from tests.live.site import LiveSite, form_token, new_course
from tests.live.streams import watched
from tests.timing import processor_seconds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")

MIB = 1 << 20
# Of the server's processor time; all take less than half a second.
MOST_S = 5.0


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    course = new_course(tmp_path_factory.mktemp("bad") / "course")
    publish_quiz(course, "ada", "bob")
    with LiveSite(course, "--workers", "1") as running:
        with running.browser("ada") as browser:
            browser.get("/code/softmax")
        yield running
    assert "Traceback" not in running.complaints()


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def nested(levels: int, width: int) -> bytes:
    content = zipped({f"{number}.py": b"#" * (10 * MIB) for number in range(width)})
    for _ in range(levels):
        content = zipped({f"{number}.zip": content for number in range(width)})
    return content


def tarred(count: int) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for number in range(count):
            archive.addfile(tarfile.TarInfo(f"f{number}.py"))
    return target.getvalue()


def notebook(cell: bytes, count: int) -> bytes:
    return b'{"nbformat": 4, "metadata": {}, "cells": [' + b",".join([cell] * count) + b"]}"


CELL = b'{"cell_type":"code","source":""}'
SENTENCES = {
    "cells": ("n.ipynb", lambda: notebook(b'{"source":""}', 10**6), "too many cells or outputs"),
    "whole-cells": ("n.ipynb", lambda: notebook(CELL, 10**6), "too large"),
    "packed-cells": (
        "n.zip",
        lambda: zipped({"n.ipynb": notebook(CELL, 10**6)}),
        "unpacks to more than 16 MiB",
    ),
    "empty-objects": ("n.ipynb", lambda: notebook(b"{}", 5_500_000), "too many cells or outputs"),
    "empty-lists": (
        "n.ipynb",
        lambda: b'{"x": [' + b",".join([b"[]"] * 5_500_000) + b"]}",
        "too many cells or outputs",
    ),
    "deep-lists": ("n.ipynb", lambda: b"[" * 900_000 + b"]" * 900_000, "JSON"),
    "most-cells": ("n.ipynb", lambda: notebook(b"{}", 900_000), "too many cells"),
    "bomb": ("b.zip", lambda: zipped({"softmax.py": b"#" * (64 * MIB)}), "bombs"),
    "nested-bomb": ("b.zip", lambda: nested(3, 10), "3 deep in one another"),
    "many-entries": ("b.zip", lambda: zipped({f"f{n}.py": b"" for n in range(20_000)}), "too many"),
    "many-in-a-tar": ("b.tar.gz", lambda: tarred(20_000), "too many"),
    "code": ("a.py", lambda: b"x = (" + b"1," * (4 * MIB) + b")", "too large"),
    "binary": ("a.py", lambda: bytes(range(256)) * 4000, "a.py"),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_file(live: LiveSite, name: str) -> None:
    filename, make, sentence = SENTENCES[name]
    content = make()
    assert len(content) < 40 * MIB
    with live.browser("ada") as browser:
        token = form_token(browser.get("/code/softmax?write=1").text)
        with watched(live, "bob") as watch:
            spent = processor_seconds(live.process.pid)
            answer = browser.post(
                "/code/softmax/hand-in",
                data={"csrf": token, "way": "files"},
                files={"files": (filename, content)},
            )
            spent = processor_seconds(live.process.pid) - spent
    assert answer.status_code in (400, 413), answer.status_code
    assert sentence in answer.text, answer.text[answer.text.find("note") :][:1500]
    assert answer.text.count('role="alert"') <= 1 and "ask for it" not in answer.text
    assert spent < MOST_S
    assert watch.growth < 200, watch.memory
    assert not watch.is_held_up, watch


def test_a_thousand_fields(live: LiveSite) -> None:
    with live.browser("ada") as browser:
        token = form_token(browser.get("/requests").text)
        for count, status in ((900, 400), (1001, 413), (400_000, 413)):
            spent = processor_seconds(live.process.pid)
            answer = browser.post(
                "/requests",
                content=f"csrf={token}&" + "&".join(["a=b"] * count),
                headers={"content-type": "application/x-www-form-urlencoded"},
            )
            assert answer.status_code == status, (count, answer.text)
            assert processor_seconds(live.process.pid) - spent < MOST_S
        assert "at most 1000 fields" in answer.text
        parts = "".join(
            f'--x\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\nv\r\n' for n in range(1001)
        )
        answer = browser.post(
            "/code/softmax/hand-in",
            content=f"{parts}--x--\r\n",
            headers={"content-type": "multipart/form-data; boundary=x"},
        )
        assert answer.status_code == 413 and "at most 1000 fields" in answer.text


def save_text(visitor: QuizVisitor, text: str) -> httpx.Response:
    """Save a text of any size: as the parts of a form, which are longer than a field may be."""
    fields = {
        "retry": "0",
        "read": "1",
        f"revision.{visitor.part}": str(visitor.revision),
        f"text.{visitor.part}": text,
    }
    return visitor.client.post(
        f"/quiz/{QUIZ}/1/save",
        files={name: (None, value) for name, value in fields.items()},
        headers={"x-csrf-token": visitor.token, "accept": "application/json"},
    )


@pytest.mark.parametrize("sign", ["1", "1,", "x ", "(", "é", "["])
def test_an_answer_of_a_megabyte(live: LiveSite, sign: str) -> None:
    visitor = QuizVisitor(live, "ada")
    with watched(live, "bob") as watch:
        spent = processor_seconds(live.process.pid)
        answer = save_text(visitor, sign * ((MIB - 1) // len(sign.encode())))
        assert answer.status_code == 400 and "too long to be kept" in answer.json()["error"]
        answer = save_text(visitor, "1" * (MIB + 1))
        assert answer.status_code == 413 and "too large" in answer.json()["error"]
        # The longest that is kept: it is read, shown and handed in like any other.
        answer = save_text(visitor, sign * (LONGEST_ANSWER // len(sign)))
        assert answer.status_code == 200, answer.text
        (field,) = answer.json()["fields"]
        assert field["fault"] and len(field["fault"]) < 400, field["fault"][:1000]
        for path in (f"/quiz/{QUIZ}/1", f"/quiz/{QUIZ}", f"/quiz/{QUIZ}/hand-in"):
            assert visitor.client.get(path).status_code == 200
        done = visitor.client.post(f"/quiz/{QUIZ}/hand-in", data={"csrf": visitor.token})
        assert done.status_code == 303
        spent = processor_seconds(live.process.pid) - spent
    assert spent < MOST_S and not watch.is_held_up, watch
    assert watch.growth < 50, watch.memory
    visitor.close()
