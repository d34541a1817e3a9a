"""``grade preview`` as an author runs it: a process of its own, real saves, real requests, Ctrl-C."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.authoring.scaffold import scaffold, write_new_files
from tests.live.preview import PATIENCE_S, Preview

ROOT = Path(__file__).parents[2]
NOBODY = 65534


Starter = Callable[..., Preview]


@pytest.fixture
def preview(tmp_path: Path) -> Iterator[Starter]:
    started: list[Preview] = []

    def start(*arguments: str) -> Preview:
        started.append(Preview(tmp_path, *arguments))
        return started[-1]

    yield start
    for found in started:
        assert "Traceback" not in found.end()


def begin(kind: str, folder: Path) -> Path:
    texts = scaffold(kind, "mine", None, folder)
    write_new_files(texts)
    return next(iter(texts))


def by_rename(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.swap")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def test_a_save_redraws_and_a_fault_keeps_the_last_variants(preview: Starter, tmp_path: Path) -> None:
    path = begin("vector", tmp_path)
    text = path.read_text(encoding="utf-8")
    running = preview("mine.yaml", "--seeds", "3")
    assert running.said.startswith("preview of mine.yaml: http://127.0.0.1:")
    events = running.events()
    page = running.page_with("Lint finds nothing wrong", events)
    assert page.count("<article ") == 3

    path.write_text(text.replace('title: "Mine"', "title: Another one"), encoding="utf-8")
    assert "<bdi>Another one</bdi>" in running.page_with("Another one", events)

    by_rename(path, text.replace("key: softmax(e)", "key: softmx(e)"))
    broken = running.page_with("did you mean", events)
    assert re.search(r'<code class="hash"><bdi>mine\.yaml:\d+:29</bdi></code>', broken)
    assert broken.count("<article ") == 3 and 'class="cards old"' in broken
    assert "<bdi>Another one</bdi>" in broken, "the variants are those of the last good save"

    path.write_bytes(b"")
    assert "the file is empty" in running.page_with("the file is empty", events)
    path.unlink()
    assert 'class="cards old"' in running.page_with("there is no such file", events)

    by_rename(path, text)
    mended = running.page_with("<bdi>Mine</bdi>", events)
    assert 'class="cards old"' not in mended


def test_ctrl_c_ends_it_although_pages_are_open(preview: Starter, tmp_path: Path) -> None:
    begin("token", tmp_path)
    running = preview("mine.yaml")
    told: list[str] = []
    page = threading.Thread(target=lambda: told.extend(running.events()))
    page.start()
    while not told:
        time.sleep(0.01)
    assert running.interrupt() == 0
    page.join(PATIENCE_S)
    assert not page.is_alive(), "what the page waits for is ended"
    said = running.end()
    assert said.splitlines()[1:] == ["  redrawn whenever you save; Ctrl-C ends", ""]


def test_only_what_the_page_needs_is_served_and_to_this_machine_only(
    preview: Starter, tmp_path: Path
) -> None:
    begin("number", tmp_path)
    (tmp_path / "secret.txt").write_text("SECRET")
    running = preview("mine.yaml", "--seeds", "1")
    assert running.ask()[0] == 200
    assert "prefers-color-scheme" in running.ask("/style.css")[1]
    assert "EventSource" in running.ask("/preview.js")[1]
    for path in ("/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/mine.yaml", "/?file=secret.txt"):
        status, body = running.ask(path)
        assert "SECRET" not in body and status == (200 if "?" in path else 404)
    assert running.ask("/", "POST")[0] == 405
    assert running.ask("/", "DELETE")[0] == 405
    for host in ("evil.example", f"evil.example:{running.port}", "127.0.0.1"):
        status, body = running.ask(host=host)
        assert status == 403 and "<article" not in body
    assert running.ask("/events", host="evil.example")[0] == 403
    assert running.ask(host=f"localhost:{running.port}")[0] == 200


@pytest.mark.root
@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0 or not Path("/proc/net/tcp").exists(),
    reason="only root can be another user, and only Linux tells owners of connections",
)
def test_another_user_of_this_machine_sees_no_keys(tmp_path: Path) -> None:
    # served by one ordinary user, asked for by another: root may see everything anyway. Each loads what it
    # needs before it becomes that user, who may not read the interpreter's files.
    become = f"import os, sys; os.setgid({NOBODY}); os.setuid(int(sys.argv[1]))\n"
    asking = (
        "import http.client, encodings.idna\n"
        f"{become}"
        "connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[2]))\n"
        "connection.request('GET', '/'); print(connection.getresponse().status)\n"
    )
    serving = (
        "from datetime import datetime\nfrom pathlib import Path\n"
        "import uvicorn.lifespan.off, uvicorn.loops.asyncio, uvicorn.protocols.http.h11_impl\n"
        "import anyio.to_thread, anyio._backends._asyncio, encodings.ascii\n"
        "from engine.authoring.preview.follow import PreviewState\n"
        "from engine.authoring.preview.server import PageHub, application, bind, serve\n"
        "hub = PageHub(PreviewState(datetime.now().astimezone()), Path('mine.yaml'))\n"
        "hub.page(), application(hub, 0)\n"
        f"{become}"
        "serve(hub, bind(0), lambda address: print(address, flush=True))\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", serving, str(NOBODY)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().rstrip("/\n").rpartition(":")[2]
        for user, status in ((NOBODY, "200"), (NOBODY - 1, "403"), (0, "200")):
            command = [sys.executable, "-c", asking, str(user), port]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.stdout.strip() == status, done.stderr
    finally:
        server.kill()
        server.communicate()


def test_a_known_mistake_of_the_course_is_followed_too(preview: Starter, tmp_path: Path, grade) -> None:
    grade("init", tmp_path / "course")
    path = begin("number", tmp_path / "course/problems")
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"    feedback: This is the weight.*\n", "", text), encoding="utf-8")
    registry = tmp_path / "course/problems/misconceptions.yaml"
    registry.write_text("m-other-weight: The first sentence.\n", encoding="utf-8")
    running = preview("mine", "--course", "course", "--seeds", "2")
    events = running.events()
    assert "The first sentence." in running.page_with("Lint finds nothing wrong", events)
    registry.write_text("m-other-weight: Another sentence.\n", encoding="utf-8")
    assert "The first sentence." not in running.page_with("Another sentence.", events)
    running.page_with("Lint finds nothing wrong", events)
    registry.write_text("m-other-weight: [\n", encoding="utf-8")
    assert 'class="cards old"' in running.page_with("misconceptions.yaml:", events)


def test_the_files_of_a_code_exercise_are_followed_too(preview: Starter, tmp_path: Path) -> None:
    path = begin("code", tmp_path)
    running = preview(str(path.relative_to(tmp_path)))
    events = running.events()
    running.page_with("Lint finds nothing wrong", events)
    solution = path.parent / "solution.py"
    by_rename(path.parent / "mutants/no_max_shift.py", solution.read_text(encoding="utf-8"))
    running.page_with("the mutant no-max-shift (mine) passes every check", events)


def test_a_built_in_item_is_shown_by_its_id(preview: Starter) -> None:
    assert preview("softmax-weights", "--seeds", "1").ask()[1].count("<article ") == 1


def test_a_port_in_use_is_told(preview: Starter, tmp_path: Path, grade) -> None:
    begin("number", tmp_path)
    running = preview("mine.yaml", "--seeds", "1")
    said = grade("preview", tmp_path / "mine.yaml", "--port", running.port, "--no-browser")
    assert said.code == 2
    assert f"port {running.port} is in use" in said.err and "--port 0 picks a free one" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nothing.yaml"], "there is no such file"),
        (["folder.yaml"], "this isn't a file"),
        (["softmax-wieghts"], "there is no item"),
        (["softmax-weights", "--seeds", "0"], "--seeds"),
        (["softmax-weights", "--port", "70000"], "--port"),
    ],
)
def test_what_cant_be_shown_is_refused(grade, arguments: list[str], what: str) -> None:
    Path("folder.yaml").mkdir()
    said = grade("preview", *arguments, "--no-browser")
    assert said.code == 2
    assert what in said.err


def test_without_the_web_server_it_says_what_to_install(grade, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name))
    said = grade("preview", "softmax-weights")
    assert said.code == 2
    assert "the preview needs uvicorn" in said.err and 'pip install "softmark[web]"' in said.err


def test_a_browser_is_opened_on_a_desktop_only(monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser

    from engine.commands.preview import _open_browser

    opened: list[str] = []
    done = threading.Event()
    monkeypatch.setattr(webbrowser, "open", lambda address: (opened.append(address), done.set()))
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    _open_browser("http://one/")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    _open_browser("http://two/")
    assert done.wait(PATIENCE_S)
    assert opened == ["http://two/"]
