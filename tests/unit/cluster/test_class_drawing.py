"""A class is drawn by workers, too: the same variants, whoever draws them and whatever goes wrong."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa

import engine.cluster.class_drawing as drawing_module
from engine.cluster.class_drawing import ClassDrawing
from engine.cluster.course_side import CourseQueue
from engine.cluster.drawing import (
    MOST_DRAWN,
    DrawingRequest,
    DrawnVariants,
    draw_requested,
    markup_of,
    read_drawn,
)
from engine.cluster.fingerprint import QueueName, engine_fingerprint
from engine.cluster.published_items import PublishedItems, publish_drawn_item
from engine.cluster.work_queue import QueuedProgram, WorkerFacts, WorkQueue
from engine.cluster.worker import ClusterWorker, WorkerTimes
from engine.draws import draw_key
from engine.errors import EngineError
from engine.items.bank import Bank, builtin_bank
from engine.model import GradeReport, Mode, Quiz
from engine.quiz import compose, read_blueprint
from engine.quiz.blueprint import blueprint_folders, find_blueprint
from engine.store.sql_tables import encode
from engine.variants import draw
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

PATIENCE_S = 120.0
STUDENTS = [f"s{number:02}" for number in range(60)]  # 480 variants: a large class
PLAN = read_blueprint(find_blueprint("l16", blueprint_folders(None)))
SECRET = b"secret"


class Tier:
    """What stands for the sandbox, which drawing doesn't use."""

    tier = "T3"


class Worker(ClusterWorker):
    """A worker whose drawn variants a test may change before they are handed in."""

    def __init__(
        self, address: str, name: str = "host/1", change: Callable[[str], str] = lambda text: text
    ) -> None:
        from engine.cluster.queue_tables import open_queue_database

        self.database = open_queue_database(address)
        times = WorkerTimes(beat_s=0.2, dead_after_s=2.0, look_s=0.5)
        super().__init__(WorkQueue(self.database), Tier(), packages=(), slots=1, times=times)  # type: ignore[arg-type]
        self.facts = WorkerFacts(name, 1, "T3", self.facts.engine, self.facts.packages)
        self.change = change

    def _grade(self, program: QueuedProgram) -> GradeReport | DrawnVariants:
        drawn = super()._grade(program)
        assert isinstance(drawn, DrawnVariants)
        return DrawnVariants(drawn.count, self.change(drawn.text))


@pytest.fixture(scope="module")
def bank() -> Bank:
    return builtin_bank()


@pytest.fixture(scope="module")
def alone(bank: Bank) -> list[str]:
    """The quizzes of one machine, as they are stored."""
    return stored(compose(PLAN, bank, STUDENTS, secret=SECRET, name="quiz"))


@pytest.fixture
def address() -> str:
    return server().new_database()


def stored(quizzes: Sequence[Quiz]) -> list[str]:
    return [encode(quiz) for quiz in quizzes]


def queue_at(address: str, bank: Bank) -> CourseQueue:
    return CourseQueue(
        address, bank=bank, secret=SECRET, title="Nets", mode=Mode.MARKS, tier="T2", packages=()
    )


def drawn(address: str, bank: Bank) -> tuple[list[str], list[str]]:
    """Return the stored quizzes of a class that is drawn with a queue, and what was said about it."""
    place = ClassDrawing(lambda: queue_at(address, bank), bank)
    return stored(compose(PLAN, bank, STUDENTS, secret=SECRET, name="quiz", place=place)), place.notes


@contextmanager
def working(*workers: Worker) -> Iterator[None]:
    threads = [threading.Thread(target=worker.run) for worker in workers]
    for thread in threads:
        thread.start()
    end = time.monotonic() + PATIENCE_S
    while any(worker._number is None for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.01)
    try:
        yield
    finally:
        for worker, thread in zip(workers, threads, strict=True):
            worker.stop()
            thread.join(PATIENCE_S)
            worker.database.close()


def new_queue(address: str, bank: Bank) -> None:
    queue_at(address, bank).close()


