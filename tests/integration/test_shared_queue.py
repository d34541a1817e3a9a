"""Several courses in one queue, each with a store of its own: who may, who comes next, whose marks."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.cluster.work_queue import QueueReport, WorkerFacts, WorkQueue
from engine.errors import StoreError
from tests.integration.test_cluster_command import GRADE, PATIENCE_S, ROOT, grade, started, waiting
from tests.live.code_visitor import CodeVisitor
from tests.live.postgres import server
from tests.live.site import LiveSite
from tests.live.site import new_course as new_site

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

PASSWORD = "pass word"
DEPARTMENT, ADA, BEN, GRADER = "department", "lecturer_ada", "lecturer_ben", "shared_grader"
STUDENTS = 150  # three chunks of 50

RIGHT = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
PROGRAMS = (
    RIGHT,
    RIGHT.replace(" - x.max(axis=axis, keepdims=True)", ""),  # overflows
    RIGHT.replace("axis=axis", "axis=-1"),
    "def softmax(x, axis=-1):\n    return x\n",
)


def login(role: str) -> None:
    server().sql(
        f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}';"
        " EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )


def new_database(owner: str) -> str:
    name = server().new_database().partition("@/")[2].partition("?")[0]
    server().sql(f"ALTER DATABASE {name} OWNER TO {owner}")
    return name


def at(name: str, role: str) -> str:
    return server().url(name, user=role, password=PASSWORD)


@pytest.fixture(scope="module")
def queue_name() -> str:
    """A database for the queue alone, as in docs/scaling.md: nobody logs in as the role that owns it."""
    for role in (ADA, BEN, GRADER):
        login(role)
    server().sql(
        f"DO $$ BEGIN CREATE ROLE {DEPARTMENT} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    name = new_database(DEPARTMENT)
    server().sql(f"GRANT {DEPARTMENT} TO {ADA}, {BEN}")
    return name


@dataclass(frozen=True)
class OneOfTwo:
    """A course with a class of its own."""

    folder: Path
    title: str

    @property
    def handed_in(self) -> Path:
        return self.folder.parent / f"{self.folder.name}-handed-in"

    def batch(self, *more: object) -> list[object]:
        out = self.folder.parent / f"{self.folder.name}-out"
        return ["batch", self.handed_in, "--course", self.folder, "--out", out, *more]

    def gradebook(self) -> dict[str, str]:
        table = self.folder.parent / f"{self.folder.name}-out" / "gradebook.csv"
        with table.open(newline="") as file:
            return {row["student"]: row["softmax"] for row in csv.DictReader(file)}


def new_course(folder: Path, title: str, settings: str, first: int, students: int = STUDENTS) -> OneOfTwo:
    grade("init", folder, "--title", title)
    (folder / "course.yaml").write_text(f"title: {title}\n{settings}")
    course = OneOfTwo(folder, title)
    # The same students in both: only the course tells their programs apart.
    ids = [f"s{n:03}" for n in range(students)]
    (folder / "roster.csv").write_text("id,name,email\n" + "".join(f"{student},,\n" for student in ids))
    for number, student in enumerate(ids):
        place = course.handed_in / student
        place.mkdir(parents=True)
        (place / "softmax.py").write_text(PROGRAMS[(number + first) % len(PROGRAMS)])
    return course


def status(course: OneOfTwo) -> dict[str, dict[str, object]]:
    """Return what `grade queue` says of each course, whatever its exit code."""
    words = [*GRADE, "queue", "status", "--json", "--course", str(course.folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stdout, done.stderr
    return {entry["title"]: entry for entry in json.loads(done.stdout)["courses"]}


def until_waiting(name: str, count: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while waiting(server().url(name)) != count:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_two_courses_share_a_queue_by_weight_and_keep_their_marks_apart(
    queue_name: str, tmp_path: Path
) -> None:
    ada = new_course(tmp_path / "ada", "Ada's", f"queue: {at(queue_name, ADA)}\n", 0)
    store = new_database(BEN)
    ben_settings = f"store: {at(store, BEN)}\nqueue: {at(queue_name, BEN)}\n"
    ben = new_course(tmp_path / "ben", "Ben's", ben_settings, 1)
    # Each lecturer lets the department's workers grade; the first one's account makes the queue.
    for course in (ada, ben):
        said = grade("worker", "allow", GRADER, "--course", course.folder)
        assert f"{GRADER} may grade for {course.title}, and nothing else" in said
    owner = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'softmark_queue'"
    assert server().sql(owner, queue_name) == [(DEPARTMENT,)]

    # Classes are handed over, then weighed: what waits is put in order again.
    with started(*ada.batch("--cluster", "--json")) as ada_run:
        until_waiting(queue_name, STUDENTS)
        with started(*ben.batch("--cluster", "--json")) as ben_run:
            until_waiting(queue_name, 2 * STUDENTS)
            grade("queue", "weight", ben.title, 3, "--course", ada.folder)
            for course in (ada, ben):  # either one's course leads to the same queue
                seen = status(course)
                assert {title: (seen[title]["batch"], seen[title]["weight"]) for title in seen} == {
                    ada.title: (STUDENTS, 1),
                    ben.title: (STUDENTS, 3),
                }
            titles = {seen[title]["id"]: title for title in seen}
            order = "SELECT split_part(queue_name, '.', 1) FROM softmark_queue.procrastinate_jobs"
            chunks = server().sql(f"{order} WHERE status = 'todo' ORDER BY priority DESC, id", queue_name)
            # Three chunks of the heavy course in the place of one of the other's.
            line = [titles[str(course)] for (course,) in chunks]
            assert sorted(line[:4]) == [ada.title, *3 * [ben.title]] and line[4:] == 2 * [ada.title]

            worker = ("worker", "--store", at(queue_name, GRADER), "--slots", 1)
            with started(*worker) as first, started(*worker) as second:
                results = [run.communicate(timeout=PATIENCE_S) for run in (ada_run, ben_run)]
                for process in (first, second):
                    process.terminate()
                logs = [process.communicate(timeout=PATIENCE_S)[1] for process in (first, second)]
    for (printed, said), run in zip(results, (ada_run, ben_run), strict=True):
        assert run.returncode == 0, said
        assert (json.loads(printed)["graded"], json.loads(printed)["ungraded"]) == (STUDENTS, [])
        assert "pass" not in said
    lines = [json.loads(line) for log in logs for line in log.splitlines()]
    counts = {titles[e["queue"].partition(".")[0]]: 0 for e in lines if e["event"] == "chunk"}
    assert set(counts) == {ada.title, ben.title}
    assert all(status(ada)[title]["batch"] == 0 for title in (ada.title, ben.title))

    # Each store has its own course's marks, those of one machine, and the queue's database has none.
    with closing(sqlite3.connect(ada.folder / ".softmark" / "store.db")) as file:
        assert file.execute("SELECT count(*) FROM attempts").fetchone() == (STUDENTS,)
    assert server().sql("SELECT count(*) FROM attempts", store) == [(STUDENTS,)]
    assert server().sql("SELECT to_regclass('public.attempts')", queue_name) == [(None,)]
    there = [ada.gradebook(), ben.gradebook()]
    assert there[0] != there[1] and len(set(there[0].values())) > 2
    for course, marks in zip((ada, ben), there, strict=True):
        grade(*course.batch("--store", tmp_path / f"{course.folder.name}.db"))
        assert course.gradebook() == marks


def test_no_course_collects_the_reports_of_another(queue_name: str) -> None:
    """Whoever hands the same program of the same pseudonym over, of each course only its own comes back."""
    facts = WorkerFacts("host/1", 1, "T1", "0123456789ab", "abcdef")
    courses = ("a" * 12, "b" * 12)
    with (
        closing(open_queue_database(at(queue_name, ADA))) as ada,
        closing(open_queue_database(at(queue_name, BEN))) as ben,
    ):
        make_queue(ada)
        make_queue(ben)
        lines = {course: CourseLine(database) for course, database in zip(courses, (ada, ben), strict=True)}
        numbers = {}
        for course, line in lines.items():
            line.register_course(course, course)
            server().sql(
                f"INSERT INTO softmark_queue.items VALUES ('{course}', 'softmax', 'v1', '00', '{{}}')",
                queue_name,
            )
            program = ProgramForQueue("student", "softmax", "v1", "hash", "code")
            queue = f"{course}.T1.abcdef.0123456789ab"
            (numbers[course],) = line.hand_over(course, queue, "marks", f"run {course}", [program], chunk=1)
        work = WorkQueue(ada)
        worker = work.register_worker(facts)
        for course in courses:
            chunk = work.claim(worker, [f"{course}.T1.abcdef.0123456789ab"])
            assert chunk is not None and [p.id for p in chunk.programs] == [numbers[course]]
            work.hand_in(worker, chunk, [QueueReport(numbers[course], course, None, "host/1", 0.1)])
        for course, line in lines.items():
            assert [report.report for report in line.reports_of(f"run {course}")] == [course]
        lines[courses[0]].forget([numbers[courses[0]]])
        assert [report.report for report in lines[courses[1]].reports_of(f"run {courses[1]}")] == [courses[1]]


def test_an_account_that_has_no_part_in_the_queue_hears_whose_it_is(queue_name: str, tmp_path: Path) -> None:
    # Without a role for both, the queue is the account's that used it first.
    name = new_database(ADA)
    with closing(open_queue_database(at(name, ADA))) as first:
        make_queue(first)
    ben = new_course(tmp_path / "ben", "Ben's", f"queue: {at(name, BEN)}\n", 0, students=1)
    for words in (
        ben.batch("--cluster"),
        ["queue", "--course", ben.folder],
        ["worker", "allow", GRADER, "--course", ben.folder],
    ):
        command = [*GRADE, *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 3, done.stdout + done.stderr
        assert "the queue belongs to another account" in done.stderr
        assert f"the account {ADA}, or a member of that role" in done.stderr
        assert f"the account {BEN}" in done.stderr and "Several courses, one queue" in done.stderr
        assert PASSWORD not in done.stderr and "pass%20word" not in done.stderr
    # What the page says then: the queue goes, and a role that both are members of owns the next one.
    server().sql("DROP SCHEMA softmark_queue CASCADE", name)
    server().sql(f"ALTER DATABASE {name} OWNER TO {DEPARTMENT}")
    for role in (ADA, BEN):
        with closing(open_queue_database(at(name, role))) as database:
            make_queue(database)
            CourseLine(database).register_course(role, role)
    # A worker's account is no course's: it may look, and hand nothing over.
    grade("worker", "allow", GRADER, "--course", ben.folder)
    with (
        closing(open_queue_database(at(name, GRADER))) as worker,
        pytest.raises(StoreError, match="the queue belongs to another account"),
    ):
        make_queue(worker)


def test_a_copied_folder_is_the_same_course_and_loses_no_mark(queue_name: str, tmp_path: Path) -> None:
    name = new_database(DEPARTMENT)  # of which both lecturers are members since `queue_name`
    first = new_course(tmp_path / "first", "First", f"queue: {at(name, ADA)}\n", 0, students=4)
    shutil.copytree(first.folder, tmp_path / "copy")
    shutil.copytree(first.handed_in, tmp_path / "copy-handed-in")
    copy = OneOfTwo(tmp_path / "copy", "Copy")
    (copy.folder / "course.yaml").write_text(f"title: Copy\nqueue: {at(name, BEN)}\n")
    collects = "SELECT count(DISTINCT run), min(run) FROM softmark_queue.programs"
    with started(*first.batch("--cluster", "--json")) as first_run:
        until_waiting(name, 4)
        before = server().sql(collects, name)
        with started(*copy.batch("--cluster", "--json")) as copy_run:
            end = time.monotonic() + PATIENCE_S
            while (now := server().sql(collects, name)) == before or now[0][0] != 1:
                assert time.monotonic() < end
                time.sleep(0.1)
            # The same students and programs: there are no further ones, and no second course.
            assert {title: entry["batch"] for title, entry in status(copy).items()} == {"Copy": 4}
            with started("worker", "--store", at(name, ADA), "--slots", 1):
                (printed, _), (theirs, said) = (
                    run.communicate(timeout=PATIENCE_S) for run in (first_run, copy_run)
                )
                # Whoever handed over last has the reports. The other one says what it lacks.
                assert (first_run.returncode, copy_run.returncode) == (3, 0)
                assert json.loads(theirs)["graded"] == 4 and json.loads(printed)["graded"] == 0
                left = json.loads(printed)["ungraded"]
                assert len(left) == 4 and all("the next run hands it over again" in e["reason"] for e in left)
                grade(*first.batch("--cluster"))
    assert "until now the queue knew this course as First" in said and "grade init" in said
    assert first.gradebook() == copy.gradebook()


def test_a_site_with_its_store_in_a_file_has_its_work_graded_elsewhere(
    queue_name: str, tmp_path: Path
) -> None:
    folder = new_site(tmp_path / "site", students=("bob,Bob Moran,bob@example.edu",))
    with (folder / "course.yaml").open("a") as settings:
        settings.write(f"\nqueue: {at(queue_name, BEN)}\n")
    with LiveSite(folder, "--cluster") as site, started("worker", "--store", at(queue_name, ADA)) as worker:
        bob = CodeVisitor(site, "bob")
        with bob.client, site.browser("ivy") as staff:
            assert "10 of 10 points" in bob.feedback("softmax", bob.hand_in("softmax", RIGHT))
            assert "no worker is running" not in staff.get("/staff/waiting").text
        again = grade("regrade", "--all", "--dry-run", "--json", "--course", folder, "--cluster")
        assert json.loads(again)["changes"] == []
        worker.terminate()
        assert "2 programs graded" in worker.communicate(timeout=PATIENCE_S)[0]
    with closing(sqlite3.connect(folder / ".softmark" / "store.db")) as file:
        assert file.execute("SELECT count(*) FROM attempts").fetchone() == (1,)
