"""How easy the engine is to find one's way in: sizes, names, comments, and how many modules a command enters.

    python -m tests.repo.house              # this checkout, beside the version before modules were merged
    python -m tests.repo.house --root PATH  # another checkout (its own environment runs the commands)

A newcomer doesn't read lines but opens files. What tires is the number of modules that one flow passes
through, modules that only serve one neighbour, and names that stand for several things. Each figure has a
bound, which ``tests/repo/test_house.py`` holds.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import statistics
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# 155391f, the last version before the modules were merged, measured with this script on its own checkout
BEFORE: Mapping[str, float] = {
    "modules": 664,
    "lines": 82483,
    "median lines of a module": 109.5,
    "90th percentile": 242,
    "longest module": 482,
    "public class names that collide, %": 18.97,
    "one-word public class names, %": 57.55,
    "short modules with one importer beside them, %": 15.96,
    "comment lines, %": 1.26,
    "modules entered by an answer": 79,
    "modules entered by a program": 88,
    "modules entered by a batch": 169,
}

# name -> (bound, whether the figure may not exceed it)
BOUNDS: Mapping[str, tuple[float, bool]] = {
    # the site has some 110, exports, printing and scanning some 60, the queue of several machines a dozen
    # and the site's page of that queue with what those who wait may know of it
    "modules": (583, True),
    # Merging saved 5,000 without losing a feature (77,480). What came since: open code exercises, generated
    # mutants, zygotes by what a file needs, the cache of the bank, replies and texts that are looked at once,
    # faults of authors' files; the site (engine/web), with free text that people mark and a queue; and
    # quizzes for learning systems, exams on paper and what reads their scans.
    "lines": (135_500, True),
    "median lines of a module": (180, False),
    # The words for what servers and poolers say stay beside their connections: a batch enters one module.
    "90th percentile": (422, True),
    "longest module": (650, True),
    "public class names that collide, %": (3, True),
    "one-word public class names, %": (20, True),
    "short modules with one importer beside them, %": (6, True),
    "comment lines, %": (3, False),
    "modules entered by an answer": (40, True),
    # what showed a known mistake earlier is sent along with the plan: a right program enters that module too
    "modules entered by a program": (46, True),
    # what single students were allowed, and who waits for a person, belong to a class too
    # and so do times for people, and the commit of what is stored together
    "modules entered by a batch": (95, True),
}

SHORT = 100  # lines; below that, a module which only one neighbour imports is a part of that neighbour

# Runs one command and prints how many of the engine's modules were entered: a function of theirs was called.
# What an import runs does not count, neither class bodies nor the functions that a module calls to make its
# tables: a reader of the flow does not pass there. Compiled templates (``*.j2``) run as frames too, but are
# no modules.
_PROBE = """
import json, os, sys, threading

root = os.environ["ENGINE_ROOT"] + os.sep
entered = set()

