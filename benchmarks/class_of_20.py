"""Grade a class of 20: Softmark at T1, plain pytest, and a bare fork, side by side in one run.

Usage: python benchmarks/class_of_20.py [--repeats 5]

The submissions are those of ``examples/course/submissions`` that end by themselves (a file that loops
for ever costs every grader its time-out, which says nothing about speed).  Verdicts are compared with
``examples/expected.yaml`` first: a fast wrong grader is worth nothing.

- *pytest*: a fresh ``python -m pytest`` per submission with five checks, bytecode compiled beforehand.
- *bare fork*: a process that holds numpy and torch forks, loads the file, makes the same calls of the
  same plan, and pipes the values back; no isolation, no judgement.
- *cold*: a fresh process that starts the sandbox, freezes the plans and grades all; *warm*: once more
  in the same process, explanations (mutants, counterexamples) searched anew for every wrong file.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
SUBMISSIONS = ROOT / "examples/course/submissions"
PLAN_SEED = b"benchmark"


def read_class() -> list[tuple[Path, str, str]]:
    """Return (file, item, expected outcome) of 20 submissions that end by themselves, 10 of each library.

    Students in turn, `sdpa` and `softmax` in turn where both were handed in.
    """
    expected = yaml.safe_load((ROOT / "examples/expected.yaml").read_text(encoding="utf-8"))
    chosen: list[tuple[Path, str, str]] = []
    spare: list[tuple[Path, str, str]] = []
    wanted = {True: 10, False: 10}
    for number, (student, items) in enumerate(expected.items()):
        ends = [(item, v["outcome"]) for item, v in sorted(items.items()) if v.get("ends", True)]
        ends = ends[number % 2 :] + ends[: number % 2]
        files = [(SUBMISSIONS / student / f"{item}.py", item, outcome) for item, outcome in ends]
        chosen += files[:1]
        spare += files[1:]
    picked = []
    for file in chosen + spare:
        library = uses_torch(file[0])
        if wanted[library]:
            wanted[library] -= 1
            picked.append(file)
    return picked


def uses_torch(path: Path) -> bool:
    return "import torch" in path.read_text(encoding="utf-8")


# --- plain pytest -----------------------------------------------------------------------


def run_pytest(files: list[tuple[Path, str, str]]) -> tuple[list[float], list[bool]]:
    """Return seconds and 'all passed' per submission; the first round compiles bytecode, unmeasured."""
    seconds, passed = [], []
    with tempfile.TemporaryDirectory() as folder:
        places = []
        for index, (path, item, _) in enumerate(files):
            place = Path(folder, str(index))
            place.mkdir()
            (place / "submission.py").write_bytes(path.read_bytes())
            test = place / f"test_{item}.py"
            test.write_bytes((ROOT / f"benchmarks/peers/test_{item}.py").read_bytes())
            places.append((place, test, uses_torch(path)))
        for measured in (False, True):
            for place, test, torch in places:
                environment = {
                    **os.environ,
                    "SUBMISSION": "submission",
                    "LIBRARY": "torch" if torch else "numpy",
                }
                command = [
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    "-c",
                    os.devnull,
                    str(test),
                ]
                begun = time.perf_counter()
                done = subprocess.run(
                    command,
                    cwd=place,
                    env={**environment, "PYTHONPATH": str(place)},
                    capture_output=True,
                    check=False,
                )
                if measured:
                    seconds.append(time.perf_counter() - begun)
                    passed.append(done.returncode == 0)
    return seconds, passed


# --- Softmark: a fresh process of its own ------------------------------------------------


def grade_class(files: list[tuple[Path, str, str]], repeats: int) -> dict[str, object]:
    """Grade in this process: one cold round, then `repeats` warm ones."""
    begun = time.perf_counter()
    from engine.sandbox import open_runner

    with open_runner(tier="T1") as runner:
        from engine.code import freeze_plan, grade_code, load_exercise
        from engine.intake import read_code_file
        from engine.model import Mode
        from engine.spec.bank import builtin_bank

        bank = builtin_bank()

        def prepare(item: str) -> tuple[object, object]:
            exercise = load_exercise(bank.load(item), bank.path(item).parent, bank.version(item))
            return exercise, freeze_plan(exercise, PLAN_SEED)

        def one_round() -> tuple[list[float], list[str]]:
            prepared = {item: prepare(item) for item in {item for _, item, _ in files}}
            seconds, outcomes = [], []
            for path, item, _ in files:
                start = time.perf_counter()
                report = grade_code(
                    *prepared[item], read_code_file(path), runner, mode=Mode.MARKS, student=None
                )
                seconds.append(time.perf_counter() - start)
                outcomes.append(str(report.outcome))
            return seconds, outcomes

        _, outcomes = one_round()
        cold = time.perf_counter() - begun
        rounds = []
        for _ in range(repeats):
            start = time.perf_counter()
            seconds, _ = one_round()
            rounds.append((time.perf_counter() - start, seconds))
        forks = bare_forks(files, {i: prepare(i) for i in {item for _, item, _ in files}}, repeats)
    return {"cold": cold, "outcomes": outcomes, "rounds": rounds, "forks": forks}


def bare_forks(files, prepared, repeats: int) -> list[list[float]]:
    """Return seconds per submission of a bare fork that makes the plan's calls."""
    script = ROOT / "benchmarks/bare_fork.py"
    child = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()
    rounds = []
    import pickle

    for _ in range(repeats):
        seconds = []
        for path, item, _ in files:
            calls = [
                (call.function, call.args, dict(call.kwargs))
                for call in prepared[item][1].calls(item, "torch" if uses_torch(path) else "numpy")
            ]
            job = pickle.dumps((path.read_text(encoding="utf-8"), uses_torch(path), calls))
            start = time.perf_counter()
            child.stdin.write(len(job).to_bytes(8, "little") + job)
            child.stdin.flush()
            size = int.from_bytes(child.stdout.read(8), "little")
            child.stdout.read(size)
            seconds.append(time.perf_counter() - start)
        rounds.append(seconds)
    child.stdin.close()
    child.wait()
    return rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure-softmark", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    files = read_class()
    if options.measure_softmark:
        print(json.dumps(grade_class(files, options.repeats)))
        return

    wanted = [outcome == "right" for _, _, outcome in files]
    seconds, passed = run_pytest(files)
    command = [sys.executable, __file__, "--measure-softmark", "--repeats", str(options.repeats)]
    ours = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    wrong = [f[0].name for f, outcome in zip(files, ours["outcomes"], strict=True) if outcome != f[2]]
    print(f"{len(files)} submissions; verdicts as known: Softmark {len(files) - len(wrong)}, ", end="")
    print(f"pytest {sum(a == b for a, b in zip(passed, wanted, strict=True))}")
    if wrong:
        raise SystemExit(f"verdicts differ: {wrong}")

    pytest_total = sum(seconds)
    warm = statistics.median(total for total, _ in ours["rounds"])
    each = statistics.median(s for _, row in ours["rounds"] for s in row)
    right = [i for i, known in enumerate(wanted) if known]
    each_right = statistics.median(row[i] for _, row in ours["rounds"] for i in right)
    fork = statistics.median(s for row in ours["forks"] for s in row)
    fork_right = statistics.median(row[i] for row in ours["forks"] for i in right)
    print(f"pytest, fresh process {pytest_total:8.2f} s   {1000 * statistics.median(seconds):8.1f} ms each")
    print(f"Softmark T1, cold            {ours['cold']:8.2f} s   {pytest_total / ours['cold']:8.1f} x faster")
    print(f"Softmark T1, warm            {warm:8.2f} s   {pytest_total / warm:8.1f} x faster")
    print(f"  median per submission      {1000 * each:8.1f} ms  (right ones {1000 * each_right:.1f} ms)")
    print(f"bare fork, same calls        {1000 * fork:8.1f} ms  (right ones {1000 * fork_right:.1f} ms)")
    print(f"  Softmark / bare fork       {each / fork:8.2f}     (right ones {each_right / fork_right:.2f})")


if __name__ == "__main__":
    main()
