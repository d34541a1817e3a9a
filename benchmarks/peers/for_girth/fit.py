"""Fit the two-parameter model with girth: python fit.py ANSWERS.npy OPTIONS OUT.npz.

ANSWERS holds right (1) and wrong (0) answers, shape (students, items); OPTIONS is JSON, girth's own.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from girth import twopl_mml


def main() -> None:
    answers, options = np.load(sys.argv[1]).T, json.loads(sys.argv[2])
    begin = time.process_time()
    found = twopl_mml(answers, options)
    seconds = time.process_time() - begin
    slopes = found["Discrimination"]
    np.savez(sys.argv[3], slopes=slopes, intercepts=-slopes * found["Difficulty"], seconds=seconds)


if __name__ == "__main__":
    main()
