"""Runs inside otter-grader's own environment: grades submissions one after another, without Docker.

``otter.api.grade_submission`` is what ``otter run`` calls; calling it from one process saves otter's own
import for each submission, so this is the fastest way that still runs each one in a fresh process (the
Jupyter kernel that otter starts).  Input on stdin: a JSON list of [file, autograder zip, file for the
checks' seconds]; output: a JSON list of [seconds, {case: passed}].
"""

import json
import os
import sys
import time

from otter.api import grade_submission


def main():
    out = []
    for path, autograder, check_seconds in json.load(sys.stdin):
        os.environ["CHECK_SECONDS"] = check_seconds
        begun = time.perf_counter()
        results = grade_submission(path, autograder, quiet=True)
        seconds = time.perf_counter() - begun
        cases = [case for file in results.results.values() for case in file.test_case_results]
        out.append([seconds, {case.test_case.name: case.passed for case in cases}])
    print("\n" + json.dumps(out))


if __name__ == "__main__":
    main()
