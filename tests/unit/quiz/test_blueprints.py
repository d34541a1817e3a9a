"""Blueprints: what they may say, and where a fault stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import QuizError
from engine.items import builtin_bank
from engine.model import QuizRules, ResultDisclosure
from engine.quiz import choose_items, read_blueprint
from engine.quiz.blueprint import PlacedBlueprint
from engine.quiz.choose import slots_of

SECTION = "sections:\n- items: [softmax-weights]\n"


def plan(tmp_path: Path, text: str) -> PlacedBlueprint:
    path = tmp_path / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    return read_blueprint(path)


def faults(tmp_path: Path, text: str, *, choose: bool = False) -> list[tuple[int, int, str]]:
    with pytest.raises(QuizError) as caught:
        read = plan(tmp_path, text)
        if choose:
            choose_items(read, builtin_bank(), b"s" * 32, "plan")
    assert caught.value.diagnostics and all(d.file.endswith("plan.yaml") for d in caught.value.diagnostics)
    return [(d.line, d.column, d.message) for d in caught.value.diagnostics]


def test_all_rules_at_once(tmp_path: Path) -> None:
    rules = plan(
        tmp_path,
        "title: T\nattempts: 3\ncredit: [1, 0.7, 0.4]\nhint_cost: 0.1\nretry: new-variant\n"
        "deadline: 2026-12-01T23:59+01:00\nshow_before: score\nshow_after: solution\n" + SECTION,
    ).blueprint.rules
    assert (rules.attempts, rules.credit, rules.hint_cost, rules.new_variants) == (
        3,
        (1, 0.7, 0.4),
        0.1,
        True,
    )
    assert rules.deadline is not None and rules.deadline.isoformat() == "2026-12-01T23:59:00+01:00"
    assert (rules.show_before, rules.show_after) == (ResultDisclosure.SCORE, ResultDisclosure.SOLUTION)


def test_nothing_said_means_the_usual_rules(tmp_path: Path) -> None:
    assert plan(tmp_path, "title: T\n" + SECTION).blueprint.rules == QuizRules()
    assert plan(tmp_path, "title: T\ncredit: [1, 0.5]\n" + SECTION).blueprint.rules.attempts == 2


RULES = {
    "attempts: 0": (2, 11, "at least 1"),
    "attempts: 2.5": (2, 11, "whole number"),
    "attempts: yes": (2, 11, "whole number"),
    "credit: 0.5": (2, 9, "list"),
    "credit: [1, 1.2]": (2, 13, "at most 1"),
    "credit: [1, 0]": (2, 13, "greater than 0"),
    "credit: [1, half]": (2, 13, "number"),
    "credit: [0.5, 0.7]": (2, 9, "can't earn more than an earlier one: 0.7 after 0.5"),
    "attempts: 2\ncredit: [1, 0.5, 0.2]": (3, 9, "2 attempts need 2 entries, not 3"),
    "hint_cost: 10": (2, 12, "at most 1"),
    "hint_cost: -0.1": (2, 12, "at least 0"),
    "retry: never": (2, 8, "isn't one of new-variant or same-variant"),
    "retry: new-varient": (2, 8, "did you mean 'new-variant'?"),
    "deadline: tomorrow": (2, 11, "a time with its zone"),
    "deadline: 2026-12-01": (2, 11, "has no zone"),
    "deadline: 2026-12-01T23:59": (2, 11, "has no zone"),
    "deadline: 1764633540": (2, 11, "a time with its zone"),
    "deadline: 2026-13-01T00:00Z": (2, 11, "a time with its zone"),
    "show_before: all": (2, 14, "isn't one of"),
    "show_after: solution": (2, 13, "no afterwards"),
    "deadline: 2026-12-01T23:59Z\nshow_before: solution\nshow_after: score": (4, 13, "less than"),
    "attemps: 3": (2, 1, "did you mean 'attempts'?"),
    "attempts: 2\nattempts: 3": (3, 1, "attempts"),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_faulty_rule_is_shown_at_its_place(tmp_path: Path, rule: str) -> None:
    line, column, words = RULES[rule]
    ((found_line, found_column, message),) = faults(tmp_path, f"title: T\n{rule}\n{SECTION}")
    assert (found_line, found_column) == (line, column), message
    assert words in message


SECTIONS = {
    "- title: x": (3, 3, "asks for nothing"),
    "- topics: [softmax]": (3, 11, "nothing is drawn here without `count: N`"),
    "- {items: [softmax-weights], difficulty: 2}": (3, 42, "nothing is drawn here without `count: N`"),
    "- {count: 0}": (3, 11, "at least 1"),
    "- {count: 1, items: [softmax-weights, context-vector]}": (
        3,
        11,
        "2 items are pinned, but the count is 1",
    ),
    "- {count: 1, difficulty: 6}": (3, 26, "from 1 to 5"),
    "- {count: 1, difficulty: [3, 1]}": (3, 26, "write the smaller number first"),
    "- {count: 1, difficulty: [1, 2, 3]}": (3, 26, "was expected"),
    "- {count: 1, types: [vectors]}": (3, 22, "did you mean 'vector'?"),
    "- {count: 1, types: [code]}": (3, 22, "isn't one of"),
    "- {count: 1, bloom: [knows]}": (3, 22, "isn't one of"),
    "- {count: 1, points: 0}": (3, 22, "greater than 0"),
    "- {count: 1, points: 1, per_student: yes}": (3, 38, "true or false"),
    "- {count: 1, per_student: true}": (3, 27, "say `points` for each question"),
    "- {items: [softmax-weights], points: 1, per_student: true}": (3, 54, "this section draws none"),
    "- {count: 1, draw: [{count: 1}]}": (3, 11, "with `draw`, write `count` into its entries"),
    "- {draw: [{topics: [softmax]}]}": (3, 11, "'count' is missing"),
    "- {draw: []}": (3, 3, "asks for nothing"),
    "- {items: softmax-weights}": (3, 11, "a list"),
}


@pytest.mark.parametrize("section", SECTIONS)
def test_a_faulty_section_is_shown_at_its_place(tmp_path: Path, section: str) -> None:
    line, column, words = SECTIONS[section]
    ((found_line, found_column, message),) = faults(tmp_path, f"title: T\nsections:\n{section}\n")
    assert (found_line, found_column) == (line, column), message
    assert words in message


BANK = {
    "- {items: [softmax]}": (3, 12, "code exercise"),
    "- {items: [context-vector, context-vector]}": (3, 28, "pinned twice"),
    "- {items: [contxt-vector]}": (3, 12, "did you mean context-vector"),
    "- {count: 1, topics: [softmx]}": (3, 23, "did you mean 'softmax'?"),
    "- {draw: [{count: 1, topics: [softmax, zzz]}]}": (3, 40, "no item has the topic 'zzz'"),
    "- {count: 99, topics: [greedy-search]}": (3, 11, "too few items: 99 are to be drawn here, but"),
    "- {draw: [{count: 1}, {count: 99, types: [matrix]}]}": (3, 31, "too few items: 99 are to be drawn"),
}


@pytest.mark.parametrize("section", BANK)
def test_what_the_bank_lacks_is_shown_at_its_place(tmp_path: Path, section: str) -> None:
    line, column, words = BANK[section]
    found = faults(tmp_path, f"title: T\nsections:\n{section}\n", choose=True)
    assert [(at, where) for at, where, _ in found] == [(line, column)], found
    assert words in found[0][2]


def test_all_faults_of_a_plan_come_at_once(tmp_path: Path) -> None:
    text = "title: T\nsections:\n- items: [softmax, nothing-here]\n- {count: 1, topics: [zzz]}\n"
    assert [line for line, _, _ in faults(tmp_path, text, choose=True)] == [3, 3, 4]


@pytest.mark.parametrize(
    "text",
    ["", "[1, 2", "- a\n", "title: T\n", "title: ''\n" + SECTION, "title: T\nsections: []\n", "\ufeff\n"],
)
def test_what_is_no_blueprint(tmp_path: Path, text: str) -> None:
    with pytest.raises(QuizError):
        plan(tmp_path, text)


def test_one_number_is_a_range_of_one(tmp_path: Path) -> None:
    read = plan(tmp_path, "title: T\nsections:\n- draw: [{count: 2, difficulty: 3}, {count: 1}]\n")
    assert [(d.count, d.difficulty) for d in read.blueprint.sections[0].draws] == [(2, (3, 3)), (1, (1, 5))]


FILTERED = (
    "title: T\nsource: [S0]\nneeds: [seq2seq, decoding, S0]\nexclude: [beam-search]\n"
    "sections:\n- count: 1\n  topics: [decoding]\n  exclude: [beam-width-one]\n"
)


def test_filters_of_the_file_and_of_a_section_both_hold(tmp_path: Path) -> None:
    bank = builtin_bank()
    (slot,) = slots_of(plan(tmp_path, FILTERED), bank.summaries()[0])
    assert "beam-survivors" in slot.pool and "beam-width-one" not in slot.pool
    for item in slot.pool:
        spec = bank.load(item)
        assert set(spec.needs) <= {"seq2seq", "decoding", "S0"}
        assert "S0" in {source.document for source in spec.sources}


def test_an_item_that_quotes_another_document_is_not_drawn_for_a_course_on_one(tmp_path: Path) -> None:
    bank = builtin_bank()
    specs, _ = bank.readable()
    (slot,) = slots_of(
        plan(tmp_path, "title: T\nsections:\n- {count: 1, source: [S0]}\n"), bank.summaries()[0]
    )
    quoting = {spec.id for spec in specs if {"S1", "S2", "S3", "S4"} & set(spec.needs)}
    assert {"term-thesaurus", "notation-k", "timeline", "ctx-fixed-vs-dynamic"} <= quoting
    assert not quoting & set(slot.pool)
    assert {"softmax-weights", "l16-full-pass"} <= set(slot.pool)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("needs: [softmaxx]", "no term is called 'softmaxx' in terms.yaml; did you mean 'softmax'?"),
        ("exclude: [softmax-weight]", "there is no item 'softmax-weight' to leave out"),
        ("exercises: [softmaxx]", "there is no item 'softmaxx'"),
        ("exercises: [softmax-weights]", "softmax-weights isn't a code exercise"),
        ("exercises: [softmax, softmax]", "exercise softmax appears here twice"),
    ],
)
def test_names_that_filters_and_exercises_get_wrong_are_shown_at_their_place(
    tmp_path: Path, line: str, says: str
) -> None:
    ((at, _, message),) = faults(tmp_path, f"title: T\n{line}\n{SECTION}", choose=True)
    assert at == 2 and says in message


def test_a_pinned_code_exercise_says_where_it_belongs(tmp_path: Path) -> None:
    ((_, _, message),) = faults(tmp_path, "title: T\nsections:\n- items: [softmax]\n", choose=True)
    assert "exercises: [softmax]" in message


def test_keys_that_came_later_leave_the_fingerprint_of_old_blueprints_alone(tmp_path: Path) -> None:
    text = "title: T\ncredit: [1, 0.5]\n" + SECTION
    # what was computed for this text before there were `source`, `needs`, `exclude` and `exercises`
    assert plan(tmp_path, text).fingerprint == "5b23509de6fdaad9"
    assert plan(tmp_path, text + "needs: [softmax]\n").fingerprint != "5b23509de6fdaad9"
