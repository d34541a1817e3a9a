"""What a submission's source shows before it runs: syntax, library, forbidden calls, the function itself.

The source is parsed, never compiled or executed. The second half of the file stands between grader and
sandbox: runners that pass arguments as the function takes them and count lines as a notebook's author does,
and what loading the file came to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from engine.code.plan import InputPlan
from engine.code.source import (
    MAX_CHARACTERS,
    ModuleBindings,
    Passing,
    defaults_of,
    definition_fault,
    parse_python,
    passing,
    place_in_cells,
    signature_of,
    survey_bindings,
    tree_or_none,
)
from engine.model import CodeSubmission
from engine.runner import (
    Call,
    CallOutcome,
    CallStatus,
    ExceptionInfo,
    Job,
    Runner,
    RunResult,
    WireArray,
    WrappingRunner,
)
from engine.text.words import clean_line, near_words


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What the source shows.

    Parameters
    ----------
    library : {"numpy", "torch"}
        Which arrays the function gets: torch if the file imports torch anywhere, else numpy.
    unreadable : str or None
        One sentence if this isn't Python at all.
    fault : str or None
        One sentence if the function is certainly missing or can't take the arguments.
    hint : str or None
        Names that look like the function's.
    forbidden : str or None
        One sentence about the first forbidden call, if there is one.
    passing : Passing
        How the function takes the arguments.
    """

    library: str
    unreadable: str | None = None
    fault: str | None = None
    hint: str | None = None
    forbidden: str | None = None
    passing: Passing = field(default_factory=Passing)


def examine_source(
    source: str,
    function: str,
    signature: str,
    *,
    forbidden: tuple[str, ...] = (),
    modules: Mapping[str, str] = MappingProxyType({}),
) -> SourceFacts:
    """Return the facts about one source.

    Parameters
    ----------
    source : str
        Foreign text.
    function, signature : str
        Name of the function and what its definition must look like, for example
        ``"softmax(x, axis=-1)"``.
    forbidden : tuple of str
        Dotted names of calls that may not occur, ``numpy.*`` for all of a module.
    modules : mapping of str to str
        Sources of further modules beside the file, also foreign.
    """
    if len(source) + sum(map(len, modules.values())) > MAX_CHARACTERS:
        return SourceFacts("numpy", unreadable=f"The file has more than {MAX_CHARACTERS} characters.")
    if not source.strip():
        return SourceFacts("numpy", unreadable="The file is empty.")
    try:
        tree = parse_python(source)
    except SyntaxError as error:
        return SourceFacts("numpy", unreadable=_syntax_sentence(error))
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nesting without end
        reason = "it holds null bytes" if isinstance(error, ValueError) else "it is nested too deeply"
        return SourceFacts("numpy", unreadable=f"The file isn't Python: {reason}.")
    bindings = survey_bindings(tree)
    others = [tree for tree in map(tree_or_none, modules.values()) if tree is not None]
    torch = bindings.torch or any(survey_bindings(other).torch for other in others)
    facts = SourceFacts("torch" if torch else "numpy")
    for sentence in (first_forbidden(each, forbidden) for each in (tree, *others)):
        if sentence is not None:
            return replace(facts, forbidden=sentence)
    if not bindings.dynamic:
        fault = definition_fault(bindings.definition(function), signature)
        if fault is not None:
            return replace(facts, fault=fault)
        actual = signature_of(bindings, function)
        facts = replace(facts, passing=(actual and passing(actual, signature)) or Passing())
    hint = _hint(bindings, function)
    if bindings.dynamic or function in bindings.top:  # it could exist when the module has been loaded
        return replace(facts, hint=hint)
    return replace(facts, fault=f"The file doesn't define {signature}." + (f" {hint}" if hint else ""))


def _hint(bindings: ModuleBindings, function: str) -> str | None:
    if function in bindings.functions and function not in bindings.top:
        return f"{function} is defined inside a class or another function; define it at the top level."
    # the comparison takes time in proportion to the names, and to their lengths
    folded = {name.lower().replace("_", ""): name for name in list(bindings.functions)[:200]}
    if near := near_words(function.lower().replace("_", ""), folded):
        return f"It defines {clean_line(folded[near[0]], 60)}: rename that if it is the one."
    if len(bindings.functions) == 1:
        return f"It defines {clean_line(next(iter(bindings.functions)), 60)}."
    return None


