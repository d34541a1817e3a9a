"""Who may judge what: the name of a queue says which course, sandbox, packages and engine its work needs.

A worker of another version of the engine, or with another numpy or torch, could judge a program differently.
So it leaves the work to those that agree with the machine that handed it over. During an upgrade both kinds
of workers run side by side, and each takes its own kind of work.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import engine
from engine.errors import EngineError
from engine.model import Mode
from engine.runner import SandboxOptions
from engine.sandbox.tiers import TIERS

# Parts of the engine by which no program is judged: their changes needn't stop anybody's work.
_OTHER_PARTS: Final = frozenset(
    {
        "analysis",
        "authoring",
        "cluster",
        "commands",
        "export",
        "lti",
        "pages",
        "paper",
        "scanning",
        "similarity",
        "web",
    }
)
_LIBRARIES: Final = ("numpy", "torch")
# What the texts of a variant are written with; a program's mark doesn't depend on them.
_TEXT_LIBRARIES: Final = ("markdown-it-py", "pydantic", "PyYAML")
DRAWING: Final = "draw"
"""Stands where a queue's name has the tier of a sandbox: drawing needs none."""
# With the other parts of a queue's name, no longer than PostgreSQL takes for a channel.
_DIGITS: Final = 12


@functools.cache
def engine_fingerprint() -> str:
    """Return what stands for all that judges programs here: the engine's files, the reference, numpy, torch.

    Raises
    ------
    EngineError
        A file of the engine can't be read.
    """
    digest = hashlib.sha256()
    home = Path(engine.__file__).resolve().parent
    files = [
        path
        for folder in (home, home.parent / "reference")
        for path in sorted(folder.rglob("*.py"))
        if folder != home or path.relative_to(home).parts[0] not in _OTHER_PARTS
    ]
    for path in files:
        try:
            # git on Windows may have changed the line ends
            content = path.read_bytes().replace(b"\r\n", b"\n")
        except OSError as error:
            raise EngineError("a file of the engine can't be read", where=str(path)) from error
        name = path.relative_to(home.parent).as_posix().encode()
        digest.update(b"%d %d " % (len(name), len(content)) + name + content)
    for line in _versions(_LIBRARIES):
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()[:_DIGITS]


def _versions(libraries: Iterable[str]) -> Iterator[str]:
    for library in libraries:
        try:
            yield f"{library} {metadata.version(library)}"
        except metadata.PackageNotFoundError:
            yield f"{library} -"


@functools.cache
def text_fingerprint() -> str:
    """Return what stands for the libraries that write a variant's texts here."""
    return packages_fingerprint([*_versions(_TEXT_LIBRARIES)])


def packages_fingerprint(packages: Collection[str]) -> str:
    """Return what stands for the packages that a course offers to student code."""
    return hashlib.sha256("\n".join(sorted(set(packages))).encode()).hexdigest()[:6]


def course_fingerprint(secret: bytes) -> str:
    """Return the id under which a course hands over work; nobody can compute the secret from it."""
    return hmac.new(secret, b"cluster course", hashlib.sha256).hexdigest()[:_DIGITS]


def pseudonym(secret: bytes, student: str) -> str:
    """Return the name by which workers know a student."""
    return hmac.new(secret, b"cluster student " + student.encode(), hashlib.sha256).hexdigest()[:24]


def demanded_tier(options: SandboxOptions, mode: Mode) -> str:
    """Return the weakest tier of a worker that may grade this: as on one machine."""
    if options.tier is not None:
        return options.tier
    return "T2" if mode is Mode.MARKS and not options.unsafe_local else "T3"


@dataclass(frozen=True, slots=True)
class QueueName:
    """A queue: work that the same workers may take.

    Parameters
    ----------
    course : str
        As :func:`course_fingerprint`.
    tier : {"T1", "T2", "T3", "draw"}
        The weakest sandbox that will do; :data:`DRAWING` where variants are drawn.
    packages, engine : str
        Fingerprints; where variants are drawn, :func:`text_fingerprint` is the first.
    """

    course: str
    tier: str
    packages: str
    engine: str

    def __str__(self) -> str:
        return f"{self.course}.{self.tier}.{self.packages}.{self.engine}"

    @classmethod
    def parse(cls, text: str) -> QueueName | None:
        """Return the queue of a name, None where it is none of ours."""
        parts = text.split(".")
        return cls(*parts) if len(parts) == 4 and parts[1] in (*TIERS, DRAWING) else None

    @classmethod
    def of_programs(cls, secret: bytes, tier: str, packages: Collection[str]) -> QueueName:
        """Return the queue of a course's programs as this version of the engine hands them over."""
        return cls(course_fingerprint(secret), tier, packages_fingerprint(packages), engine_fingerprint())

    @classmethod
    def of_drawing(cls, course: str) -> QueueName:
        """Return the queue of a course's variants; to workers that can't draw yet it is none of ours."""
        return cls(course, DRAWING, text_fingerprint(), engine_fingerprint())

    @property
    def is_drawing(self) -> bool:
        """Whether variants are drawn, and no programs graded."""
        return self.tier == DRAWING

    def why_not(self, tier: str, packages: str, judge: str) -> str | None:
        """Return why a worker may not take this work, None if it may.

        Parameters
        ----------
        tier : str
            Of the worker's sandbox.
        packages, judge : str
            Fingerprints of the worker's packages and engine.
        """
        if not self.is_drawing:
            if TIERS.index(tier) > TIERS.index(self.tier):
                return f"it demands tier {self.tier}, and this sandbox gives {tier}"
            if packages != self.packages:
                return "its course offers other packages to student code than this worker"
        if judge != self.engine:
            return "it was handed over by another version of Softmark, numpy or torch than this worker's"
        return None
