"""Fit the two-parameter model to 50 items and 20,000 students with Softmark and with girth, side by side.

Usage: python benchmarks/irt.py [--quick] [--rounds N] [--json FILE] [--cache DIR]

Each round draws another class from known parameters. All fit the same answers, on one thread; imports aren't
counted, and times are of the process, not of the clock. girth runs in an environment of its own, with its own
options (41 nodes, a look-up table, 25 steps at most) and with those that make it as accurate as it gets (61
nodes from -6 to 6, no table, 200 steps at most). Softmark stops when no parameter moves by more than 1e-8;
its time includes standard errors.

Accuracy is reported twice: the root mean square distance to the true parameters, and the log-likelihood of
all solutions, computed by the same function on 241 nodes, as the distance to Softmark's.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from code_grading import machine
from peers.environments import default_cache, environment

from engine.analysis.statistics import ScoreMatrix
from engine.analysis.statistics.irt import IrtModel, ModelFit, fit_model
from engine.analysis.statistics.irt.likelihood import ItemCurves, collapsed, grid_for, view

HERE = Path(__file__).parent
AS_ACCURATE = {"quadrature_n": 61, "quadrature_bounds": [-6, 6], "use_LUT": False, "max_iteration": 200}
PEERS = {"girth, its own options": {}, "girth, as accurate as it gets": AS_ACCURATE}
OURS = "Softmark"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Item parameters and the seconds that they took."""

    slopes: np.ndarray
    intercepts: np.ndarray
    seconds: float


def drawn(students: int, items: int, rng: np.random.Generator) -> tuple[Solution, np.ndarray]:
    """Return true parameters and answers: slopes about 1.2, difficulties and abilities standard normal."""
    slopes, difficulties = rng.lognormal(0.15, 0.3, items), rng.normal(size=items)
    odds = slopes * (rng.normal(size=(students, 1)) - difficulties)
    answers = (rng.random((students, items)) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    return Solution(slopes, -slopes * difficulties, 0.0), answers


def ours(answers: np.ndarray) -> Solution:
    """Return our fit."""
    matrix = ScoreMatrix([f"i{column}" for column in range(answers.shape[1])], answers)
    begin = time.process_time()
    fit = fit_model(matrix, IrtModel.TWO_PARAMETERS)
    seconds = time.process_time() - begin
    assert isinstance(fit, ModelFit) and fit.converged and not fit.left_out
    return Solution(fit.slopes, fit.intercepts, seconds)


def girth(python: Path, folder: Path, answers: np.ndarray, options: dict[str, object]) -> Solution:
    """Return girth's fit, from a process of its own."""
    np.save(folder / "answers.npy", answers)
    script = HERE / "peers/for_girth/fit.py"
    out = folder / "found.npz"
    command = [str(python), str(script), str(folder / "answers.npy"), json.dumps(options), str(out)]
    subprocess.run(command, check=True)
    with np.load(out) as found:
        return Solution(found["slopes"], found["intercepts"], float(found["seconds"]))


def log_likelihood(answers: np.ndarray, found: Solution) -> float:
    """Return the log-likelihood of a solution, on more nodes than any of the fits used."""
    matrix = ScoreMatrix([f"i{column}" for column in range(answers.shape[1])], answers)
    curves = ItemCurves.of(found.slopes, found.intercepts, grid_for(len(found.slopes), 241))
    return view(collapsed(matrix), curves, observed=False).log_likelihood


def distance(found: np.ndarray, true: np.ndarray) -> float:
    """Return the root mean square distance."""
    return float(np.sqrt(np.mean((found - true) ** 2)))


def rows_of(rounds: list[dict[str, dict[str, float]]]) -> list[str]:
    """Return the table: medians over the rounds, and the median of each round's ratio of times."""
    lines = [f"{'':32}{'seconds':>9}{'ratio':>8}{'slopes':>9}{'intercepts':>12}{'log-likelihood':>16}"]
    for name in rounds[0]:
        middle = {
            what: statistics.median(round_[name][what] for round_ in rounds) for what in rounds[0][name]
        }
        ratio = statistics.median(round_[name]["seconds"] / round_[OURS]["seconds"] for round_ in rounds)
        lines.append(
            f"{name:32}{middle['seconds']:9.2f}{ratio:7.1f}x{middle['slopes']:9.4f}"
            f"{middle['intercepts']:12.4f}{middle['log_likelihood']:+16.4f}"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small class, without girth; no figures to quote"
    )
    parser.add_argument("--rounds", type=int, help="classes (5, quick: 1)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="where girth is installed")
    options = parser.parse_args()
    if any(os.environ.get(name) != one for name, one in ONE_THREAD.items()):  # libraries read it when loaded
        os.environ.update(ONE_THREAD)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    students, items = (500, 10) if options.quick else (20_000, 50)
    options.rounds = options.rounds or (1 if options.quick else 5)
    peers = {} if options.quick else PEERS
    python, told = environment("girth", options.cache) if peers else Path(sys.executable), machine()
    print("$ python benchmarks/irt.py", shlex.join(sys.argv[1:]))
    print(
        f"{told['cores']} cores ({told['processor']}), Python {told['python']}, {told['system']}, "
        f"load average {' '.join(map(str, told['load']))}"
    )
    print(f"{items} items, {students:,} students, {options.rounds} rounds; distances to the true parameters")
    rng, rounds = np.random.default_rng(7), []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            true, answers = drawn(students, items, rng)
            found = {OURS: ours(answers)}
            found |= {name: girth(python, Path(folder), answers, how) for name, how in peers.items()}
            top = log_likelihood(answers, found[OURS])
            rounds.append(
                {
                    name: {
                        "seconds": one.seconds,
                        "slopes": distance(one.slopes, true.slopes),
                        "intercepts": distance(one.intercepts, true.intercepts),
                        "log_likelihood": log_likelihood(answers, one) - top,
                    }
                    for name, one in found.items()
                }
            )
    print("\n".join(rows_of(rounds)))
    print(f"load average at the end: {' '.join(f'{value:.2f}' for value in os.getloadavg())}")
    if options.json:
        options.json.write_text(json.dumps({"machine": told, "rounds": rounds}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
