"""How many variants a core draws in a second, and where the time goes: numbers or texts.

Run it with ``python benchmarks/draw_variants.py``; it draws from the built-in bank on one thread and
prints the best of three rounds, after the templates and formulas have been seen once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from engine.draws import RandomStream, seeded_key
from engine.items import builtin_bank
from engine.variants import draw_seeded
from engine.variants.draw_variant import solve

ITEMS = (
    "context-vector",
    "softmax-weights",
    "l16-alignment-vector",
    "scaled-dot-score",
    "sdpa-matrix",
    "l16-full-pass",
    "decoder-full-step",
    "l16-ex4-problems-addressed",
)
ROUNDS, SEEDS = 3, 60


def best(draw: Callable[[int], object], rounds: int, seeds: int) -> float:
    """Return seconds per seed, the best of the rounds; every round has seeds of its own."""
    found = []
    for start in range(0, rounds * 1000, 1000):
        begin = time.process_time()
        for seed in range(start, start + seeds):
            draw(seed)
        found.append((time.process_time() - begin) / seeds)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few variants, to see that it works")
    size = (1, 2) if parser.parse_args().quick else (ROUNDS, SEEDS)
    bank = builtin_bank()
    registry = bank.registry()
    print(f"{'item':30} {'per second':>10} {'whole':>9} {'numbers':>9} {'texts':>9}")
    for item in ITEMS:
        spec = bank.load(item)
        for seed in range(5000, 5020):
            draw_seeded(spec, version="", registry=registry, seed=seed)
        whole = best(
            lambda seed, spec=spec: draw_seeded(spec, version="", registry=registry, seed=seed), *size
        )
        numbers = best(
            lambda seed, spec=spec: solve(spec, RandomStream.of_key(seeded_key(seed), "parameters")), *size
        )
        times = " ".join(f"{1e3 * t:6.2f} ms" for t in (whole, numbers, whole - numbers))
        print(f"{item:30} {1 / whole:10.0f} {times}")


if __name__ == "__main__":
    main()
