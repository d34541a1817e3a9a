"""Which quiz each copy of a print asks: the students' own, a few versions that they share, and spares.

Students' quizzes are in the store, as any quiz that is drawn, so that a scanned sheet is marked like a file
that came back. A spare has nobody yet. Its quiz waits in the print's folder, and is stored for the student
who used it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import PaperError
from engine.items.bank import Bank
from engine.model import Mode, Quiz
from engine.paper.print_record import ExamCopy
from engine.quiz.blueprint import PlacedBlueprint
from engine.quiz.compose import compose, quiz_id
from engine.quiz.drawn_class import draw_class
from engine.store import Store
from engine.store.sql_tables import decode, encode
from engine.text.files import replace_text
from engine.text.words import agree, count_noun

SPARES_FILE = "spares.json"
# No roster's id has these signs: what is drawn for nobody must not be drawn for somebody.
_VERSION_STUDENT = "\x1fversion {}"
_SPARE_STUDENT = "\x1fspare {}"


@dataclass(frozen=True, slots=True)
class CopyDraw:
    """The quiz of one copy; `version` is a letter where versions are shared, ``student`` None for a spare."""

    quiz: Quiz
    student: str | None
    version: str = ""


@dataclass(frozen=True, slots=True)
class ExamDrawer:
    """Draws what is printed, and stores the students' quizzes.

    Parameters
    ----------
    store : Store
    bank : Bank
    plan : PlacedBlueprint or None
        None where only what is stored is printed.
    name : str
        Of the quiz.
    secret : bytes
        The course's.
    mode : Mode
    """

    store: Store
    bank: Bank
    plan: PlacedBlueprint | None
    name: str
    secret: bytes
    mode: Mode

    def own_versions(
        self, students: Sequence[str], spares: int, progress: Callable[[], None] = lambda: None
    ) -> list[CopyDraw]:
        """Return a copy for each student with variants of their own, and spares with others.

        Raises
        ------
        PaperError
            A student has no quiz, and there is no blueprint to draw one from.
        """
        stored = {quiz.student: quiz for quiz in self.store.quizzes(self.name) if not quiz.attempt}
        if any(student not in stored for student in students):
            plan = self._plan([student for student in students if student not in stored])
            drawn = draw_class(
                self.store,
                self.bank,
                plan,
                students,
                secret=self.secret,
                name=self.name,
                mode=self.mode,
                progress=progress,
            )
            stored = {quiz.student: quiz for quiz in drawn.quizzes}
        copies = [CopyDraw(stored[student], student) for student in students]
        # After the students' quizzes are stored, so that a spare has numbers that nobody else has.
        nobody = [_SPARE_STUDENT.format(number) for number in range(1, spares + 1)]
        return copies + [CopyDraw(replace(quiz, student=""), None) for quiz in self._compose(nobody)]

    def shared_versions(
        self, students: Sequence[str], spares: int, count: int, progress: Callable[[], None] = lambda: None
    ) -> list[CopyDraw]:
        """Return a copy for each student of one of `count` versions, handed out in turn, and spares.

        Raises
        ------
        PaperError
            The quiz is stored with variants of each student's own, or in another number of versions; or
            there are more versions than students.
        """
        if 0 < len(students) < count:
            raise PaperError(
                "there are more versions than students",
                expected=f"at most {count_noun(len(students), 'version')}",
                got=f"--versions {count}",
                next_step="leave --versions out: then each student has one of their own",
            )
        stored = {quiz.student: quiz for quiz in self.store.quizzes(self.name) if not quiz.attempt}
        # In the roster's order, by which versions were given out: so each keeps its letter.
        place_of = {student: place for place, student in enumerate(students)}
        in_order = sorted(stored.values(), key=lambda quiz: place_of.get(quiz.student, len(place_of)))
        versions = self._stored_versions(in_order, count)
        if not versions:
            nobody = [_VERSION_STUDENT.format(number) for number in range(1, count + 1)]
            versions = self._compose(nobody)
        letters = version_letters(count)
        mine: dict[str, tuple[Quiz, str]] = {}
        letter_of = {_variant_ids(version): letter for version, letter in zip(versions, letters, strict=True)}
        for place, student in enumerate(students):
            # Whoever has one keeps it; others get the next one, so that neighbours in the list differ.
            version = stored.get(student) or versions[place % count]
            quiz = replace(version, id=quiz_id(self.secret, self.name, student, 0), student=student)
            mine[student] = (quiz, letter_of[_variant_ids(version)])
            progress()
        # Before anything is printed: a sheet whose quiz isn't stored could never be marked.
        self.store.save_quizzes([quiz for quiz, _ in mine.values()])
        copies = [CopyDraw(quiz, student, letter) for student, (quiz, letter) in mine.items()]
        for number in range(spares):
            place = (len(students) + number) % count
            spare_id = quiz_id(self.secret, self.name, _SPARE_STUDENT.format(number + 1), 0)
            quiz = replace(versions[place], id=spare_id, student="")
            copies.append(CopyDraw(quiz, None, letters[place]))
        return copies

    def _stored_versions(self, stored: Sequence[Quiz], count: int) -> list[Quiz]:
        versions: dict[tuple[str, ...], Quiz] = {}
        for quiz in stored:
            versions.setdefault(_variant_ids(quiz), quiz)
        if versions and len(versions) != count:
            raise PaperError(
                f"quiz {self.name} is drawn already, in {count_noun(len(versions), 'version')}",
                expected=f"{count_noun(len(versions), 'version')}, as it was drawn",
                got=f"--versions {count}",
                next_step="print it as it was drawn, or draw another quiz for it: --name NEW",
            )
        return list(versions.values())

    def _compose(self, nobody: Sequence[str]) -> list[Quiz]:
        if not nobody:
            return []
        stored = self.store.quizzes(self.name)
        return compose(self._plan(()), self.bank, nobody, secret=self.secret, name=self.name, stored=stored)

    def _plan(self, missing: Sequence[str]) -> PlacedBlueprint:
        if self.plan is not None:
            return self.plan
        verb = agree(len(missing), "have")
        raise PaperError(
            f"quiz {self.name} was drawn, but its blueprint isn't found to draw more from",
            got=f"{', '.join(missing[:5])} {verb} no quiz yet" if missing else None,
            next_step="name the students who have one with --student, or put the blueprint back",
        )


def _variant_ids(quiz: Quiz) -> tuple[str, ...]:
    """Return what a quiz asks, whoever it is for."""
    return tuple(question.variant.id for question in quiz.questions)


def version_letters(count: int) -> list[str]:
    """Return A, B, C … and after Z the numbers from 27 on."""
    return [chr(ord("A") + n) if n < 26 else str(n + 1) for n in range(count)]


def write_spares(folder: Path, spares: Mapping[int, Quiz]) -> None:
    """Keep the quizzes of spare copies, with their keys, in a print's folder; for its owner alone."""
    text = json.dumps({str(number): encode(quiz) for number, quiz in spares.items()}, indent=0)
    replace_text(folder / SPARES_FILE, text + "\n", private=True, durable=True)


