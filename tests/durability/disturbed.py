"""A class that is graded while things go wrong, beside an undisturbed run of it."""

from __future__ import annotations

import re
from pathlib import Path

from engine.model import Outcome
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
        before = self._settled()
        stored = len(self.attempts())
        end = self.graders.run(
            *self.room.command("--workers", 2),
            store=self.address,
            crash_at=crash_at,
            kill_after_s=kill_after_s,
        )
        after = self.attempts()
        if crash_at.startswith("after-record") and end.was_killed:
            assert len(after) - stored >= int(crash_at[-1]), "what was recorded is there"
        assert {key: after.get(key) for key in before} == before, "what was graded stays as it is"
        run_again = {f"# {student}" for student, item, _ in before if item == "softmax"}
        assert not run_again & {source.strip().splitlines()[-1] for source in end.sources}
        return end

    def attempts(self) -> dict[Key, Attempt]:
        """Return what is stored: each has the very report of the undisturbed run.

        A file over which the grader was killed twice, the second time alone, is set aside without a mark:
        the grader can't know that it was us.
        """
        stored = self.room.attempts(self.store)
        aside = {k: a for k, a in stored.items() if "so it is set aside" in (a.reason or "")}
        assert {a.report.outcome for a in aside.values()} <= {Outcome.UNGRADED}
        assert {a.report.score for a in aside.values()} <= {None}
        rest = stored.keys() - aside.keys()
        assert {k: stored[k].report for k in rest} == {k: self.wanted[k].report for k in rest}
        return stored

    def _settled(self) -> dict[Key, Attempt]:
        return {key: attempt for key, attempt in self.attempts().items() if attempt.settled}

    def finish(self) -> None:
        """Let a grader work to its end: it does what is missing, and the result is the undisturbed one.

        No file is to blame for the kills, and whoever knows that deletes the notes: what was set aside is
        tried again.
        """
        self.room.notes.unlink(missing_ok=True)
        graded = self._settled().keys()
        end = self.grade()
        assert (end.signal, end.code) == (0, 0), end.said
        numbers = {name: int(n) for name, n in re.findall(r'"(graded|kept|left)": (\d+)', end.said)}
        missing = {(s, i, h) for s, i, h in self.wanted if (s, i, h) not in graded}
        files = {(s, h) if i == "softmax" else (s, self.wanted[s, i, h].filename) for s, i, h in missing}
        assert numbers == {"graded": len(files), "kept": self.room.files - len(files), "left": 0}
        assert self.attempts().keys() == self.wanted.keys()
        assert self.room.books() == self.books, "byte for byte"
