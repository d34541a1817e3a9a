"""Softmark: an auto-graded exercise and quiz engine for courses on attention.

Five functions are for notebooks and scripts of instructors; everything else is the engine's own and may
change.  They import what they need when they are called, so that ``import engine`` costs nothing:

>>> import engine
>>> item = engine.load_item("softmax-weights")
>>> variant = engine.draw(item, seed=7)
>>> engine.grade_answers(variant, "1, 0, 0").score
0.0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.course import Course
    from engine.errors import UsageError
    from engine.items import ProblemSpec
    from engine.model import GradeReport, Variant

__all__ = ["LoadedItem", "__version__", "draw", "grade_answers", "grade_code", "load_item", "open_course"]

__version__ = "0.1.0"

COMMON_PACKAGES = ("einops", "jaxtyping", "pandas", "scipy")
"""Packages offered to student code beside torch and numpy, if installed, unless a course names others."""


@dataclass(frozen=True, slots=True)
class LoadedItem:
    """An item as :func:`load_item` reads it: its spec, and what drawing and grading need besides.

    Parameters
    ----------
    spec : ProblemSpec
    path : Path
        Its file; the files of a code exercise lie beside it.
    version : str
        Hash of what the item says and computes; kept in each variant.
    registry : mapping of str to str
        Feedback sentence by the id of a known mistake.
    """

    spec: ProblemSpec
    path: Path
    version: str
    registry: Mapping[str, str]


def load_item(item: str | Path) -> LoadedItem:
    """Read an item and check all of it.

    Parameters
    ----------
    item : str or Path
        The id of an item that comes with Softmark, or the path of a problem file.

    Raises
    ------
    engine.errors.UnknownItemError
        There is no such item.
    engine.errors.SpecError
        The file has faults; the error shows each of them with its line.

    Examples
    --------
    >>> load_item("softmax-weights").spec.title
    'Attention weights by softmax'
    """
    from engine.items import builtin_bank, item_version, load_spec

    if not isinstance(item, str | Path):
        raise _unexpected("load_item", "the id of an item or the path of a problem file", item)
    bank = builtin_bank()
    if isinstance(item, Path) or item.endswith((".yaml", ".yml")):
        path = Path(item)
        spec = load_spec(path, registry=bank.registry())
        return LoadedItem(spec, path, item_version(spec, path), bank.registry())
    return LoadedItem(bank.load(item), bank.path(item), bank.version(item), bank.registry())


def draw(
    item: LoadedItem,
    *,
    seed: int = 0,
    student: str | None = None,
    secret: bytes | None = None,
    attempt: int = 0,
) -> Variant:
    """Draw one variant of an item: its numbers, texts and key.

    Parameters
    ----------
    item : LoadedItem
    seed : int
        For a variant that anybody can draw again, as ``grade show --seed`` does.
    student : str, optional
        Draw this student's variant instead; needs the course's `secret`.
    secret : bytes, optional
        Of the course: ``open_course(path).secret()``.
    attempt : int
        From 0; another attempt is another variant. Only with a `student`.

    Raises
    ------
    engine.errors.DrawError
        No variant can be drawn; the message names the constraint that fails.
    engine.errors.UsageError
        A student without a secret, or the other way round; an `attempt` without either; an `item` that isn't
        what :func:`load_item` returns.

    Examples
    --------
    >>> variant = draw(load_item("softmax-weights"), seed=7)
    >>> [part.type for part in variant.parts]
    ['vector']
    """
    from engine.errors import UsageError
    from engine.variants import draw as draw_for
    from engine.variants import draw_seeded

    if not isinstance(item, LoadedItem):
        raise _unexpected("draw", "an item, as load_item returns it", item)
    if (student is None) != (secret is None) or (attempt and student is None):
        raise UsageError(
            "a student's variant is drawn from the student's id and the course's secret",
            expected="both `student` and `secret`, or neither and a `seed`",
        )
    if secret is not None and not isinstance(secret, bytes):
        raise _unexpected("draw", "the secret as bytes, as open_course(path).secret() returns it", secret)
    spec, version, registry = item.spec, item.version, item.registry
    if student is None or secret is None:
        return draw_seeded(spec, version=version, registry=registry, seed=seed)
    return draw_for(spec, version=version, registry=registry, secret=secret, student=student, attempt=attempt)


def grade_answers(variant: Variant, answers: str | Mapping[str, str]) -> GradeReport:
    """Grade what was typed into the fields of a variant; nothing is stored.

    Parameters
    ----------
    variant : Variant
    answers : str or mapping of str to str
        The text of the only field, or texts by the ids of the parts; what is missing is blank.

    Returns
    -------
    GradeReport
        Without a score where something can't be read: its checks say what and why.

    Raises
    ------
    engine.errors.UsageError
        A single text for a variant of several parts, or arguments of other types.

    Examples
    --------
    >>> variant = draw(load_item("softmax-weights"), seed=7)
    >>> report = grade_answers(variant, "one half")
    >>> report.score, str(report.outcome)
    (None, 'format_error')
    """
    from engine.errors import UsageError
    from engine.grading import grade_answers as grade
    from engine.model import Mode, Response, Variant

    if not isinstance(variant, Variant):
        raise _unexpected("grade_answers", "a variant, as draw returns it", variant)
    if not isinstance(answers, str | Mapping):
        raise _unexpected("grade_answers", "a text, or a mapping of part ids to texts", answers)
    if isinstance(answers, str) and len(variant.parts) > 1:
        raise UsageError(
            f"this variant of {variant.item} has several parts",
            expected=f"a mapping of {', '.join(part.id for part in variant.parts)} to texts",
        )
    texts = {variant.parts[0].id: answers} if isinstance(answers, str) else dict(answers)
    return grade(variant, Response(texts), mode=Mode.PRACTICE, student=None)


def grade_code(
    item: LoadedItem, source: str | Path, *, secret: bytes = b"", unsafe_local: bool = False
) -> GradeReport:
    """Grade a file with code; nothing is stored.

    Parameters
    ----------
    item : LoadedItem
        A code exercise.
    source : str or Path
        A ``.py`` or ``.ipynb`` file.
    secret : bytes
        Of the course, for the hidden inputs that its class meets.
    unsafe_local : bool
        Whether code may run where this machine offers no sandbox: for your own files only.

    Raises
    ------
    engine.errors.SubmissionError
        The file can't be read.
    engine.errors.SandboxError
        This machine offers no sandbox.
    engine.errors.UsageError
        The item asks for no code.

    Examples
    --------
    >>> item = load_item("softmax")
    >>> grade_code(item, item.path.parent / "solution_numpy.py", unsafe_local=True).score
    10.0
    """
    from engine.code.exercise import freeze_plan, load_exercise
    from engine.errors import UsageError
    from engine.grading import grade_code as grade
    from engine.intake import read_code_file
    from engine.model import Mode
    from engine.runs.code_exercises import plan_seed
    from engine.sandbox import SandboxOptions, open_runner

    if not isinstance(item, LoadedItem):
        raise _unexpected("grade_code", "an item, as load_item returns it", item)
    if item.spec.kind != "code":
        raise UsageError(f"{item.spec.id} isn't a code exercise", next_step="use grade_answers")
    submission = read_code_file(Path(source), exercise=item.spec.id)
    exercise = load_exercise(item.spec, item.path.parent, item.version)
    plan = freeze_plan(exercise, plan_seed(secret, item.spec.id, item.version))
    source = "\n".join((submission.source, *submission.modules.values()))
    with open_runner(SandboxOptions(unsafe_local=unsafe_local), sources=(source,)) as runner:
        return grade(exercise, plan, submission, runner, mode=Mode.PRACTICE, student=None)


def open_course(path: str | Path) -> Course:
    """Open a course folder: its settings, roster, secret and store.

    Parameters
    ----------
    path : str or Path
        The folder that ``grade init`` made.

    Raises
    ------
    engine.errors.CourseError
        It isn't a course folder, or its settings are faulty.

    Examples
    --------
    >>> import tempfile
    >>> from engine.course import Course
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Course.init(Path(folder) / "course", "Attention, winter term")
    ...     open_course(Path(folder) / "course").title
    'Attention, winter term'
    """
    from engine.course import Course

    return Course.open(Path(path))


def _unexpected(function: str, expected: str, value: object) -> UsageError:
    # In a notebook an id where an item belongs is the usual slip: a missing attribute wouldn't say so.
    from engine.errors import UsageError

    return UsageError(
        f"{function} can't use this", expected=expected, got=f"{type(value).__name__} {value!r}"[:80]
    )