def is_import(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(root):
            return True
        frame = frame.f_back
    return False

def note(frame, event, argument):
    if event == "call":
        name, what = frame.f_code.co_filename, frame.f_code.co_name
        is_function = frame.f_code.co_flags & 2 and what not in ("<module>", "<genexpr>")  # 2: no class body
        is_ours = name.startswith(root) and name.endswith(".py")
        if is_function and is_ours and name not in entered and not is_import(frame):
            entered.add(name)

from engine.commands import run

sys.setprofile(note)
threading.setprofile(note)
code = run(sys.argv[1:])
sys.setprofile(None)
print(json.dumps([code, sorted(entered)]), file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Module:
    """One module of the engine: its dotted name, file and source."""

    name: str
    path: Path
    source: str

    @property
    def tree(self) -> ast.Module:
        """The syntax tree, parsed on each use: keeping all of them would burden every test of the process."""
        return ast.parse(self.source)

    @property
    def lines(self) -> int:
        return self.source.count("\n")

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"


def modules(root: Path = ROOT) -> list[Module]:
    """Return all modules below ``root/engine``, by name."""
    read = []
    for path in sorted((root / "engine").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        read.append(Module(name, path, path.read_text(encoding="utf-8")))
    return read


def importers(of: Sequence[Module]) -> dict[str, set[str]]:
    """Return who imports each module: dotted name -> dotted names; relative imports are resolved."""
    by_name = {module.name: module for module in of}
    users: dict[str, set[str]] = {name: set() for name in by_name}
    for module in of:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            base = node.module or ""
            if node.level:
                parts = module.name.split(".")
                parts = parts[: len(parts) - node.level + module.is_package]
                base = ".".join([*parts, *([node.module] if node.module else [])])
            for alias in node.names:
                target = f"{base}.{alias.name}" if f"{base}.{alias.name}" in by_name else base
                if target in users:
                    users[target].add(module.name)
    return users


def short_and_private(of: Sequence[Module]) -> list[tuple[Module, str]]:
    """Return the short modules that a single module of the same folder imports, with that importer."""
    by_name = {module.name: module for module in of}
    users = importers(of)
    lonely = []
    for module in of:
        if module.is_package or module.lines >= SHORT or len(users[module.name]) != 1:
            continue
        (importer,) = users[module.name]
        if by_name[importer].path.parent == module.path.parent:
            lonely.append((module, importer))
    return lonely


def public_classes(of: Sequence[Module]) -> list[tuple[str, str]]:
    """Return name and module of every class at the top of a module whose name has no leading underscore."""
    return [
        (node.name, module.name)
        for module in of
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def comment_lines(module: Module) -> int:
    """Return how many lines carry a comment; rules, shebangs and orders to tools are none."""
    count = 0
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("#").strip()
            is_order = text.startswith(("type:", "noqa", "!", "pragma", "fmt:"))
            count += bool(text.strip("-= ")) and not is_order
    return count


def _one_word(name: str) -> bool:
    """Tell whether a class name is a single word, e.g. ``Choice``; ``YamlPlace`` and ``IRT2`` are two."""
    return sum(letter.isupper() for letter in name) == 1


def sizes(root: Path = ROOT) -> dict[str, float]:
    """Return the figures that need no run: sizes, names, comments."""
    every = modules(root)
    lengths = sorted(module.lines for module in every)
    classes = public_classes(every)
    named = Counter(name for name, _ in classes)
    total = sum(lengths)
    return {
        "modules": len(every),
        "lines": total,
        "median lines of a module": statistics.median(lengths),
        "90th percentile": lengths[int(0.9 * len(lengths))],
        "longest module": lengths[-1],
        "public class names that collide, %": 100 * sum(named[n] > 1 for n, _ in classes) / len(classes),
        "one-word public class names, %": 100 * sum(_one_word(n) for n in named) / len(named),
        "short modules with one importer beside them, %": 100 * len(short_and_private(every)) / len(every),
        "comment lines, %": 100 * sum(comment_lines(module) for module in every) / total,
    }


def entered(root: Path = ROOT) -> dict[str, float]:
    """Return how many modules three commands enter: an answer, a program, a class of two files."""
    source = root / "problems" / "code" / "softmax" / "solution_torch.py"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for student in ("ada", "bob"):
            (folder / "in" / student).mkdir(parents=True)
            (folder / "in" / student / "softmax.py").write_bytes(source.read_bytes())
        (folder / "softmax.py").write_bytes(source.read_bytes())
        _probe(root, folder, "init", "course")
        course = str(folder / "course")
        answer = ("submit", "softmax-weights", "--answer", "[0.1, 0.2, 0.7]", "--student", "ada")
        return {
            "modules entered by an answer": _probe(root, folder, *answer),
            "modules entered by a program": _probe(root, folder, "submit", "softmax", "softmax.py"),
            "modules entered by a batch": _probe(
                root, folder, "batch", "in", "--course", course, "--out", "results"
            ),
        }


def _probe(root: Path, folder: Path, *arguments: str) -> int:
    python = root / ".venv" / "bin" / "python"
    done = subprocess.run(
        [str(python if python.exists() else sys.executable), "-c", _PROBE, *arguments],
        cwd=folder,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "ENGINE_ROOT": str(root / "engine"),
            "PYTHONPATH": str(root),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    code, files = json.loads(done.stderr.strip().splitlines()[-1])
    if code not in (0, 1):
        raise SystemExit(f"grade {' '.join(arguments)} ended with {code}:\n{done.stdout}{done.stderr}")
    return len(files)


def rows(now: Mapping[str, float]) -> Iterator[str]:
    """Yield the table: figure, before, now, bound."""
    yield f"{'':48}{'before':>10}{'now':>10}   bound"
    for name, value in now.items():
        before = _rounded(BEFORE[name]) if name in BEFORE else "–"
        bound, is_most = BOUNDS.get(name, (None, True))
        limit = "" if bound is None else f"{'≤' if is_most else '≥'} {bound:g}"
        yield f"{name:48}{before:>10}{_rounded(value):>10}   {limit}".rstrip()


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--quick", action="store_true", help="without running commands")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    figures = sizes(root) | ({} if options.quick else entered(root))
    sys.stdout.write((json.dumps(figures, indent=2) if options.json else "\n".join(rows(figures))) + "\n")


if __name__ == "__main__":
    main()
