"""Turn statements into tokens: operator before operands, no brackets, own names without their spelling.

``np.max(x)`` and ``x.max()`` are the same call, and ``a + b`` is ``b + a``: what a copier changes first says
nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

STUDENT_NAME = "·"
"""Text of every name that the student chose: what it is called doesn't count, which one it is does."""


@dataclass(frozen=True, slots=True)
class CodeToken:
    """One token.

    Parameters
    ----------
    text : str
        What is compared; :data:`STUDENT_NAME` for a name that the student chose.
    line : int
        From 1, in the file as handed in.
    name : str
        The name itself, where it is the student's own.
    """

    text: str
    line: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class TokenStatement:
    """The tokens of one statement, or of the head of a compound one; ``scope`` counts functions from 0."""

    tokens: tuple[CodeToken, ...]
    scope: int


# Which names of a file are the student's own, and what the others mean whatever they are called here.

_BUILTINS = frozenset(dir(builtins))
# what these stand for where the line that says it can't be read
_USUAL = {"np": "numpy", "torch": "torch", "math": "math"}


@dataclass(frozen=True, slots=True)
class FileNames:
    """The names of one file.

    Parameters
    ----------
    imported : mapping of str to str
        Name in this file → full name in its library (``np`` → ``numpy``, ``exp`` → ``math.exp``).
    defined : frozenset of str
        Functions, classes, arguments and variables of the file.
    own_attributes : frozenset of str
        Attributes and methods that the file itself makes.
    """

    imported: Mapping[str, str]
    defined: frozenset[str]
    own_attributes: frozenset[str]

    def library(self, name: str) -> str | None:
        """Return what a name that isn't the student's own means; None for their own."""
        if name in self.defined:
            return None
        if name in self.imported:
            return self.imported[name]
        return name if name in _BUILTINS else None


