"""A class on the site at once: students who type, and hand-ins of code, on a real ``grade serve`` process.

Usage: python benchmarks/web.py [--quick] [--students N] [--every S] [--hand-ins R] [--minutes M]
       [--times F] [--json FILE]

N students have a quiz open, and each saves a changed answer every S seconds as the page's script does.
R times a minute one of them hands in a program, right and wrong ones in turn, and waits for the feedback as
the page does. All goes over loopback, and the measuring loop takes its share of the same machine. It reports
how long a save and the feedback take, and the server's memory. At the end the store must hold every answer
whose saving was confirmed and every program for which there was a receipt. ``--times 3`` is three times
the load.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from classes.mixing import Program, class_of, read_exercises

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from engine.course import Course  # noqa: E402
from engine.quiz import compose, read_blueprint  # noqa: E402
from engine.quiz.rules import now  # noqa: E402
from tests.live.site import LiveSite, new_course  # noqa: E402

EXERCISES = ("softmax", "sdpa", "causal-mask")
QUIZ = "load"
BLUEPRINT = """title: Load
sections:
  - items: [softmax-weights, context-vector, softmax-ratio, alignment-read, self-attention-weights]
"""
LOOK_EVERY_S = 0.25  # as the page's script asks how far a hand-in is
PATIENCE_S = 60.0


@dataclass
class Student:
    """A student's browser: the cookie, the form's token, and what it has saved."""

    id: str
    cookie: str
    token: str = ""
    parts: dict[int, str] = field(default_factory=dict)
    revisions: dict[int, int] = field(default_factory=dict)
    confirmed: dict[int, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        return {"cookie": f"softmark-session={self.cookie}"}


@dataclass
class Load:
    """What was measured."""

    saves: list[float] = field(default_factory=list)
    feedback: list[float] = field(default_factory=list)
    receipts: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="see that it works; no figures to quote")
    parser.add_argument("--students", type=int, help="who type at once (300, quick: 10)")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between a student's saves (5)")
    parser.add_argument("--hand-ins", type=float, default=30.0, help="programs a minute (30)")
    parser.add_argument("--minutes", type=float, help="how long (10, quick: 0.1)")
    parser.add_argument("--times", type=float, default=1.0, help="multiple of the load (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    options.students = round((options.students or (10 if options.quick else 300)) * options.times)
    options.hand_ins *= options.times
    options.minutes = options.minutes or (0.1 if options.quick else 10.0)
    return options


def make_course(folder: Path, count: int) -> Path:
    """Make a course whose students have a published quiz and the exercises."""
    ids = [f"s{number:04}" for number in range(count)]
    course = new_course(folder / "course", students=tuple(f"{s},Student {s},{s}@example.edu" for s in ids))
    settings = course / "course.yaml"
    listed = "".join(f"    {item}: {{due: 2999-01-01}}\n" for item in EXERCISES)
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.rstrip() + f"\n  assignments:\n{listed}", encoding="utf-8")
    path = course / "blueprints" / f"{QUIZ}.yaml"
    path.write_text(BLUEPRINT, encoding="utf-8")
    opened = Course.open(course)
    with opened.open_store() as store:
        quizzes = compose(read_blueprint(path), opened.bank(), ids, secret=opened.secret(), name=QUIZ)
        store.save_quizzes(quizzes)
        store.published.publish(QUIZ, "ivy", now())
    return course


def sign_in(course: Path, ids: Sequence[str]) -> list[Student]:
    with Course.open(course).open_store() as store:
        return [
            Student(s, store.sessions.begin(s, way="code", now=now(), lasts=timedelta(hours=8))) for s in ids
        ]


async def open_quiz(client: httpx.AsyncClient, student: Student) -> None:
    """Open each question once, as whoever begins does."""
    for number in range(1, BLUEPRINT.count(",") + 2):
        page = (await client.get(f"/quiz/{QUIZ}/{number}", headers=student.headers)).text
        student.token = re.findall(r'name="csrf" value="(\w+)"', page)[-1]
        student.parts[number] = re.findall(r'name="text\.(\w+)"', page)[0]
        student.revisions[number] = 0


async def save(client: httpx.AsyncClient, student: Student, number: int, load: Load) -> None:
    """Save another text in one field."""
    part = student.parts[number]
    text = f"0.{random.randrange(10**6):06} {len(load.saves)}"
    body = {"retry": "0", f"revision.{part}": str(student.revisions[number]), f"text.{part}": text}
    headers = student.headers | {"x-csrf-token": student.token, "accept": "application/json"}
    began = time.perf_counter()
    answer = await client.post(f"/quiz/{QUIZ}/{number}/save", data=body, headers=headers)
    load.saves.append(time.perf_counter() - began)
    if answer.status_code != 200 or answer.json()["fields"][0]["state"] != "saved":
        load.faults.append(f"save: {answer.status_code} {answer.text[:200]}")
        return
    student.revisions[number] = answer.json()["fields"][0]["revision"]
    student.confirmed[number] = text


async def type_answers(
    client: httpx.AsyncClient, student: Student, every: float, end: float, load: Load
) -> None:
    due = time.perf_counter() + random.uniform(0, every)
    turn = 0
    while due < end:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        turn += 1
        try:
            await save(client, student, 1 + turn % len(student.parts), load)
        except httpx.HTTPError as error:
            load.faults.append(f"save: {error!r}")
        due = max(due + every, time.perf_counter())


async def hand_in(client: httpx.AsyncClient, student: Student, item: str, source: str, load: Load) -> None:
    """Hand a program in, and wait until its feedback is there."""
    began = time.perf_counter()
    body = {"csrf": student.token, "way": "typed", "code": source}
    try:
        answer = await client.post(f"/code/{item}/hand-in", data=body, headers=student.headers)
        if answer.status_code != 303:
            load.faults.append(f"hand-in: {answer.status_code}")
            return
        load.receipts.append((student.id, item))
        page = (await client.get(answer.headers["location"], headers=student.headers)).text
        while 'id="result"' not in page and time.perf_counter() - began < PATIENCE_S:
            await asyncio.sleep(LOOK_EVERY_S)
            page = (await client.get(f"/code/{item}", headers=student.headers)).text
    except httpx.HTTPError as error:
        load.faults.append(f"hand-in: {error!r}")
        return
    if 'id="result"' in page:
        load.feedback.append(time.perf_counter() - began)
    else:
        load.faults.append("hand-in: no feedback within a minute")


async def hand_in_programs(
    client: httpx.AsyncClient,
    students: Sequence[Student],
    programs: Sequence[Program],
    a_minute: float,
    end: float,
    load: Load,
) -> None:
    running = []
    turn = 0
    while time.perf_counter() < end:
        program = programs[turn % len(programs)]
        student = students[turn % len(students)]
        turn += 1
        # Each file is one of its own, or the site would show the result of the same one before.
        source = f"{program.source}\n# {turn}\n"
        running.append(asyncio.create_task(hand_in(client, student, program.item, source, load)))
        await asyncio.sleep(60 / a_minute)
    await asyncio.gather(*running)


async def look_at_memory(process: int, end: float, load: Load) -> None:
    began = time.perf_counter()
    while time.perf_counter() < end:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        load.memory.append((time.perf_counter() - began, pages * os.sysconf("SC_PAGE_SIZE") / 2**20))
        await asyncio.sleep(1.0)


async def run(site: LiveSite, students: Sequence[Student], options: argparse.Namespace) -> Load:
    load = Load()
    # the site prepares each exercise at its first hand-in: one is enough to see that it works
    items = EXERCISES[:1] if options.quick else EXERCISES
    exercises = [e for e in read_exercises(ROOT / "problems/code") if e.item in items]
    programs = list(class_of(600, exercises))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=site.address, limits=limits, timeout=PATIENCE_S) as client:
        for begin in range(0, len(students), 20):
            await asyncio.gather(*(open_quiz(client, s) for s in students[begin : begin + 20]))
        end = time.perf_counter() + options.minutes * 60
        await asyncio.gather(
            *(type_answers(client, student, options.every, end, load) for student in students),
            hand_in_programs(client, students, programs, options.hand_ins, end, load),
            look_at_memory(site.process.pid, end, load),
        )
    return load


def lost(course: Path, students: Sequence[Student], load: Load) -> int:
    """Count what was confirmed and isn't in the store."""
    with Course.open(course).open_store() as store:
        missing = 0
        for student in students:
            (quiz,) = store.quizzes(QUIZ, student.id)
            texts = {draft.number: draft.text for draft in store.drafts.of_quiz(quiz)}
            missing += sum(texts.get(number) != text for number, text in student.confirmed.items())
        return missing + max(0, len(load.receipts) - sum(1 for _ in store.attempts()))


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return count, median, 95th percentile and maximum, in milliseconds."""
    in_order = sorted(seconds)
    return {
        "count": len(in_order),
        "median": round(1000 * statistics.median(in_order), 1),
        "p95": round(1000 * in_order[min(len(in_order) - 1, int(0.95 * len(in_order)))], 1),
        "max": round(1000 * in_order[-1], 1),
    }


def memory_figures(samples: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the server's memory in MiB: in the second tenth of the time and in the last."""
    tenth = max(1, len(samples) // 10)
    early = [mib for _, mib in samples[tenth : 2 * tenth]] or [samples[-1][1]]
    late = [mib for _, mib in samples[-tenth:]]
    return {
        "early": round(statistics.median(early), 1),
        "late": round(statistics.median(late), 1),
        "most": round(max(mib for _, mib in samples), 1),
    }


def main() -> int:
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="softmark-") as folder:
        course = make_course(Path(folder), options.students)
        students = sign_in(course, [f"s{number:04}" for number in range(options.students)])
        with LiveSite(course) as site:
            load = asyncio.run(run(site, students, options))
        missing = lost(course, students, load)
    figures: dict[str, Any] = {
        "students": options.students,
        "every_s": options.every,
        "hand_ins_a_minute": options.hand_ins,
        "minutes": options.minutes,
        "save_ms": spread(load.saves),
        "feedback_ms": spread(load.feedback) if load.feedback else None,
        "memory_mib": memory_figures(load.memory),
        "faults": len(load.faults),
        "lost": missing,
        "load_average": os.getloadavg()[0],
    }
    heads = f"{'':18}{'count':>8}{'median':>10}{'p95':>10}{'max':>10}"
    print(f"{options.students} students, a save every {options.every:g} s each; ", end="")
    print(f"{options.hand_ins:g} hand-ins a minute; {options.minutes:g} min\n{heads}")
    for name, key in (("a save, ms", "save_ms"), ("code feedback, ms", "feedback_ms")):
        if figures[key]:
            print(
                f"{name:18}"
                + "".join(f"{figures[key][c]:>{8 if c == 'count' else 10},}" for c in figures[key])
            )
    early, late, most = (figures["memory_mib"][name] for name in ("early", "late", "most"))
    print(f"server's memory: {early} MiB early, {late} MiB at the end, at most {most} MiB")
    print(f"confirmed but not in the store: {missing}; requests that failed: {len(load.faults)}")
    for fault in sorted(set(load.faults))[:5]:
        print(f"  {fault}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 1 if missing or load.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
