"""Grade code with Softmark and with other graders, side by side in one run.

Usage: python benchmarks/code_grading.py [--quick] [--memory] [--profile] [--json FILE]

1. *The class of 20* (10 with numpy, 10 with torch, right and wrong): plain pytest, gradescope-utils and
   otter-grader, each in an environment of its own with compiled bytecode, and Softmark at T1, one
   submission at a time. All make the same checks, one test per check of the rubric; every verdict is
   compared with ``classes/of_20.yaml`` first, and each difference is printed. Softmark also names the
   mistakes and searches the smallest counterexamples, again in every round. *Cold* is a process from its
   start to the table; *warm* has a ready runner, and includes freezing the plans. The peers grade each
   submission in a fresh process, as in production; what of their time the checks took is shown.
2. *Overhead*: the same calls by a bare fork (``bare_fork.py``): no isolation, no judgement.
3. *A mixed class of 1,000* on all cores, as ``grade batch`` does, with and without explanations.
4. ``--memory``: the grader's resident memory over 10,000 submissions.
5. ``--profile``: where the time of a mixed class goes, one slot.

The environments are made once, in the user's cache folder; nothing is written into the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from classes.mixing import class_of, read_exercises
from classes.table import differences, known_checks, read_class
from peers.environments import default_cache, environment
from peers.rounds import PEERS, PeerGrade, lay_out

ROOT = Path(__file__).parents[1]
PARTS = ("class-of-20", "overhead", "mixed")
AIM = {"faster": 40.0, "overhead_ms": 10.0, "per_second": 60.0}


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options; ``--quick`` only changes what isn't given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help="rounds over the class of 20 (5, quick: 1)")
    parser.add_argument("--submissions", type=int, help="size of the mixed class (1,000, quick: 4)")
    parser.add_argument(
        "--quick", action="store_true", help="see that it works, without peers; no figures to quote"
    )
    parser.add_argument("--memory", action="store_true", help="10,000 submissions more (quick: 1,000)")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    parser.add_argument(
        "--only", action="append", choices=PARTS, default=[], help="only these parts; may be repeated"
    )
    parser.add_argument("--no-peers", action="store_true", help="Softmark alone")
    parser.add_argument("--workers", type=int, help="slots for the mixed class; all cores by default")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="where the environments lie")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # what a process of its own does
    parser.add_argument("--every", type=int, default=1, help=argparse.SUPPRESS)  # of the class of 20
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.submissions = options.submissions or (4 if options.quick else 1000)
    options.no_peers = options.no_peers or options.quick
    options.parts = options.only or ([] if options.memory or options.profile else list(PARTS))
    if options.quick and not options.only:
        options.parts, options.profile = list(PARTS), True
    return options


# --- processes of their own: no measurement sees what another one left behind ------------


def measure(options: argparse.Namespace) -> None:
    """Do one measurement in this process and print it as one line of JSON."""
    # as the command does: on arrays this small, threads only wait for each other
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from classes import softmark

    if options.measure == "rounds":
        for found in softmark.rounds_of_20(read_class(), options.rounds):
            print(json.dumps(found), flush=True)
        return
    if options.measure == "overhead":
        print(json.dumps(softmark.overhead(read_class()[:: options.every], options.rounds)))
        return
    programs = class_of(options.submissions, read_exercises(ROOT / "problems/code"))
    if options.measure == "profile":
        print(json.dumps(_profiled(programs)))
        return

    def progress(done: int) -> None:
        if options.measure == "memory" and done % max(1, options.submissions // 10) == 0:
            print(f"{done} {softmark.resident_mib():.1f}", file=sys.stderr, flush=True)

    found = softmark.grade_mixed(
        programs, explain=options.measure != "plain", workers=options.workers, progress=progress
    )
    print(json.dumps(found))


def _profiled(programs: Any) -> dict[str, Any]:
    from classes import softmark
    from classes.stages import Stages, TimedRunner

    stages = Stages()
    with stages.watched():
        found = softmark.grade_mixed(
            programs, explain=True, workers=1, wrap=lambda runner: TimedRunner(runner, stages)
        )
    return {**found, "stages": dict(stages.seconds), "missing": stages.missing}


def _command(kind: str, **options: object) -> list[str]:
    named = [f"--{name}={value}" for name, value in options.items() if value is not None]
    return [sys.executable, __file__, f"--measure={kind}", *named]


def _measured(kind: str, **options: object) -> Any:
    done = subprocess.run(_command(kind, **options), stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout.splitlines()[-1])


def measure_class(rounds: int) -> tuple[float, list[dict[str, Any]]]:
    """Return the seconds from a process's start to the first verdicts of the class, and all rounds."""
    begun = time.perf_counter()
    command = _command("rounds", rounds=rounds)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline()]
        seconds = time.perf_counter() - begun
        lines += child.stdout.readlines()
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    return seconds, [json.loads(line) for line in lines]


