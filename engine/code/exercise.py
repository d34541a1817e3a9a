"""A code exercise, loaded: its rubric, its inputs, its solutions and mutants.

The file itself has been checked by :mod:`engine.items.checks.code`. Only what this package alone knows is
checked here: that the author's file works, and tries every property of the rubric.

The author's file, ``exercise.py``, is Python that runs in the grader, so it is trusted as the engine itself
is. It is loaded only from the folder of an item of the built-in bank or of the course, since
:class:`~engine.items.bank.Bank` knows no others, and never reaches the student's process. Whatever goes wrong
in it is the author's fault and nobody's mark::

    exercise.py:12:1: this line raised ZeroDivisionError: division by zero
"""

from __future__ import annotations

import hashlib
import math
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.code.plan import InputPlan, group_key
from engine.code.planned_exercise import CALLED_WITH, AuthorError, PlannedExercise
from engine.code.properties import Property, property_names, property_of
from engine.code.source import names_of
from engine.errors import Diagnostic, EngineError, SpecError
from engine.items import CheckSpec, CodeAnswer, MutantSpec, ProblemSpec
from engine.items.bank import Bank
from engine.items.checks.code import exercise_path, is_builtin_id
from engine.items.checks.context import Where
from engine.runner import Limits
from engine.text.words import clean_line, did_you_mean
from engine.text.yaml import read_yaml


@dataclass(frozen=True, slots=True)
class RubricCheck:
    """One check of the rubric with the property behind it; `key` finds its groups in the plan."""

    id: str
    property: Property
    key: str
    points: float
    public: bool
    requires: tuple[str, ...]
    message: str
    together: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class KnownWrongProgram:
    """A known-wrong implementation, ours and therefore trusted; a pair ``combines`` two others."""

    id: str
    source: str
    filename: str
    killed_by: tuple[str, ...]
    feedback: str
    combines: tuple[str, ...] = ()
    reference_only: str | None = None


