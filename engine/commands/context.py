"""Where a command works: in a course folder, or alone in practice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import store_wanted
from engine.errors import InputError, QuizError, SpecError, StoreError, UsageError
from engine.text.files import own_folder
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.course import Course, Roster
    from engine.hand_ins import FilledQuiz, IntakeProblem, IntakeResult
    from engine.items.bank import Bank
    from engine.marks.open_problems import OpenProblems
    from engine.marks.results import StudentResults
    from engine.model import Mode, Quiz, Variant
    from engine.runner import Runner, SandboxOptions
    from engine.store import Store

__all__ = ["CommandContext", "find_context", "tell_unreadable"]


@dataclass(frozen=True)
class CommandContext:
    """The bank, secret and store that a command uses.

    Parameters
    ----------
    bank : Bank
        Built-in items, overlaid by the course's own.
    course : Course or None
        None in practice outside any course.
    store : str or None
        Path or address of a store that is used instead of the course's (or person's) own.
    """

    bank: Bank
    course: Course | None
    store: str | None = None

    @property
    def mode(self) -> Mode:
        """The course's mode; practice without a course."""
        from engine.model import Mode

        return Mode(self.course.mode) if self.course else Mode.PRACTICE

    def secret(self) -> bytes:
        """Return the course's secret, or this person's own practice secret."""
        return self.course.secret() if self.course else _practice_secret()

    def private_folder(self) -> Path:
        """Return the course's or this person's own folder for what Softmark itself writes."""
        return self.course.folder / ".softmark" if self.course else _practice_folder()

    @property
    def store_place(self) -> str | Path:
        """Address or path of the store that was named, or the course's, or this person's own for practice."""
        if self.store:
            return self.store
        return self.course.store_place if self.course else _practice_folder() / "practice.db"

    def open_store(self) -> Store:
        """Open that store."""
        from engine.store import open_store

        return open_store(self.store_place)

    def open_marks(self) -> Store:
        """Open the store to read marks from it.

        Raises
        ------
        UsageError
            The store of a course is gone in which quizzes were drawn. One made anew would be empty, and an
            export of it a class without marks.
        """
        place = self.store_place
        is_file = self.course is not None and "://" not in str(place)
        if self.course is not None and is_file and not Path(place).exists() and self.course.was_used:
            raise UsageError(
                "the store is gone, and this course has drawn quizzes: the file was moved or deleted",
                where=str(place),
                next_step="put it back from its backup; the next grade batch would begin with an empty one",
            )
        return self.open_store()

    @property
    def practice(self) -> CommandContext:
        """The same bank outside the course: its store and secret are this person's own."""
        return replace(self, course=None, store=None)

    def of_quiz(self, filled: FilledQuiz, path: Path) -> tuple[CommandContext, Quiz]:
        """Return the stored quiz that a fill-in file names, and where it is stored.

        It is looked for here, in the course whose folder holds the file, and among this person's practice
        quizzes. A :class:`QuizError` if it isn't stored.
        """
        for place in self._places(path):
            with place.open_store() as store:
                quiz = store.load_quiz(filled.quiz)
            if quiz is not None:
                return place, place.extended(quiz)
        raise QuizError(
            f"quiz {filled.quiz!r} isn't in the store",
            where=str(path),
            next_step="use the course folder that made it, or name that with --course FOLDER; a quiz that "
            "somebody gave you is filled in with an editor and handed in as a file",
        )

    def extended(self, quiz: Quiz) -> Quiz:
        """Return a quiz with the time that an extension in course.yaml gives its student."""
        from engine.marks import extended_rules, terms_of

        if self.course is None:
            return quiz
        terms = terms_of(self.course.policies, quiz.student, quiz.name)
        return replace(quiz, rules=extended_rules(quiz.rules, terms))

    def _places(self, path: Path) -> Iterator[CommandContext]:
        from engine.course import Course

        yield self
        beside = Course.find(path.absolute().parent)
        if beside is not None and (self.course is None or beside.folder != self.course.folder.absolute()):
            yield find_context(beside.folder)
        if self.course:
            yield self.practice

    def open_problems(self, out: Path | None = None) -> OpenProblems | None:
        """Return what earlier batches couldn't grade: kept with the course, in practice with the results."""
        from engine.marks.open_problems import OPEN_PROBLEMS_FILE, OpenProblems

        folder = self.private_folder() if self.course else out
        return None if folder is None else OpenProblems(folder / OPEN_PROBLEMS_FILE)

    def has_changed(self, item: str, version: str) -> bool:
        """Return whether an item isn't any more what it was at this version; one that is gone hasn't."""
        try:
            return self.bank.version(item) != version
        except InputError:
            return False

    def points_of(self, item: str) -> float | None:
        """Return the full points of a code exercise, None where there is none of that id."""
        try:
            spec = self.bank.load(item)
        except InputError:
            return None
        return spec.points if spec.kind == "code" else None

    def sentence_of(self, item: str, mistake: str) -> str:
        """Return what a student with a known mistake is told; "" where item and registry don't know it."""
        try:
            spec = self.bank.load(item)
        except InputError:
            return self.bank.registry().get(mistake, "")
        if spec.answer is not None and spec.answer.type == "code":
            known = {mutant.id: mutant for mutant in spec.answer.mutants}
            parts = known[mistake].combines or (mistake,) if mistake in known else ()
            return " ".join(known[part].feedback or "" for part in parts if part in known).strip()
        own = [*spec.misconceptions, *(m for step in spec.steps for m in step.misconceptions)]
        inline = next((m.feedback for m in own if m.id == mistake and m.feedback), None)
        return inline or self.bank.registry().get(mistake, "")

    def _title_of(self, item: str) -> str:
        """Return an item's title; its id where the bank can't read it any more."""
        try:
            return self.bank.load(item).title
        except InputError:
            return item

    def check_tier(self, options: SandboxOptions) -> None:
        """Raise a :class:`UsageError` where marks are asked of a tier that gives none."""
        from engine.model import Mode

        if options.device != "cpu" and options.tier == "T1":
            raise UsageError("T1 isn't possible with a GPU", expected="--tier T2 or T3, or no --tier")
        if self.mode is not Mode.MARKS or options.unsafe_local:
            return
        if options.device != "cpu":
            raise UsageError(
                f"--device {options.device} gives no marks: a GPU's driver stands open to the code",
                next_step="leave --device out, or add --unsafe-local for code that you trust",
            )
        if options.tier == "T3":
            raise UsageError("T3 gives no marks", next_step="add --unsafe-local for code that you trust")

    def offered_sandbox(self, options: SandboxOptions) -> SandboxOptions:
        """Offer the course's packages to student code, and return the options that hold in its mode.

        In practice T3 may stand in for the stronger tiers.
        """
        from engine.model import Mode
        from engine.sandbox.bwrap import COMMON_PACKAGES, offer_packages

        packages = self.course.settings.packages if self.course else None
        offer_packages(COMMON_PACKAGES if packages is None else packages)
        return replace(options, unsafe_local=options.unsafe_local or self.mode is Mode.PRACTICE)

    def open_runner(self, options: SandboxOptions, slots: int = 1) -> Runner:
        """Open that sandbox."""
        from engine.sandbox import open_runner

        return open_runner(self.offered_sandbox(options), slots=slots)

    def missing_packages(self) -> tuple[str, ...]:
        """Return those of the packages in course.yaml that aren't installed here."""
        from engine.sandbox.bwrap import missing_packages

        return missing_packages(self.course.settings.packages or ()) if self.course else ()

    def results(
        self,
        store: Store,
        *,
        roster: Roster | None = None,
        intake: IntakeResult | None = None,
        problems: Sequence[IntakeProblem] | None = None,
        only: Collection[str] | None = None,
    ) -> Iterator[StudentResults]:
        """Yield every student's results under the course's rules.

        Without `problems` everybody has those that earlier batches left open.
        """
        from engine.marks.class_results import class_results

        if problems is None:
            kept = self.open_problems()
            problems = kept.still_open(store) if kept else ()

        return class_results(
            store,
            mode=self.mode,
            title_of=self._title_of,
            roster=roster,
            intake=intake,
            problems=problems,
            policies=self.course.policies if self.course else None,
            points_of=self.points_of,
            only=only,
        )

    def draw(self, item: str, seed: int) -> Variant:
        """Draw the variant of `item` for a seed (``grade show ITEM --seed``)."""
        from engine.variants import draw_seeded

        bank = self.bank
        return draw_seeded(bank.load(item), version=bank.version(item), registry=bank.registry(), seed=seed)


