"""Write drawn variants in every format of exported quizzes, beside other generators.

Usage: python benchmarks/export.py [--quick] [--no-peers] [--json FILE]

One core writes 100 variants of a numeric item and 100 of a choice, drawn before: other ones in every round,
and no text that was read for another format is remembered. What a format can't carry is looked for as well,
as the command does. The numeric item has five known mistakes with feedback, hints and a worked solution;
text2qti and qti-package-maker write a question with its number and tolerance. Each of them runs in an
environment of its own; imports aren't counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from quiz import PEERS, peer_rate

NUMERIC, CHOICE = "softmax-ratio", "context-bounds"
AIM = 1000
"""Variants per second and core, for Moodle XML and QTI."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few variants, to see that it works")
    parser.add_argument("--no-peers", action="store_true", help="leave out the other generators")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    arguments = parser.parse_args()
    count, rounds = (5, 1) if arguments.quick else (100, 5)
    figures = {f"{name} {item}": rates for name, item, rates in softmark_rates(count, rounds)}
    if not (arguments.quick or arguments.no_peers):
        figures |= {f"{peer} a number": peer_rate(peer, count, rounds) for peer in PEERS}
    print(f"{'variants per second and core':40} {'median':>8} {'least':>8} {'most':>8}")
    for name, rates in figures.items():
        print(f"{name:40} {statistics.median(rates):8.0f} {min(rates):8.0f} {max(rates):8.0f}")
    print(f"\naim for Moodle XML and QTI: {AIM} variants per second and core")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({"aim": AIM, "rates": figures}, indent=1) + "\n", "utf-8")


def softmark_rates(count: int, rounds: int) -> list[tuple[str, str, list[float]]]:
    """Return format, item and variants per second of each round."""
    from engine.export.drawn_families import draw_families, wanted_items
    from engine.export.exported_item import ExportedQuiz
    from engine.export.formats import FORMATS, quiz_format
    from engine.items import builtin_bank
    from engine.prose.prose_tree import prose_tree

    bank = builtin_bank()
    found = []
    for item in (NUMERIC, CHOICE):
        quizzes = []
        for number in range(rounds + 1):
            families, _ = draw_families(
                bank, wanted_items(bank, [item]), count, secret=None, seed=number * 1000
            )
            quizzes.append(ExportedQuiz("bench", "Benchmark", families))
        for name in FORMATS:
            chosen, rates = quiz_format(name), []
            for quiz in quizzes:
                prose_tree.cache_clear()
                begin = time.process_time()  # of this one thread: what else the machine does hardly counts
                for family in quiz.families:
                    chosen.losses(family)
                chosen.write(quiz, lambda: None)
                seconds = time.process_time() - begin
                rates.append(sum(1 for _ in quiz.items()) / seconds)
            found.append((name, item, rates[1:]))  # the first round loads what is loaded when it is needed
    return found


if __name__ == "__main__":
    main()