def _syntax_sentence(error: SyntaxError) -> str:
    place = f" in line {error.lineno}" if error.lineno else ""
    sentence = f"Python can't read the file: {clean_line(str(error.msg), 120)}{place}"
    text = clean_line(error.text or "", 80)
    return f"{sentence}: {text}" if text else f"{sentence}."


# This finds what an honest student writes, under whatever name it was imported. It is no security measure:
# getattr with a computed name, or a copy of the library's code, gets past it.
def first_forbidden(tree: ast.Module, forbidden: tuple[str, ...]) -> str | None:
    """Return one sentence about the first use of a forbidden name, None if there is none.

    Parameters
    ----------
    tree : ast.Module
    forbidden : tuple of str
        Dotted names such as ``torch.nn.functional.softmax``; ``numpy.linalg.*`` means all below; a name
        without a dot is a builtin, and one that starts with a dot a method (``.softmax``).
    """
    if not forbidden:
        return None
    names = _imported(tree)
    uses = sorted(_uses(tree, names), key=lambda use: (use[0], use[1]))
    for line, used in uses:
        rule = next((rule for rule in forbidden if _falls_under(used, rule)), None)
        if rule is not None:
            return f"Line {line} uses {clean_line(used, 80)}, which this exercise asks you to do without."
    return None


