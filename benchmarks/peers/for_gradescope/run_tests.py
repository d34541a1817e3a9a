"""What a Gradescope ``run_autograder`` starts for each submission: find the tests, write results.json."""

import unittest

from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

if __name__ == "__main__":
    suite = unittest.defaultTestLoader.discover(".")
    with open("results.json", "w") as file:  # noqa: PTH123
        JSONTestRunner(stream=file, visibility="visible").run(suite)