@dataclass(frozen=True, eq=False)
class CodeExercise:
    """One code exercise, ready to grade.

    Parameters
    ----------
    item, version : str
        Item id and the hash of everything that decides about marks.
    title : str
    function, signature : str
        What the student writes.
    inputs : PlannedExercise
        What the author's file defines: makes plans and knows the truth.
    checks : tuple of RubricCheck
        In the order of the spec, every prerequisite before what needs it.
    mutants : tuple of KnownWrongProgram
    solutions : mapping of str to str
        File name to source.
    starter : str
        The file that students start from.
    limits : Limits
    forbidden : tuple of str
        Calls that a submission may not contain.
    """

    item: str
    version: str
    title: str
    function: str
    signature: str
    inputs: PlannedExercise
    checks: tuple[RubricCheck, ...]
    mutants: tuple[KnownWrongProgram, ...]
    solutions: dict[str, str]
    starter: str
    limits: Limits
    forbidden: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Full marks."""
        return math.fsum(check.points for check in self.checks)


def load_exercise(spec: ProblemSpec, folder: Path, version: str) -> CodeExercise:
    """Return the exercise of a spec whose files lie in `folder`.

    Raises
    ------
    SpecError
        The item asks for no code, its rubric names a property or option that doesn't exist, or the
        author's file is at fault.
    EngineError
        A file of the exercise can't be read any more.
    """
    path, answer = folder / f"{spec.id}.yaml", spec.answer
    if not isinstance(answer, CodeAnswer):
        raise SpecError.of_file([Diagnostic(str(path), 1, 1, f"{spec.id} isn't a code exercise")])
    file = exercise_path(answer.exercise, folder)
    with author_faults(file):
        inputs = _with_examples(load_exercise_file(file, file.parent.name), answer, path)
        offered = inputs.offered_groups
    if faults := list(_catalogue_faults(answer, inputs, offered)):
        document = read_yaml(path)
        raise SpecError.of_file([document.diagnostic(("answer", *loc), message) for loc, message in faults])
    limits = answer.limits
    return CodeExercise(
        item=spec.id,
        version=version,
        title=spec.title,
        function=answer.function,
        signature=answer.signature,
        inputs=inputs,
        checks=tuple(_rubric(check, inputs) for check in answer.checks),
        mutants=tuple(_mutant(mutant, _source(folder, mutant.file)) for mutant in answer.mutants),
        solutions={name: _source(folder, name) for name in answer.solutions},
        starter=_source(folder, answer.starter),
        limits=Limits(wall_s=limits.wall_s, call_s=limits.call_s, memory_mib=limits.memory_mib),
        forbidden=answer.forbidden,
    )


def exercise_of(bank: Bank, item: str) -> CodeExercise:
    """Return a code exercise of a bank by its id.

    Raises
    ------
    UnknownItemError
        The bank has no such item.
    SpecError
        As :func:`load_exercise`.
    """
    return load_exercise(bank.load(item), bank.path(item).parent, bank.version(item))


def freeze_plan(exercise: CodeExercise, seed: bytes) -> InputPlan:
    """Return the plan of a secret seed, the same for the same seed.

    It holds only the inputs that the rubric's checks need, and the public ones.
    """
    # each call costs time in the sandbox: what no check of this rubric asks for isn't run
    try:
        with author_faults(exercise.inputs.path or Path()):
            whole = exercise.inputs.plan(seed)
    except SpecError as error:
        # it worked when the exercise was loaded, so this is no fault of what is being handed in
        raise EngineError(f"the plan can't be drawn: {fault_in_short(error)}") from error
    keys = {check.key for check in exercise.checks} | {"runs"}
    if untried := keys - set(whole.groups):
        # a check that nothing is judged by would pass
        raise EngineError(f"the plan of this seed never tries {min(untried)}")
    public = frozenset(i for i, case in enumerate(whole.cases) if case.public and case.kind == "ordinary")
    return whole.only(keys, public)


def _with_examples(inputs: PlannedExercise, answer: CodeAnswer, path: Path) -> PlannedExercise:
    examples = answer.examples
    try:
        return inputs.with_examples(examples)
    except ValueError as error:
        fault = str(error)
    # the first that doesn't fit: those before it do
    index = next(count for count in range(len(examples)) if not _fit(inputs, examples[: count + 1]))
    name = fault.partition(":")[0]
    where: Where = ("answer", "examples", index, *([name] if name in examples[index] else []))
    raise SpecError.of_file([read_yaml(path).diagnostic(where, f"this example doesn't fit: {fault}")])


def _fit(inputs: PlannedExercise, examples: Sequence[Mapping[str, Any]]) -> bool:
    try:
        inputs.with_examples(examples)
    except ValueError:
        return False
    return True


def _rubric(check: CheckSpec, inputs: PlannedExercise) -> RubricCheck:
    # known: the catalogue was asked before
    judged_by = inputs.properties.get(check.property) or property_of(check.property)
    return RubricCheck(
        id=check.id,
        property=judged_by,
        key=group_key(judged_by.name, check.options.get("cases")),
        points=check.points,
        public=check.public,
        requires=check.requires,
        message=check.message or judged_by.sentence,
        together=check.together,
        title=check.title or judged_by.title,
    )


def _mutant(mutant: MutantSpec, source: str) -> KnownWrongProgram:
    return KnownWrongProgram(
        id=mutant.id,
        source=source,
        filename=mutant.file,
        killed_by=mutant.killed_by,
        feedback=mutant.feedback or "",
        combines=mutant.combines,
        reference_only=mutant.reference_only,
    )


def _source(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EngineError("a file of the exercise can't be read", where=str(folder / name)) from error


def _catalogue_faults(
    answer: CodeAnswer, inputs: PlannedExercise, offered: frozenset[str]
) -> Iterator[tuple[Where, str]]:
    names = [*property_names(), *inputs.properties]
    arguments = names_of(answer.signature)
    if arguments != inputs.argument_names and not is_builtin_id(answer.exercise):
        texts = (", ".join(written) for written in (inputs.argument_names, arguments))
        yield ("signature",), "the arguments of exercise.py are {}; these are {}".format(*texts)
    for index, check in enumerate(answer.checks):
        where = ("checks", index)
        cases: Any = check.options.get("cases")
        if check.property not in names:
            near = did_you_mean(check.property, names)
            yield (*where, "property"), f"no property is called {check.property!r}{near}"
        elif others := set(check.options) - {"cases"}:
            yield (*where, "options"), f"unknown option {min(others)!r}; there is only 'cases'"
        elif group_key(check.property, cases) not in offered:
            kind = f" with cases: {cases}" if cases else ""
            yield (*where, "property"), f"exercise.py never tries {check.property!r}{kind}"


# Two threads that load one file at once must get one object: plans and counterexamples are cached by it.
_lock = threading.RLock()
_LONGEST_S = 60.0  # of an author's file at a time: a plan takes a tenth of a second
_LONGEST_MESSAGE = 300


def load_exercise_file(path: Path, name: str) -> PlannedExercise:
    """Return the exercise of a file; it is loaded once for each content.

    Parameters
    ----------
    path : Path
        The author's file.
    name : str
        Id of the exercise, which becomes part of the hash of its plans.

    Raises
    ------
    SpecError
        The file isn't Python, raises while it is loaded, or defines no ``exercise``.
    EngineError
        The file can't be read.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise EngineError("the file of the exercise can't be read", where=str(path)) from error
    with _lock:
        return _loaded(str(path), source, name)


