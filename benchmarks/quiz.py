"""Draw quizzes and mark answers with Softmark, and write like questions with other generators, in one run.

Usage: python benchmarks/quiz.py [--quick] [--no-peers] [--json FILE]

1. *Variants*: one core draws variants of a numeric item (three scores, their softmax weights). Softmark
   computes the key and the value of every known mistake, the interval of right answers, and renders stem,
   hints and solution as text, HTML with MathML, and LaTeX. text2qti and qti-package-maker are given the
   same three scores; their scripts compute one weight by themselves and write question, key and tolerance
   into a QTI package. Each runs in an environment of its own; imports aren't counted.
2. *A class of 500 with 20 items each*: ``grade quiz new`` from start to end, files and pages included.
3. *Answers*: marked with diagnosis and partial credit, one core; right, known-wrong and unreadable ones.
4. *Keys in batches*: how much of the time of a variant its key takes, and what one softmax over all variants
   would save of it.

The environments are made once, in the user's cache folder; nothing is written into the repository.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peers.environments import default_cache, environment

HERE = Path(__file__).parent
PEERS = {"text2qti": "for_text2qti", "qti-package-maker": "for_qti_package_maker"}
VECTOR_ITEM = "softmax-weights"
AIM = {"variants": 2000, "class_s": 8.0, "answers": 60_000}
ANSWER_ITEMS = ("softmax-weights", "context-vector", "greedy-path", "io-length-claims", "scaled-dot-score")


def rates(work: Callable[[int], int], rounds: int) -> list[float]:
    """Return units of work per second, one figure a round."""
    found = []
    for number in range(rounds):
        begin = time.process_time()  # of this one thread: what else the machine does hardly counts
        done = work(number)
        found.append(done / (time.process_time() - begin))
    return found


def drawing(count: int) -> Callable[[int], int]:
    """Return a function that draws `count` variants of the vector item, other ones in every round."""
    from engine.items import builtin_bank
    from engine.variants import draw

    bank = builtin_bank()
    spec, registry, version = bank.load(VECTOR_ITEM), bank.registry(), bank.version(VECTOR_ITEM)

    def work(number: int) -> int:
        for student in range(count):
            draw(spec, version=version, registry=registry, secret=b"bench", student=f"{number}-{student}")
        return count

    work(-1)
    return work


def marking(count: int) -> Callable[[int], int]:
    """Return a function that marks right, known-wrong and unreadable answers to variants of five items."""
    from engine.answers import answer_type
    from engine.grading import grade_answers
    from engine.items import builtin_bank
    from engine.model import Mode, Response
    from engine.variants import draw_seeded

    bank = builtin_bank()
    jobs = []
    for item in ANSWER_ITEMS:
        spec = bank.load(item)
        for seed in range(count // len(ANSWER_ITEMS)):
            variant = draw_seeded(spec, version="", registry=bank.registry(), seed=seed)
            (part,) = variant.parts
            kind = answer_type(part.type)
            wrong = [text for text, _ in kind.wrong_responses(part)] or ["?"]
            right = kind.right_responses(part)
            pool = (*right[:2], *wrong[:3], "0.3.3")
            jobs.append((variant, Response({part.id: pool[seed % len(pool)]})))

    def work(number: int) -> int:
        for variant, response in jobs:
            grade_answers(variant, response, mode=Mode.MARKS, student="s")
        return len(jobs)

    work(-1)
    return work


def keys_in_batches(variant_s: float, count: int) -> dict[str, float]:
    """Return how long a key takes alone and in a batch, and its share of a variant's time."""
    import numpy as np

    import reference
    from engine.expressions.language import evaluate

    scores = np.random.default_rng(0).normal(size=(count, 3))
    evaluate("softmax(e)", {"e": scores[0]})
    begin = time.perf_counter()
    for row in scores:
        evaluate("softmax(e)", {"e": row})
    alone = (time.perf_counter() - begin) / count
    begin = time.perf_counter()
    reference.softmax(scores)
    batched = (time.perf_counter() - begin) / count
    return {
        "alone_us": 1e6 * alone,
        "batched_us": 1e6 * batched,
        "share_percent": 100 * alone / variant_s,
        "saving_percent": 100 * (alone - batched) / variant_s,
    }


def peer_rate(name: str, count: int, rounds: int) -> list[float]:
    """Return variants per second of a peer, each round in a fresh process."""
    python = environment(name, default_cache())
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            script = HERE / "peers" / PEERS[name] / "variants.py"
            said = subprocess.run(
                [str(python), str(script), str(count), f"{folder}/out.zip"],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            result = json.loads(said.stdout.splitlines()[-1])
            found.append(result["variants"] / result["seconds"])
    return found


def class_seconds(students: int, items: int) -> float:
    """Return how long `grade quiz new` takes for a class, its process included."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course"
        grade = [sys.executable, "-m", "cli"]
        subprocess.run([*grade, "init", str(course)], check=True, capture_output=True, cwd=HERE.parent)
        rows = "\n".join(f"s{n:04},Student {n},s{n}@example.org" for n in range(students))
        (course / "roster.csv").write_text(f"id,name,email\n{rows}\n", encoding="utf-8")
        blueprint = f"title: Bench\nsections:\n  - title: All\n    count: {items}\n"
        (course / "blueprints").mkdir(exist_ok=True)
        (course / "blueprints" / "bench.yaml").write_text(blueprint, encoding="utf-8")
        begin = time.perf_counter()
        subprocess.run(
            [*grade, "quiz", "new", "bench", "--course", str(course)],
            check=True, capture_output=True, cwd=HERE.parent,
        )  # fmt: skip
        return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="see that it works, without peers; no figures to quote"
    )
    parser.add_argument("--no-peers", action="store_true", help="Softmark alone")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    options.no_peers = options.no_peers or options.quick
    count, rounds, students = (50, 1, 3) if options.quick else (1000, 7, 500)
    figures: dict[str, Any] = {}

    ours = rates(drawing(count), rounds)
    figures["variants_per_s"] = {"softmark": statistics.median(ours)}
    print(f"variants/s, one core: Softmark {statistics.median(ours):,.0f} (aim {AIM['variants']:,})")
    if not options.no_peers:
        for name in PEERS:
            rate = statistics.median(peer_rate(name, count, rounds))
            figures["variants_per_s"][name] = rate
            ratio = statistics.median(ours) / rate
            print(f"  {name}: {rate:,.0f}, unchecked and in one form; Softmark does {ratio:.2f} x as many")

    figures["keys"] = keys_in_batches(1 / statistics.median(ours), count)
    print(
        "keys: alone {alone_us:.1f} us, batched {batched_us:.2f} us; a key takes {share_percent:.1f} % of a "
        "variant's time, a batch would save {saving_percent:.1f} %".format(**figures["keys"])
    )

    answers = statistics.median(rates(marking(5 * count), rounds))
    figures["answers_per_s"] = answers
    print(f"answers/s, one core: {answers:,.0f} with diagnosis and partial credit (aim {AIM['answers']:,})")

    seconds = class_seconds(students, 20)
    figures["class"] = {"students": students, "items": 20, "seconds": seconds}
    print(f"quiz new, {students} students with 20 items: {seconds:.1f} s (500: aim {AIM['class_s']:.0f} s)")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
