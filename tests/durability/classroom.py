"""A small class with code and quizzes, and what must hold of its store at any moment."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import yaml

from engine.answers import right_response
from engine.commands import run
from engine.course import Course
from engine.store import Attempt, open_store

__all__ = ["STUDENTS", "Classroom", "Key"]

ROOT = Path(__file__).parents[2]
RIGHT = (ROOT / "problems/code/softmax/solution_numpy.py").read_text(encoding="utf-8")
BLUEPRINT = "title: Week\ncredit: [1, 0.5]\nsections:\n  - items: [softmax-weights, context-vector]\n"
STUDENTS = [f"s{number:02d}" for number in range(1, 13)]

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Classroom:
    """A course folder, a folder of hand-ins, and where results go."""

    folder: Path

    @property
    def course(self) -> Path:
        return self.folder / "course"

    @property
    def handed_in(self) -> Path:
        return self.folder / "in"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def store(self) -> Path:
        return self.course / ".softmark" / "store.db"

    @property
    def notes(self) -> Path:
        """What killed graders had in hand."""
        return self.store.with_name("being-graded.jsonl")

    @classmethod
    def make(cls, folder: Path) -> Classroom:
        """Draw a quiz for everybody, and hand it in twice, the second time right; and some code."""
        made = cls(folder)
        Course.init(made.course, "Durability")
        (made.course / "roster.csv").write_text("id,name\n" + "".join(f"{s},{s}\n" for s in STUDENTS))
        (made.course / "blueprints/week.yaml").write_text(BLUEPRINT)
        with patch.dict(os.environ, {"SOFTMARK_HOME": str(folder / "home")}):
            assert run(["quiz", "new", "week", "--course", str(made.course)]) == 0
        with open_store(made.store) as store:
            quizzes = {quiz.student: quiz for quiz in store.quizzes("week")}
        for number, student in enumerate(STUDENTS):
            place = made.handed_in / student
            place.mkdir(parents=True)
            # a comment makes each file another one; every third forgets the shift
            code = RIGHT if number % 3 else "import numpy as np\n\ndef softmax(x, axis=-1):\n    return x\n"
            (place / "softmax.py").write_text(f"{code}\n# {student}\n")
            path = next(p for p in made.course.glob("quizzes/**/*.yaml") if student in p.name)
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
            right = [right_response(question.variant.parts[0]) for question in quizzes[student].questions]
            for name, answers in (("a", ["[0.2, 0.3, 0.5]", *right[1:]]), ("b", right)):
                for entry, answer in zip(document["questions"], answers, strict=True):
                    entry["answer"] = answer
                (place / f"quiz-{name}.yaml").write_text(yaml.safe_dump(document, allow_unicode=True))
        shutil.copy(made.store, made.store.with_name("drawn.db"))
        return made

    @property
    def files(self) -> int:
        return sum(path.is_file() for path in self.handed_in.rglob("*"))

    def begin_again(self) -> None:
        """Go back to a store with nothing but the quizzes, to no results and no note of killed graders."""
        for path in (*self.store.parent.glob("store.db*"), self.notes):
            path.unlink(missing_ok=True)
        shutil.copy(self.store.with_name("drawn.db"), self.store)
        shutil.rmtree(self.out, ignore_errors=True)

    def command(self, *more: object) -> list[object]:
        return ["grade", "batch", self.handed_in, "--course", self.course, "--out", self.out, "--json", *more]

    def books(self) -> dict[str, bytes]:
        return {name: (self.out / name).read_bytes() for name in ("gradebook.csv", "gradebook.json")}

    def attempts(self, store: str | Path | None = None) -> dict[Key, Attempt]:
        """Return what the store holds, by student, item and submission; nothing is there twice."""
        with open_store(store or self.store) as opened:
            found = list(opened.attempts())
        by_key = {(a.student, a.item, a.submission): a for a in found}
        assert len(by_key) == len(found), "an attempt is stored twice"
        return by_key
