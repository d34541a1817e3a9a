"""A course folder: its settings, its secret, where its parts are, and how a new one is made.

``course.yaml`` is what an instructor may set. ``.softmark/secret`` holds 32 random bytes from which every
student's variant and the hidden plans are computed: whoever can read it can compute all keys, and without it
nothing can be drawn again. So its permissions are checked at each use, and its fingerprint shows when another
secret has taken its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from engine import COMMON_PACKAGES
from engine.course import SETTINGS_FILE
from engine.course.policies import Policies
from engine.course.roster import Roster, read_roster
from engine.errors import CourseError, Diagnostic, InputError, SoftmarkError, SpecError
from engine.hand_ins import IntakeProblem
from engine.text.files import read_bounded, replace_text, write_errors
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.course.people import People
    from engine.items.bank import Bank
    from engine.store import Store
    from engine.text.cache import JsonCache
    from engine.text.yaml_errors import YamlDocument

PackageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
# Student code that imports one of these could compute the key of its own item.
_HOLDING_KEYS = frozenset({"cli", "engine", "problems", "reference"})


class CourseSettings(BaseModel):
    """The file ``course.yaml``; unknown keys are errors.

    ``store`` is a path from the course folder, or ``postgresql://…``. ``queue`` is the ``postgresql://…``
    with the queue of several machines, which other courses may use too; None stands for the store's own.
    ``errata: hide`` leaves out the notes
    on faults of the lectures that the built-in items come from. ``packages`` are what students' code may
    import beside the standard library, numpy and torch; None stands for a few common ones. With
    ``decimal_comma: true``, a comma between digits is a decimal mark in every field that takes numbers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    mode: Literal["practice", "marks"] = "marks"
    store: Annotated[str, StringConstraints(min_length=1, max_length=500)] = ".softmark/store.db"
    queue: Annotated[str, StringConstraints(min_length=1, max_length=500)] | None = None
    errata: Literal["show", "hide"] = "show"
    decimal_comma: bool = False
    packages: tuple[PackageName, ...] | None = Field(default=None, max_length=50)
    policies: Policies = Field(default_factory=Policies)

    @property
    def offered_packages(self) -> tuple[str, ...]:
        """What students' code may import here beside the standard library, numpy and torch."""
        # None is a course that says nothing about packages; an empty list is one that offers none.
        return COMMON_PACKAGES if self.packages is None else self.packages

    @field_validator("packages")
    @classmethod
    def _refuse_own_packages(cls, packages: tuple[str, ...] | None) -> tuple[str, ...] | None:
        hidden = sorted(_HOLDING_KEYS.intersection(packages or ()))
        if hidden:
            raise PydanticCustomError(
                "package", "{text}", {"text": f"{hidden[0]} isn't offered: it computes the keys of the items"}
            )
        return packages

    @field_validator("store")
    @classmethod
    def _check_store(cls, store: str) -> str:
        # postgresql+psycopg://… names a driver as well.
        scheme, mark, _ = store.partition("://")
        if mark and scheme.partition("+")[0] != "postgresql":
            raise PydanticCustomError(
                "store_address",
                "{text}",
                {"text": "a store is a path from this folder or postgresql://user@host/name"},
            )
        return store

    @field_validator("queue")
    @classmethod
    def _check_queue(cls, queue: str | None) -> str | None:
        # Not shown, as a store's isn't: there may be a password in it.
        scheme, mark, _ = (queue or "postgresql://").partition("://")
        if not mark or scheme.partition("+")[0] != "postgresql":
            raise PydanticCustomError(
                "store_address", "{text}", {"text": "a queue is at postgresql://user@host/name"}
            )
        return queue


# Who is graded at all, and what the times of hand-ins mean. A fault in these stops everything, because what
# is stored by a wrong answer stays; a fault in the rules about marks only leaves marks as graded until it is
# fixed.
_NO_RULES = ("unlisted_students", "timezone")