# --- the class of 20 ---------------------------------------------------------------------


def class_of_20(options: argparse.Namespace) -> dict[str, Any]:
    """Measure and print the class of 20."""
    known, checks = read_class(), known_checks()
    peers = {} if options.no_peers else {name: environment(name, options.cache) for name in PEERS}
    graded: dict[str, list[list[PeerGrade]]] = {name: [] for name in peers}
    cold: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        places = {name: lay_out(PEERS[name][0], _made(Path(folder, name)), known) for name in peers}
        for name, python in peers.items():  # files into the system's cache, tests compiled; not timed
            PEERS[name][1](python, places[name][:: 10 if options.quick else 1])
        if not options.quick:
            measure_class(1)
        for _ in range(0 if options.quick else options.rounds):  # in turn, so that a busy minute hits all
            for name, python in peers.items():
                graded[name].append(PEERS[name][1](python, places[name]))
            cold.append(measure_class(1)[0])
    first, (_, *warm) = measure_class(options.rounds + 1)  # in one process, which the first round warms up
    cold = cold or [first]

    print(f"\nThe class of 20: {sum(len(checks[h.item]) for h in known)} verdicts, each known before")
    told: dict[str, list[str]] = {}
    for name, rounds in graded.items():
        told[name] = differences(known, [each.verdicts for each in rounds[-1]], checks)
    told["Softmark"] = differences(known, warm[-1]["verdicts"], checks)
    told["Softmark"] += [
        f"{handed.id}: {outcome}, known to be {handed.outcome}"
        for handed, outcome in zip(known, warm[-1]["outcomes"], strict=True)
        if outcome != handed.outcome
    ]
    for name, lines in told.items():
        print(f"  {name}: " + ("all as known" if not lines else f"{len(lines)} differ"))
        print(*(f"    {line}" for line in lines), sep="\n", end="\n" if lines else "")

    rows = {name: summary(rounds) for name, rounds in graded.items()}
    rows["Softmark T1, cold"] = {
        "class": statistics.median(cold),
        "each": statistics.median(cold) / len(known),
    }
    totals = [found["prepare"] + sum(found["seconds"]) for found in warm]
    rows["Softmark T1, warm"] = {
        "class": statistics.median(totals),
        "each": statistics.median(second for found in warm for second in found["seconds"]),
    }
    for line in compared(rows, list(graded)):
        print(line)
    return {"rows": rows, "differences": told, "rounds": options.rounds}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def summary(rounds: Sequence[Sequence[PeerGrade]]) -> dict[str, float]:
    """Return seconds for the class, for the median submission, and for its checks alone."""
    return {
        "class": statistics.median(sum(each.seconds for each in row) for row in rounds),
        "each": statistics.median(each.seconds for row in rounds for each in row),
        "checks": statistics.median(each.check_seconds for row in rounds for each in row),
    }


