"""What waits, for staff: here, or in the queue of several machines, which other courses may share."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from engine.cluster.course_side import CourseQueue
from engine.cluster.queue_tables import reports
from engine.cluster.work_queue import SET_ASIDE, WorkerFacts, WorkQueue
from engine.course import Course
from engine.errors import StoreError
from engine.model import CodeSubmission
from engine.web.coding import queue_page
from engine.web.site import Site
from tests.live.postgres import server
from tests.live.site import new_course
from tests.web.conftest import ADDRESS, SignedIn
from tests.web.forms_of_pages import form_token, send_form

PAGE = "/staff/waiting"
OTHER = "d" * 12


def seen(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.partition("<main")[2])))


def code(student: str) -> CodeSubmission:
    return CodeSubmission(f"x = {student!r}\n", "f.py", f"{student.encode().hex():0>64}")


def test_a_site_that_grades_itself_says_so(site: Site, signed_in: SignedIn) -> None:
    site.hand_in_desk.hand_in("ada", "softmax", code("ada"), site.mode, lambda times: None)
    site.hand_in_desk.slots = 3
    staff = signed_in("ivy")
    page = seen(staff.get(PAGE).text)
    assert "This server grades hand-ins itself, 3 at a time" in page and "number 1 in line" in page
    assert "Ada Lovelace" in page and "Workers" not in page and "Pause" not in page
    token = form_token(staff, PAGE)
    for action in ("pause", "retry", "drain"):
        refused = staff.post(f"{PAGE}/{action}", data={"csrf": token, "all": "yes", "worker": "1"})
        assert refused.status_code == 400 and "grades on its own machine" in refused.text
    assert not [e for _, e in site.store.audit.newest(9) if e.action.startswith("queue.")]


class TestSharedQueue:
    """The site hands over to a queue; nobody works there but who is registered here."""

    pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

    @pytest.fixture
    def site(self, tmp_path: Path) -> Iterator[Site]:
        folder = new_course(
            tmp_path / "course",
            students=("ada,Ada Lovelace,ada@example.edu", "bob,Bob Moran,bob@example.edu"),
            store=server().new_store(),
        )
        course = Course.open(folder)
        with course.open_store() as store:
            site = Site(folder, store, ADDRESS)
            site.hand_in_desk.queue_address = str(course.store_place)
            yield site
            site.hand_in_desk.stop()

    @pytest.fixture
    def queue(self, site: Site) -> CourseQueue:
        return site.hand_in_desk.course_queue()

    @staticmethod
    def worker(queue: CourseQueue, name: str, engine: str = "") -> int:
        _, tier, packages, mine = queue.name.split(".")
        line = WorkQueue(queue.queue.database)
        return line.register_worker(WorkerFacts(name, 4, tier, engine or mine, packages))

    @staticmethod
    def aside(queue: CourseQueue, student: str, course: str = "") -> int:
        """Put a program into the queue that no worker could grade; return its number."""
        (number,) = queue.hand_over([queue.program(student, "softmax", code(student))])
        with queue.queue.database.write() as connection:
            values = {"program": number, "report": None, "reason": SET_ASIDE, "worker": "", "seconds": 0.0}
            connection.execute(sa.insert(reports).values(values))
            if course:
                connection.execute(
                    sa.text(
                        "INSERT INTO items SELECT CAST(:course AS varchar), item, version, seed, files"
                        " FROM items WHERE course <> CAST(:course AS varchar) ON CONFLICT DO NOTHING"
                    ),
                    {"course": course},
                )
                connection.execute(
                    sa.text("UPDATE programs SET course = CAST(:course AS varchar) WHERE id = :number"),
                    {"course": course, "number": number},
                )
        return number

    def test_what_waits_and_why_nobody_takes_it(
        self, site: Site, queue: CourseQueue, signed_in: SignedIn
    ) -> None:
        queue.hand_over([queue.program("bob", "softmax", code("bob"))], interactive=True)
        staff = signed_in("ivy")
        page = seen(staff.get(PAGE).text)
        assert "No worker takes this course's programs" in page and "no worker is running" in page
        self.worker(queue, "old/1", "another")
        site.hand_in_desk._known_standing = (-1e9, None)
        page = seen(staff.get(PAGE).text)
        assert "worker old/1 doesn't take this work: it was handed over by another version" in page
        self.worker(queue, "new/1")
        site.hand_in_desk._known_standing = (-1e9, None)
        page = seen(staff.get(PAGE).text)
        assert "No worker takes" not in page and "new/1" in page
        assert "it leaves this course alone: it was handed over by another version" in page

    def test_pause_resume_and_the_log(self, site: Site, queue: CourseQueue, signed_in: SignedIn) -> None:
        staff = signed_in("ivy")
        assert send_form(staff, PAGE, "/pause").status_code == 303
        assert "This course is paused" in seen(staff.get(PAGE).text)
        assert send_form(staff, PAGE, "/pause").status_code == 303
        assert "This course is paused" not in seen(staff.get(PAGE).text)
        log = [(entry.action, entry.by, entry.subject) for _, entry in site.store.audit.newest(2)]
        assert log == [("queue.resume", "ivy", "Attention"), ("queue.pause", "ivy", "Attention")]
        assert "paused grading by other machines" in staff.get("/staff/log").text
        for person in ("mia", "ada"):
            browser = signed_in(person)
            token = form_token(browser, "/account")
            assert browser.post(f"{PAGE}/pause", data={"csrf": token, "paused": "yes"}).status_code == 404

    def test_set_aside_programs_have_names_here_and_are_tried_again(
        self, site: Site, queue: CourseQueue, signed_in: SignedIn
    ) -> None:
        first, second = self.aside(queue, "ada"), self.aside(queue, "bob")
        staff = signed_in("ivy")
        page = staff.get(PAGE).text
        assert "Ada Lovelace" in page and "Bob Moran" in page and "so it is set aside" in page
        assert queue.program("ada", "softmax", code("ada")).student not in page
        token = form_token(staff, PAGE)
        again = staff.post(f"{PAGE}/retry", data={"csrf": token, "program": str(second)})
        assert again.status_code == 303 and queue.queue.set_aside() == [first]
        assert staff.post(f"{PAGE}/retry", data={"csrf": token, "program": str(second)}).status_code == 400
        assert send_form(staff, PAGE, "/retry").status_code == 303  # all that are left
        assert queue.queue.set_aside() == [] and queue.queue.waiting() == [first, second]
        counts = [e.details["programs"] for _, e in site.store.audit.newest(9, action="queue.retry")]
        assert counts == [1, 1]

    def test_a_worker_is_drained(self, site: Site, queue: CourseQueue, signed_in: SignedIn) -> None:
        number = self.worker(queue, "lab/1")
        staff = signed_in("ivy")
        assert send_form(staff, PAGE, "/drain").status_code == 303
        assert "it ends after what it has in hand" in seen(staff.get(PAGE).text)
        assert WorkQueue(queue.queue.database).beat(number).is_draining
        token = form_token(staff, PAGE)
        gone = staff.post(f"{PAGE}/drain", data={"csrf": token, "worker": "77"})
        assert gone.status_code == 400 and "isn't in the queue any more" in html.unescape(gone.text)

    def test_of_other_courses_there_are_numbers_only(
        self, site: Site, queue: CourseQueue, signed_in: SignedIn
    ) -> None:
        queue.queue.register_course(OTHER, "Secret seminar")
        theirs = self.aside(queue, "eve", OTHER)
        mine = self.aside(queue, "ada")
        number = self.worker(queue, "lab/1")
        WorkQueue(queue.queue.database).beat(number, "exercise secret-exercise has no file plan.py")
        staff = signed_in("ivy")
        page = staff.get(PAGE).text
        assert "1 other course uses this queue too: 0 programs without a report, 1 set aside" in seen(page)
        assert "Secret" not in page and "secret-exercise" not in page and OTHER not in page
        assert f'value="{theirs}"' not in page and f'value="{mine}"' in page
        token = form_token(staff, PAGE)
        # What isn't this course's can't be touched either.
        assert staff.post(f"{PAGE}/retry", data={"csrf": token, "program": str(theirs)}).status_code == 400
        refused = staff.post(f"{PAGE}/drain", data={"csrf": token, "worker": str(number)})
        assert refused.status_code == 400 and "other courses too" in refused.text
        assert not WorkQueue(queue.queue.database).beat(number).is_draining
        assert send_form(staff, PAGE, "/retry").status_code == 303
        assert queue.queue.set_aside() == [theirs]

    def test_a_queue_that_cant_be_read(
        self, site: Site, queue: CourseQueue, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise StoreError("the queue was made by another version of Softmark")

        monkeypatch.setattr(queue_page, "_view", refuse)
        page = signed_in("ivy").get(PAGE)
        assert page.status_code == 200 and "made by another version of Softmark" in page.text
