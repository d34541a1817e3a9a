"""Foreign Python text, parsed and never run: the names it binds, a notebook's cells, arguments of a function.

Names of arguments don't matter, and an optional one may be positional or keyword-only:
``f(scores, *, dim=-1)`` is graded for ``softmax(x, axis=-1)`` too. A signature that the source doesn't show
(a decorator's, an import's) is called by position and judged by its results.
"""

from __future__ import annotations

import ast
import io
import re
import threading
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.text.words import clean_line

# Of all files of one submission. A solution has a few thousand; what is far longer holds data or a library,
# and parsing it takes time and memory in the grader's own process.
MAX_CHARACTERS = 256 * 1024

Function = ast.FunctionDef | ast.AsyncFunctionDef

_parsing = threading.Lock()  # warning filters belong to the whole process, not to a thread
_MARK = re.compile(r"# --- (code cell \d+|In \[\d+\]) ---")


# Python's parser takes a time that grows with their square: a quarter of a megabyte of either would stop all
# of its process for minutes. No program that anybody writes comes near.
_LONG = 10_000  # characters; of so many nothing takes a second
_MOST_FIELDS = 1000
_MANY_DOTS = re.compile(r"(?<!\w)(?:\w++[\s\\]*+\.[\s\\]*+){100}")


def _refuse_what_takes_forever(source: str) -> None:
    """Raise a SyntaxError for a name with a hundred dots, or an f-string with a thousand fields."""
    if len(source) < _LONG:
        return
    if dotted := _MANY_DOTS.search(source):
        raise SyntaxError(f"a name with so many dots isn't read: {clean_line(dotted[0], 30)}")
    if source.count("{") <= _MOST_FIELDS:
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            is_formatted = token.type == tokenize.STRING and "f" in token.string[:2].lower()
            if is_formatted and token.string.count("{") > _MOST_FIELDS:
                place = (None, token.start[0], token.start[1] + 1, None)
                raise SyntaxError(f"an f-string of more than {_MOST_FIELDS} fields isn't read", place)
    except tokenize.TokenError:  # it ends in mid-air: what was read so far is harmless
        return


def parse_python(source: str) -> ast.Module:
    """Return the syntax tree without the parser's warnings: an odd escape is the student's business.

    Raises
    ------
    SyntaxError
        It isn't Python, or holds what no program does and what would take minutes.
    ValueError, RecursionError, MemoryError
        Null bytes; nesting without end.
    """
    _refuse_what_takes_forever(source)
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


def cell_mark(number: int, *, is_run: bool = False) -> str:
    """Return the comment line before the code cell of this number (from 1) in a notebook's source.

    With `is_run` it is what the kernel ran under this number, and called as Jupyter calls it: ``In [3]``.
    """
    return f"# --- In [{number}] ---" if is_run else f"# --- code cell {number} ---"


def place_in_cells(source: str, line: int) -> tuple[str, int] | None:
    """Return the name of the cell, such as ``code cell 3``, and the line within it, from 1.

    None: the source has no such line, or no cell begins before it.
    """
    lines = source.split("\n")
    if not 0 < line <= len(lines):
        return None
    for begin in range(line - 1, -1, -1):
        if match := _MARK.fullmatch(lines[begin]):
            return match.group(1), max(1, line - 1 - begin)
    return None


@dataclass(slots=True)
class ModuleBindings:
    """Names that one module binds: at its top level (or by ``global``), and inside functions and classes.

    Parameters
    ----------
    torch : bool
        Whether the module imports torch anywhere.
    dynamic : bool
        Whether it may bind names in ways that its source doesn't show.
    top : dict of str to list of nodes
        What binds each name at the top level.
    values : dict of str to expression
        What is assigned to it, where a plain assignment is what binds it.
    functions : dict of str to node
        The first function of each name, wherever it stands.
    """

    torch: bool = False
    dynamic: bool = False
    top: dict[str, list[ast.AST]] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def definition(self, name: str) -> ast.AST | None:
        """Return the one thing that a name stands for; of several functions the last."""
        nodes = self.top.get(name, [])
        if len(nodes) > 1 and all(isinstance(node, Function) for node in nodes):
            return max(nodes, key=lambda node: getattr(node, "lineno", 0))
        return self.values.get(name, nodes[0]) if len(nodes) == 1 else None


# builtins by which names come into being that no statement shows
_DYNAMIC = {"exec", "eval", "globals", "locals", "setattr", "vars"}
_BINDING_NODES = {
    ast.Assign, ast.AnnAssign, ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global,
    ast.Import, ast.ImportFrom,
}  # fmt: skip


