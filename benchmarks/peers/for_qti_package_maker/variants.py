"""Write N randomized variants of one numeric item with qti-package-maker: python variants.py N OUT.zip."""

from __future__ import annotations

import json
import math
import random
import sys
import time

from qti_package_maker.package_interface import QTIPackageInterface

QUESTION = (
    "<p>At decoder step <i>t</i> the alignment scores of three encoder states are {a}, {b} and {c}. "
    "Which weight does softmax give to the first state? Round to 3 decimal places.</p>"
)


def main() -> None:
    count, out = int(sys.argv[1]), sys.argv[2]
    rng = random.Random(7)
    begin = time.process_time()
    package = QTIPackageInterface("softmax-weights", verbose=False)
    seen: set[tuple[float, ...]] = set()
    while len(seen) < count:  # it refuses a question that it has already
        drawn = tuple(round(rng.uniform(-2, 3), 1) for _ in range(3))
        if drawn in seen:
            continue
        seen.add(drawn)
        a, b, c = drawn
        weight = math.exp(a) / (math.exp(a) + math.exp(b) + math.exp(c))
        package.add_item("NUM", (QUESTION.format(a=a, b=b, c=c), round(weight, 3), 0.001))
    package.save_package("canvas_qti_v1_2", out)
    print(json.dumps({"variants": count, "seconds": time.process_time() - begin}))


if __name__ == "__main__":
    main()