def names_of(tree: ast.AST) -> FileNames:
    """Return the names of a file; a name that is both imported and assigned is the student's own."""
    imported = dict(_USUAL)
    local_names: set[str] = set()
    attributes: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= dict(_imports(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            local_names.add(node.name)
            if isinstance(node, ast.ClassDef):
                attributes |= set(_methods(node))
        elif isinstance(node, ast.arg):
            local_names.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            local_names.add(node.id)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            attributes.add(node.attr)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            local_names.add(node.name)
    return FileNames(imported, frozenset(local_names), frozenset(attributes))


def _methods(node: ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        # `forward` and `__call__` are the library's names, whoever defines them
        if isinstance(inner, ast.FunctionDef) and inner.name != "forward" and not inner.name.startswith("__"):
            yield inner.name


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
    for alias in node.names:
        whole = module + alias.name
        if alias.asname:
            yield alias.asname, whole
        elif module:
            yield alias.name, whole
        else:  # `import a.b` binds `a`
            top = alias.name.partition(".")[0]
            yield top, top


# numpy and torch call the same thing differently; a translated file is the same file.
_SYNONYMS = {
    "amax": "max",
    "amin": "min",
    "dim": "axis",
    "keepdim": "keepdims",
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mult",
    "mul": "Mult",
    "divide": "Div",
    "div": "Div",
    "matmul": "MatMult",
    "power": "Pow",
    "pow": "Pow",
    "cat": "concatenate",
    "transpose": "swapaxes",
}
# Operators whose operands may change places without changing the result.
_FREE_ORDER = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
_SMALL = range(-2, 11)


class ExpressionTokens:
    """Turns the expressions of one file into tokens."""

    def __init__(self, names: FileNames) -> None:
        self._names = names

    def all(self, nodes: Sequence[ast.expr]) -> list[CodeToken]:
        """Return the tokens of several expressions, one after the other."""
        return [token for node in nodes for token in self.expression(node)]

    def expression(self, node: ast.expr) -> list[CodeToken]:
        """Return the tokens of one expression."""
        match node:
            case ast.Name():
                return [self._name(node.id, node.lineno)]
            case ast.Constant():
                return [CodeToken(_literal(node.value), node.lineno)]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return [CodeToken(_literal(-value), node.lineno)]
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp():
                return self._sorted(type(node.op).__name__, node.lineno, node.values)
            case ast.Compare():
                if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
                    both = [node.left, *node.comparators]
                    return self._sorted(type(node.ops[0]).__name__, node.lineno, both)
                signs = [CodeToken(type(op).__name__, node.lineno) for op in node.ops]
                return [*signs, *self.all([node.left, *node.comparators])]
            case ast.UnaryOp():
                return [CodeToken(type(node.op).__name__, node.lineno), *self.expression(node.operand)]
            case ast.Slice():
                ends = [node.lower, node.upper, *([node.step] if node.step else [])]
                missing = CodeToken("_", node.lineno)
                bounds = [self.expression(end) if end else [missing] for end in ends]
                return [CodeToken("Slice", node.lineno), *(token for part in bounds for token in part)]
            case ast.JoinedStr():
                return [CodeToken("STRING", node.lineno)]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case _:
                return self.anything(node)

    def _name(self, name: str, line: int) -> CodeToken:
        meaning = self._names.library(name)
        if meaning is None:
            return CodeToken(STUDENT_NAME, line, name)
        last = meaning.rpartition(".")[2]
        return CodeToken(_SYNONYMS.get(last, last), line)

    def _attribute(self, node: ast.Attribute) -> list[CodeToken]:
        if self._is_module(node.value):
            return [CodeToken(_SYNONYMS.get(node.attr, node.attr), node.lineno)]
        if node.attr in self._names.own_attributes:
            return [CodeToken(STUDENT_NAME, node.lineno, f".{node.attr}")]
        word = _SYNONYMS.get(node.attr, node.attr)
        return [CodeToken(f".{word}", node.lineno), *self.expression(node.value)]

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return (
            isinstance(node, ast.Name)
            and node.id in self._names.imported
            and node.id not in self._names.defined
        )

    def _call(self, node: ast.Call) -> list[CodeToken]:
        # ``np.max(x)`` and ``x.max()`` are the same.
        func, args = node.func, list(node.args)
        is_method = False
        if isinstance(func, ast.Attribute) and not self._is_module(func.value):
            if func.attr in self._names.own_attributes:
                is_method, head = True, CodeToken(STUDENT_NAME, node.lineno, f".{func.attr}")
            else:
                head = CodeToken(_SYNONYMS.get(func.attr, func.attr), node.lineno)
                args.insert(0, func.value)
        elif isinstance(func, ast.Name | ast.Attribute):
            (head,) = self.expression(func)
            is_method = head.text == STUDENT_NAME
        else:
            head = CodeToken("call", node.lineno)
            args.insert(0, func)
        tokens = [head, *self.all(args)]
        for keyword in sorted(node.keywords, key=lambda keyword: keyword.arg or ""):
            if not is_method and keyword.arg:
                tokens.append(CodeToken(f"{_SYNONYMS.get(keyword.arg, keyword.arg)}=", node.lineno))
            tokens += self.expression(keyword.value)
        return tokens

    def _binary(self, node: ast.BinOp) -> list[CodeToken]:
        sign = type(node.op).__name__
        if isinstance(node.op, _FREE_ORDER):
            return self._sorted(sign, node.lineno, list(_chain(node, type(node.op))))
        return [CodeToken(sign, node.lineno), *self.expression(node.left), *self.expression(node.right)]

    def _sorted(self, sign: str, line: int, operands: Sequence[ast.expr]) -> list[CodeToken]:
        # The order must be one that no renaming changes.
        parts = sorted(
            (self.expression(o) for o in operands), key=lambda part: [token.text for token in part]
        )
        return [CodeToken(sign, line), *(token for part in parts for token in part)]

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> list[CodeToken]:
        tokens: list[CodeToken] = []
        for generator in node.generators:
            tokens.append(CodeToken("for", node.lineno))
            tokens += self.all([generator.target, generator.iter])
            for condition in generator.ifs:
                tokens += [CodeToken("if", condition.lineno), *self.expression(condition)]
        return tokens + self.all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])

    def arguments(self, args: ast.arguments) -> list[CodeToken]:
        """Return the tokens of what a function takes: its names, then the defaults."""
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        tokens = [CodeToken(STUDENT_NAME, arg.lineno, arg.arg) for arg in every if arg is not None]
        return tokens + self.all([d for d in (*args.defaults, *args.kw_defaults) if d is not None])

    def anything(self, node: ast.AST) -> list[CodeToken]:
        """Return the tokens of what has no form of its own here: its kind, then what it holds."""
        tokens = [CodeToken(type(node).__name__, getattr(node, "lineno", 1))]
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                tokens += self.expression(child)
            elif isinstance(child, ast.arguments):
                tokens += self.arguments(child)
        return tokens


def _chain(node: ast.expr, op: type[ast.operator]) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, op):
        yield from _chain(node.left, op)
        yield from _chain(node.right, op)
    else:
        yield node