def find_context(course_path: Path | None) -> CommandContext:
    """Return the context of ``--course``, of the folder above, or of practice."""
    from engine.course import Course
    from engine.items.bank import Bank
    from engine.items.misconceptions import builtin_root
    from engine.sandbox.bwrap import COMMON_PACKAGES

    course = Course.open(course_path) if course_path else Course.find(Path.cwd())
    if course is None:
        return CommandContext(
            Bank([builtin_root()], packages=COMMON_PACKAGES), None, store_wanted(in_course=False)
        )
    # git keeps no empty folders: a course without items of its own may lack theirs.
    own = [course.problems] if course.problems.exists() else []
    bank = Bank(
        [builtin_root(), *own],
        errata_notes=course.settings.errata == "show",
        decimal_comma=course.settings.decimal_comma,
        packages=COMMON_PACKAGES if course.settings.packages is None else course.settings.packages,
    )
    return CommandContext(bank, course, store_wanted(in_course=True))


def _practice_folder() -> Path:
    folder = own_folder()
    if folder is None:
        raise StoreError(
            "there is no home folder for practice",
            next_step="set SOFTMARK_HOME to a folder that you may write to",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(
            "the folder for practice can't be made",
            where=str(folder),
            got=error.strerror or str(error),
            next_step="set SOFTMARK_HOME to a folder that you may write to",
        ) from error
    return folder


def _practice_secret() -> bytes:
    from engine.course.course import make_secret, read_secret

    path = _practice_folder() / "secret"
    try:
        make_secret(path)
    except OSError as error:
        raise StoreError(
            "the practice secret can't be written",
            where=str(path),
            got=str(error),
            next_step="set SOFTMARK_HOME to a folder that you may write to",
        ) from error
    return read_secret(path)


def tell_unreadable(faulty: Sequence[SpecError]) -> None:
    """Name on standard error the problem files that are left out, one line each."""
    from engine.text.escape import clean_line

    for error in faulty:
        more = (
            f" (and {count_noun(len(error.diagnostics) - 1, 'more fault')})"
            if len(error.diagnostics) > 1
            else ""
        )
        click.echo(f"left out: {clean_line(f'{error.where}: {error.what}', 500)}{more}", err=True)
    if faulty:
        click.echo("  next: grade lint shows every fault", err=True)
