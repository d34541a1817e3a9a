"""Measure diagnosis: how often does a wrong submission get the name of its mistake?

Usage: python benchmarks/diagnosis.py [FOLDER] [--seeds N] [--json FILE] [--confusion] [--sandbox] [--quick]

FOLDER (``benchmarks/wrong`` unless told) holds wrong submissions and ``index.json``, a list of::

    {"file": "softmax/winner.py", "function": "softmax", "item": "softmax", "labels": ["m-argmax"]}

``labels`` names every mistake in the file by the id of the exercise's mutant; ``"a|b"`` stands for one
mistake that bears either name. ``item`` may be left out: it is then the function's name with hyphens.

Each file is graded on N plans (1 unless told), and each grading ends in one of:

- *right*: every labelled mistake is named, and nothing else;
- *partly*: some of several labelled mistakes are named, and nothing else;
- *wrong*: a mistake is named that isn't among the labels;
- *none*: nothing is named; *passed* counts those among them that were graded as right code;
- *ungraded*: the grader itself failed.

Files run in this process without limits, as our own mutants do; for a folder that others wrote, use
``--sandbox``. Exit code: 0 when it ran, whatever the figures; 2 for a folder that can't be used.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.code import CodeExercise, exercise_of, freeze_plan
from engine.code.explain.in_process import TrustedRunner
from engine.errors import InputError, SoftmarkError, SpecError
from engine.grading import grade_code
from engine.items import builtin_bank
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Runner
from engine.text.words import clean_line

FOLDER = Path(__file__).parent / "wrong"
INDEX = "index.json"
KINDS = ("right", "partly", "wrong", "none", "ungraded")
_LARGEST = 1 << 20  # bytes of one submission
_LARGEST_INDEX = 16 << 20


@dataclass(frozen=True, slots=True)
class LabelledSubmission:
    """One wrong submission; `labels` holds the acceptable names of each of its mistakes."""

    file: str
    item: str
    function: str
    labels: tuple[frozenset[str], ...]
    source: str

    @property
    def truth(self) -> str:
        """The labels as one line."""
        return " + ".join("|".join(sorted(names)) for names in self.labels)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one grading said about one submission."""

    submission: LabelledSubmission
    seed: int
    named: tuple[str, ...]
    kind: str
    passed: bool
    why: str = ""  # it is ungraded


def read_folder(folder: Path) -> list[LabelledSubmission]:
    """Return the submissions of a folder, in the order of its index.

    Raises
    ------
    InputError
        With the line of ``index.json`` where one is to blame.
    """
    index = folder / INDEX
    text = _text(index, _LARGEST_INDEX, where=str(index))
    found: list[LabelledSubmission] = []
    for line, entry in _entries(text, index):
        found.append(_labelled(folder, entry, f"{index}:{line}"))
    files = Counter(one.file for one in found)
    twice = [file for file, count in files.items() if count > 1]
    if twice:
        raise InputError("a file stands in the index twice", where=str(index), got=clean_line(twice[0]))
    if not found:
        raise InputError("the index names no file", where=str(index), expected="at least one entry")
    return found


def _text(path: Path, largest: int, where: str) -> str:
    try:
        if path.stat().st_size > largest:
            raise InputError("the file is too large", where=where, expected=f"at most {largest} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"can't read {clean_line(str(path))}", where=where, got=error.strerror or type(error).__name__
        ) from None
    except ValueError:  # no UTF-8, or a NUL in the name
        raise InputError(f"{clean_line(repr(str(path)))} is no text in UTF-8", where=where) from None


def _entries(text: str, index: Path) -> Iterator[tuple[int, Any]]:
    """Yield the entries of a JSON list with the line where each begins."""
    decoder, spaces = json.JSONDecoder(), " \t\r\n"
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{index}:{error.lineno}:{error.colno}"
        raise InputError("the index is no JSON", where=place, got=clean_line(error.msg)) from None
    except RecursionError:
        raise InputError("the index is nested too deeply", where=str(index)) from None
    if not isinstance(whole, list):
        raise InputError("the index is no list", where=f"{index}:1", expected="a JSON list of objects")
    position = text.index("[") + 1
    for entry in whole:
        while text[position] in spaces + ",":
            position += 1
        yield text.count("\n", 0, position) + 1, entry
        _, position = decoder.raw_decode(text, position)


