"""Hand-ins of people whose row in the roster is at fault are listed, and everybody else's are taken."""

from __future__ import annotations

from pathlib import Path

from engine.course import read_roster
from engine.intake import collect


def test_nobody_gets_what_two_people_could_have_handed_in(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("id,name\n7,Bob Smith\nada,Ada Lovelace\n7,Kim Lee\n,Eve Adams\n", encoding="utf-8")
    labels = ["7", "Bob Smith", "Kim Lee_123_assignsubmission_file_", "Eve Adams", "Ada Lovelace", "stranger"]
    for label in labels:
        folder = tmp_path / "in" / label
        folder.mkdir(parents=True)
        (folder / "softmax.py").write_text("def softmax(x): return x\n")
    (tmp_path / "work").mkdir()
    roster = read_roster(path, tolerant=True)
    intake = collect(tmp_path / "in", tmp_path / "work", items=["softmax"], roster=roster)
    assert [student.student for student in intake.students if student.files] == ["ada", "stranger"]
    unclear = {p.where.split("/")[0] for p in intake.problems if "unclear in the roster" in p.message}
    assert unclear == set(labels[:4])
    assert all(problem.student is None for problem in intake.problems)