def count(address: str, bank: Bank, table: str) -> int:
    queue = queue_at(address, bank)
    with queue.queue.database.read() as connection:
        number = connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar()
    queue.close()
    return int(number or 0)


@pytest.fixture
def waits_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine draw nothing that is still in the queue: workers do it all, however slow they are."""
    really = drawing_module._DrawingRun._draw_here
    end = time.monotonic() + PATIENCE_S

    def wait(run: drawing_module._DrawingRun, queue: CourseQueue) -> None:
        if run._left or time.monotonic() > end:
            really(run, queue)
        else:
            time.sleep(0.02)

    monkeypatch.setattr(drawing_module._DrawingRun, "_draw_here", wait)


@pytest.mark.usefixtures("waits_for_workers")
def test_workers_draw_the_quizzes_of_one_machine(address: str, bank: Bank, alone: list[str]) -> None:
    new_queue(address, bank)
    with working(Worker(address), Worker(address, "host/2")):
        quizzes, notes = drawn(address, bank)
    assert quizzes == alone
    assert notes == ["workers drew 480 of 480 variants; the others were drawn on this machine"]
    assert count(address, bank, "programs") == count(address, bank, "procrastinate_jobs") == 0


def test_this_machine_draws_beside_a_worker(address: str, bank: Bank, alone: list[str]) -> None:
    new_queue(address, bank)
    with working(Worker(address)):
        quizzes, _ = drawn(address, bank)
    assert quizzes == alone
    assert count(address, bank, "programs") == count(address, bank, "procrastinate_jobs") == 0


@pytest.mark.usefixtures("waits_for_workers")
def test_a_worker_that_changes_keys_is_named_and_nothing_of_it_is_kept(
    address: str, bank: Bank, alone: list[str]
) -> None:
    def lie(text: str) -> str:
        variants = json.loads(text)
        for variant in variants:
            for part in variant["parts"]:
                part["key_ids"] = [*reversed(part["key_ids"]), "c1"]
        return json.dumps(variants, separators=(",", ":"))

    new_queue(address, bank)
    with working(Worker(address, "liar/7", lie)):
        quizzes, notes = drawn(address, bank)
    assert quizzes == alone
    assert len(notes) == 2 and notes[1].startswith("no worker drew any of 480 variants")
    assert notes[0].startswith("worker liar/7 drew ")
    assert notes[0].endswith("so all that it drew was dropped; look at that machine")


@pytest.mark.usefixtures("waits_for_workers")
def test_one_lie_among_many_variants_is_found_in_some_piece(
    address: str, bank: Bank, alone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was taken from the worker before is dropped, too; the honest worker's work is kept."""
    pieces = 0

    def lie(text: str) -> str:
        nonlocal pieces
        pieces += 1
        if pieces <= 3:  # honest at first
            return text
        variants = json.loads(text)
        variants[0]["parts"][0]["key_ids"] = ["c9"]
        return json.dumps(variants, separators=(",", ":"))

    # Every variant is compared: whether a sample meets one lie is chance.
    monkeypatch.setattr(drawing_module, "_SAMPLE", 1)
    new_queue(address, bank)
    with working(Worker(address, "liar/7", lie), Worker(address, "honest/1")):
        quizzes, notes = drawn(address, bank)
    assert quizzes == alone
    if pieces > 3:
        assert notes[0].startswith("worker liar/7 drew ")


class _NeverTheFirst(random.SystemRandom):
    """Compares all variants of a piece but the first one: chance would do that, too, now and then."""

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        return [*population][1:]


@pytest.mark.parametrize(
    ("form", "more"),
    [
        ("html", "<script>alert(1)</script>"),
        ("html", '<p onclick="alert(1)">x</p>'),
        ("latex", r"\input{/etc/passwd}"),
        ("plain", "\x1b[2J"),
    ],
)
@pytest.mark.usefixtures("waits_for_workers")
def test_a_text_that_does_something_is_never_used(
    address: str, bank: Bank, alone: list[str], monkeypatch: pytest.MonkeyPatch, form: str, more: str
) -> None:
    def lie(text: str) -> str:
        variants = json.loads(text)
        variants[0]["stem"][form] += more
        return json.dumps(variants, separators=(",", ":"))

    monkeypatch.setattr(drawing_module.secrets, "SystemRandom", _NeverTheFirst)
    new_queue(address, bank)
    with working(Worker(address, "liar/7", lie)):
        quizzes, _ = drawn(address, bank)
    assert quizzes == alone