def read_settings(path: Path) -> tuple[CourseSettings, tuple[Diagnostic, ...]]:
    """Read ``course.yaml``; it can be used in spite of faults in the rules about marks.

    Returns
    -------
    CourseSettings, tuple of Diagnostic
        With the faults under ``policies``. If there are any, the settings hold no rule about marks: half of
        the rules would give wrong marks.

    Raises
    ------
    SpecError
        Anything else is faulty; with all its faults.
    """
    from engine.text.yaml import in_order, read_yaml, validation_faults

    document = read_yaml(path)
    settings, faults = validation_faults(document, CourseSettings)
    if settings is None:
        settings = _without_rules(document)
    if settings is None:
        raise SpecError.of_file(in_order(faults))
    return settings, tuple(in_order(faults))


def _without_rules(document: YamlDocument) -> CourseSettings | None:
    from engine.text.yaml import validation_faults

    if not isinstance(document.data, dict):
        return None
    rules = document.data.get("policies")
    basics = {k: v for k, v in rules.items() if k in _NO_RULES} if isinstance(rules, dict) else {}
    # The faulty rule may be the release: no page may show what it would have held back.
    basics |= {"assignments": {"default": {"release": "never"}}}
    return validation_faults(replace(document, data={**document.data, "policies": basics}), CourseSettings)[0]


def _check_title(title: str) -> None:
    from engine.text.yaml import read_yaml, validation_faults

    try:
        text = settings_text(title).encode("utf-8")
        faults = validation_faults(read_yaml(text, "course.yaml"), CourseSettings)[1]
        reason = faults[0].message if faults else None
    except UnicodeEncodeError:
        reason = "it holds half a character"  # a lone surrogate, from a terminal of another encoding
    except InputError as error:
        reason = error.what
    if reason is not None:
        raise CourseError(
            "this can't be the title of a course",
            expected="a line of text",
            got=f"{clean_line(title, 60)!r}: {reason}",
            next_step="give another one with --title",
        )


def settings_text(title: str) -> str:
    """Return a new course's ``course.yaml``."""
    import json

    # A JSON string is a YAML string: no title can break out of its line.
    return f"""\
title: {json.dumps(title, ensure_ascii=False)}
# marks: results count and reach the gradebook. practice: they never do.
mode: marks
# A path from this folder, or postgresql://user@host/name
store: .softmark/store.db
# show: items say where the lectures that they come from are at fault. hide: they don't.
errata: show
# What students' code may import beside the standard library, numpy and torch, by the name in the import.
# Without this line: einops, jaxtyping, pandas and scipy, as far as they are installed.
# packages: [scipy, einops, pandas]
policies:
  # grade: hand-ins of people who aren't in roster.csv are graded and listed. refuse: they aren't graded.
  unlisted_students: grade
  # Due dates are in this zone; add them under `assignments:`, and see: grade course check
  # timezone: Europe/Berlin
"""


_SECRET_BYTES = 32  # 256 bits: nobody guesses it


def make_secret(path: Path) -> None:
    """Write a new secret with mode 0600, and its fingerprint; an existing secret or fingerprint stays."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "wb") as file:
        secret = secrets.token_bytes(_SECRET_BYTES)
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())  # quizzes are drawn with it: a power cut must not leave an empty file
    _is_known_secret(path, secret)  # writes the fingerprint, so that commands that only read write nothing


def _fingerprint_file(path: Path) -> Path:
    return path.with_name("secret-fingerprint")


def _is_known_secret(path: Path, secret: bytes) -> bool:
    """Return whether this is the secret that the course was begun with; its first use writes a fingerprint.

    Where the fingerprint can't be written, every secret is accepted.
    """
    # An HMAC of a constant reveals nothing about its key.
    expected = hmac.new(secret, b"softmark: fingerprint of the course secret", hashlib.sha256).hexdigest()
    file = _fingerprint_file(path)
    try:
        return hmac.compare_digest(read_bounded(file, 100).strip(), expected.encode("ascii"))
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            replace_text(file, expected + "\n", durable=True, private=True)
        return True
    except OSError:  # it is there and can't be read: don't draw anything that may be wrong
        return False


def read_secret(path: Path) -> bytes:
    """Return the secret.

    Raises
    ------
    CourseError
        It is missing, others may read it, or it isn't 32 bytes long.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(_SECRET_BYTES + 1)  # one more tells a longer file
    except OSError as error:
        raise CourseError(
            "the course secret can't be read",
            where=str(path),
            got=error.strerror or str(error),
            next_step="restore it from a backup: without it no variant can be drawn again",
        ) from error
    # Windows has no such bits; there the folder's own rights protect the secret.
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise CourseError(
            "others may read the course secret",
            where=str(path),
            expected="mode 0600",
            got=f"mode {stat.S_IMODE(mode):04o}",
            next_step=f"chmod 600 {path}; if somebody may have read it, start a new course folder",
        )
    if len(secret) != _SECRET_BYTES:
        raise CourseError(
            "the course secret is damaged",
            where=str(path),
            expected=f"{_SECRET_BYTES} bytes",
            got="more" if len(secret) > _SECRET_BYTES else f"{count_noun(len(secret), 'byte')}",
            next_step="restore it from a backup: without it no variant can be drawn again",
        )
    return secret


