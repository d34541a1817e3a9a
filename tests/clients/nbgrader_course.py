"""What nbgrader does with a notebook; run in the environment of nbgrader, which prints JSON.

``release NOTEBOOK FOLDER`` validates its metadata and generates the assignment in a course; ``credit
NOTEBOOK`` gives points to cells that have been run, as nbgrader's autograder does; ``grades FOLDER
ASSIGNMENT`` prints what the gradebook of a course has recorded.
"""

import json
import os
import sys
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import SCHEMA_VERSION, MetadataValidator
from nbgrader.utils import determine_grade, is_grade
from traitlets.config import Config


def release(path, folder):
    """Return where the released notebook is, and what nbgrader's gradebook says of it."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    source = Path(folder) / "source" / "week"
    source.mkdir(parents=True)
    nbformat.write(notebook, source / "week.ipynb")
    config = Config()
    config.CourseDirectory.root = str(Path(folder).resolve())
    config.CourseDirectory.course_id = "attention"
    config.CourseDirectory.db_url = f"sqlite:///{Path(folder).resolve()}/gradebook.db"
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    result = api.generate_assignment("week")
    with Gradebook(config.CourseDirectory.db_url) as gradebook:
        cells = {cell.name: cell.max_score for cell in gradebook.find_notebook("week", "week").grade_cells}
        points = gradebook.find_assignment("week").max_score
    released = Path(folder) / "release" / "week" / "week.ipynb"
    log = result.get("log", "")
    return {
        "success": result["success"], "log": log, "file": str(released), "schema": SCHEMA_VERSION,
        "points": points, "cells": cells,
    }  # fmt: skip


def credit(path):
    """Return the points of each cell that counts."""
    cells = nbformat.read(path, as_version=4).cells
    return {cell.metadata.nbgrader.grade_id: determine_grade(cell) for cell in cells if is_grade(cell)}


def grades(folder, assignment):
    """Return by student the recorded points of each cell, and whether a person has to mark it."""
    with Gradebook(f"sqlite:///{Path(folder).resolve()}/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                grade.name: [grade.auto_score, grade.needs_manual_grade]
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(assignment)
        }


if __name__ == "__main__":
    # nbgrader calls alembic by its name.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    act = {"release": release, "credit": credit, "grades": grades}[sys.argv[1]]
    print("\n" + json.dumps(act(*sys.argv[2:])))  # noqa: T201