def survey_bindings(tree: ast.Module) -> ModuleBindings:
    """Return what a module binds."""
    bindings = ModuleBindings()  # the tree may be nested deeper than Python may recurse
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, nested = waiting.pop()
        if type(node) in _BINDING_NODES:
            _note(bindings, node, nested)
        inner = nested or isinstance(node, Function | ast.ClassDef | ast.Lambda)
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]
    return bindings


def _note(bindings: ModuleBindings, node: ast.AST, nested: bool) -> None:
    if isinstance(node, ast.Name) and node.id in _DYNAMIC:
        bindings.dynamic = True
    if isinstance(node, ast.Assign | ast.AnnAssign) and not nested and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bindings.values.update({target.id: node.value for target in targets if isinstance(target, ast.Name)})
    if isinstance(node, Function):
        bindings.functions.setdefault(node.name, node)
    if isinstance(node, ast.Global):
        for name in node.names:
            bindings.top.setdefault(name, []).append(node)
    for name in _names_bound(node):
        bindings.dynamic = bindings.dynamic or name == "*"
        if not nested:
            bindings.top.setdefault(name, []).append(node)
    bindings.torch = bindings.torch or _imports_torch(node)


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


def tree_or_none(source: str) -> ast.Module | None:
    """Return the tree of a source; what is wrong with it shows when it is loaded."""
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def library_of(source: str) -> str:
    """Return which arrays a source works with: ``"torch"`` if it is Python and imports torch."""
    tree = tree_or_none(source) if "torch" in source else None
    return "torch" if tree is not None and survey_bindings(tree).torch else "numpy"


def function_names(source: str, function: str) -> tuple[str, ...]:
    """Return the top-level functions called `function` or ``function_…``, in their order."""
    tree = tree_or_none(source) or ast.Module([], [])
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return tuple(name for name in defined if name == function or name.startswith(f"{function}_"))


