"""Foreign Python text, parsed and never run; and where its lines stand in a notebook."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType, TracebackType
from typing import Any, Self

from engine.code.plan import InputPlan
from engine.code.show import exception_text
from engine.model import CodeSubmission
from engine.runner import Call, CallOutcome, CallStatus, ExceptionInfo, Job, Runner, RunResult, WireArray
from engine.text.escape import clean_line
from engine.text.words import near_words

__all__ = [
    "IMPORTABLE",
    "MAX_CHARACTERS",
    "CellLines",
    "Definition",
    "Function",
    "OwnArguments",
    "Passing",
    "Signature",
    "SourceFacts",
    "cell_mark",
    "defaults_of",
    "definition_fault",
    "examine_source",
    "first_forbidden",
    "function_names",
    "library_of",
    "load_notes",
    "missing_package",
    "names_from",
    "parse_python",
    "passing",
    "place_in_cells",
    "signature_of",
    "top_level",
]

MAX_CHARACTERS = 256 * 1024  # of all files of one submission

_parsing = threading.Lock()  # warning filters belong to the whole process
_MARK = re.compile(r"# --- code cell (\d+) ---")


def parse_python(source: str) -> ast.Module:
    """Return the syntax tree without the parser's warnings: an odd escape is the student's business.

    Raises
    ------
    SyntaxError
    ValueError, RecursionError, MemoryError
        Null bytes; nesting without end.
    """
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements that bind names of the module: those in ``if``, ``try`` and loops too."""
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def cell_mark(number: int) -> str:
    """Return the comment line before the code cell of this number (from 1) in a notebook's source."""
    return f"# --- code cell {number} ---"


def place_in_cells(source: str, line: int) -> tuple[int, int] | None:
    """Return (code cell, line within it), both from 1, of a line of a notebook's source.

    None: the source has no such line, or no cell begins before it.
    """
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return None
    for begin in range(line - 1, -1, -1):
        if found := _MARK.fullmatch(lines[begin]):
            return int(found.group(1)), max(1, line - 1 - begin)
    return None


# ----------------------------------------------------------------------------------------------------
# Which arguments a function takes, according to its source, and how the grader passes those of an exercise.
#
# Names of arguments don't matter, and an optional one may be positional or keyword-only. A signature that the
# source doesn't show (a decorator's, an import's) is called by position and judged by its results.

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEEPEST = 6  # an alias of an alias …
_CALLING = ("__call__", "forward")  # a module of torch is called through its forward
_PLAIN_BASES = {"object", "Module", "Function", "ABC", "Protocol"}


