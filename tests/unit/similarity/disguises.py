"""What people do to a file that they took over, as rewritings of its syntax tree."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from pathlib import Path

from tests.unit.similarity.tearing import called_by_function, helper_made, temporaries_made

EXERCISES = [path.name for path in (Path(__file__).parents[3] / "problems/code").iterdir()]
Disguise = Callable[[str, random.Random], str]


def renamed(source: str, chance: random.Random) -> str:
    """Other names for all variables, arguments, functions and attributes of its own."""
    tree = ast.parse(source)
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    own |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    own |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    own -= _kept(tree) | {name for name in own if name.startswith("__")}
    new = [f"{word}{i}" for i, word in enumerate(["foo", "bar", "tmp", "val", "qq", "zeta"] * 40)]
    chance.shuffle(new)
    names = dict(zip(sorted(own), new, strict=False))
    functions = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = names.get(node.name, node.name)
        elif isinstance(node, ast.Attribute) and (isinstance(node.ctx, ast.Store) or _on_self(node)):
            node.attr = names.get(node.attr, node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            for keyword in node.keywords:
                keyword.arg = names.get(keyword.arg or "", keyword.arg)
    return ast.unparse(tree)


def functions_reordered(source: str, chance: random.Random) -> str:
    """Imports first, then the functions and classes in another order."""
    tree = ast.parse(source)
    fixed = [n for n in tree.body if not isinstance(n, ast.FunctionDef | ast.ClassDef)]
    moved = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    tree.body = fixed + moved[::-1]
    return ast.unparse(tree)


def statements_reordered(source: str, chance: random.Random) -> str:
    """Neighbours that don't read or write what the other one writes change places."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for i in range(len(body) - 1):
                if _independent(body[i], body[i + 1]):
                    body[i], body[i + 1] = body[i + 1], body[i]
    return ast.unparse(tree)


def reformatted(source: str, chance: random.Random) -> str:
    """Docstrings, comments, hints, blank lines and another way of breaking lines."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(0, ast.Expr(ast.Constant("Compute what the exercise asks for.")))
            for arg in node.args.args:
                arg.annotation = ast.Name("object", ast.Load())
    lines = ast.unparse(ast.fix_missing_locations(tree)).split("\n")
    return "\n\n".join(f"{line}  # step {i}" if "'''" not in line else line for i, line in enumerate(lines))


def padded(source: str, chance: random.Random) -> str:
    """Variables that nobody reads, prints, branches that can't be reached, a function that nobody calls."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body: list[ast.stmt] = []
            for i, statement in enumerate(node.body):
                extra = [
                    f"unused_{i} = [{i}, len('abc')]",
                    f"print('here', {i})",
                    f"if False:\n    zero_{i} = 1 / 0",
                ]
                body += [*ast.parse(extra[chance.randrange(3)]).body, statement]
            node.body = body
    tree.body += ast.parse(
        "def mean_of(numbers):\n    t = 0\n    for n in numbers:\n        t += n\n    return t / len(numbers)"
    ).body
    return ast.unparse(ast.fix_missing_locations(tree))


def operands_swapped(source: str, chance: random.Random) -> str:
    """``b + a`` for ``a + b``, ``b * a`` for ``a * b``, ``b > a`` for ``a < b``."""
    turned = {
        ast.Lt: ast.Gt,
        ast.Gt: ast.Lt,
        ast.LtE: ast.GtE,
        ast.GtE: ast.LtE,
        ast.Eq: ast.Eq,
        ast.NotEq: ast.NotEq,
    }
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            if not any(isinstance(n, ast.List | ast.Tuple | ast.Constant) for n in (node.left, node.right)):
                node.left, node.right = node.right, node.left
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in turned:
            node.ops = [turned[type(node.ops[0])]()]
            node.left, node.comparators = node.comparators[0], [node.left]
    return ast.unparse(tree)


def branches_swapped(source: str, chance: random.Random) -> str:
    """``if not c: B else: A`` for ``if c: A else: B``."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp) and node.orelse:
            node.test = ast.UnaryOp(ast.Not(), node.test)
            node.body, node.orelse = node.orelse, node.body
    return ast.unparse(ast.fix_missing_locations(tree))


def loops_for_comprehensions(source: str, chance: random.Random) -> str:
    """A list that a loop fills for every comprehension that is assigned or returned."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [new for statement in body for new in _unrolled(statement)]  # type: ignore[attr-defined]
    return ast.unparse(ast.fix_missing_locations(tree))


def _unrolled(statement: ast.stmt) -> list[ast.stmt]:
    value = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
    if not isinstance(value, ast.ListComp) or len(value.generators) != 1:
        return [statement]
    made = ast.Name("filled", ast.Load())
    (generator,) = value.generators
    step: ast.stmt = ast.Expr(ast.Call(ast.Attribute(made, "append", ast.Load()), [value.elt], []))
    for test in generator.ifs:
        step = ast.If(test, [step], [])
    statement.value = made  # type: ignore[union-attr]
    loop = ast.For(generator.target, generator.iter, [step], [])
    return [
        ast.Assign([ast.Name("filled", ast.Store())], ast.List([], ast.Load()), lineno=1),
        loop,
        statement,
    ]


def everything(source: str, chance: random.Random) -> str:
    """All of them, one after the other."""
    for name in FOUND:
        source = FOUND[name](source, chance)
    return source


def _kept(tree: ast.Module) -> set[str]:
    """Return the names that the exercise prescribes: its functions, and arguments with a default."""
    defaults = {
        arg.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.Lambda)
        for arg in node.args.args[len(node.args.args) - len(node.args.defaults) :]
    }
    return {name.replace("-", "_") for name in EXERCISES} | defaults | {"forward"}


def _on_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _independent(first: ast.stmt, second: ast.stmt) -> bool:
    if not all(isinstance(s, ast.Assign | ast.AugAssign) for s in (first, second)):
        return False
    reads, writes = zip(*(_touched(s) for s in (first, second)), strict=True)
    return not (writes[0] & (reads[1] | writes[1]) or writes[1] & reads[0])


def _touched(statement: ast.stmt) -> tuple[set[str], set[str]]:
    names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]
    written = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return {n.id for n in names} - (written if isinstance(statement, ast.Assign) else set()), written


FOUND: dict[str, Disguise] = {
    "temporaries": temporaries_made,
    "operands swapped": operands_swapped,
    "branches swapped": branches_swapped,
    "loops for comprehensions": loops_for_comprehensions,
    "functions for methods": called_by_function,
    "statements reordered": statements_reordered,
    "functions reordered": functions_reordered,
    "padded": padded,
    "renamed": renamed,
    "reformatted": reformatted,
}
PARTLY: dict[str, Disguise] = {"expressions moved to helpers": helper_made}