_DEEPEST = 6  # an alias of an alias … that may come back to itself
_CALLING = ("__call__", "forward")  # a module of torch is called through its forward
# what these give to a class's objects doesn't change what calling the class gives
_PLAIN_BASES = {"object", "Module", "Function", "ABC", "Protocol"}


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
    def of(cls, parameters: ast.arguments) -> Signature:
        """Return the signature of a definition or a lambda."""
        positional = tuple(parameter.arg for parameter in (*parameters.posonlyargs, *parameters.args))
        keywords = tuple(parameter.arg for parameter in parameters.kwonlyargs)
        defaults = positional[len(positional) - len(parameters.defaults) :]
        with_default = [
            name for name, value in zip(keywords, parameters.kw_defaults, strict=True) if value is not None
        ]
        return cls(
            positional,
            keywords,
            frozenset((*defaults, *with_default)),
            len(parameters.posonlyargs),
            parameters.vararg is not None,
            parameters.kwarg is not None,
        )

    def after(self, count: int, keywords: Sequence[str] = ()) -> Signature:
        """Return the signature that remains when the first arguments, and some by name, are bound already."""
        rest = self.positional[count:]
        # what follows an argument that is given by name can be passed by keyword only
        cut = min((rest.index(name) for name in keywords if name in rest), default=len(rest))
        return replace(
            self,
            positional=rest[:cut],
            keywords=(*rest[cut:], *self.keywords),
            optional=self.optional | frozenset(keywords),
            unnamed=max(0, self.unnamed - count),
            more=self.more and cut == len(rest),
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


def signature_of(module: ModuleBindings, name: str, depth: int = 0) -> Signature | None:
    """Return the signature of what a name stands for; None where the source doesn't say.

    A decorator is taken to hand its arguments on. A method, an object that is called, ``functools.partial``
    and a second name of a function are followed.
    """
    node = module.definition(name)
    if isinstance(node, Function):
        return Signature.of(node.args)
    return _of_value(module, node, depth) if isinstance(node, ast.expr) and depth < _DEEPEST else None


def _of_value(module: ModuleBindings, value: ast.expr, depth: int) -> Signature | None:
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
        keywords = [keyword.arg for keyword in value.keywords if keyword.arg is not None]
        return None if whole is None else whole.after(len(value.args) - 1, keywords)
    owner = _class(module, value.func)
    signatures = (None if owner is None else _of_method(owner, method, True) for method in _CALLING)
    return next((signature for signature in signatures if signature is not None), None)


def _class(module: ModuleBindings, node: ast.expr) -> ast.ClassDef | None:
    definition = module.definition(node.id) if isinstance(node, ast.Name) else None
    return definition if isinstance(definition, ast.ClassDef) else None


def _of_method(owner: ast.ClassDef, name: str, is_object: bool) -> Signature | None:
    # without the object that it is called on
    method = next((m for m in owner.body if isinstance(m, Function) and m.name == name), None)
    if method is None:
        return None
    kinds = {_last_name(decorator) for decorator in method.decorator_list}
    is_bound = "classmethod" in kinds or (is_object and "staticmethod" not in kinds)
    return Signature.of(method.args).after(int(is_bound))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def passing(actual: Signature, signature: str) -> Passing | None:
    """Return how the arguments are passed to a function; None if it can't take them in any way.

    Parameters
    ----------
    actual : Signature
        Of the function as it's written.
    signature : str
        As the exercise wants it, such as ``"softmax(x, axis=-1)"``.
    """
    parameters = _parameters_of(signature)
    due = [parameter.arg for parameter in parameters.args]
    least = len(due) - len(parameters.defaults)
    keywords: dict[int, str] = {}
    takes = None
    for place, name in enumerate(due[least:], start=least):
        keyword = _keyword(actual, place, name, len(due) - least)
        if keyword is not None:
            keywords[place] = keyword
        # the first argument that has no place ends what can be passed by position
        elif takes is None and place >= len(actual.positional) and not actual.more:
            takes = place
    required = [name for name in actual.positional if name not in actual.optional]
    missing = {name for name in actual.keywords if name not in actual.optional} - set(keywords.values())
    if missing or (least > len(actual.positional) and not actual.more):
        return None
    if len(required) > min((*keywords, len(due) if takes is None else takes)):
        return None
    without_default = {*actual.positional, *actual.keywords} - actual.optional
    lacking = without_default.intersection(keywords.values())
    requires = len(due) if lacking else len(required) if len(required) > least else None
    return Passing(takes, requires, keywords)


def _keyword(actual: Signature, place: int, name: str, optional: int) -> str | None:
    """Return the name under which an optional argument must be passed; None if by position, or not at all."""
    later = actual.positional[max(place + 1, actual.unnamed) :]
    if place < len(actual.positional):
        return name if name in later or name in actual.keywords else None
    if name in actual.keywords:
        return name
    if actual.more:
        return None
    # the only keyword must be the only optional argument, whatever it is called
    if optional == 1 and len(actual.keywords) == 1:
        return actual.keywords[0]
    return name if actual.others else None


def definition_fault(node: ast.AST | None, signature: str) -> str | None:
    """Return what is wrong with the only thing that a name stands for; None if calling it can tell."""
    if isinstance(node, ast.ClassDef) and _makes_objects(node):
        return f"{clean_line(node.name, 60)} is a class here; expected the function {signature}."
    if not isinstance(node, Function) or node.decorator_list:
        return None  # a decorator may change the signature: the calls will tell
    if isinstance(node, ast.AsyncFunctionDef):
        return f"{node.name} is declared async; expected {signature}."
    if passing(Signature.of(node.args), signature) is not None:
        return None
    written = clean_line(f"{node.name}({_parameters_text(node.args)})", 120)
    return f"The function is written {written}; expected {signature}."


def _makes_objects(node: ast.ClassDef) -> bool:
    # a metaclass, a decorator, another base or __new__ could make calling it give anything
    if node.keywords or node.decorator_list or any(_last_name(b) not in _PLAIN_BASES for b in node.bases):
        return False
    return bool(node.body) and not any(isinstance(m, Function) and m.name == "__new__" for m in node.body)


def _parameters_text(parameters: ast.arguments) -> str:
    names = [argument.arg for argument in [*parameters.posonlyargs, *parameters.args]]
    optional = len(names) - len(parameters.defaults)
    texts = [name if place < optional else f"{name}=…" for place, name in enumerate(names)]
    if parameters.vararg is not None:
        texts.append(f"*{parameters.vararg.arg}")
    elif parameters.kwonlyargs:
        texts.append("*")
    return ", ".join(texts + [argument.arg for argument in parameters.kwonlyargs])


def _parameters_of(signature: str) -> ast.arguments:
    definition = parse_python(f"def {signature}: ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition.args


def names_of(signature: str) -> tuple[str, ...]:
    """Return the names of a signature's arguments, such as ``("x", "axis")`` of ``softmax(x, axis=-1)``."""
    return Signature.of(_parameters_of(signature)).positional


def defaults_of(signature: str) -> tuple[Any, ...]:
    """Return the defaults of a signature's last arguments, such as ``(-1,)`` of ``softmax(x, axis=-1)``."""
    return tuple(ast.literal_eval(default) for default in _parameters_of(signature).defaults)