@dataclass(frozen=True, slots=True)
class Definition:
    """What one module says about its names at the top level.

    Parameters
    ----------
    bound : mapping of str to list of nodes
        What binds each name.
    values : mapping of str to expression
        What is assigned to it, where a plain assignment is what binds it.
    """

    bound: Mapping[str, Sequence[ast.AST]]
    values: Mapping[str, ast.expr]

    def only(self, name: str) -> ast.AST | None:
        """Return the one thing that a name stands for; of several functions the last."""
        bound = self.bound.get(name, [])
        if len(bound) > 1 and all(isinstance(node, Function) for node in bound):
            return max(bound, key=lambda node: getattr(node, "lineno", 0))
        if len(bound) != 1:
            return None
        return self.values.get(name, bound[0])


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters of a callable: names in their order, and those among them that have a default.

    Parameters
    ----------
    positional : tuple of str
        What can be passed by position.
    keywords : tuple of str
        What can be passed by keyword only.
    optional : frozenset of str
    unnamed : int
        How many of the first can be passed by position only.
    more, others : bool
        Whether it takes further positional ones (``*args``), and any keyword (``**kwargs``).
    """

    positional: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    unnamed: int = 0
    more: bool = False
    others: bool = False

    @classmethod
    def of(cls, given: ast.arguments) -> Signature:
        """Return the signature of a definition or a lambda."""
        positional = tuple(one.arg for one in (*given.posonlyargs, *given.args))
        keywords = tuple(one.arg for one in given.kwonlyargs)
        defaults = positional[len(positional) - len(given.defaults) :]
        named = [name for name, value in zip(keywords, given.kw_defaults, strict=True) if value is not None]
        return cls(
            positional,
            keywords,
            frozenset((*defaults, *named)),
            len(given.posonlyargs),
            given.vararg is not None,
            given.kwarg is not None,
        )

    def after(self, count: int, named: Sequence[str] = ()) -> Signature:
        """Return what is left when the first arguments, and some by name, are given already."""
        left = self.positional[count:]
        # what follows an argument that is given by name can be passed by keyword only
        cut = min((left.index(name) for name in named if name in left), default=len(left))
        return replace(
            self,
            positional=left[:cut],
            keywords=(*left[cut:], *self.keywords),
            optional=self.optional | frozenset(named),
            unnamed=max(0, self.unnamed - count),
            more=self.more and cut == len(left),
        )


@dataclass(frozen=True, slots=True)
class Passing:
    """How the arguments of an exercise's function are passed to one that is written in another way.

    Parameters
    ----------
    takes : int or None
        How many of them it takes, where it leaves out some of those that have a default.
    requires : int or None
        How many it requires, where one that should have a default has none.
    keywords : mapping of int to str
        Names of those that it takes by keyword only, by their position.
    """

    takes: int | None = None
    requires: int | None = None
    keywords: Mapping[int, str] = field(default_factory=dict)

    @property
    def is_usual(self) -> bool:
        """Whether everything can be passed as the exercise does."""
        return self.takes is None and self.requires is None and not self.keywords


def signature_of(module: Definition, name: str, depth: int = 0) -> Signature | None:
    """Return the signature of what a name stands for; None where the source doesn't tell it.

    A decorator is taken to hand its arguments on. A method, an object that is called, ``functools.partial``
    and a second name of a function are followed.
    """
    node = module.only(name)
    if isinstance(node, Function):
        return Signature.of(node.args)
    return _of_value(module, node, depth) if isinstance(node, ast.expr) and depth < _DEEPEST else None


def _of_value(module: Definition, value: ast.expr, depth: int) -> Signature | None:
    if isinstance(value, ast.Lambda):
        return Signature.of(value.args)
    if isinstance(value, ast.Name):
        return signature_of(module, value.id, depth + 1)
    if isinstance(value, ast.Attribute):
        is_object = isinstance(value.value, ast.Call)
        owner = _class(module, value.value.func if isinstance(value.value, ast.Call) else value.value)
        return None if owner is None else _of_method(owner, value.attr, is_object)
    if not isinstance(value, ast.Call):
        return None
    if _last_name(value.func) == "partial" and value.args:
        whole = _of_value(module, value.args[0], depth + 1)
        named = [one.arg for one in value.keywords if one.arg is not None]
        return None if whole is None else whole.after(len(value.args) - 1, named)
    owner = _class(module, value.func)
    found = (None if owner is None else _of_method(owner, method, True) for method in _CALLING)
    return next((one for one in found if one is not None), None)


def _class(module: Definition, node: ast.expr) -> ast.ClassDef | None:
    found = module.only(node.id) if isinstance(node, ast.Name) else None
    return found if isinstance(found, ast.ClassDef) else None


def _of_method(owner: ast.ClassDef, name: str, is_object: bool) -> Signature | None:
    """Return the signature of a method without the object that it is called on."""
    method = next((m for m in owner.body if isinstance(m, Function) and m.name == name), None)
    if method is None:
        return None
    kinds = {_last_name(one) for one in method.decorator_list}
    is_bound = "classmethod" in kinds or (is_object and "staticmethod" not in kinds)
    return Signature.of(method.args).after(int(is_bound))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def passing(given: Signature, signature: str) -> Passing | None:
    """Return how the arguments are passed to a function; None if it can't take them in any way.

    Parameters
    ----------
    given : Signature
        Of the function as it's written.
    signature : str
        As the exercise wants it, such as ``"softmax(x, axis=-1)"``.
    """
    wanted = [one.arg for one in _wanted(signature).args]
    least = len(wanted) - len(_wanted(signature).defaults)
    keywords: dict[int, str] = {}
    takes = None
    for place, name in enumerate(wanted[least:], start=least):
        keyword = _keyword(given, place, name, len(wanted) - least)
        if keyword is not None:
            keywords[place] = keyword
        elif takes is None and place >= len(given.positional) and not given.more:
            takes = place
    required = [name for name in given.positional if name not in given.optional]
    missing = {name for name in given.keywords if name not in given.optional} - set(keywords.values())
    if missing or (least > len(given.positional) and not given.more):
        return None
    if len(required) > min((*keywords, len(wanted) if takes is None else takes)):
        return None
    named = {*given.positional, *given.keywords} - given.optional
    lacking = named.intersection(keywords.values())
    requires = len(wanted) if lacking else len(required) if len(required) > least else None
    return Passing(takes, requires, keywords)


def _keyword(given: Signature, place: int, name: str, optional: int) -> str | None:
    """Return the name under which an optional argument must be passed; None if by position, or not at all."""
    later = given.positional[max(place + 1, given.unnamed) :]
    if place < len(given.positional):
        return name if name in later or name in given.keywords else None
    if name in given.keywords:
        return name
    if given.more:
        return None
    if optional == 1 and len(given.keywords) == 1:
        return given.keywords[0]
    return name if given.others else None


def definition_fault(node: ast.AST | None, signature: str) -> str | None:
    """Return what is wrong with the only thing that a name stands for; None if calling it can tell."""
    if isinstance(node, ast.ClassDef) and _makes_objects(node):
        return f"{clean_line(node.name, 60)} is a class here; expected the function {signature}."
    if not isinstance(node, Function) or node.decorator_list:
        return None
    if isinstance(node, ast.AsyncFunctionDef):
        return f"{node.name} is declared async; expected {signature}."
    if passing(Signature.of(node.args), signature) is not None:
        return None
    written = clean_line(f"{node.name}({_parameters(node.args)})", 120)
    return f"The function is written {written}; expected {signature}."


def _makes_objects(node: ast.ClassDef) -> bool:
    """Return whether calling a class certainly gives an object of it."""
    if node.keywords or node.decorator_list or any(_last_name(b) not in _PLAIN_BASES for b in node.bases):
        return False
    return bool(node.body) and not any(isinstance(m, Function) and m.name == "__new__" for m in node.body)


def _parameters(given: ast.arguments) -> str:
    names = [argument.arg for argument in [*given.posonlyargs, *given.args]]
    optional = len(names) - len(given.defaults)
    shown = [name if place < optional else f"{name}=…" for place, name in enumerate(names)]
    if given.vararg is not None:
        shown.append(f"*{given.vararg.arg}")
    elif given.kwonlyargs:
        shown.append("*")
    return ", ".join(shown + [argument.arg for argument in given.kwonlyargs])


def _wanted(signature: str) -> ast.arguments:
    definition = parse_python(f"def {signature}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition.args


def defaults_of(signature: str) -> tuple[Any, ...]:
    """Return the defaults of a signature's last arguments, such as ``(-1,)`` of ``softmax(x, axis=-1)``."""
    return tuple(ast.literal_eval(default) for default in _wanted(signature).defaults)


