"""``grade submit ITEM --answer``, ``grade show`` and ``grade list``."""

from __future__ import annotations

from pathlib import Path

import pytest

# Softmax of (2, 1, 0), to 6 decimals: the lecture's exercise 3.
EXACT = (0.665241, 0.244728, 0.090031)


def test_the_key_that_show_gives_is_graded_right(grade) -> None:
    for item in ("softmax-weights", "context-vector", "greedy-path", "sdpa-matrix", "seq2seq-roles"):
        key = grade("show", item, "--seed", 5, "--solution", "--json").json()["keys"]["answer"]
        said = grade("submit", item, "--seed", 5, "--answer", key, "--json")
        assert (said.code, said.json()["verdict"]) == (0, "right"), (item, key)


def test_show_never_gives_the_key_unasked(grade) -> None:
    for form in ("text", "html", "latex"):
        said = grade("show", "l16-ex3-softmax-weights", "--format", form)
        assert "0.6652" not in said.out
    shown = grade("show", "softmax-weights", "--json").json()
    assert "keys" not in shown
    assert "solution" not in shown
    # The erratum tells which option is right: it comes with the feedback only.
    assert "0.244728" not in grade("show", "l16-ex3-softmax-weights").out


def test_the_printed_option_of_exercise_3_is_accepted_with_its_erratum(grade) -> None:
    said = grade("submit", "l16-ex3-softmax-weights", "--answer", "[0.665, 0.244, 0.091]", "--json")
    assert said.code == 0
    assert any("The exact weights are 0.665241" in note for note in said.json()["notes"])
    assert grade("submit", "l16-ex3-softmax-weights", "--answer", "a").code == 0
    assert grade("submit", "l16-ex3-softmax-weights", "--answer", "b").code == 1


def test_a_course_may_leave_out_the_notes_on_its_sources(grade, tmp_path: Path) -> None:
    course = tmp_path / "dl"
    assert grade("init", course).code == 0
    settings = course / "course.yaml"
    of_course = ("--course", course, "--json")
    noted = grade("show", "l16-ex5-alignment-vector", "--solution", *of_course).json()
    assert noted["notes"] and noted["told_after"]
    settings.write_text(settings.read_text().replace("errata: show", "errata: hide"))
    quiet = grade("show", "l16-ex5-alignment-vector", "--solution", *of_course).json()
    assert (quiet["notes"], quiet["told_after"]) == ([], [])
    # what is marked stays the same: the version, the key, and the printed option that is accepted
    assert (quiet["item_version"], quiet["keys"]) == (noted["item_version"], noted["keys"])
    printed = grade("submit", "l16-ex3-softmax-weights", "--answer", "[0.665, 0.244, 0.091]", *of_course)
    assert (printed.code, printed.json()["notes"]) == (0, [])


def test_a_course_may_say_that_a_comma_is_a_decimal_mark(grade, tmp_path: Path) -> None:
    course = tmp_path / "dl"
    assert grade("init", course).code == 0
    answer = ("submit", "variance-of-dot", "--seed", "1", "--answer", "var=1", "--answer", "dev=1,234")
    before = grade(*answer, "--course", course, "--json").json()
    assert before["verdict"] == "format_error"
    settings = course / "course.yaml"
    settings.write_text(settings.read_text() + "decimal_comma: true\n")
    after = grade(*answer, "--course", course, "--json").json()
    assert after["verdict"] in {"wrong", "partial"}
    assert after["item_version"] == before["item_version"]


def test_a_known_mistake_is_named(grade) -> None:
    said = grade("submit", "l16-ex3-softmax-weights", "--answer", "b", "--json")
    assert [d["misconception"] for d in said.json()["diagnosis"]] == ["m-base2"]


@pytest.mark.parametrize(
    "answer",
    [
        "nan, 1, 2",
        "1e309, 0, 0",
        "inf 0 0",
        "0x1, 0, 0",
        "1_0, 2, 3",
        "0.1+0.2, 1, 2",
        "[0.1, 0.2",
        "a, b, c",
        "１．７, x, 2",
    ],
)
def test_what_is_no_number_is_a_format_error_and_no_mark(grade, answer: str) -> None:
    said = grade("submit", "softmax-weights", "--answer", answer, "--json")
    report = said.json()
    assert said.code == 2
    assert (report["verdict"], report["score"]) == ("format_error", None)
    assert all(check["message"] for check in report["checks"])


@pytest.mark.parametrize(
    ("item", "answer"), [("sdpa-matrix", "1, 2"), ("softmax-weights", "0.5, 0.5"), ("context-vector", "1")]
)
def test_a_wrong_shape_is_told_as_such(grade, item: str, answer: str) -> None:
    said = grade("submit", item, "--answer", answer, "--json")
    assert said.json()["score"] in (None, 0)
    assert said.code in (1, 2)
    assert any(word in said.out for word in ("numbers", "rows", "entries"))


def test_steps_are_answered_by_name(grade) -> None:
    keys = grade("show", "l16-full-pass", "--seed", 3, "--solution", "--json").json()["keys"]
    arguments = [word for part, key in keys.items() for word in ("--answer", f"{part}={key}")]
    assert grade("submit", "l16-full-pass", "--seed", 3, *arguments).code == 0
    said = grade("submit", "l16-full-pass", "--seed", 3, "--answer", keys["e"])
    assert said.code == 2
    assert "--answer 'e=" in said.err


def test_a_blank_is_wrong_and_no_format_error(grade) -> None:
    said = grade("submit", "softmax-weights", "--answer", "  ", "--json")
    assert (said.code, said.json()["score"]) == (1, 0)


def test_seeds_give_variants_and_the_same_seed_the_same(grade) -> None:
    first, again, other = (grade("show", "softmax-weights", "--seed", s, "--json").json() for s in (1, 1, 2))
    assert first == again
    assert first["variant"] != other["variant"]


def test_list_filters(grade) -> None:
    rows = grade("list", "--json").json()
    assert {"softmax", "sdpa", "l16-ex1-context-vector"} <= {row["item"] for row in rows}
    assert {row["type"] for row in grade("list", "--type", "code", "--json").json()} == {"code"}
    assert {row["type"] for row in rows} >= {
        "single_choice", "multiple_choice", "number", "vector", "matrix", "ordering", "matching", "token",
        "code",
    }  # fmt: skip


def test_an_unknown_item_is_told_the_nearest(grade) -> None:
    said = grade("show", "softmx-weights")
    assert said.code == 2
    assert "softmax-weights" in said.err