def compared(rows: Mapping[str, Mapping[str, float]], peers: Sequence[str]) -> list[str]:
    """Return the lines of the table; the last column is against the fastest peer's class."""
    fastest = min((rows[name]["class"] for name in peers), default=None)
    lines = [
        f"  {'':24}{'class of 20':>14}{'each (median)':>16}{'checks alone':>15}"
        + (f"{'fastest peer /':>16}" if fastest else "")
    ]
    for name, row in rows.items():
        line = f"  {name:24}{row['class']:12.2f} s{1000 * row['each']:13.1f} ms"
        line += f"{1000 * row['checks']:12.1f} ms" if "checks" in row else f"{'':>15}"
        if fastest:
            line += f"{fastest / row['class']:14.1f} ×"
        lines.append(line)
    if fastest and "Softmark T1, warm" in rows:
        ratio = fastest / rows["Softmark T1, warm"]["class"]
        reached = met(ratio >= AIM["faster"])
        lines.append(f"  aim: warm at least {AIM['faster']:.0f} × the fastest peer: {ratio:.1f} ×, {reached}")
    return lines


def met(reached: bool) -> str:
    """Return the word for an aim."""
    return "reached" if reached else "NOT reached"


# --- overhead, mixed class, memory, profile ----------------------------------------------


def overhead(options: argparse.Namespace) -> dict[str, Any]:
    """Measure and print what Softmark takes beyond a bare fork."""
    every = 3 if options.quick else 1
    found = _measured("overhead", rounds=options.rounds, every=every)
    known = read_class()[::every]
    right = [place for place, handed in enumerate(known) if handed.outcome == "right"]
    ran = [place for place, handed in enumerate(known) if handed.outcome != "format_error"]
    rows = {"right ones": overhead_ms(found, right), "all that run": overhead_ms(found, ran)}
    print("\nOverhead over a bare fork that makes the same calls (class of 20, medians)")
    for name, row in rows.items():
        print(
            f"  {name:14}{row['softmark']:8.1f} ms Softmark {row['fork']:8.1f} ms bare fork"
            f"{row['overhead']:8.1f} ms more"
        )
    reached = rows["all that run"]["overhead"] <= AIM["overhead_ms"]
    print(f"  aim: at most {AIM['overhead_ms']:.0f} ms: {met(reached)}")
    return {"rows": rows}


def overhead_ms(found: Mapping[str, Sequence[Sequence[float]]], places: Iterable[int]) -> dict[str, float]:
    """Return medians in ms: of each, and of the difference (submission by submission)."""
    pairs = [
        (ours[place], fork[place])
        for ours, fork in zip(found["softmark"], found["fork"], strict=True)
        for place in places
    ]
    return {
        "softmark": 1000 * statistics.median(ours for ours, _ in pairs),
        "fork": 1000 * statistics.median(fork for _, fork in pairs),
        "overhead": 1000 * statistics.median(ours - fork for ours, fork in pairs),
    }


def mixed(options: argparse.Namespace) -> dict[str, Any]:
    """Measure and print the mixed class with and without explanations."""
    exercises = read_exercises(ROOT / "problems/code")
    print(f"\nA mixed class of {options.submissions:,}: {len(exercises)} exercises, right and wrong in turn")
    out: dict[str, Any] = {"exercises": [exercise.item for exercise in exercises]}
    for kind, name in (("explained", "with explanations"), ("plain", "without")):
        found = _measured(kind, submissions=options.submissions, workers=options.workers)
        out[kind] = mixed_summary(found)
        for line in mixed_lines(name, out[kind], first=kind == "explained"):
            print(line)
    reached = out["explained"]["per_second"] >= AIM["per_second"]
    print(f"  aim: at least {AIM['per_second']:.0f} submissions/s on two cores: {met(reached)}")
    return out