# ----------------------------------------------------------------------------------------------------
# Runners before the sandbox: a notebook's lines as its author sees them, calls as a function takes them.


class CellLines:
    """A runner that says ``code cell 3, line 2`` of the submission's own lines; the caller closes it."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def tier(self) -> str:
        """Tier of the runner behind it."""
        return self._runner.tier

    def run(self, job: Job) -> RunResult:
        """Run one job whose source is that of a notebook."""
        result = self._runner.run(job)
        outcomes = tuple(_placed(outcome, job.source) for outcome in result.outcomes)
        failed = tuple(_place(told, job.source) for told in result.failed)
        return replace(result, load=_placed(result.load, job.source), outcomes=outcomes, failed=failed)

    def close(self) -> None:
        """Close the runner behind it."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class OwnArguments:
    """A runner for a function that takes its optional arguments in another way than the exercise passes them.

    One that it takes by keyword only is passed so. An argument that has its default isn't passed to a
    function that doesn't take it, so that everything which doesn't need the argument is judged; where another
    value is asked for, Python's own TypeError says what is missing. To a function that has no default for an
    argument, the default is passed, except in the calls on views and read-only arrays: so the oversight costs
    that one check. The caller closes the runner.

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
        self._runner, self._passing = runner, passing
        self._defaults, self._size = defaults, size

    @property
    def tier(self) -> str:
        """Tier of the runner behind it."""
        return self._runner.tier

    def run(self, job: Job) -> RunResult:
        """Run one job with the arguments that the function takes, and those that it requires."""
        result = self._runner.run(replace(job, calls=tuple(self._fitted(call) for call in job.calls)))
        pairs = zip(job.calls, result.outcomes, strict=False)
        return replace(result, outcomes=tuple(_as_sent(call, outcome) for call, outcome in pairs))

    def _fitted(self, call: Call) -> Call:
        args, named = list(call.args), dict(call.kwargs)
        views = any(isinstance(arg, WireArray) and not (arg.contiguous and arg.writeable) for arg in args)
        while len(args) < (self._passing.requires or 0) and not views:
            args.append(self._defaults[len(args) - self._size])
        while self._passing.takes is not None and len(args) > self._passing.takes:
            default = self._defaults[len(args) - 1 - self._size]
            if type(args[-1]) is not type(default) or args[-1] != default:
                break
            args.pop()
        while (name := self._passing.keywords.get(len(args) - 1)) is not None:
            named = {name: args.pop(), **named}  # in their order, as their values come back
        if len(args) == len(call.args) and not named:
            return call
        return replace(call, args=tuple(args), kwargs=named)

    def close(self) -> None:
        """Close the runner behind it."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _as_sent(call: Call, outcome: CallOutcome) -> CallOutcome:
    """Return an outcome with as many arguments as the call had before it was fitted."""
    if outcome.arguments is None or len(outcome.arguments) == len(call.args):
        return outcome
    came = outcome.arguments[: len(call.args)]
    return replace(outcome, arguments=came + call.args[len(came) :])


