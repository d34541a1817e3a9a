"""Gradescope: the results of one submission as it reads them, and the files that make its autograder."""

from engine.gradebooks.autograder.pack import Packing, harness_zip
from engine.gradebooks.autograder.results import ItemGrade, results_json, ungraded_json
from engine.gradebooks.autograder.settings import HIDDEN, AutograderSettings, read_settings

__all__ = [
    "HIDDEN",
    "AutograderSettings",
    "ItemGrade",
    "Packing",
    "harness_zip",
    "read_settings",
    "results_json",
    "ungraded_json",
]