def mixed_summary(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of one run over a mixed class."""
    middle = {kind: 1000 * statistics.median(found[kind] or [0.0]) for kind in ("right", "wrong")}
    return {
        "files": found["files"],
        "programs": found["programs"],
        "per_second": found["files"] / found["seconds"],
        "per_second_with_start": found["files"] / (found["seconds"] + found["prepare"]),
        "prepare_s": found["prepare"],
        "right_ms": middle["right"],
        "wrong_ms": middle["wrong"],
        "memory_mib": found["memory"],
        "surprises": found["surprises"],
    }


def mixed_lines(name: str, row: Mapping[str, Any], first: bool) -> list[str]:
    """Return what is printed of one run over a mixed class."""
    lines = [f"  {row['programs']} distinct programs, each file's bytes unique"] if first else []
    before, after = row["memory_mib"]
    lines.append(
        f"  {name:18}{row['per_second']:7.1f} submissions/s   right {row['right_ms']:.1f} ms, "
        f"wrong {row['wrong_ms']:.1f} ms (medians)"
    )
    lines.append(
        f"    with the start ({row['prepare_s']:.1f} s): {row['per_second_with_start']:.1f} submissions/s; "
        f"grader {before:.0f} MiB before, {after:.0f} MiB after"
    )
    strange = row["surprises"]
    lines.append(f"    outcomes as known: {row['files'] - len(strange)} of {row['files']}")
    lines += [f"      {line}" for line in sorted(set(strange))[:20]]
    return lines


def memory(options: argparse.Namespace) -> dict[str, Any]:
    """Print the grader's resident memory along 10,000 submissions."""
    size = 1000 if options.quick else 10_000
    print(f"\nResident memory of the grader over {size:,} submissions (MiB)", flush=True)
    done = subprocess.run(
        _command("memory", submissions=size, workers=options.workers),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    steps = [(0, found["memory"][0]), *_steps(done.stderr)]
    for number, mib in steps:
        print(f"  {number:7,} {mib:8.1f}")
    return {"steps": steps, "per_second": found["files"] / found["seconds"]}


def _steps(text: str) -> list[tuple[int, float]]:
    """Return (files graded, MiB) of the lines that say nothing else."""
    rows = [line.split() for line in text.splitlines()]
    return [(int(row[0]), float(row[1])) for row in rows if len(row) == 2 and row[0].isdigit()]


def profile(options: argparse.Namespace) -> dict[str, Any]:
    """Print where the time of a mixed class goes."""
    # exercises come in turn, and each costs its plans first: a few show that all stages are found
    found = _measured("profile", submissions=5 if options.quick else min(options.submissions, 300))
    print(f"\nWhere the time goes: {found['files']} submissions, mixed, one slot, with explanations")
    for line in profile_lines(found["stages"], found["files"]):
        print(line)
    if found["missing"]:
        print(f"  not found in this version, so counted where it is called: {', '.join(found['missing'])}")
    return {"stages": found["stages"], "files": found["files"], "missing": found["missing"]}


def profile_lines(stages: Mapping[str, float], files: int) -> list[str]:
    """Return one line per stage, the longest first."""
    total = sum(stages.values())
    ranked = sorted(stages.items(), key=lambda pair: -pair[1])
    lines = [f"  {name:52}{1000 * s / files:9.2f} ms{100 * s / total:7.1f} %" for name, s in ranked]
    return [*lines, f"  {'all, per submission':52}{1000 * total / files:9.2f} ms{100.0:7.1f} %"]


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": _processor(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def main() -> None:
    options = parse_options()
    if options.measure:
        measure(options)
        return
    told = machine()
    print("$ python benchmarks/code_grading.py", shlex.join(sys.argv[1:]))
    print(
        f"{told['cores']} cores ({told['processor']}), Python {told['python']}, {told['system']}, "
        f"load average {' '.join(map(str, told['load']))}",
        flush=True,
    )
    out: dict[str, Any] = {"machine": told, "arguments": sys.argv[1:]}
    steps = {"class-of-20": class_of_20, "overhead": overhead, "mixed": mixed}
    for part in options.parts:
        out[part] = steps[part](options)
        sys.stdout.flush()
    if options.memory:
        out["memory"] = memory(options)
    if options.profile:
        out["profile"] = profile(options)
    print(f"\nload average at the end: {' '.join(f'{value:.2f}' for value in os.getloadavg())}")
    if options.json:
        options.json.write_text(json.dumps(out, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
