"""Gradescope: the zip that makes its autograder, and the results of one submission as it reads them.

The zip holds Softmark itself, the exercises with their keys, and ``autograder.json``, which says what to
grade and when students see hidden checks. Inside Gradescope, ``grade autograder results`` grades one
submission and writes ``results.json``. Where the machine or Softmark is at fault that file has no score: any
score would be taken for a mark.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.metadata
import json
import math
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import engine
from engine import __version__
from engine.course.course import settings_text
from engine.errors import EngineError, InputError, SubmissionError
from engine.intake import read_submission
from engine.items import CodeAnswer
from engine.items.bank import REGISTRY_FILE, Bank, builtin_root
from engine.model import Check, GradeReport, Mode, Outcome, Verdict
from engine.runner import Runner
from engine.runs.code_exercises import CodeExercises
from engine.text.files import zip_bytes
from engine.text.words import clean, clean_line, plain_points

# Gradescope's words. Its fourth, "hidden", is for tests without points: a total with it tells what is hidden.
HIDDEN = ("after_due_date", "after_published", "visible")


@dataclass(frozen=True, slots=True)
class AutograderSettings:
    """What an autograder grades: the file ``autograder.json``.

    Parameters
    ----------
    items : tuple of str
        Code exercises.
    hidden : str
        When students see the results of checks whose inputs are hidden: one of :data:`HIDDEN`.
    tier : str or None
        Sandbox tier to demand.
    """

    items: tuple[str, ...]
    hidden: str = HIDDEN[0]
    tier: str | None = None

    def text(self) -> str:
        """Return the file's text."""
        return json.dumps(asdict(self), indent=1) + "\n"


def read_settings(path: Path) -> AutograderSettings:
    """Read the file; an :class:`InputError` says what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        settings = AutograderSettings(tuple(data["items"]), data["hidden"], data["tier"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _faulty(path, repr(error)) from error
    if not settings.items or not all(isinstance(item, str) for item in settings.items):
        raise _faulty(path, "no items")
    if settings.hidden not in HIDDEN:
        raise _faulty(path, f"hidden: {settings.hidden!r}")
    return settings


def _faulty(path: Path, got: str) -> InputError:
    return InputError(
        "the autograder's settings can't be used",
        where=str(path),
        got=got,
        next_step="make the autograder again: grade autograder make",
    )


_HARNESS = Path(__file__).parent / "harness"
_PACKAGES = ("engine", "reference")
_BANK_FILES = ("__init__.py", REGISTRY_FILE)
_NAME = re.compile(r"[^A-Za-z0-9._-]")  # what ends the name in "torch>=2.4" or "uvicorn[standard]"


@dataclass(frozen=True)
class AutograderContents:
    """Everything that goes into an autograder.

    Parameters
    ----------
    settings : AutograderSettings
    title : str
        Of the course.
    key : bytes
        32 secret bytes, from which the hidden plans are drawn.
    folders : sequence of Path
        Of the exercises.
    registry : Path or None
        The course's own known mistakes.
    """

    settings: AutograderSettings
    title: str
    key: bytes
    folders: Sequence[Path]
    registry: Path | None = None


def harness_zip(packing: AutograderContents) -> bytes:
    """Return the zip.

    ``setup.sh``, ``run_autograder``, ``autograder.json`` and ``requirements.txt`` lie at its root;
    ``softmark/`` holds the program, ``course/`` the key and what isn't in the built-in bank.

    Raises
    ------
    EngineError
        A package that grading needs isn't installed here, so its version is unknown.
    """
    # Sorted, so that the same contents give the same zip.
    entries = sorted(_entries(packing))
    return zip_bytes(
        {name: data for name, data, _ in entries}, modes={name: mode for name, _, mode in entries}
    )


def _entries(packing: AutograderContents) -> Iterator[tuple[str, bytes, int]]:
    for script in ("setup.sh", "run_autograder"):
        yield script, (_HARNESS / script).read_bytes(), 0o755
    yield "autograder.json", packing.settings.text().encode(), 0o600
    yield "requirements.txt", "".join(f"{line}\n" for line in _requirements()).encode(), 0o644
    house = Path(engine.__file__).resolve().parent.parent
    yield "softmark/cli.py", (house / "cli.py").read_bytes(), 0o600
    for package in _PACKAGES:
        yield from _tree(house / package, f"softmark/{package}")
    for name in _BANK_FILES:
        yield f"softmark/problems/{name}", (builtin_root() / name).read_bytes(), 0o600
    yield "course/course.yaml", settings_text(packing.title).encode(), 0o600
    # Readable by its owner only, as in a course folder, or it would be refused there.
    yield "course/.softmark/secret", packing.key, 0o600
    for folder in packing.folders:
        yield from _tree(folder, f"course/problems/code/{folder.name}")
    if packing.registry is not None:
        yield f"course/problems/{REGISTRY_FILE}", packing.registry.read_bytes(), 0o600


def _tree(folder: Path, name: str) -> Iterator[tuple[str, bytes, int]]:
    for path in _files(folder):
        yield f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes(), 0o600


def _files(folder: Path) -> Iterable[Path]:
    return (
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
    )


def _requirements() -> list[str]:
    """Return the packages that Softmark needs, at the versions that are installed here."""
    try:
        needs = importlib.metadata.requires("softmark") or []
        names = [_NAME.split(line, maxsplit=1)[0] for line in needs if "extra ==" not in line]
        # A local build's suffix ("+cpu") isn't a version that a package index knows.
        return sorted(f"{name}=={importlib.metadata.version(name).partition('+')[0]}" for name in names)
    except importlib.metadata.PackageNotFoundError as error:
        raise EngineError(
            f"{error.name} isn't installed here, so the autograder's version of it isn't known",
            next_step="make the autograder on a Linux machine that grades",
        ) from error


_VISIBLE = "visible"
_WORDS = {
    Verdict.PASSED: "",
    Verdict.SKIPPED: "Skipped.",
    Verdict.TIMED_OUT: "It took too long.",
    Verdict.OUT_OF_MEMORY: "It used more memory than allowed.",
    Verdict.CRASHED: "The process crashed.",
}


@dataclass(frozen=True, slots=True)
class ItemGrade:
    """The grade of one exercise.

    Parameters
    ----------
    item : str
    points : float
        Full points.
    report : GradeReport or None
        None if no file could be read.
    hidden : frozenset of str
        The checks whose inputs are hidden.
    sha256 : str or None
        Hash of the hand-in: the receipt.
    problem : str
        Why there is no report.
    """

    item: str
    points: float
    report: GradeReport | None
    hidden: frozenset[str] = frozenset()
    sha256: str | None = None
    problem: str = ""

    @property
    def is_ungraded(self) -> bool:
        """Whether it has no mark through no fault of the student's."""
        return self.report is not None and self.report.outcome is Outcome.UNGRADED

    @property
    def score(self) -> float:
        """The points; 0 for an unreadable file, which the student is told about and can fix."""
        return (self.report.score or 0.0) if self.report is not None else 0.0


