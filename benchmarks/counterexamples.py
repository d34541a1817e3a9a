"""How small are the counterexamples?  For every known-wrong function of the bank: entries shown, calls made.

    python benchmarks/counterexamples.py [ITEM ...] [--json FILE] [--each] [--quick]

Each mutant is graded as a student's file would be, on the plan of a fixed seed, and the numbers inside the
brackets of its counterexample are counted.  Mutants without a counterexample (a dtype that is only wrong
together with something hidden, say) are listed: they are not in the median.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.code import exercise_of, freeze_plan
from engine.code.exercise import CodeExercise
from engine.code.explain.in_process import TrustedRunner
from engine.code.source import function_names
from engine.grading import grade_code
from engine.items import builtin_bank
from engine.model import CodeSubmission, Mode

SEED = b"counterexamples"


@dataclass(frozen=True, slots=True)
class MeasuredCounterexample:
    """The counterexample of one known-wrong function; `entries` is None where there is none."""

    item: str
    mutant: str
    function: str
    entries: int | None
    code: str = ""


def count_entries(code: str) -> int:
    """Return how many numbers stand in lists in a piece of Python.

    Parameters
    ----------
    code : str
        A counterexample's code.
    """
    tree = ast.parse(code)
    lists = [node for node in ast.walk(tree) if isinstance(node, ast.List)]
    inner = {id(child) for node in lists for child in node.elts if isinstance(child, ast.List)}
    outer = [node for node in lists if id(node) not in inner]
    return sum(isinstance(node, ast.Constant) for each in outer for node in ast.walk(each))


def measure(exercise: CodeExercise) -> Iterator[MeasuredCounterexample]:
    """Yield what a student with each known mistake would be shown."""
    plan = freeze_plan(exercise, SEED)
    with TrustedRunner() as runner:
        for mutant in exercise.mutants:
            for name in function_names(mutant.source, exercise.function):
                source = mutant.source
                if name != exercise.function:
                    source += f"\n\n{exercise.function} = {name}\n"
                digest = hashlib.sha256(source.encode()).hexdigest()
                submission = CodeSubmission(source, mutant.filename, digest)
                report = grade_code(exercise, plan, submission, runner, mode=Mode.PRACTICE, student=None)
                found = report.counterexample
                entries = None if found is None else count_entries(found.code)
                yield MeasuredCounterexample(
                    exercise.item, mutant.id, name, entries, "" if found is None else found.code
                )


def main() -> None:
    """Print a line per exercise and the median over all mutants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("items", nargs="*", help="code exercises; all of the bank if none")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--each", action="store_true", help="print every counterexample")
    parser.add_argument("--quick", action="store_true", help="one small exercise, to see that it works")
    options = parser.parse_args()
    options.items = options.items or (["causal-mask"] if options.quick else [])
    bank = builtin_bank()
    specs = [spec for spec in bank.readable()[0] if spec.kind == "code"]
    every: list[MeasuredCounterexample] = []
    print(f"{'exercise':<20}{'mutants':>8}{'shown':>7}{'median':>8}{'largest':>9}")
    for spec in specs:
        if options.items and spec.id not in options.items:
            continue
        exercise = exercise_of(bank, spec.id)
        found = list(measure(exercise))
        every += found
        sizes = [shown.entries for shown in found if shown.entries is not None]
        middle = f"{statistics.median(sizes):g}" if sizes else "-"
        print(f"{spec.id:<20}{len(found):>8}{len(sizes):>7}{middle:>8}{max(sizes, default=0):>9}")
        for shown in found:
            if shown.entries is None:
                print(f"  no counterexample: {shown.mutant} ({shown.function})")
            elif options.each:
                print(f"--- {shown.mutant} ({shown.function}): {shown.entries}\n{shown.code}")
    sizes = [shown.entries for shown in every if shown.entries is not None]
    if sizes:
        print(f"all: {len(every)} functions, {len(sizes)} with a counterexample, "
              f"median {statistics.median(sizes):g} array entries, largest {max(sizes)}")  # fmt: skip
    if options.json:
        rows = [
            {"item": s.item, "mutant": s.mutant, "function": s.function, "entries": s.entries} for s in every
        ]
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