def assign_spare(store: Store, folder: Path, copy: ExamCopy, student: str) -> Quiz:
    """Store the quiz of a spare copy for the student who used it, and return it.

    Done again for the same student it changes nothing. Where the student has a quiz of this name, that of the
    spare is another attempt of it.

    Parameters
    ----------
    store : Store
    folder : Path
        Of the print.
    copy : ExamCopy
        A spare.
    student : str
        Id of the student whose number is on the sheet.

    Raises
    ------
    PaperError
        The print's folder has no such spare.
    """
    path = folder / SPARES_FILE
    try:
        texts = json.loads(path.read_bytes())
        spare = decode(Quiz, texts[str(copy.number)], str(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PaperError(
            f"the quiz of spare copy {copy.number} isn't found",
            where=str(path),
            got=str(error),
            next_step="put the print's folder back from a backup of the course",
        ) from error
    others = store.quizzes(spare.name, student)
    known = next((quiz for quiz in others if quiz.id == spare.id), None)
    if known is not None:
        return known
    # What the student may have answered before stays: a spare is one attempt more, and the rules decide.
    attempt = 1 + max((quiz.attempt for quiz in others), default=-1)
    quiz = replace(spare, student=student, attempt=attempt)
    store.save_quizzes([quiz])
    return quiz
