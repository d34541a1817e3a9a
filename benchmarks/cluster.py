"""Grade a class on the workers of a queue, beside ``grade batch`` alone.

Usage: python benchmarks/cluster.py [--quick] [--programs N] [--beside N] [--queued N] [--students N]
                                    [--json FILE]

A real PostgreSQL server (commits wait for the disk), and workers of one slot each that are started before
the clock is. All of them share this machine's cores, so more workers than cores show what the queue costs
and not what more machines give; ``cluster_simulation.py`` is about those.

1. *The same class*: N programs of three exercises by ``grade batch`` alone with two slots, and on 1, 2 and 4
   workers. What the queue costs a program is the difference of processor time, this machine alone against two
   workers: the seconds of all processes, the server's among them. Both are taken for N and for N/6 programs,
   and the larger run less the smaller one is counted: starting costs the same for both. The difference is a
   small part of what grading costs, so it is the median of three rounds; with some hundred programs it is
   hidden by what each worker's sandbox takes to warm up for an exercise.
2. *Somebody waits*: hand-ins one after the other while a larger class is graded on two workers, from handing
   over to the report. The first is counted apart: it finds workers that have run nothing yet.
3. *A long queue*: many programs drain; the memory of a worker and of ``grade batch`` when a tenth, half and
   all of them are graded.
4. *A class's quizzes*: N students with 20 questions each are drawn on all cores of this machine, and with 1
   and 2 workers, too. Then workers alone draw, which shows what a variant costs the course's process: to hand
   it over, read and check it. That cost, against the one of drawing, says how many workers are of use.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from classes.mixing import class_of, read_exercises  # noqa: E402

from engine.course import Course  # noqa: E402
from engine.model import CodeSubmission, Mode  # noqa: E402

EXERCISES = ("softmax", "sdpa", "causal-mask")
WORKERS = (1, 2)  # that draw quizzes
ROUNDS = 3
FEWER = 6  # a class of so many times fewer programs shows what starting costs
READY_S = 60.0
QUESTIONS = 20  # of a quiz that is drawn
PAUSE_S = 0.5  # between two hand-ins for which somebody waits
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
GRADE = [sys.executable, "-m", "cli"]


def make_class(folder: Path, programs: int, items: Sequence[str]) -> tuple[Path, Path]:
    """Make a course and what its class hands in; return both folders."""
    course, handed = folder / "course", folder / "handed-in"
    Course.init(course, "Bench")
    exercises = [e for e in read_exercises(ROOT / "problems/code") if e.item in items]
    names = [f"s{number:05}" for number in range(-(-programs // len(items)))]
    (course / "roster.csv").write_text("id\n" + "\n".join(names) + "\n", encoding="utf-8")
    for number, program in enumerate(class_of(programs, exercises)):
        place = handed / names[number // len(items)] / f"{program.item}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# {number}\n{program.source}", encoding="utf-8")
    return course, handed


def processor_s(pids: Sequence[int]) -> float:
    """Return the processor time of these processes, their children that have ended among it."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it and live."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in family(int(child)))]


def resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def workers(address: str, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Start workers of one slot, wait until they are known to the queue, and end them."""
    from engine.cluster.queue_state import read_queue
    from engine.cluster.queue_tables import make_queue, open_queue_database

    with closing(open_queue_database(address)) as database:
        make_queue(database)
        command = [*GRADE, "worker", "--store", address, "--slots", "1"]
        started = [
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=ENVIRONMENT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for _ in range(count)
        ]
        try:
            end = time.monotonic() + READY_S
            while len(read_queue(database).workers) < count:
                if time.monotonic() > end:
                    raise SystemExit("the workers didn't start")
                time.sleep(0.1)
            yield started
        finally:
            for process in started:
                process.send_signal(signal.SIGTERM)
            for process in started:
                process.wait(60)


class Watch(threading.Thread):
    """Looks at the memory of processes, and at how many attempts are stored, twice a second."""

    def __init__(self, pids: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.samples: list[list[float]] = []
        self.halt = threading.Event()
        self._pids = pids

    def run(self) -> None:
        while not self.halt.wait(0.5):
            try:
                sample = [resident_mib(pid) for pid in self._pids]
            except OSError:
                return
            if all(sample):  # one that has ended and isn't waited for yet has no memory
                self.samples.append(sample)


def batch(course: Path, handed: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [*GRADE, "batch", handed, "--course", course, "--out", out, *more]
    return subprocess.Popen(
        list(map(str, command)),
        cwd=ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def run_alone(course: Path, handed: Path, folder: Path) -> dict[str, float]:
    before, begin = os.times(), time.monotonic()
    process = batch(course, handed, folder / "alone", "--workers", "2", "--store", str(folder / "alone.db"))
    process.wait()
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": time.monotonic() - begin, "processor_s": spent}


def run_cluster(
    course: Path, handed: Path, out: Path, server: Any, count: int, waiting: bool = False
) -> dict[str, Any]:
    """Grade the class on so many workers; with `waiting`, hand in by hand meanwhile."""
    address = server.new_store()
    with workers(address, count) as started:
        theirs = [pid for process in started for pid in family(process.pid)] + family(server.pid)
        before, own, begin = processor_s(theirs), os.times(), time.monotonic()
        process = batch(course, handed, out, "--cluster", "--store", address)
        watch = Watch([process.pid, started[0].pid])
        watch.start()
        latencies = hand_ins(course, address, process) if waiting else []
        process.wait()
        seconds = time.monotonic() - begin
        watch.halt.set()
        mine = os.times()
        spent = mine.children_user + mine.children_system - own.children_user - own.children_system
        theirs = [pid for started_ in started for pid in family(started_.pid)] + family(server.pid)
        spent += processor_s(theirs) - before
    samples = watch.samples or [[0.0, 0.0]]
    at = {f"{share} %": samples[(len(samples) - 1) * share // 100] for share in (10, 50, 100)}
    return {"seconds": seconds, "processor_s": spent, "latencies": latencies, "memory_mib": at}


def one_round(
    folder: Path, server: Any, large: tuple[Path, Path], small: tuple[Path, Path] | None, more: int
) -> dict[str, Any]:
    """Grade a large class and a small one alone and on two workers, one after the other.

    The large one has `more` programs; starting costs the same for both. Without a small one, what starting
    costs is counted as well.
    """
    folder.mkdir()
    figures: dict[str, Any] = {}
    classes = {"": large} | ({", few": small} if small else {})
    for label, (course, handed) in classes.items():
        out = folder / f"out{label}"
        out.mkdir()
        figures[f"alone{label}"] = run_alone(course, handed, out)
        figures[f"workers 2{label}"] = run_cluster(course, handed, out / "cluster", server, 2)
    spent = {name: each["processor_s"] for name, each in figures.items()}
    costs = {name: spent[name] - spent.get(f"{name}, few", 0.0) for name in ("alone", "workers 2")}
    figures["overhead_ms"] = 1000 * (costs["workers 2"] - costs["alone"]) / more
    return figures


def hand_ins(course: Path, address: str, process: subprocess.Popen[bytes]) -> list[float]:
    """Hand in one program after the other until the batch has ended; return what each took."""
    from engine import COMMON_PACKAGES
    from engine.cluster.course_side import ClusterExercises, CourseQueue
    from engine.runner import SandboxOptions

    opened = Course.open(course)
    bank, secret = opened.bank(None), opened.secret()
    source = (ROOT / "problems/code/softmax/solution_numpy.py").read_text(encoding="utf-8")
    took = []
    with ExitStack() as stack:
        queue = CourseQueue(
            address, bank=bank, secret=secret, title="Bench", mode=Mode.MARKS, tier="T2",
            packages=COMMON_PACKAGES,
        )  # fmt: skip
        stack.callback(queue.close)
        code = ClusterExercises(bank, secret=secret, mode=Mode.MARKS, course_queue=queue, interactive=True)
        runner = code.open_runner(SandboxOptions(), 1, ())
        while process.poll() is None:
            begin = time.monotonic()
            program = CodeSubmission(f"# {len(took)}\n{source}", "softmax.py", f"{len(took):064x}")
            code.grade("softmax", program, runner, f"waits{len(took)}")
            took.append(time.monotonic() - begin)
            time.sleep(PAUSE_S)
    return took


def drawing(server: Any, students: int, counts: Sequence[int]) -> dict[str, Any]:
    """Draw a class's quizzes on this machine and with workers; return variants/s and costs."""
    from engine.cluster import class_drawing
    from engine.cluster.course_side import CourseQueue
    from engine.items.bank import builtin_bank
    from engine.parallel import without_collecting
    from engine.quiz import compose, read_blueprint
    from engine.quiz.compose import ClassDraws, on_this_machine

    bank, secret = builtin_bank(), b"bench"
    names = [f"s{number:05}" for number in range(students)]
    figures: dict[str, Any] = {"variants": students * QUESTIONS, "notes": []}

    def timed(label: str, place: Any) -> None:
        def measure(draws: ClassDraws) -> Any:
            begin, spent = time.monotonic(), time.process_time()
            drawn = place(draws)
            figures[label] = {
                "variants_per_s": len(draws.keys) / (time.monotonic() - begin),
                "own_ms": 1000 * (time.process_time() - spent) / len(draws.keys),
            }
            return drawn

        with without_collecting():  # as the command does
            compose(plan, bank, names, secret=secret, name="quiz", place=measure)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(
            f"title: Bench\nsections:\n  - {{title: All, count: {QUESTIONS}}}\n", encoding="utf-8"
        )
        plan = read_blueprint(path)
    timed("one core", lambda draws: {key: draws.draw(key) for key in draws.keys})
    timed("alone", on_this_machine)
    really = class_drawing._DrawingRun._draw_here
    for count in (*counts, 0):
        address = server.new_store()

        def open_queue(address: str = address) -> CourseQueue:
            return CourseQueue(
                address, bank=bank, secret=secret, title="Bench", mode=Mode.MARKS, tier="T2", packages=()
            )

        with workers(address, count or counts[-1]):
            place = class_drawing.ClassDrawing(open_queue, bank)
            if not count:  # this process draws nothing but samples, and waits
                class_drawing._DrawingRun._draw_here = lambda run, queue: time.sleep(0.25)  # type: ignore[method-assign]
            timed(f"workers {count}" if count else "workers alone", place)
            class_drawing._DrawingRun._draw_here = really  # type: ignore[method-assign]
        figures["notes"] += place.notes
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="see that it works; no figures to quote")
    parser.add_argument("--programs", type=int, help="size of the class (3,000, quick: 12)")
    parser.add_argument("--beside", type=int, help="the class beside which hand-ins wait (5,000, quick: 12)")
    parser.add_argument("--queued", type=int, help="size of the long queue (20,000, quick: the class before)")
    parser.add_argument("--students", type=int, help="whose quizzes are drawn (200, quick: 25)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    programs = options.programs or (12 if options.quick else 3_000)
    beside = options.beside or (12 if options.quick else 5_000)
    queued = options.queued if options.queued is not None else (beside if options.quick else 20_000)
    students = options.students or (25 if options.quick else 200)
    # each worker and each batch prepares every exercise: one is enough to see that it works
    items = EXERCISES[:1] if options.quick else EXERCISES
    from tests.live.postgres import DurableServer

    figures: dict[str, Any] = {"cores": os.cpu_count(), "programs": programs}
    with tempfile.TemporaryDirectory() as name, closing(DurableServer()) as server:
        folder = Path(name)
        course, handed = make_class(folder, programs, items)
        # A worker takes two seconds to start: the quick form has as few as each part needs.
        few = 0 if options.quick else max(1, programs // FEWER)
        smaller = make_class(folder / "few", few, items) if few else None
        for count in () if options.quick else (1, 4):
            result = figures[f"workers {count}"] = run_cluster(
                course, handed, folder / f"out{count}", server, count
            )
            print(f"{count} workers of a slot: {programs / result['seconds']:.1f} programs/s")
        rounds = figures["rounds"] = [
            one_round(folder / f"round{number}", server, (course, handed), smaller, programs - few)
            for number in range(1 if options.quick else ROUNDS)
        ]
        for label in ("alone", "workers 2"):
            rate = statistics.median(programs / each[label]["seconds"] for each in rounds)
            text = "alone, 2 slots" if label == "alone" else "2 workers of a slot"
            print(f"{text}: {rate:.1f} programs/s (median of {len(rounds)})")
        costs = figures["overhead_ms"] = [each["overhead_ms"] for each in rounds]
        print(
            f"the queue costs a program {statistics.median(costs):.1f} ms of processor time "
            f"({min(costs):.1f} to {max(costs):.1f} in {len(costs)} rounds; aim: 2)"
        )
        course, handed = make_class(folder / "beside", beside, items)
        count = 1 if options.quick else 2
        result = figures["waiting"] = run_cluster(
            course, handed, folder / "waiting", server, count, waiting=True
        )
        first, *others = result["latencies"] or [0.0]
        latencies = sorted(others) or [first]
        p95 = latencies[min(len(latencies) - 1, int(0.95 * len(latencies)))]
        print(
            f"{len(latencies)} hand-ins while {beside} programs of a class are graded: median "
            f"{1000 * statistics.median(latencies):.0f} ms, 95 % within {1000 * p95:.0f} ms; "
            f"the first one, on workers that have run nothing yet: {1000 * first:.0f} ms"
        )
        if queued:
            if options.queued or not options.quick:
                course, handed = make_class(folder / "long", queued, items)
                result = run_cluster(course, handed, folder / "long-out", server, count)
            figures["long queue"] = result
            on = "a worker" if options.quick else "2 workers"
            print(f"{queued} programs on {on}: {queued / result['seconds']:.1f} programs/s")
            for share, (batch_mib, worker_mib) in result["memory_mib"].items():
                print(f"  at {share}: grade batch {batch_mib:.0f} MiB, a worker {worker_mib:.0f} MiB")
        counts = WORKERS[:1] if options.quick else WORKERS
        result = figures["drawing"] = drawing(server, students, counts)
        for label in ("one core", "alone", *(f"workers {count}" for count in counts)):
            print(f"drawing, {label}: {result[label]['variants_per_s']:.0f} variants/s")
        own, whole = result["workers alone"]["own_ms"], result["one core"]["own_ms"]
        print(
            f"a variant takes {whole:.2f} ms to draw, and {own:.2f} ms of the course's process where workers "
            f"draw it, so {whole / own:.0f} cores of workers keep that process busy"
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
