"""Write N randomized variants of one numeric item with text2qti: python variants.py N OUT.zip."""

from __future__ import annotations

import json
import math
import random
import sys
import time

from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

QUESTION = """\
1. At decoder step $t$ the alignment scores of three encoder states are {a}, {b} and {c}.
   Which weight does softmax give to the first state? Round to 3 decimal places.
+  The exponentials are {ea:.4f}, {eb:.4f} and {ec:.4f}; their sum is {total:.4f}. The weight is {w:.3f}.
-  Softmax divides the exponential of each score by the sum of all exponentials.
=  {w:.3f} +- 0.001
"""


def question(a: float, b: float, c: float) -> str:
    ea, eb, ec = math.exp(a), math.exp(b), math.exp(c)
    total = ea + eb + ec
    return QUESTION.format(a=a, b=b, c=c, ea=ea, eb=eb, ec=ec, total=total, w=ea / total)


def main() -> None:
    count, out = int(sys.argv[1]), sys.argv[2]
    rng = random.Random(7)
    begin = time.process_time()
    seen: set[tuple[float, float, float]] = set()
    while len(seen) < count:  # it refuses a question that it has already
        seen.add((round(rng.uniform(-2, 3), 1), round(rng.uniform(-2, 3), 1), round(rng.uniform(-2, 3), 1)))
    text = "Quiz title: Softmax weights\n\n" + "\n".join(question(*drawn) for drawn in sorted(seen))
    QTI(Quiz(text, config=Config())).save(out)
    print(json.dumps({"variants": count, "seconds": time.process_time() - begin}))


if __name__ == "__main__":
    main()