@pytest.mark.parametrize(
    "text",
    [
        r'{"\u0068tml":"<script>"}',
        r'{"html":"\u003cscript>"}',
        '{"html":"<p"}',
        '{"html":"a > b"}',
        '{"html":"<p onclick=alert(1)>"}',
        '{"html":"<!-- -->"}',
        '{"latex":"^^5cinput"}',
        r'{"plain":"\u001b[2J"}',
        r'{"plain":"\u202e"}',
        '{"plain":"\u00e9"}',
    ],
)
def test_what_the_engine_never_writes_has_no_markup_to_compare(text: str) -> None:
    json.loads(text)
    assert markup_of(text) is None


def test_markup_is_compared_by_tags_attributes_and_commands() -> None:
    text = json.dumps([{"html": '<p class="a">1 &lt; 2<br /></p>', "latex": "\\alpha\n\\%", "plain": "<b>"}])
    assert markup_of(text) == {"<p>", "p class", "<br>", "\\alpha", "\\%"}


@pytest.mark.parametrize(
    "text", ["[]", "null", "{}", "[" * 100_000, '[{"item": 1}]', "not JSON", "[" + "1," * 49 + "1]"]
)
@pytest.mark.usefixtures("waits_for_workers")
def test_what_is_no_list_of_variants_is_drawn_here(
    address: str, bank: Bank, alone: list[str], text: str
) -> None:
    new_queue(address, bank)
    with working(Worker(address, "liar/7", lambda _: text)):
        quizzes, notes = drawn(address, bank)
    assert quizzes == alone
    assert notes[0].startswith("worker liar/7 drew ")


def test_without_a_worker_all_is_drawn_here(address: str, bank: Bank, alone: list[str]) -> None:
    quizzes, notes = drawn(address, bank)
    assert quizzes == alone
    assert notes == [
        "no worker is running; start some: grade worker --store URL (docs/scaling.md)",
        "no worker drew any of 480 variants; the others were drawn on this machine",
    ]
    assert count(address, bank, "programs") == count(address, bank, "items") == 0


def test_without_a_server_all_is_drawn_here(bank: Bank, alone: list[str]) -> None:
    quizzes, notes = drawn("postgresql://nobody@127.0.0.1:1/nothing", bank)
    assert quizzes == alone
    assert notes[0].startswith("the queue can't be used: ")


def test_a_small_class_is_not_handed_over(address: str, bank: Bank) -> None:
    place = ClassDrawing(lambda: queue_at(address, bank), bank)
    compose(PLAN, bank, STUDENTS[:2], secret=SECRET, name="quiz", place=place)
    assert place.notes == ["16 variants: drawn on this machine sooner than handed over to workers"]