_ROSTER_HEAD = "id,name,email\n"
# The secret and the store must never be committed or handed out with the course.
_IGNORE = ".softmark/\nquizzes/\n"


@dataclass(frozen=True)
class Course:
    """A course folder.

    Parameters
    ----------
    folder : Path
    settings : CourseSettings
    rule_faults : tuple of Diagnostic
        Faults of the rules about marks in course.yaml; while there are any, no rule applies.
    """

    folder: Path
    settings: CourseSettings
    rule_faults: tuple[Diagnostic, ...] = ()

    @classmethod
    def init(cls, folder: Path, title: str) -> Course:
        """Make a course folder, or complete one; nothing is overwritten.

        Raises
        ------
        CourseError
            The folder can't be made, the title doesn't fit into course.yaml, or course.yaml is faulty.
        """
        _check_title(title)
        step = "choose a folder that you may write to"
        with write_errors("the course folder can't be made", folder, next_step=step, kind=CourseError):
            for name in (".", "problems", "blueprints", "quizzes"):
                (folder / name).mkdir(parents=True, exist_ok=True)
            # Others may read the course, but neither its secret nor its store.
            (folder / ".softmark").mkdir(mode=0o700, exist_ok=True)
            _write_new(folder / SETTINGS_FILE, settings_text(title))
            _write_new(folder / "roster.csv", _ROSTER_HEAD)
            _write_new(folder / ".gitignore", _IGNORE)
            make_secret(folder / ".softmark" / "secret")
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Course:
        """Open a course folder.

        Raises
        ------
        CourseError, SpecError
            It isn't a course folder, or its course.yaml has faults that keep it from being used at all.
        """
        path = folder / SETTINGS_FILE
        try:
            is_here = path.is_file()
        except OSError:  # a folder that this user may not look into
            is_here = False
        if not is_here:
            raise CourseError(
                "this isn't a course folder",
                where=str(folder),
                expected=f"a folder with {SETTINGS_FILE}",
                next_step=f"make one with: grade init {folder}",
            )
        return cls(folder, *read_settings(path))

    @property
    def settings_file(self) -> Path:
        """The settings file."""
        return self.folder / SETTINGS_FILE

    @property
    def policies(self) -> Policies:
        """The rules about marks."""
        return self.settings.policies

    def policies_with(self, store: Store) -> Policies:
        """Return the rules about marks with what the store has allowed single students."""
        from engine.course.allowance_rules import with_allowances

        return with_allowances(self.policies, store.allowances.current())

    def rule_problems(self) -> tuple[IntakeProblem, ...]:
        """Return the faults of the rules about marks as problems of a run that doesn't apply them."""
        step = "fix it and run the same command again: what is graded is kept"
        effect = "no rule about marks was applied: marks are as graded, and students' pages show no results"
        return tuple(
            IntakeProblem(
                f"{fault.file}:{fault.line}:{fault.column}", f"{fault.message}; {effect}", step, noted=True
            )
            for fault in self.rule_faults
        )

    def require_rules(self) -> None:
        """Raise a :class:`CourseError` with all faults of the rules about marks, if there are any."""
        if self.rule_faults:
            raise CourseError.of_file(self.rule_faults)

    @property
    def title(self) -> str:
        """Title of the course."""
        return self.settings.title

    @property
    def mode(self) -> str:
        """``"marks"`` or ``"practice"``."""
        return self.settings.mode

    @property
    def problems(self) -> Path:
        """Folder of private items, which overlay the built-in bank."""
        return self.folder / "problems"

    @property
    def blueprints(self) -> Path:
        """Folder of quiz plans."""
        return self.folder / "blueprints"

    @property
    def quizzes(self) -> Path:
        """Folder for new quizzes."""
        return self.folder / "quizzes"

    @property
    def was_used(self) -> bool:
        """Whether quizzes were drawn here, so that there must be a store."""
        return self.quizzes.is_dir() and any(self.quizzes.iterdir())

    def secret(self) -> bytes:
        """Return the 32 secret bytes.

        Raises
        ------
        CourseError
            Others may read them, or they aren't those that the course was begun with.
        """
        path = self.folder / ".softmark" / "secret"
        secret = read_secret(path)
        if not _is_known_secret(path, secret):
            raise CourseError(
                "this isn't the secret that the course was begun with",
                where=str(path),
                got=self._effect_of_new_secret(),
                next_step="restore the secret from a backup; to go on with this one all the same, delete "
                f"{_fingerprint_file(path)}",
            )
        return secret

    def _effect_of_new_secret(self) -> str:
        effect = "whatever is drawn from now on, and hidden test inputs, would be others than before"
        try:
            with self.open_store() as store:
                students = sorted({quiz.student for quiz in store.quizzes()})
        except SoftmarkError:
            students = []
        if not students:
            return effect
        # Ten names show what is at stake; a class of 300 would fill the screen.
        more = f" and {len(students) - 10} more" if len(students) > 10 else ""
        return f"{effect}, for these who have quizzes already: {', '.join(students[:10])}{more}"

    def roster(self, *, tolerant: bool = False) -> Roster:
        """Return the roster, empty where there is no file; `tolerant` as in :func:`read_roster`."""
        path = self.folder / "roster.csv"
        return read_roster(path, tolerant=tolerant) if path.exists() else Roster()

    def people(self) -> People:
        """Return students and staff.

        Raises
        ------
        CourseError
            ``staff.csv`` has faults; those of the roster leave its rows out.
        """
        from engine.course.people import STAFF_FILE, people_of, read_staff

        return people_of(self.roster(tolerant=True), read_staff(self.folder / STAFF_FILE))

    def roster_ids(self) -> list[str]:
        """Return the students' ids, in the order of the roster."""
        return [student.id for student in self.roster().students]

    @property
    def store_place(self) -> str | Path:
        """Address or path of the course's store."""
        where = self.settings.store
        return where if "://" in where else self.folder / where

    def bank(self, cache: JsonCache | None = None) -> Bank:
        """Return the built-in items, overlaid by the course's own, as its settings show them."""
        from engine import COMMON_PACKAGES
        from engine.items.bank import Bank, builtin_root

        settings = self.settings
        # git keeps no empty folders: a course without items of its own may lack theirs.
        private = [self.problems] if self.problems.exists() else []
        return Bank(
            [builtin_root(), *private],
            # An item's version is the same with and without these settings: changing one asks for no regrade.
            errata_notes=settings.errata == "show",
            decimal_comma=settings.decimal_comma,
            packages=COMMON_PACKAGES if settings.packages is None else settings.packages,
            cache=cache,
        )

    def open_store(self) -> Store:
        """Open the course's store."""
        from engine.store import open_store

        return open_store(self.store_place)

    def add_example(self) -> None:
        """Add an example roster and blueprint where there are none yet."""
        example = files("engine.course") / "example"
        roster = self.folder / "roster.csv"
        step = "check that you may write to this folder, and free some space"
        with write_errors("the example can't be written", self.folder, next_step=step, kind=CourseError):
            if roster.read_bytes() == _ROSTER_HEAD.encode():
                roster.write_text((example / "roster.csv").read_text(encoding="utf-8"), encoding="utf-8")
            blueprint = (example / "blueprint.yaml").read_text(encoding="utf-8")
            _write_new(self.blueprints / "example.yaml", blueprint)


def _write_new(path: Path, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