@lru_cache(maxsize=256)
def _loaded(path: str, source: bytes, name: str) -> PlannedExercise:
    # Under a name of its own: every such file is called exercise.py, and dataclasses look their module up.
    module = ModuleType(f"exercise_{hashlib.sha256(path.encode() + source).hexdigest()[:16]}")
    sys.modules[module.__name__] = module
    with author_faults(Path(path)):
        run_author_file(module, path, source)
    exercise = getattr(module, "exercise", None)
    if exercise is None:
        raise _fault(path, 1, "the file defines no exercise; its last line is: exercise = Exercise(…)")
    if not isinstance(exercise, PlannedExercise):
        kind = type(exercise).__name__
        raise _fault(path, 1, f"exercise is of type {kind}, not an Exercise of engine.exercises")
    exercise.name, exercise.path = name, Path(path)
    return exercise


def run_author_file(module: ModuleType, path: str, source: bytes) -> None:
    """Run an author's file in a module; raises :class:`SpecError` if it isn't Python, and what it raises."""
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:  # the latter for a null byte
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        raise _fault(path, line, f"this isn't Python: {getattr(error, 'msg', error)}", column) from error
    # what it prints is for its author: standard output is the command's, and may be JSON
    module.__dict__.update(__file__=path, print=partial(print, file=sys.stderr))
    exec(code, module.__dict__)


@contextmanager
def author_faults(path: Path) -> Iterator[None]:
    """Turn whatever the author's file raises into a fault with its place in that file.

    Raises
    ------
    SpecError
        With the last line of the file that took part, and what was raised there.
    """
    try:
        with _time_limit():
            yield
    except (SpecError, EngineError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit too: nothing in this file may end the program
        if isinstance(error, AuthorError):
            raise _fault(error.file or str(path), error.line, str(error)) from error
        if isinstance(error, SyntaxError) and Path(error.filename or "").parent == path.parent:
            message = f"this isn't Python: {error.msg}"
            raise _fault(str(error.filename), error.lineno or 1, message, error.offset or 1) from error
        # the file itself, or a solution beside it that gives the right results
        traced = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in traced if Path(frame.filename).parent == path.parent]
        line, column = (frames[-1].lineno or 1, (frames[-1].colno or 0) + 1) if frames else (1, 1)
        text = clean_line(str(error), _LONGEST_MESSAGE)
        raised = f"{type(error).__name__}: {text}" if text else type(error).__name__
        notes = (note for note in getattr(error, "__notes__", ()) if note.startswith(CALLED_WITH))
        raised = "; ".join([raised, *notes])
        file = frames[-1].filename if frames else str(path)
        raise _fault(file, line, f"this line raised {raised}", column) from error


class _TooLongError(TimeoutError):
    def __str__(self) -> str:  # the interpreter makes it, without a message
        return f"the file was still running after {_LONGEST_S:g} s"


_TooLongError.__name__ = TimeoutError.__name__
_watch = threading.Lock()
_deadlines: dict[int, float] = {}  # of threads that run an author's code, by their numbers


def _stop_the_late() -> None:
    import ctypes

    while True:
        time.sleep(min(1.0, _LONGEST_S))
        with _watch:
            for thread in [thread for thread, end in _deadlines.items() if end < time.monotonic()]:
                del _deadlines[thread]  # once: a second error could come after the author's code
                error = ctypes.py_object(_TooLongError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


_watcher = threading.Thread(target=_stop_the_late, daemon=True)


def _interrupt(*_: object) -> None:
    raise _TooLongError


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise TimeoutError in the author's code where it runs too long, in whatever thread."""
    thread = threading.get_ident()
    if thread in _deadlines:  # within a limit already
        yield
        return
    # An alarm that whoever calls us has set stays as it is: then a thread watches the time.
    alarms = (
        thread == threading.main_thread().ident
        and hasattr(signal, "setitimer")
        and not signal.getitimer(signal.ITIMER_REAL)[0]
    )
    with _watch:
        _deadlines[thread] = math.inf if alarms else time.monotonic() + _LONGEST_S
        if not alarms and _watcher.ident is None:
            _watcher.start()
    try:
        if not alarms:
            yield
            return
        before = signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, _LONGEST_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    finally:
        with _watch:
            _deadlines.pop(thread, None)


def fault_in_short(error: SpecError) -> str:
    """Return the first fault of an author's file without its folder: students may read it."""
    fault = error.diagnostics[0]
    return f"{Path(fault.file).name}:{fault.line}: {fault.message}"


def _fault(path: str, line: int, message: str, column: int = 1) -> SpecError:
    return SpecError.of_file([Diagnostic(path, line, column, message)])