def _labelled(folder: Path, entry: Any, where: str) -> LabelledSubmission:
    if not isinstance(entry, dict):
        raise InputError("an entry is no object", where=where, expected='{"file": …, "function": …, …}')
    extra = sorted(set(entry) - {"file", "function", "item", "labels"})
    if extra:
        raise InputError(f"unknown key {clean_line(extra[0])!r}", where=where)
    file, function = _word(entry, "file", where), _word(entry, "function", where)
    item = _word(entry, "item", where) if "item" in entry else function.replace("_", "-")
    return LabelledSubmission(
        file, item, function, _labels(entry.get("labels"), where), _source(folder, file, where)
    )


def _word(entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f"{key!r} is missing or empty", where=where, expected="a non-empty text")
    return value


def _labels(value: Any, where: str) -> tuple[frozenset[str], ...]:
    expected = "a list of one or more different names"
    if not isinstance(value, list) or not value or not all(isinstance(label, str) for label in value):
        raise InputError("'labels' is missing or no list of names", where=where, expected=expected)
    labels = tuple(frozenset(label.split("|")) for label in value)
    if len(set(labels)) != len(labels) or any("" in names for names in labels):
        raise InputError("a label is empty or appears twice", where=where, expected=expected)
    return labels


def _source(folder: Path, file: str, where: str) -> str:
    try:
        inside = (folder / file).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        inside = False
    if not inside:
        raise InputError("the file lies outside the folder", where=where, got=clean_line(file))
    return _text(folder / file, _LARGEST, where)


def load_exercises(
    submissions: Sequence[LabelledSubmission],
) -> tuple[dict[str, CodeExercise], list[str], dict[str, str]]:
    """Return the exercises by item, the items that the bank doesn't have, and those that can't be read.

    Raises
    ------
    InputError
        A submission's function isn't the one that its exercise asks for.
    """
    bank = builtin_bank()
    exercises: dict[str, CodeExercise] = {}
    faulty: dict[str, str] = {}
    items = dict.fromkeys(one.item for one in submissions)
    for item in items:
        if item not in bank:
            continue
        try:
            exercises[item] = exercise_of(bank, item)
        except SpecError as error:
            faulty[item] = clean_line(str(error))
    for one in submissions:
        if one.item in exercises and one.function != exercises[one.item].function:
            raise InputError(
                f"{one.item} asks for another function",
                where=clean_line(one.file),
                expected=exercises[one.item].function,
                got=clean_line(one.function),
            )
    return exercises, [item for item in items if item not in bank], faulty


def measure(
    submissions: Sequence[LabelledSubmission], exercises: dict[str, CodeExercise], seeds: int, runner: Runner
) -> list[Finding]:
    """Grade every submission whose exercise is there on every plan; an exercise's files one after another."""
    found: list[Finding] = []
    for item, exercise in exercises.items():
        for seed in range(seeds):
            plan = freeze_plan(exercise, seed.to_bytes(4, "big"))
            for one in submissions:
                if one.item != item:
                    continue
                digest = hashlib.sha256(one.source.encode()).hexdigest()
                handed_in = CodeSubmission(one.source, Path(one.file).name, digest)
                with _silence():
                    report = grade_code(exercise, plan, handed_in, runner, mode=Mode.PRACTICE, student=None)
                found.append(judge(one, seed, report))
    return found


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keep what a file prints or warns of out of the table."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def judge(submission: LabelledSubmission, seed: int, report: GradeReport) -> Finding:
    """Compare the names in a report with the labels."""
    named = tuple(diagnosis.misconception for diagnosis in report.diagnosis)
    meant = frozenset().union(*submission.labels)
    if report.outcome is Outcome.UNGRADED:
        kind = "ungraded"
    elif not named:
        kind = "none"
    elif not meant.issuperset(named):
        kind = "wrong"
    elif all(names & set(named) for names in submission.labels):
        kind = "right"
    else:
        kind = "partly"
    why = " ".join(report.notes[-1:]) if kind == "ungraded" else ""
    return Finding(submission, seed, named, kind, report.outcome is Outcome.RIGHT, clean_line(why))


def tabulate(findings: Sequence[Finding]) -> list[str]:
    """Return the lines of the table: one for each exercise, and one for all."""
    by_item: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_item[finding.submission.item].append(finding)
    lines = ["".join([f"{'exercise':<20}", *(f"{name:>10}" for name in ("gradings", *KINDS, "passed"))])]
    for item, own in [*by_item.items(), ("all", list(findings))]:
        kinds = Counter(finding.kind for finding in own)
        passed = sum(finding.passed for finding in own)
        numbers = (len(own), *(kinds[kind] for kind in KINDS), passed)
        lines.append("".join([f"{item:<20}", *(f"{number:>10}" for number in numbers)]))
    kinds = Counter(finding.kind for finding in findings)
    shares = ", ".join(f"{kind} {kinds[kind] / len(findings):.1%}" for kind in KINDS)
    return [*lines, "", f"share of {len(findings)} gradings: {shares}"]