def results_json(grades: Sequence[ItemGrade], *, hidden: str, seconds: float) -> str:
    """Return the file for a graded submission.

    Parameters
    ----------
    grades : sequence of ItemGrade
        None of them ungraded.
    hidden : str
        Visibility of the checks whose inputs are hidden.
    seconds : float
        How long grading took.

    Notes
    -----
    Gradescope shows no total while a test with points is hidden, so the total doesn't reveal a hidden check.
    """
    several = len(grades) > 1  # the exercise's name is noise where there is one
    tests = [
        test for grade in grades for test in _tests(grade, hidden, f"{grade.item} · " if several else "")
    ]
    document: dict[str, Any] = {
        "score": plain_points(math.fsum(grade.score for grade in grades)),
        "execution_time": round(seconds, 3),
        "output": _output(grades),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": _extra(grades),
    }
    return _text(document)


def ungraded_json(grades: Sequence[ItemGrade] = (), *, seconds: float = 0.0) -> str:
    """Return the file for a submission that has no mark because the machine or Softmark is at fault.

    It has no score and no tests: either would be taken for a mark.
    """
    document = {
        "output": (
            "Your submission is stored, and it isn't graded yet: the autograder itself failed. This is not a "
            "mark of 0. The course's staff can see why, and run it again."
        ),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "execution_time": round(seconds, 3),
        "extra_data": _extra(grades),
    }
    return _text(document)


def _text(document: dict[str, Any]) -> str:
    # ASCII: direction marks or surrogates that are left stay visible as escapes.
    return json.dumps(document, ensure_ascii=True, indent=1, allow_nan=False) + "\n"


def _tests(grade: ItemGrade, hidden: str, head: str) -> list[dict[str, Any]]:
    report = grade.report
    if report is None or report.outcome is Outcome.FORMAT_ERROR:
        checks = report.checks if report is not None else ()
        reasons = (check.message for check in checks if check.message)
        test = {
            "score": 0,
            "max_score": plain_points(grade.points),
            "status": "failed",
            "output": clean(grade.problem or next(reasons, "it can't be read")),
        }
        return [{"name": f"{head}file", **_plain(), **test, "visibility": _VISIBLE}]
    # A check without points is listed only where it failed.
    relevant = (check for check in report.checks if check.max_points or _failed(check))
    tests = [_test(check, grade, hidden, head) for check in relevant]
    why = _why(report)
    if why:
        # Public if a public check failed; otherwise it would reveal the input of a hidden one.
        is_public = any(_failed(check) and check.id not in grade.hidden for check in report.checks)
        test = {"status": "failed", "output": why, "visibility": _VISIBLE if is_public else hidden}
        tests.append({"name": f"{head}what went wrong", **_plain(), **test})
    return tests


def _test(check: Check, grade: ItemGrade, hidden: str, head: str) -> dict[str, Any]:
    test: dict[str, Any] = {"name": head + clean_line(check.id), **_plain()}
    if check.max_points:
        test |= {"score": plain_points(check.points), "max_score": plain_points(check.max_points)}
    test["status"] = "passed" if check.verdict is Verdict.PASSED else "failed"
    output = clean(check.message) or _WORDS.get(check.verdict, "")
    if output:
        test["output"] = output
    return test | {"visibility": hidden if check.id in grade.hidden else _VISIBLE}