def _literal(value: object) -> str:
    # Small numbers and halves stay: axes and powers are no matter of taste.
    if value is None or isinstance(value, bool) or value is Ellipsis:
        return str(value)
    if isinstance(value, int | float):
        if value in (0.5, -0.5):
            return str(value)
        return str(int(value)) if value in _SMALL else "NUMBER"
    return "STRING"


# Statements → tokens: heads and bodies apart, a function in a scope of its own.


class StatementTokens:
    """Turns the statements of one file into tokens; a function is a scope of its own."""

    def __init__(self, names: FileNames) -> None:
        self._read = ExpressionTokens(names)
        self._scopes = 0

    def module(self, body: Sequence[ast.stmt]) -> list[TokenStatement]:
        """Return the statements of a module, each function's after those around it."""
        self._scopes += 1
        return self._body(body, self._scopes - 1)

    def _body(self, body: Sequence[ast.stmt], scope: int) -> list[TokenStatement]:
        statements: list[TokenStatement] = []
        inner: list[ast.stmt] = []
        waiting = list(reversed(body))
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner.append(node)
                continue
            tokens = self._head(node)
            if tokens:
                statements.append(TokenStatement(tuple(tokens), scope))
            waiting += reversed(_below(node))
        for node in inner:
            statements += self._definition(node)
        return statements

    def _definition(self, node: ast.stmt) -> list[TokenStatement]:
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        scope, self._scopes = self._scopes, self._scopes + 1
        head = [token for wrapper in node.decorator_list for token in self._read.expression(wrapper)]
        head.append(CodeToken("class" if isinstance(node, ast.ClassDef) else "def", node.lineno))
        if isinstance(node, ast.ClassDef):
            head += self._read.all(node.bases)
        else:
            head += self._read.arguments(node.args)
        return [TokenStatement(tuple(head), scope), *self._body(node.body, scope)]

    def _head(self, node: ast.stmt) -> list[CodeToken]:
        match node:
            case ast.Assign():
                return [
                    CodeToken("=", node.lineno),
                    *self._read.all(node.targets),
                    *self._read.expression(node.value),
                ]
            case ast.Return():
                return [
                    CodeToken("return", node.lineno),
                    *(self._read.all([node.value]) if node.value else []),
                ]
            case ast.Expr():
                return self._read.expression(node.value)
            case ast.For() | ast.AsyncFor():
                return [
                    CodeToken("for", node.lineno),
                    *self._read.expression(node.target),
                    *self._read.expression(node.iter),
                ]
            case ast.If() | ast.While():
                word = "if" if isinstance(node, ast.If) else "while"
                return [CodeToken(word, node.lineno), *self._read.expression(node.test)]
            case ast.With() | ast.AsyncWith():
                items = [part for item in node.items for part in (item.context_expr, item.optional_vars)]
                return [CodeToken("with", node.lineno), *self._read.all([part for part in items if part])]
            case ast.Raise():
                # the words of the message are free
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                return [CodeToken("raise", node.lineno), *(self._read.expression(raised) if raised else [])]
            case ast.Assert():
                return [CodeToken("assert", node.lineno), *self._read.expression(node.test)]
            case ast.Global() | ast.Nonlocal() | ast.Try():
                return []
            case _:
                return self._read.anything(node)


def _below(node: ast.stmt) -> list[ast.stmt]:
    statements: list[ast.stmt] = []
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, name, ()):
            statements += [child] if isinstance(child, ast.stmt) else child.body
    return statements