def _imported(tree: ast.Module) -> dict[str, str]:
    # by the name that the module uses for it: `import torch.nn.functional as F` hides nothing
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                names[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _uses(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, f".{node.attr}"
            dotted = _dotted(node)
            if dotted is not None:
                head, _, rest = dotted.partition(".")
                yield node.lineno, f"{names.get(head, head)}.{rest}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.lineno, names.get(node.id, node.id)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _falls_under(used: str, rule: str) -> bool:
    if rule.endswith(".*"):
        return used.startswith(rule[:-1])
    return used == rule


IMPORTABLE = (
    "What can be imported is the standard library, numpy, torch, the packages that the course offers, and "
    ".py files handed in beside this one."
)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")


_NO_DEFAULT = (
    "An argument without its default was passed by the grader in most calls; expected {signature}, "
    "so that it can be left out."
)
_BY_KEYWORD = "The grader passed {name} by keyword, because the function takes it no other way."


def suited_runner(runner: Runner, submission: CodeSubmission, passing: Passing, signature: str) -> Runner:
    """Pass arguments as the function takes them, and count lines by notebook cell."""
    if submission.filename.lower().endswith(".ipynb"):
        runner = CellLines(runner)
    if passing.is_usual:
        return runner
    return ArgumentAdapter(runner, passing, defaults_of(signature), signature.count(",") + 1)


def passing_notes(passing: Passing, signature: str) -> Iterator[str]:
    """Yield what a student should know where the arguments couldn't be passed as the exercise does."""
    if passing.requires is not None:
        yield _NO_DEFAULT.format(signature=signature)
    for name in passing.keywords.values():
        yield _BY_KEYWORD.format(name=clean_line(name, 60))


class CellLines(WrappingRunner):
    """A runner that says ``code cell 3, line 2`` of a notebook's own lines."""

    def run(self, job: Job) -> RunResult:
        """Run one job whose source is that of a notebook."""
        result = self._runner.run(job)
        outcomes = tuple(_placed(outcome, job.source) for outcome in result.outcomes)
        failed = tuple(_in_cell(exception, job.source) for exception in result.failed)
        return replace(result, load=_placed(result.load, job.source), outcomes=outcomes, failed=failed)


class ArgumentAdapter(WrappingRunner):
    """A runner for a function that takes its optional arguments in another way than the exercise passes them.

    One that it takes by keyword only is passed so. An argument that has its default isn't passed to a
    function that doesn't take it, so that everything which doesn't need the argument is judged; where another
    value is asked for, Python's own TypeError says what is missing. To a function that has no default for an
    argument, the default is passed, except in the calls on views and read-only arrays: so the oversight costs
    that one check.

    Parameters
    ----------
    runner : Runner
    passing : Passing
    defaults : tuple
        Defaults of the last arguments of the exercise's function.
    size : int
        How many arguments that has.
    """

    def __init__(self, runner: Runner, passing: Passing, defaults: tuple[Any, ...], size: int) -> None:
        super().__init__(runner)
        self._passing, self._defaults, self._size = passing, defaults, size

    def run(self, job: Job) -> RunResult:
        """Run one job with the arguments that the function takes, and those that it requires."""
        result = self._runner.run(replace(job, calls=tuple(self._fitted(call) for call in job.calls)))
        pairs = zip(job.calls, result.outcomes, strict=False)
        return replace(result, outcomes=tuple(_as_sent(call, outcome) for call, outcome in pairs))

    def _fitted(self, call: Call) -> Call:
        args, by_keyword = list(call.args), dict(call.kwargs)
        # there Python's own TypeError is what the check of layouts shall report
        views = any(isinstance(arg, WireArray) and not (arg.contiguous and arg.writeable) for arg in args)
        while len(args) < (self._passing.requires or 0) and not views:
            args.append(self._defaults[len(args) - self._size])
        while self._passing.takes is not None and len(args) > self._passing.takes:
            default = self._defaults[len(args) - 1 - self._size]
            if type(args[-1]) is not type(default) or args[-1] != default:
                break
            args.pop()
        while (name := self._passing.keywords.get(len(args) - 1)) is not None:
            by_keyword = {name: args.pop(), **by_keyword}  # in their order, as their values come back
        if len(args) == len(call.args) and not by_keyword:
            return call
        return replace(call, args=tuple(args), kwargs=by_keyword)


def _as_sent(call: Call, outcome: CallOutcome) -> CallOutcome:
    # what is judged afterwards are the arguments of the plan, whatever the function took of them
    if outcome.arguments is None or len(outcome.arguments) == len(call.args):
        return outcome
    returned = outcome.arguments[: len(call.args)]
    return replace(outcome, arguments=returned + call.args[len(returned) :])


def _placed(outcome: CallOutcome, source: str) -> CallOutcome:
    if outcome.exception is None:
        return outcome
    return replace(outcome, exception=_in_cell(outcome.exception, source))


def _in_cell(exception: ExceptionInfo, source: str) -> ExceptionInfo:
    if exception.file is not None or exception.line is None:
        return exception
    place = place_in_cells(source, exception.line)
    return exception if place is None else replace(exception, file=place[0], line=place[1])


def load_notes(result: RunResult) -> tuple[str, ...]:
    """Return a sentence for each statement that failed while the file was loaded; they hold foreign text."""
    return tuple(
        f"While the file was loaded, a statement raised {exception.summary()}. "
        "The others were run all the same, and what they define is graded."
        for exception in result.failed
    )


def missing_package(
    submission: CodeSubmission, function: str, plan: InputPlan, result: RunResult
) -> ExceptionInfo | None:
    """Return the failed import that the function can't do without, None if there is no such import.

    That is so if the function isn't there after an import failed, or if a public call needed what the
    import should have brought. Hidden calls don't count: they would tell what their inputs are.
    """
    failed = [exception for exception in result.failed if _package(exception)]
    if failed and function in result.missing:
        return failed[0]
    sources = (submission.source, *submission.modules.values())
    # only what public calls raised: a text raised in a hidden call could carry its input
    for exception in _public(plan, result.outcomes):
        if _package(exception):
            return exception
        if exception.type not in {"NameError", "UnboundLocalError"}:
            continue
        if match := _NO_NAME.match(exception.text):  # a name that the failed import should have bound
            for cause in failed:
                if {match.group(1), "*"} & _names_from({_package(cause)}, sources):
                    return cause
    return None


def _names_from(packages: Collection[str], sources: Iterable[str]) -> frozenset[str]:
    """Return the names that imports from these top-level packages bind; ``"*"`` for all of one."""
    names: set[str] = set()
    for tree in map(tree_or_none, sources):
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                aliases = [alias for alias in node.names if alias.name.partition(".")[0] in packages]
                names.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in packages:
                names.update(alias.asname or alias.name for alias in node.names)
    return frozenset(names)


def _package(exception: ExceptionInfo) -> str:
    match = _NO_MODULE.match(exception.text) if exception.type == "ModuleNotFoundError" else None
    return match.group(1).partition(".")[0] if match else ""


def _public(plan: InputPlan, outcomes: Iterable[CallOutcome]) -> Iterator[ExceptionInfo]:
    for case, outcome in zip(plan.cases, outcomes, strict=True):
        if case.public and outcome.status is CallStatus.RAISED and outcome.exception is not None:
            yield outcome.exception