def test_what_is_cancelled_is_drawn_here(
    address: str, bank: Bank, alone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    really = drawing_module._DrawingRun._draw_here

    def cancel(run: drawing_module._DrawingRun, queue: CourseQueue) -> None:
        queue.queue.cancel(queue.queue.waiting())
        really(run, queue)

    monkeypatch.setattr(drawing_module._DrawingRun, "_draw_here", cancel)
    new_queue(address, bank)
    # It is there, and draws nothing.
    queue = queue_at(address, bank)
    facts = WorkerFacts("idle/1", 1, "T3", engine_fingerprint(), "")
    WorkQueue(queue.queue.database).register_worker(facts)
    quizzes, notes = drawn(address, bank)
    queue.close()
    assert quizzes == alone and notes[-1].startswith("no worker drew any of 480 variants")


def test_a_database_that_goes_away_costs_nothing(
    address: str, bank: Bank, alone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.cluster.course_line import CourseLine
    from engine.errors import StoreError

    def away(*_: object) -> None:
        raise StoreError("the connection to the database server was lost")

    new_queue(address, bank)
    with working(Worker(address)):
        monkeypatch.setattr(CourseLine, "reports_of", away)
        quizzes, notes = drawn(address, bank)
    assert quizzes == alone
    assert notes[0] == "the queue can't be used: the connection to the database server was lost"


def test_older_workers_and_those_of_another_engine_leave_it_alone(address: str, bank: Bank) -> None:
    new_queue(address, bank)
    name = str(QueueName.of_drawing("c" * 12))
    assert name.split(".")[1] not in ("T1", "T2", "T3")  # what an older worker takes for a queue of ours
    assert len("procrastinate_queue_v1#" + name) < 64  # PostgreSQL's channels have names of 63 bytes
    worker = Worker(address)
    assert worker._serves(name)
    assert not worker._serves(name.replace(".draw.", ".T9."))
    assert not worker._serves(name[:-1] + "x")  # another engine
    course, kind, texts, engine = name.split(".")
    assert not worker._serves(".".join((course, kind, texts[::-1] + "0", engine)))
    worker._items.close()
    worker.database.close()


def test_a_worker_draws_from_the_files_and_settings_of_the_course(address: str, bank: Bank) -> None:
    """With decimal commas and without notes on errata, as the course has it; the version is the same."""
    quiet = Bank([bank.path("softmax-weights").parents[1]], errata_notes=False, decimal_comma=True)
    queue = queue_at(address, quiet)
    files = publish_drawn_item(queue.queue.database, queue.course, quiet, "softmax-weights")
    version = quiet.version("softmax-weights")
    seed = draw_key(SECRET, "softmax-weights", "quiz/s1", 0)
    request = DrawingRequest((seed,), files, quiet.wording)
    items = PublishedItems(queue.queue.database)
    program = QueuedProgram(1, queue.course, "", "softmax-weights", version, "drawing", request.text(), 0, 0)
    made = draw_requested(items, program)
    want = draw(
        quiet.load("softmax-weights"),
        version=version,
        registry=quiet.registry(),
        secret=SECRET,
        student="quiz/s1",
    )
    assert made == DrawnVariants(1, f"[{encode(want)}]")
    assert '"decimal_comma":true' in made.text
    assert read_drawn(made.text, want, 1) == [want]
    # Published again with another registry: what was asked for before isn't drawn from it.
    with queue.queue.database.write() as connection:
        connection.execute(sa.text("UPDATE items SET files = replace(files, 'yaml', 'yml')"))
    other = PublishedItems(queue.queue.database)
    with pytest.raises(EngineError, match="with other files meanwhile"):
        draw_requested(other, program)
    for opened in (items, other):
        opened.close()
    queue.close()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"seeds": []}',
        json.dumps({"seeds": [], "files": "0" * 64, "wording": {}}),
        json.dumps({"seeds": ["0" * 63], "files": "0" * 64, "wording": {}}),
        json.dumps({"seeds": ["0" * 64] * (MOST_DRAWN + 1), "files": "0" * 64, "wording": {}}),
        json.dumps({"seeds": ["0" * 64], "files": "/etc/passwd", "wording": {}}),
        json.dumps({"seeds": ["0" * 64], "files": "0" * 64, "wording": {"packages": True}}),
        json.dumps(
            {
                "seeds": ["0" * 64],
                "files": "0" * 64,
                "wording": {"errata_notes": 1, "decimal_comma": False},
            }
        ),
    ],
)
def test_a_request_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(EngineError, match="a request for variants can't be read"):
        DrawingRequest.of_text(text)


def test_seeds_say_nothing_of_students_or_secret(bank: Bank) -> None:
    seeds = tuple(draw_key(SECRET, "softmax-weights", f"quiz/{s}", 0) for s in ("anna", "ben"))
    text = DrawingRequest(seeds, "0" * 64, bank.wording).text()
    assert DrawingRequest.of_text(text).seeds == seeds and len(set(seeds)) == 2
    assert not any(word in text for word in ("anna", "ben", "secret", SECRET.hex()))
