"""What is handed in for each item of an assignment's notebook, whatever students did to its cells."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import SubmissionError
from engine.intake import read_code_file, read_submission
from engine.intake.assignment_notebook import AssignmentNotebook, read_assignment
from tests.assignment_notebooks import (
    BASE_2,
    RIGHT_MASK,
    RIGHT_SOFTMAX,
    cell_of,
    code_cell,
    exported,
    filled,
    inserted,
    without,
)

WEEK = exported("softmax", "softmax-weights", "l16-full-pass", "causal-mask", "why-scaled-scores")
DONE = filled(WEEK, {"softmax-solution": RIGHT_SOFTMAX, "causal-mask-solution": RIGHT_MASK})


def read(notebook: dict[str, Any]) -> AssignmentNotebook:
    assignment = read_assignment(json.dumps(notebook), "week.ipynb")
    assert assignment is not None
    return assignment


def softmax_of(notebook: dict[str, Any]) -> Any:
    names: dict[str, Any] = {}
    exec(read(notebook).code("softmax").source, names)
    return names["softmax"]


def refusal(notebook: dict[str, Any], item: str = "softmax") -> SubmissionError:
    with pytest.raises(SubmissionError) as caught:
        read(notebook).code(item)
    assert caught.value.where == "week.ipynb"
    return caught.value


def test_each_exercise_gets_its_own_cells() -> None:
    softmax, mask = read(DONE).code("softmax"), read(DONE).code("causal-mask")
    assert "def softmax" in softmax.source and "causal_mask" not in softmax.source
    assert "def causal_mask" in mask.source and "softmax" not in mask.source
    assert "practice" not in softmax.source  # check cells
    assert softmax.notes == mask.notes == ()


def test_lines_keep_their_numbers_within_their_cells() -> None:
    notebook = inserted(DONE, "assert 1 == 2\n\n\ndef shifted(x):\n    return x - 1\n", "softmax-solution")
    cell_of(notebook, "softmax-solution")["source"] = "def softmax(x, axis=-1):\n    return shifted(x)\n"
    lines = read(notebook).code("softmax").source.split("\n")
    at = lines.index("# --- code cell 1 ---")
    assert lines[at : at + 6] == ["# --- code cell 1 ---", "", "", "", "def shifted(x):", "    return x - 1"]
    assert "assert" not in "\n".join(lines)


def test_helpers_imports_and_constants_come_along_and_experiments_do_not() -> None:
    notebook = inserted(
        DONE, "%matplotlib inline\nimport numpy as np\nimport antigravity", "softmax-statement"
    )
    notebook = inserted(notebook, "EPS = 0.0\nplot = softmax(np.ones(3))\nassert False", "softmax-statement")
    notebook = inserted(
        notebook, "def shifted(x, axis):\n    return x - x.max(axis=axis, keepdims=True) + EPS\n"
    )
    cell_of(notebook, "softmax-solution")["source"] = (
        "def softmax(x, axis=-1):\n    e = np.exp(shifted(x, axis))\n"
        "    return e / e.sum(axis=axis, keepdims=True)"
    )
    source = read(notebook).code("softmax").source
    for needed in ("import numpy as np", "EPS = 0.0", "def shifted"):
        assert needed in source
    for other in ("antigravity", "plot", "assert False", "matplotlib"):
        assert other not in source
    import numpy as np

    assert softmax_of(notebook)(np.array([0.0, np.log(3)])) == pytest.approx([0.25, 0.75])


def test_a_helper_that_was_run_twice_counts_as_it_was_last() -> None:
    notebook = inserted(DONE, "@broken\ndef shifted(x):\n    return 1\n", "softmax-statement")
    notebook = inserted(notebook, "def shifted(x):\n    return 2\n", "softmax-solution")
    cell_of(notebook, "softmax-solution")["source"] = "def softmax(x):\n    return shifted(x)\n"
    assert "broken" not in read(notebook).code("softmax").source
    assert softmax_of(notebook)(0) == 2


def test_a_wrapped_helper_keeps_what_it_wraps() -> None:
    notebook = inserted(DONE, "def shifted(x):\n    return 1\n", "softmax-statement")
    notebook = inserted(notebook, "shifted = (lambda f: lambda x: f(x) + 1)(shifted)", "softmax-solution")
    notebook = inserted(notebook, "def unrelated():\n    return 0\n")
    cell_of(notebook, "softmax-solution")["source"] = "def softmax(x):\n    return shifted(x)\n"
    assert softmax_of(notebook)(0) == 2


def test_a_later_cell_of_the_student_does_not_replace_the_solution() -> None:
    notebook = inserted(DONE, "import scipy.special\nsoftmax = scipy.special.softmax")
    assert "scipy" not in read(notebook).code("softmax").source


def test_a_renamed_function_is_named() -> None:
    error = refusal(
        filled(WEEK, {"softmax-solution": RIGHT_SOFTMAX.replace("def softmax", "def my_softmax")})
    )
    assert error.what == "the solution cell of softmax (code cell 1) doesn't define softmax"
    assert (error.expected, error.got) == ("def softmax(…)", "my_softmax")
    assert error.next_step == "name it softmax again"


def test_a_deleted_cell_is_named_unless_the_function_is_elsewhere() -> None:
    error = refusal(without(DONE, "softmax-solution"))
    assert error.what == "the solution cell of softmax is missing, and no other cell defines softmax"
    assert "copy the cell from the notebook as it was handed out" in (error.next_step or "")
    taken = read(inserted(without(DONE, "softmax-solution"), BASE_2)).code("softmax")
    assert "exp2" in taken.source
    assert taken.notes == ("The solution cell of softmax is missing: softmax was taken from code cell 8.",)


def test_work_in_another_cell_is_taken_with_a_note() -> None:
    notebook = inserted(filled(DONE, {"softmax-solution": "# see below"}), BASE_2)
    taken = read(notebook).code("softmax")
    assert "exp2" in taken.source
    assert taken.notes == (
        "The solution cell of softmax doesn't define softmax: softmax was taken from code cell 9.",
    )


def copied(source: str) -> dict[str, Any]:
    notebook = copy.deepcopy(DONE)
    cell = copy.deepcopy(cell_of(notebook, "softmax-solution"))
    notebook["cells"].append({**cell, "id": "copy", "source": source})
    return notebook


def test_two_cells_of_one_mark_that_differ_are_refused_with_both_places() -> None:
    error = refusal(copied(BASE_2))
    assert error.what == "code cell 1 and code cell 9 are the solution cell of softmax, and they differ"
    assert error.next_step == "delete the one that shouldn't count, and hand in again"


@pytest.mark.parametrize(
    "source",
    [RIGHT_SOFTMAX, "# again\n" + RIGHT_SOFTMAX, "".join(cell_of(WEEK, "softmax-solution")["source"])],
)
def test_a_copy_that_says_the_same_or_nothing_yet_does_no_harm(source: str) -> None:
    assert "def softmax" in read(copied(source)).code("softmax").source
    assert "NotImplementedError" not in read(copied(source)).code("softmax").source


def test_an_unread_solution_names_cell_and_line() -> None:
    error = refusal(filled(WEEK, {"softmax-solution": "def softmax(x:\n    return x\n"}))
    assert error.what.startswith("Python can't read line 1 of code cell 1: ")
    # A broken experiment elsewhere is nobody's business, unless a helper is in it.
    notebook = inserted(DONE, "def shifted(x:\n    return x")
    assert "def softmax" in read(notebook).code("softmax").source
    cell_of(notebook, "softmax-solution")["source"] = "def softmax(x):\n    return shifted(x)\n"
    assert refusal(notebook).what.startswith("Python can't read line 1 of code cell 9: ")


def test_a_constant_that_comes_too_late_is_named() -> None:
    notebook = inserted(DONE, "EPS = 1e-6")
    cell_of(notebook, "softmax-solution")["source"] = "def softmax(x, axis=-1, eps=EPS):\n    return x"
    error = refusal(notebook)
    assert error.what == "code cell 1 needs EPS, which only code cell 9 further down defines"
    assert error.next_step == "move code cell 9 above it, restart the kernel and run all cells"


def test_solutions_in_another_order_are_the_same() -> None:
    notebook = copy.deepcopy(DONE)
    notebook["cells"].reverse()
    names: dict[str, Any] = {}
    exec(read(notebook).code("causal-mask").source, names)
    assert names["causal_mask"](2).tolist() == [[True, False], [True, True]]


def test_locked_cells_that_were_edited_change_nothing_and_are_noted() -> None:
    notebook = filled(
        DONE,
        {
            "softmax-statement": "Write nothing.",
            "softmax-check": "from engine.practice.check_cell import check\n1/0",
        },
    )
    taken = read(notebook).code("softmax")
    assert "1/0" not in taken.source
    assert taken.notes == (
        "The statement cell of softmax was changed (cell 2): the question counts as it was handed out.",
        "The check cell of softmax was changed (code cell 2): it isn't read when the notebook is handed in.",
    )


def test_a_check_merged_into_the_solution_is_left_out() -> None:
    merged = RIGHT_SOFTMAX + '\nfrom engine.practice.check_cell import check\n\ncheck("softmax")'
    source = read(without(filled(DONE, {"softmax-solution": merged}), "softmax-check")).code("softmax").source
    assert "check" not in source and "def softmax" in source


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('answer_softmax_weights = "0.1, 0.2, 0.7"', {"": "0.1, 0.2, 0.7"}),
        ("answer_softmax_weights = 0.1, 0.2, 0.7", {"": "0.1, 0.2, 0.7"}),
        ("answer_softmax_weights = [0.1, 1/5,\n  -0.7]", {"": "[0.1, 1/5, -0.7]"}),
        ("x = 1\nanswer_softmax_weights = 'no'\nanswer_softmax_weights = 'yes'", {"": "yes"}),
        ("answer_softmax_weights = None", {"": ""}),
        ('answer_softmax_weights = ("0.1, "\n  "0.9")', {"": "0.1, 0.9"}),
    ],
)
def test_an_answer_is_what_is_written_out(source: str, texts: dict[str, str]) -> None:
    assert (
        dict(read(filled(WEEK, {"softmax-weights-answer": source})).answers("softmax-weights").texts) == texts
    )


def test_answers_by_part_and_in_words() -> None:
    notebook = filled(
        WEEK,
        {
            "l16-full-pass-answer": 'answer_l16_full_pass = {"e": [1, 2], "w": "0.5 0.5", "c": ""}',
            "why-scaled-scores-answer": "Since the variance\ngrows.",
        },
    )
    assert dict(read(notebook).answers("l16-full-pass").texts) == {"e": "[1, 2]", "w": "0.5 0.5", "c": ""}
    assert dict(read(notebook).answers("why-scaled-scores").texts) == {"": "Since the variance\ngrows."}


@pytest.mark.parametrize("text", ["YOUR ANSWER HERE", "*Write your answer here, in place of this line.*", ""])
def test_what_stood_there_before_is_no_answer(text: str) -> None:
    notebook = filled(WEEK, {"why-scaled-scores-answer": text})
    assert dict(read(notebook).answers("why-scaled-scores").texts) == {"": ""}


def test_a_computed_answer_is_refused() -> None:
    notebook = filled(WEEK, {"softmax-weights-answer": "answer_softmax_weights = softmax(x).tolist()"})
    with pytest.raises(SubmissionError) as caught:
        read(notebook).answers("softmax-weights")
    assert caught.value.what == "answer_softmax_weights isn't written out in code cell 3"
    assert caught.value.got == "softmax(x).tolist()"


def test_two_answers_in_words_that_differ_are_refused() -> None:
    notebook = filled(WEEK, {"why-scaled-scores-answer": "One."})
    cell = copy.deepcopy(cell_of(notebook, "why-scaled-scores-answer"))
    notebook["cells"].append({**cell, "id": "copy", "source": "Another."})
    with pytest.raises(SubmissionError, match="are the answer cell of why-scaled-scores, and they differ"):
        read(notebook).answers("why-scaled-scores")


def test_without_metadata_of_cells_the_names_still_tell() -> None:
    notebook = filled(DONE, {"softmax-weights-answer": 'answer_softmax_weights = "1 0 0"'})
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    assert "def softmax" in read(notebook).code("softmax").source
    assert "practice" not in read(notebook).code("softmax").source
    assert dict(read(notebook).answers("softmax-weights").texts) == {"": "1 0 0"}


@pytest.mark.parametrize(
    "items",
    [
        None, 3, {}, [], [None, 3, "softmax", {"item": 3}], [{"item": "../etc", "kind": "code"}],
        [{"item": "softmax"}], [{"item": "softmax", "kind": "answer", "seed": -1}],
        [{"item": "softmax", "kind": "answer", "seed": True}],
        [{"item": "softmax", "kind": "answer", "seed": 10**30}],
    ],
)  # fmt: skip
def test_metadata_that_makes_no_sense_makes_no_assignment(items: Any) -> None:
    notebook = copy.deepcopy(DONE)
    notebook["metadata"]["softmark"]["items"] = items
    assert read_assignment(json.dumps(notebook), "week.ipynb") is None


def test_the_hash_of_one_exercise_is_that_of_its_own_cells(tmp_path: Path) -> None:
    def submission(notebook: dict[str, Any], function: str) -> Any:
        path = tmp_path / "week.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return read_submission(path, function)

    before = submission(DONE, "softmax")
    other = filled(DONE, {"causal-mask-solution": RIGHT_MASK + "\n# better\n"})
    other["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "run"}]
    assert submission(other, "softmax").sha256 == before.sha256
    assert submission(other, "causal_mask").sha256 != submission(DONE, "causal_mask").sha256


def test_modules_beside_the_notebook_come_along(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("def shifted(x):\n    return x\n", encoding="utf-8")
    path = tmp_path / "week.ipynb"
    notebook = inserted(DONE, "from helpers import shifted", "softmax-solution")
    cell_of(notebook, "softmax-solution")["source"] = "def softmax(x):\n    return shifted(x)\n"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert set(read_code_file(path, exercise="softmax").modules) == {"helpers"}


def test_an_ordinary_notebook_is_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "own.ipynb"
    cells = [code_cell("import numpy as np"), code_cell("def softmax(x):\n    return x")]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert read_code_file(path, exercise="softmax").source == read_code_file(path).source
