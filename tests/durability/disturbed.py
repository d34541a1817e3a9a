"""A class that is graded while things go wrong, beside an undisturbed run of it."""

from __future__ import annotations

import re
from pathlib import Path

from engine.store import Attempt, open_store
from tests.durability.classroom import Classroom, Key
from tests.durability.graders import End, Graders
from tests.live.postgres import server

__all__ = ["Class"]


class Class:
    """The class, an undisturbed run of it, and the graders."""

    def __init__(self, room: Classroom, running: Graders) -> None:
        self.room = room
        self.graders = running
        assert running.first.code == 0, (room.folder / "log-0").read_text()
        self.books = room.books()
        self.wanted = room.attempts()
        self.store: str | Path = room.store

    def begin_again(self, *, on_server: bool) -> None:
        self.room.begin_again()
        self.store = self.room.store
        if on_server:
            self.store = server().new_store()
            with open_store(self.room.store) as drawn, open_store(self.store) as store:
                store.save_quizzes(drawn.quizzes())

    @property
    def address(self) -> str:
        """Address of the server's store; empty where the course's own is used."""
        return self.store if isinstance(self.store, str) else ""

    def grade(self, *, crash_at: str = "", kill_after_s: float | None = None) -> End:
        """Let one grader work, and see that it grades nothing again and that nothing is lost or doubled."""
        before = self.attempts()
        end = self.graders.run(
            *self.room.command("--workers", 2),
            store=self.address,
            crash_at=crash_at,
            kill_after_s=kill_after_s,
        )
        after = self.attempts()
        if crash_at.startswith("after-record") and end.was_killed:
            assert len(after) - len(before) >= int(crash_at[-1]), "what was recorded is there"
        assert {key: after.get(key) for key in before} == before, "what was graded stays as it is"
        run_again = {f"# {student}" for student, item, _ in before if item == "softmax"}
        assert not run_again & {source.strip().splitlines()[-1] for source in end.sources}
        return end

    def attempts(self) -> dict[Key, Attempt]:
        """Return what is stored: each has the very report of the undisturbed run."""
        stored = self.room.attempts(self.store)
        assert {key: a.report for key, a in stored.items()} == {k: self.wanted[k].report for k in stored}
        return stored

    def finish(self) -> None:
        """Let a grader work to its end: it does what is missing, and the result is the undisturbed one."""
        graded = {key for key, attempt in self.attempts().items() if attempt.settled}
        end = self.grade()
        assert (end.signal, end.code) == (0, 0), end.said
        numbers = {name: int(n) for name, n in re.findall(r'"(graded|kept|left)": (\d+)', end.said)}
        missing = {(s, i, h) for s, i, h in self.wanted if (s, i, h) not in graded}
        files = {(s, h) if i == "softmax" else (s, self.wanted[s, i, h].filename) for s, i, h in missing}
        assert numbers == {"graded": len(files), "kept": self.room.files - len(files), "left": 0}
        assert self.attempts().keys() == self.wanted.keys()
        assert self.room.books() == self.books, "byte for byte"
