"""Where a command works: in a course folder, or alone in practice.

``find_context(course_path)`` gives a command its bank, secret and store without it having to ask which of
the two it is. Whatever is decided about items, marks or the sandbox is decided in their packages.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine import COMMON_PACKAGES
from engine.commands.options import chosen_store
from engine.errors import QuizError, SpecError, StoreError, UsageError
from engine.text.files import own_folder, read_hand_in, write_errors
from engine.text.times import local_text
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.course import Course, Roster
    from engine.course.policies import Policies
    from engine.hand_ins import FilledQuiz, IntakeProblem, IntakeResult
    from engine.items.bank import Bank
    from engine.marks.class_table import StudentResults
    from engine.marks.open_problems import OpenProblems
    from engine.model import Mode, Quiz, Variant
    from engine.runner import Runner, SandboxOptions
    from engine.store import Store

_HOME_STEP = "set SOFTMARK_HOME to a folder that you may write to"


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

    @property
    def is_practice(self) -> bool:
        """Whether nothing counts here."""
        return self.course is None or self.course.mode == "practice"

    @property
    def title(self) -> str:
        """The course's title, as pages show it."""
        return self.course.title if self.course else "Practice"

    @cached_property
    def roster(self) -> Roster | None:
        """The course's roster without its faulty rows, None in practice; read once."""
        return self.course.roster(tolerant=True) if self.course else None

    @property
    def names(self) -> dict[str, str]:
        """Names of the roster's students by id; one that isn't known is left out."""
        return (
            {student.id: student.name for student in self.roster.students if student.name}
            if self.roster
            else {}
        )

    @property
    def zone_name(self) -> str:
        """Whose clocks times are shown by: the course's time zone, UTC in practice."""
        return self.course.policies.timezone if self.course else "UTC"

    def local_text(self, moment: datetime | None, *, with_zone: bool = False) -> str:
        """Return a moment by these clocks, for people; empty for none."""
        if moment is None:
            return ""
        zone = self.course.policies.zone if self.course else UTC
        return local_text(moment, zone, with_zone=with_zone)

    def require_course(self) -> Course:
        """Return the course; a :class:`UsageError` where there is none."""
        if self.course is None:
            raise UsageError("there is no course here", next_step="name its folder: --course FOLDER")
        return self.course

    def secret(self) -> bytes:
        """Return the course's secret, or this person's own practice secret."""
        return self.course.secret() if self.course else _practice_secret()

    def private_folder(self) -> Path:
        """Return the course's or this person's own folder, which may not exist, for what Softmark writes."""
        if self.course:
            return self.course.folder / ".softmark"
        return own_folder() or Path(os.devnull, "practice")  # where nothing can be made

    def problems_folder(self) -> Path | None:
        """Return the course's folder of problem files, None in practice."""
        if self.course is None:
            return None
        try:  # relative to this folder: shorter, and what people type
            return self.course.problems.relative_to(Path.cwd())
        except ValueError:
            return self.course.problems

    @property
    def store_place(self) -> str | Path:
        """Address or path of the store: the one named, or the course's, or this person's own for practice."""
        if self.store:
            return self.store
        return self.course.store_place if self.course else _practice_folder() / "practice.db"

    @property
    def queue_place(self) -> str | Path:
        """Address of the queue of several machines: the one that the course names, or else the store's."""
        # Another store than the course's has its work graded where the course has.
        shared = self.course.settings.queue if self.course else None
        return shared or self.store_place

    def open_store(self) -> Store:
        """Open that store."""
        from engine.store import open_store

        return open_store(self.store_place)

    def open_marks(self) -> Store:
        """Open the store to read marks from it.

        Raises
        ------
        UsageError
            The course has drawn quizzes, but the file of its store is gone. A new one would be empty, and an
            export from it a class without marks.
        """
        place = self.store_place
        if self.course and "://" not in str(place) and not Path(place).exists() and self.course.was_used:
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

    def stored_quiz(self, path: Path) -> tuple[FilledQuiz, CommandContext, Quiz]:
        """Read a fill-in file; return its answers, and the quiz it names with the context that stores it.

        A :class:`QuizError` if the quiz isn't stored here, nor in the course whose folder holds the file, nor
        among this person's practice quizzes.
        """
        from engine.quiz import read_filled

        filled = read_filled(read_hand_in(path), str(path))
        # Students call the command beside the file, teachers from anywhere with --course.
        for context in self._candidates(path):
            with context.open_store() as store:
                quiz = store.load_quiz(filled.quiz)
                if quiz is not None and context.course is not None:
                    from engine.marks.site_quizzes import extended_quiz

                    quiz = extended_quiz(quiz, context.policies(store))
            if quiz is not None:
                return filled, context, quiz
        raise QuizError(
            f"quiz {filled.quiz!r} isn't in the store",
            where=str(path),
            next_step="use the course folder that made it, or name that with --course FOLDER; a quiz that "
            "somebody gave you is filled in with an editor and handed in as a file, or answered on the site",
        )

    def _candidates(self, path: Path) -> Iterator[CommandContext]:
        # In the order of surprise: what was named, what lies around the file, and this person's practice.
        yield self
        folder = course_folder_above(path.parent)
        if folder is not None and (self.course is None or folder != self.course.folder.absolute()):
            yield find_context(folder)
        if self.course:
            yield self.practice

    def policies(self, store: Store) -> Policies:
        """Return the course's rules with what `store` has allowed single students; no rules in practice."""
        from engine.course.policies import Policies

        return Policies() if self.course is None else self.course.policies_with(store)

    def open_problems(self, out: Path | None = None) -> OpenProblems | None:
        """Return what earlier batches couldn't grade: kept with the course, in practice in `out`."""
        from engine.marks.open_problems import OPEN_PROBLEMS_FILE, OpenProblems

        folder = self.private_folder() if self.course else out
        return None if folder is None else OpenProblems(folder / OPEN_PROBLEMS_FILE)

    def offered_sandbox(self, sandbox: SandboxOptions) -> SandboxOptions:
        """Offer the course's packages to student code, and return the options that hold in its mode."""
        from engine.sandbox.bwrap import offer_packages

        offer_packages(self.course.settings.offered_packages if self.course else COMMON_PACKAGES)
        # In practice T3 may stand in for the stronger tiers: it is a person's own code, on their own machine.
        return replace(sandbox, unsafe_local=sandbox.unsafe_local or self.is_practice)

    def open_runner(self, sandbox: SandboxOptions, source: str | None = None) -> Runner:
        """Open that sandbox for one submission at a time; what this source needs is started at once."""
        from engine.sandbox import open_runner

        return open_runner(self.offered_sandbox(sandbox), sources=() if source is None else (source,))

    def results(
        self,
        store: Store,
        *,
        intake: IntakeResult | None = None,
        problems: Sequence[IntakeProblem] | None = None,
        only: Collection[str] | None = None,
    ) -> Iterator[StudentResults]:
        """Yield every student's results under the course's rules.

        Without `problems` everybody has those that earlier batches left open.
        """
        from engine.marks.class_results import class_results

        if problems is None:
            earlier = self.open_problems()
            problems = earlier.still_open(store) if earlier else ()
        return class_results(
            store,
            mode=self.mode,
            title_of=self.bank.title_of,
            roster=self.roster,
            intake=intake,
            problems=problems,
            policies=self.policies(store),
            points_of=self.bank.code_points,
            hidden_checks_of=self.bank.hidden_checks,
            only=only,
        )

    def need_item(self, item: str, file: Path | None = None) -> None:
        """Refuse a file where an item is asked for; a word that is neither is left to the bank."""
        if item not in self.bank:
            from engine.commands.exercise import refuse_file

            refuse_file(self, item, file)

    def draw(self, item: str, seed: int) -> Variant:
        """Draw the variant of `item` for a seed (``grade show ITEM --seed``)."""
        from engine.model import Variant

        bank = self.bank

        def drawn() -> Variant:
            from engine.variants import draw_seeded

            spec, version = bank.load(item), bank.version(item)
            return draw_seeded(spec, version=version, registry=bank.registry(), seed=seed)

        return bank.derived(Variant, item, [str(seed)], drawn)