def _plain() -> dict[str, str]:
    """Return the fields that keep foreign text from being read as markup."""
    return {"name_format": "text", "output_format": "text"}


def _failed(check: Check) -> bool:
    return check.verdict not in (Verdict.PASSED, Verdict.SKIPPED)


def _why(report: GradeReport) -> str:
    """Return the known mistakes and the smallest input that shows the fault."""
    lines = [clean(diagnosis.message) for diagnosis in report.diagnosis]
    example = report.counterexample
    if example is not None:
        lines += [
            "Smallest input found that shows it:",
            clean(example.code),
            f"yours:    {clean(example.got)}",
        ]
        if example.expected is not None:
            lines.append(f"expected: {clean(example.expected)}")
    return "\n".join(lines)


def _output(grades: Sequence[ItemGrade]) -> str:
    lines = []
    for grade in grades:
        receipt = f"SHA-256 of what was handed in: {grade.sha256}" if grade.sha256 else "nothing was graded"
        lines.append(f"{grade.item}: {receipt}")
        lines += [clean_line(note, 500) for note in (grade.report.notes if grade.report else ())]
    tiers = sorted({grade.report.tier for grade in grades if grade.report is not None and grade.report.tier})
    ran = f"your code ran in sandbox tier {', '.join(tiers)}" if tiers else "no code was run"
    return "\n".join([*lines, f"Graded by Softmark {__version__}; {ran}."])


def _extra(grades: Sequence[ItemGrade]) -> dict[str, Any]:
    items = {
        grade.item: {
            "submission_sha256": grade.sha256,
            "item_version": grade.report.item_version if grade.report else None,
            "outcome": str(grade.report.outcome) if grade.report else None,
            "tier": grade.report.tier if grade.report else None,
        }
        for grade in grades
    }
    return {"softmark": {"engine_version": __version__, "items": items}}


class SubmissionGrader:
    """Grades the exercises of the one submission that Gradescope has laid out.

    Parameters
    ----------
    root : Path
        Gradescope's folder: source, submission and results.
    bank : Bank
    mode : Mode
    secret : bytes
        The autograder's key, see :func:`autograder_key`.
    runner : Runner
    """

    def __init__(self, root: Path, *, bank: Bank, mode: Mode, secret: bytes, runner: Runner) -> None:
        self._bank = bank
        self._folder = _innermost_folder(root / "submission")
        self._runner = runner
        # Another plan for each submission, as students see feedback between them; the same for a rerun.
        plan_secret = hmac.new(secret, _submission_identity(root), hashlib.sha256).digest()
        self._code = CodeExercises(bank, secret=plan_secret, mode=mode)

    def grade(self, item: str) -> ItemGrade:
        """Grade one code exercise."""
        spec = self._bank.load(item)
        answer = spec.answer
        assert isinstance(answer, CodeAnswer)  # `grade autograder make` packs nothing else
        hidden = self._bank.hidden_checks(item)
        try:
            submission = read_submission(self._folder, answer.function)
        except SubmissionError as error:
            return ItemGrade(item, spec.points, None, problem=self._fault_text(error))
        report = self._code.grade(item, submission, self._runner, "")
        return ItemGrade(item, spec.points, report, hidden, submission.sha256)

    def _fault_text(self, error: SubmissionError) -> str:
        """Say what is wrong with a hand-in; the folder that it lies in here means nothing to a student."""
        where = error.where if error.where and not error.where.startswith(str(self._folder)) else ""
        lines = [f"{where}: {error.what}" if where else error.what]
        lines += [f"expected: {error.expected}"] if error.expected else []
        return "\n".join(lines + ([f"got: {error.got}"] if error.got else []))


def _innermost_folder(folder: Path) -> Path:
    """Return the folder that holds the files: repositories and zips put them into one of their own."""
    try:
        entries = [path for path in folder.iterdir() if not path.name.startswith((".", "__MACOSX"))]
    except OSError:
        return folder  # reading it will say why
    inner = entries[0] if len(entries) == 1 else folder
    return inner if inner.is_dir() and not inner.is_symlink() else folder


def _submission_identity(root: Path) -> bytes:
    """Return what distinguishes this submission from others, by Gradescope's own record of it."""
    try:
        data = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        return json.dumps([data.get("id"), data.get("created_at")]).encode()
    except (OSError, ValueError, AttributeError):
        return b"unknown"


def autograder_key(secret: bytes | None, items: Sequence[str]) -> bytes:
    """Return an autograder's key: always the same for a course, and no way back to the course's secret.

    Parameters
    ----------
    secret : bytes or None
        The course's; None gives a random key.
    items : sequence of str
    """
    if secret is None:
        return secrets.token_bytes(32)
    message = json.dumps(["autograder", sorted(items)]).encode("ascii")
    return hmac.new(secret, message, hashlib.sha256).digest()