def confuse(findings: Sequence[Finding]) -> list[str]:
    """Return the lines of the confusion table: label → what was named, how often, and in which files."""
    table: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for finding in findings:
        named = " + ".join(finding.named) or ("(graded right)" if finding.passed else "(nothing)")
        key = (finding.submission.item, finding.submission.truth, named, finding.kind)
        table[key].append(finding.submission.file)
    lines = []
    for (item, truth, named, kind), files in sorted(table.items()):
        where = "" if kind == "right" else f"   {', '.join(sorted(set(files)))}"
        lines.append(f"{len(files):>5}  {kind:<9}{item}: {truth} → {named}{where}")
    return lines


def nameless(
    submissions: Sequence[LabelledSubmission], exercises: dict[str, CodeExercise]
) -> dict[str, list[str]]:
    """Return, by item, the labels none of whose names a mutant of the exercise bears."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in submissions:
        if one.item in exercises:
            known = {mutant.id for mutant in exercises[one.item].mutants}
            found[one.item] += ["|".join(sorted(names)) for names in one.labels if not names & known]
    return {item: sorted(set(labels)) for item, labels in found.items() if labels}


def as_json(findings: Sequence[Finding], missing: Sequence[str], faulty: dict[str, str]) -> dict[str, Any]:
    """Return everything that was found, one object for each grading."""
    return {
        "gradings": [
            {
                "file": finding.submission.file,
                "item": finding.submission.item,
                "seed": finding.seed,
                "labels": ["|".join(sorted(names)) for names in finding.submission.labels],
                "named": list(finding.named),
                "kind": finding.kind,
                "graded_right": finding.passed,
            }
            for finding in findings
        ],
        "shares": {
            kind: sum(finding.kind == kind for finding in findings) / max(len(findings), 1) for kind in KINDS
        },
        "not_in_the_bank": list(missing),
        "unreadable": faulty,
    }


def _runner(sandbox: bool) -> Runner:
    if not sandbox:
        return TrustedRunner()
    from engine.sandbox import open_runner

    return open_runner()


def _run(arguments: argparse.Namespace) -> None:
    submissions = read_folder(arguments.folder)
    if arguments.quick:
        submissions = [one for one in submissions if one.item == submissions[-1].item]
    exercises, missing, faulty = load_exercises(submissions)
    started = time.perf_counter()
    with _runner(arguments.sandbox) as runner:
        findings = measure(submissions, exercises, arguments.seeds, runner)
    seconds = time.perf_counter() - started
    if findings:
        print("\n".join(tabulate(findings)))
        speed = f"{len(findings) / seconds:.0f} gradings/s, {arguments.seeds} plan(s) for each file"
        print(speed, file=sys.stderr)  # the figures don't depend on the machine
    if arguments.confusion and findings:
        print("\nlabel → named", *confuse(findings), sep="\n")
    for item, labels in nameless(submissions, exercises).items():
        print(f"no mutant of {item} is named: {', '.join(labels)}")
    for why, count in Counter(finding.why for finding in findings if finding.kind == "ungraded").items():
        print(f"ungraded {count}: {why}")
    for item, fault in faulty.items():
        print(f"can't be read: {item} ({fault})")
    if missing:
        print(f"not in the bank: {', '.join(clean_line(item) for item in missing)}")
    if arguments.json:
        _write(arguments.json, as_json(findings, missing, faulty))


def _write(path: Path, value: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {clean_line(str(path))}", got=error.strerror or "") from None


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1 plan")
    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Run; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=FOLDER, help="wrong submissions and index.json"
    )
    parser.add_argument("--seeds", type=_positive, default=1, metavar="N", help="plans for each file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every grading to this file")
    parser.add_argument("--confusion", action="store_true", help="print label → named as well")
    parser.add_argument("--sandbox", action="store_true", help="run the files in the sandbox")
    parser.add_argument("--quick", action="store_true", help="one exercise, to see that it works")
    try:
        _run(parser.parse_args(argv))
    except SoftmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # as with "| head": nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python fails once more when it flushes
    return 0


if __name__ == "__main__":
    sys.exit(main())