def is_course_folder(folder: Path) -> bool:
    """Return whether a folder holds a course."""
    from engine.course import SETTINGS_FILE

    try:
        # The secret's folder distinguishes a course from any other folder with a course.yaml.
        return (folder / SETTINGS_FILE).is_file() and (folder / ".softmark").is_dir()
    except OSError:  # a folder that this user may not look into
        return False


def course_folder_above(start: Path) -> Path | None:
    """Return the course folder that contains `start`, or None."""
    here = start.absolute()
    return next((folder for folder in (here, *here.parents) if is_course_folder(folder)), None)


def find_context(course_path: Path | None) -> CommandContext:
    """Return the context of ``--course``, of the folder above, or of practice."""
    from engine.items.bank import Bank, builtin_root
    from engine.text.cache import JsonCache

    cache = JsonCache.of_person()
    # A folder that is named must be a course; one that is found on the way up may be none.
    folder = course_path or course_folder_above(Path.cwd())
    if folder is None:
        bank = Bank([builtin_root()], packages=COMMON_PACKAGES, cache=cache)
        return CommandContext(bank, None, chosen_store(in_course=False))
    from engine.course import Course

    course = Course.open(folder)
    return CommandContext(course.bank(cache), course, chosen_store(in_course=True))


def _practice_folder() -> Path:
    folder = own_folder()
    if folder is None:
        raise StoreError("there is no home folder for practice", next_step=_HOME_STEP)
    with write_errors("the folder for practice can't be made", folder, next_step=_HOME_STEP, kind=StoreError):
        # Nobody else reads it: practice keeps keys and a secret there.
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _practice_secret() -> bytes:
    from engine.course.course import make_secret, read_secret

    path = _practice_folder() / "secret"
    with write_errors("the practice secret can't be written", path, next_step=_HOME_STEP, kind=StoreError):
        make_secret(path)
    return read_secret(path)


def warn_unreadable(faulty: Sequence[SpecError]) -> None:
    """Name on standard error the problem files that are left out, one line each."""
    for error in faulty:
        # One line a file: thirty faults of one file would hide the other files.
        others = len(error.diagnostics) - 1
        more = f" (and {count_noun(others, 'more fault')})" if others > 0 else ""
        click.echo(f"left out: {clean_line(f'{error.where}: {error.what}', 500)}{more}", err=True)
    if faulty:
        click.echo("  next: grade lint shows every fault", err=True)
