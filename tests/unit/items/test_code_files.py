"""The checks on a code exercise: references, circles, signature, files."""

# ruff: noqa: E501 (tables of files and the sentences that they get)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import SpecError
from engine.items import load_spec

SPEC = """\
id: clip-scores
title: Clip scores
source: {document: background}
difficulty: 2
bloom: apply
topics: [code]
stem: Write it.
answer:
  type: code
  function: clip_scores
  signature: clip_scores(x, limit=5.0)
  exercise: softmax
  solutions: [solution.py]
  checks:
    - {id: shape, property: shape, points: 1}
    - {id: values, property: values, points: 2, requires: [shape]}
  mutants:
    - {id: sign, file: mutants/sign.py, killed_by: [values], feedback: The sign is lost.}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "clip-scores"
    (folder / "mutants").mkdir(parents=True)
    for name in ("starter.py", "solution.py", "mutants/sign.py"):
        (folder / name).write_text("def clip_scores(x, limit=5.0): ...\n", encoding="utf-8")
    return folder


def faults(folder: Path, old: str = "", new: str = "") -> list[str]:
    text = SPEC.replace(old, new) if old else SPEC
    assert not old or text != SPEC
    path = folder / "clip-scores.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        load_spec(path, registry={})
    except SpecError as error:
        return [fault.message for fault in error.diagnostics]
    return []


def test_a_sound_exercise_loads_and_its_marks_are_its_checks(folder: Path) -> None:
    assert faults(folder) == []
    assert load_spec(folder / "clip-scores.yaml", registry={}).points == 3


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("id: clip-scores", "id: clip", ["the id must be the file's name, 'clip-scores', not 'clip'", None]),
        ("function: clip_scores", "function: clip", [None, "this isn't the signature of 'clip'"]),
        ("signature: clip_scores(x, limit=5.0)", "signature: clip_scores(x", ["this isn't a signature such as clip_scores(x)"]),
        ("signature: clip_scores(x, limit=5.0)", "signature: 'clip_scores(x): import os; x'", None),
        ("requires: [shape]", "requires: [shap]", ["there is no check 'shap'; did you mean 'shape'?"]),
        ("requires: [shape]", "requires: [values]", ["these checks wait for each other: values → values"]),
        ("points: 1}", "points: 1, requires: [values]}", ["these checks wait for each other: shape → values → shape"]),
        ("killed_by: [values]", "killed_by: [value]", ["there is no check 'value'; did you mean 'values'?"]),
        ("killed_by: [values]", "killed_by: []", ["at least one entry is needed"]),
        ("id: values", "id: shape", None),
        ("points: 1", "points: 0", []),
        ("file: mutants/sign.py", "file: mutants/sine.py", ["there is no file mutants/sine.py beside this one"]),
        ("solutions: [solution.py]", "solutions: [../solution.py]", ["a file of an exercise is a plain path inside its folder, such as mutants/base2.py"]),
        ("solutions: [solution.py]", "solutions: [/etc/passwd]", ["a file of an exercise is a plain path inside its folder, such as mutants/base2.py"]),
        ("solutions: [solution.py]", "solutions: ['C:\\x.py']", ["a file of an exercise is a plain path inside its folder, such as mutants/base2.py"]),
        ("solutions: [solution.py]", "solutions: [mutants]", ["a file of an exercise is a plain path inside its folder, such as mutants/base2.py"]),
        ("topics: [code]", "topics: [code]\npoints: 4", ["the points of the checks sum to 3, not 4; correct one, or leave this line out"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(folder: Path, old: str, new: str, expected: list[str | None] | None) -> None:
    got = faults(folder, old, new)
    if expected is None:
        assert got
        return
    assert len(got) == len(expected)
    assert all(want is None or want == have for have, want in zip(got, expected, strict=True))


def test_an_id_that_is_no_text_is_a_fault_of_its_own(folder: Path) -> None:
    assert faults(folder, "{id: sign, file", "{id: [], file") == ["text was expected, not an empty list"]
    assert faults(folder, "{id: shape, property", "{id: {}, property") == [
        "text was expected, not a mapping (key: value)",
        "there is no check 'shape'",
    ]


def test_no_check_earns_a_point(folder: Path) -> None:
    text = SPEC.replace(", points: 1", "").replace(", points: 2", "")
    path = folder / "clip-scores.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="no check earns a point"):
        load_spec(path, registry={})


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text("x = 1\n", encoding="utf-8")
    (folder / "solution.py").unlink()
    (folder / "solution.py").symlink_to(tmp_path / "elsewhere.py")
    assert faults(folder) == ["solution.py leads out of the folder"]


def test_a_link_to_itself_is_no_file(folder: Path) -> None:
    (folder / "solution.py").unlink()
    (folder / "solution.py").symlink_to("solution.py")
    assert faults(folder) == ["there is no file solution.py beside this one"]


def test_a_longer_circle_is_shown_once(folder: Path) -> None:
    checks = "\n".join(
        f"    - {{id: c{i}, property: p, points: 1, requires: [c{(i + 1) % 5}]}}" for i in range(5)
    )
    text = SPEC[: SPEC.index("    - {id: shape")] + checks + "\n"
    path = folder / "clip-scores.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_spec(path, registry={})
    assert [fault.message for fault in caught.value.diagnostics] == [
        "these checks wait for each other: c0 → c1 → c2 → c3 → c4 → c0"
    ]