def _placed(outcome: CallOutcome, source: str) -> CallOutcome:
    if outcome.exception is None:
        return outcome
    return replace(outcome, exception=_place(outcome.exception, source))


def _place(told: ExceptionInfo, source: str) -> ExceptionInfo:
    place = None if told.file is not None or told.line is None else place_in_cells(source, told.line)
    if place is None:
        return told
    cell, line = place
    return replace(told, file=f"code cell {cell}", line=line)


# ----------------------------------------------------------------------------------------------------
# Calls that an exercise forbids, looked for in the source.
#
# This finds what an honest student writes, under whatever name it was imported.  It is no security
# measure: ``getattr`` with a computed name, or a copy of the library's code, gets past it.


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
    """Return what each imported name stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


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


# ----------------------------------------------------------------------------------------------------
# What a submission's source shows before it runs: syntax, library, whether the function is there.
#
# The source is parsed, never compiled or executed.


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What the source shows.

    Parameters
    ----------
    library : {"numpy", "torch"}
        Which arrays the function gets: torch if the file imports torch anywhere, else numpy.
    unreadable : str or None
        One sentence if this is no Python at all.
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
    bindings = _survey(tree)
    others = [tree for tree in map(_tree_or_none, modules.values()) if tree is not None]
    torch = bindings.torch or any(_survey(other).torch for other in others)
    facts = SourceFacts("torch" if torch else "numpy")
    for found in (first_forbidden(each, forbidden) for each in (tree, *others)):
        if found is not None:
            return replace(facts, forbidden=found)
    if not bindings.dynamic:
        module = Definition(bindings.top, bindings.values)
        fault = definition_fault(module.only(function), signature)
        if fault is not None:
            return replace(facts, fault=fault)
        given = signature_of(module, function)
        facts = replace(facts, passing=(given and passing(given, signature)) or Passing())
    hint = bindings.nearest(function)
    if bindings.may_bind(function):
        return replace(facts, hint=hint)
    return replace(facts, fault=f"The file doesn't define {signature}." + (f" {hint}" if hint else ""))


def _tree_or_none(source: str) -> ast.Module | None:
    """Return the tree of a source; what is wrong with it shows when it is loaded."""
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _syntax_sentence(error: SyntaxError) -> str:
    place = f" in line {error.lineno}" if error.lineno else ""
    sentence = f"Python can't read the file: {clean_line(str(error.msg), 120)}{place}"
    shown = clean_line(error.text or "", 80)
    return f"{sentence}: {shown}" if shown else f"{sentence}."


_DYNAMIC = {"exec", "eval", "globals", "locals", "setattr", "vars"}


@dataclass(slots=True)
class _Bindings:
    """Names that one module binds: at its top level (or by ``global``), and inside functions and classes."""

    torch: bool = False
    dynamic: bool = False
    top: dict[str, list[ast.AST]] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def may_bind(self, function: str) -> bool:
        """Return whether the name could exist when the module has been loaded."""
        return self.dynamic or function in self.top

    def nearest(self, function: str) -> str | None:
        """Return a sentence about the function that the student may have meant."""
        if function in self.functions and function not in self.top:
            return f"{function} is defined inside a class or another function; define it at the top level."
        folded = {name.lower().replace("_", ""): name for name in list(self.functions)[:200]}
        wanted = function.lower().replace("_", "")
        if near := near_words(wanted, folded):
            return f"It defines {clean_line(folded[near[0]], 60)}: rename that if it is the one."
        if len(self.functions) == 1:
            return f"It defines {clean_line(next(iter(self.functions)), 60)}."
        return None


_TELLING = {
    ast.Assign,
    ast.AnnAssign,
    ast.Name,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Global,
    ast.Import,
    ast.ImportFrom,
}


def _survey(tree: ast.Module) -> _Bindings:
    """Walk the tree once, without recursion."""
    found = _Bindings()
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, nested = waiting.pop()
        if type(node) in _TELLING:
            _note(found, node, nested)
        inner = nested or isinstance(node, Function | ast.ClassDef | ast.Lambda)
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    return found


def _note(found: _Bindings, node: ast.AST, nested: bool) -> None:
    if isinstance(node, ast.Name) and node.id in _DYNAMIC:
        found.dynamic = True
    if isinstance(node, ast.Assign | ast.AnnAssign) and not nested and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        found.values.update({one.id: node.value for one in targets if isinstance(one, ast.Name)})
    if isinstance(node, Function):
        found.functions.setdefault(node.name, node)
    if isinstance(node, ast.Global):
        for name in node.names:
            found.top.setdefault(name, []).append(node)
    for name in _names_bound(node):
        found.dynamic = found.dynamic or name == "*"
        if not nested:
            found.top.setdefault(name, []).append(node)
    found.torch = found.torch or _imports_torch(node)


def _imports_torch(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(_is_torch(alias.name) for alias in node.names)
    return isinstance(node, ast.ImportFrom) and node.level == 0 and _is_torch(node.module or "")


def _is_torch(module: str) -> bool:
    return module.partition(".")[0] == "torch"


def _names_bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, Function | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]


def library_of(source: str) -> str:
    """Return which arrays a source works with: ``"torch"`` if it is Python and imports torch."""
    tree = _tree_or_none(source)
    return "torch" if tree is not None and _survey(tree).torch else "numpy"


def names_from(packages: Collection[str], sources: Iterable[str]) -> frozenset[str]:
    """Return the names that imports from these top-level packages bind; ``"*"`` for all of one."""
    found: set[str] = set()
    for tree in map(_tree_or_none, sources):
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Import):
                parts = [alias for alias in node.names if alias.name.partition(".")[0] in packages]
                found.update(alias.asname or alias.name.partition(".")[0] for alias in parts)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in packages:
                found.update(alias.asname or alias.name for alias in node.names)
    return frozenset(found)


def function_names(source: str, function: str) -> tuple[str, ...]:
    """Return the top-level functions called `function` or ``function_…``, in their order."""
    defined = [node.name for node in parse_python(source).body if isinstance(node, ast.FunctionDef)]
    return tuple(name for name in defined if name == function or name.startswith(f"{function}_"))


# ----------------------------------------------------------------------------------------------------
# What happened while a submission was loaded: what is told of it, and whether it can be graded at all.

IMPORTABLE = (
    "What can be imported is the standard library, numpy, torch, the packages that the course offers, and "
    ".py files handed in beside this one."
)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")


def load_notes(result: RunResult) -> tuple[str, ...]:
    """Return a sentence for each statement that failed while the file was loaded; they hold foreign text."""
    return tuple(
        f"While the file was loaded, a statement raised {exception_text(told)}. The others were run all the "
        "same, and what they define is graded."
        for told in result.failed
    )


def missing_package(
    submission: CodeSubmission, function: str, plan: InputPlan, result: RunResult
) -> ExceptionInfo | None:
    """Return the failed import that the function can't do without, None if there is no such import.

    That is so if the function isn't there after an import failed, or if a public call needed what the
    import should have brought. Hidden calls don't count: they would tell what their inputs are.
    """
    failed = [told for told in result.failed if _package(told)]
    if failed and function in result.missing:
        return failed[0]
    sources = (submission.source, *submission.modules.values())
    for told in _public(plan, result.outcomes):
        if _package(told):
            return told
        named = _NO_NAME.match(told.text) if told.type in {"NameError", "UnboundLocalError"} else None
        for cause in failed if named else ():
            bound = names_from({_package(cause)}, sources)
            if named is not None and (named.group(1) in bound or "*" in bound):
                return cause
    return None


def _package(told: ExceptionInfo) -> str:
    """Return the top-level package that wasn't found, an empty text if that isn't what happened."""
    found = _NO_MODULE.match(told.text) if told.type == "ModuleNotFoundError" else None
    return found.group(1).partition(".")[0] if found else ""


def _public(plan: InputPlan, outcomes: Iterable[CallOutcome]) -> Iterator[ExceptionInfo]:
    for case, outcome in zip(plan.cases, outcomes, strict=True):
        if case.public and outcome.status is CallStatus.RAISED and outcome.exception is not None:
            yield outcome.exception
