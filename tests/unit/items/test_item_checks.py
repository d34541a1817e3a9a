"""Each rule of a problem file: what breaks it, and the sentence and place that are shown."""

# ruff: noqa: E501 (tables of files and the sentences that they get)

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.answers import answer_kinds
from engine.errors import SpecError
from engine.items import load_spec

HEAD = """\
id: item
title: An item
source: {document: S0, section: Exercises}
difficulty: 2
bloom: apply
topics: [attention]
"""
FIRST = HEAD.count("\n") + 1  # the number of the line that follows the head

VECTOR = """\
parameters:
  e: {kind: vector, size: 3, range: [-2, 3], step: 0.1}
stem: Scores $e$ = {{ e }}.
answer: {type: vector, key: softmax(e), decimals: 3}
"""
CHOICE = """\
stem: Which?
answer:
  type: single_choice
  options:
    - {text: one, correct: true}
    - {text: two}
"""


def load(tmp_path: Path, body: str, **known: object) -> object:
    path = tmp_path / "item.yaml"
    path.write_text(HEAD + body, encoding="utf-8")
    return load_spec(path, registry={"m-neg": "The signs are reversed."}, **known)  # type: ignore[arg-type]


def faults(tmp_path: Path, body: str, **known: object) -> list[str]:
    """Return ``line:column: message``, lines counted from the body's first."""
    with pytest.raises(SpecError) as caught:
        load(tmp_path, body, **known)
    return [f"{d.line - FIRST + 1}:{d.column}: {d.message}" for d in caught.value.diagnostics]


def test_sound_items_load(tmp_path: Path) -> None:
    assert load(tmp_path, replaced(VECTOR, ", decimals: 3", ", tolerance: 0.5"))
    assert load(tmp_path, VECTOR)
    assert load(tmp_path, CHOICE)


def replaced(body: str, old: str, new: str) -> str:
    assert body.count(old) == 1
    return body.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("e: {kind: vector", "f: {kind: vector", ["3:23: 'e' isn't defined; the names here are f", "4:37: 'e' isn't defined; the names here are f"]),
        ("softmax(e)", "softmax(scores)", ["4:37: 'scores' isn't defined; the names here are e"]),
        ("softmax(e)", "softmax(e", ["4:36: this expression can't be read: '(' was never closed; inside { } an expression with commas needs quotes"]),
        ("softmax(e)", "e.tofile('x')", ["4:29: expressions can't hold a dot after a value"]),
        ("softmax(e)", "'(lambda: e)()'", ["4:31: expressions can't hold lambda"]),
        ("softmax(e)", "'e[0] if e in e else 1'", ["4:38: expressions can't hold in"]),
        ("softmax(e)", "f(*e)", ["4:31: expressions can't hold *"]),
        ("softmax(e)", "'[x for x in e]'", ["4:30: expressions can't hold for"]),
        ("softmax(e)", "__import__", ["4:29: '__import__' isn't defined; the names here are e"]),
        ("size: 3", "size: n", ["2:27: 'n' isn't defined; no names are defined here"]),
        ("size: 3", "size: e", ["2:27: 'e' is defined only further down; an expression uses what is above it"]),
        ("size: 3", "size: 0", ["2:27: the number must be at least 1, not 0"]),
        ("size: 3", "size: 17", ["2:27: the number must be at most 16, not 17"]),
        ("size: 3", "size: true", ["2:27: a whole number was expected, not true"]),
        ("range: [-2, 3]", "range: [3, -2]", ["2:37: the range goes from 3 down to -2; write the smaller bound first"]),
        ("range: [-2, 3]", "range: [-2.05, 3]", ["2:37: the bound -2.05 isn't a multiple of the step 0.1"]),
        ("range: [-2, 3]", "range: [0, 1000000]", ["2:37: the range holds 10,000,001 multiples of 0.1; at most 100,000 are possible"]),
        ("range: [-2, 3]", "range: [0, 1e300]", ["2:41: a number between -10^9 and 10^9 was expected"]),
        ("range: [-2, 3]", "range: [0, 0.1], exclude: [0, 0.1]", ["2:56: the range leaves 0 values, but a value is needed"]),
        ("range: [-2, 3]", "range: [0, 0.1], distinct: true", ["2:37: the range leaves 2 values, but 3 different ones are needed"]),
        ("step: 0.1", "step: 0", ["2:52: the number must be greater than 0, not 0"]),
        ("step: 0.1", "step: 1e-13", ["2:52: a number has more than 12 decimals"]),
        ("step: 0.1", "step: '0.1'", ["2:52: a number was expected, not the text '0.1'; leave out the quotes"]),
        (
            ", decimals: 3",
            "",
            ["4:9: say how the answer is rounded, 'decimals' or 'significant', or state a 'tolerance'"],
        ),
        ("decimals: 3", "decimals: 3, significant: 2", ["4:54: give either 'decimals' or 'significant', not both"]),
        ("decimals: 3", "decimals: 3, working_decimals: 2", ["4:72: intermediates can't be rounded to fewer decimals (2) than the answer (3)"]),
        ("decimals: 3", "decimals: 3, simplex: yes", ["4:63: true or false was expected, not the text 'yes'; write true"]),
        ("Scores $e$", "Scores $e", ["3:14: this $ opens a formula that never ends; a dollar sign is \\$"]),
        ("Scores $e$", "Scores $\\frac{a}{b$", ["3:23: { isn't closed in this formula"]),
        ("Scores $e$", "Scores $a}$", ["3:16: } closes nothing here; { is missing before it"]),
        ("{{ e }}", "{{ e }", ["3:7: this template can't be read: unexpected '}'"]),
        ("{{ e }}", "{{ scores }}", ["3:23: 'scores' isn't defined; the names here are e"]),
        ("{{ e }}", "{{ key }}", ["3:23: 'key' isn't defined; the names here are e"]),
        ("{{ e }}", "{{ e | nosuch }}", ["3:27: there is no filter 'nosuch'"]),
        ("{{ e }}", "{% include 'x' %}", ["3:23: a text can't use {% include %}"]),
        ("{{ e }}", "{{ e.shape }}", ["3:24: a text can't use a dot after a value (.shape)"]),
        ("{{ e }}", "{{ softmaxx(e) }}", ["3:23: there is no function 'softmaxx'; did you mean 'softmax'?"]),
        ("{{ e }}", "{% macro m() %}{% endmacro %}", ["3:23: a text can't use {% macro %}"]),
        ("{{ e }}", "{{ self }}", ["3:23: a text can't use self"]),
        ("{{ e }}", "{% for x in e recursive %}{% endfor %}", ["3:34: a text can't use recursive loops"]),
        ("{{ e }}", "{% for x in e %}" * 4 + "{% endfor %}" * 4, ["3:23: loops are nested deeper than 3"]),
        ("softmax(e)", "softmx(e)", ["4:29: there is no function 'softmx'; did you mean 'softmax'?"]),
        ("{{ e }}", "{% for x in e %}{{ x }}", ["3:7: this template opens a {% block %} that never ends"]),
    ],
)  # fmt: skip
def test_expressions_ranges_and_texts(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    assert faults(tmp_path, replaced(VECTOR, old, new)) == expected


def test_templates_may_loop_and_name_their_own_variables(tmp_path: Path) -> None:
    body = replaced(
        VECTOR, "{{ e }}", "{% for x in e %}{{ loop.index }} {{ x }}{% endfor %}{% set y = e %}{{ y }}"
    )
    assert load(tmp_path, body)


def test_the_solution_may_show_the_key_and_hints_may_not(tmp_path: Path) -> None:
    assert load(tmp_path, VECTOR + "solution: It is {{ key }}.\n")
    assert faults(tmp_path, VECTOR + "hints: ['It is {{ key }}.']\n") == [
        "5:19: 'key' isn't defined; the names here are e"
    ]


def test_a_misspelt_type_is_one_fault_and_its_key_still_a_name(tmp_path: Path) -> None:
    body = replaced(VECTOR, "type: vector", "type: vectr") + "solution: It is {{ key }}.\n"
    (fault,) = faults(tmp_path, body)
    assert fault.startswith("4:16: type: 'vectr' isn't one of ")
    named = re.split(r", | or ", fault.split("isn't one of ")[1].split(";")[0])
    assert set(named) == set(answer_kinds())


def test_the_caller_may_bring_another_vocabulary(tmp_path: Path) -> None:
    known = {"attend"}
    assert load(tmp_path, replaced(VECTOR, "softmax(e)", "attend(e)"), functions=known)
    assert faults(tmp_path, VECTOR, functions=known) == ["4:29: there is no function 'softmax'"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("stem: x\n", ["-5:1: the item asks for nothing: give it 'answer' or 'steps'"]),
        (
            CHOICE + "steps: [{id: a, prompt: x, answer: {type: token, accepted: [x]}}]\n",
            ["7:1: an item has either 'answer' or 'steps', not both"],
        ),
        (
            "stem: x\nsteps:\n  - {id: a, prompt: x, answer: {type: token, accepted: [x]}}\n"
            "  - {id: a, prompt: x, answer: {type: token, accepted: [x]}}\n",
            ["4:10: 'a' is the name of a step already"],
        ),
        (
            "stem: x\npoints: 5\nsteps:\n  - {id: a, prompt: x, points: 2, answer: {type: token, accepted: [x]}}\n"
            "  - {id: b, prompt: x, points: 2, answer: {type: token, accepted: [x]}}\n",
            ["2:9: the points of the steps sum to 4, not 5; correct one, or leave this line out"],
        ),
        (
            "stem: x\nparameters: {lambda: {kind: fixed, value: 1}, key: {kind: fixed, value: 1}}\n"
            "derived: {a: 1, b: c, c: b}\nanswer: {type: token, accepted: [x]}\n",
            [
                "2:14: 'lambda' is a word of the expression language; choose another name",
                "2:47: 'key' already stands for the key; choose another name",
                "3:20: 'c' is defined only further down; an expression uses what is above it",
            ],
        ),
        ("stem: '  '\nanswer: {type: token, accepted: [x]}\n", ["1:7: this text is empty"]),
    ],
)
def test_parts_points_and_names(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert faults(tmp_path, body) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("{text: two}", "{text: two, correct: true}", ["4:3: exactly one option must be correct, not 2; to draw one of several, say 'draw'"]),
        (", correct: true", "", ["4:3: exactly one option must be correct, not 0"]),
        ("    - {text: two}\n", "", ["4:3: at least two options are needed"]),
        ("{text: two}", "{text: ' one '}", ["6:14: this option appears here twice"]),
        ("{text: two}", "{text: two, misconception: m-nega}", ["6:34: 'm-nega' isn't in the registry; did you mean 'm-neg'?"]),
        ("correct: true", "correct: true, misconception: m-neg", ["5:34: the right option can't be a misconception"]),
        ("type: single_choice", "type: single_choice\n  decimals: 2", ["4:3: 'decimals' has no effect on options written by hand"]),
        ("type: single_choice", "type: single_choice\n  key: 3", ["4:3: options are either written or computed: drop 'key' or 'options'"]),
        ("type: single_choice", "type: multiple_choice\n  draw: 9", ["4:9: 9 options can't be drawn from 2"]),
        ("type: single_choice", "type: multiple_choice\n  draw: [2, 0]", ["4:10: 2 right options can't be drawn from 1", "4:13: at least one wrong option must be drawn"]),
        ("type: single_choice", "type: singlechoice", ["3:9: type: 'singlechoice' isn't one of single_choice, multiple_choice, number, vector, matrix, ordering, matching, token, free_text or code; did you mean 'single_choice'?"]),
        ("type: single_choice", "typ: single_choice", ["3:3: the key 'type' is missing here; it says which kind this is"]),
        ("{text: two}", "{text: 2}", ["6:14: text was expected, not the number 2; put it in quotes"]),
        ("{text: two}", "two", ["6:7: a mapping (key: value) was expected, not the text 'two'"]),
    ],
)  # fmt: skip
def test_written_options(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    assert faults(tmp_path, replaced(CHOICE, old, new)) == expected


def test_all_options_of_a_multiple_choice_right_or_none(tmp_path: Path) -> None:
    multiple = CHOICE.replace("single_choice", "multiple_choice")
    assert load(tmp_path, multiple)
    assert faults(tmp_path, multiple.replace(", correct: true", "")) == [
        "4:3: no option is correct; mark some, but not all"
    ]
    assert faults(tmp_path, multiple.replace("{text: two}", "{text: two, correct: true}")) == [
        "4:3: all options are correct; mark some, but not all"
    ]


COMPUTED = """\
parameters: {e: {kind: vector, size: 3, range: [0, 5]}}
stem: Which?
answer: {type: single_choice, key: softmax(e), decimals: 3, distractors: [m-neg, m-own]}
misconceptions:
  - {id: m-neg, expr: softmax(-e)}
  - {id: m-own, expr: e, feedback: Ours.}
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[m-neg, m-own]", "[m-neg, m-won]", ["3:82: 'm-won' isn't among 'misconceptions'; did you mean 'm-own'?"]),
        ("[m-neg, m-own]", "[m-neg, m-neg]", ["3:82: the distractor 'm-neg' appears here twice"]),
        ("[m-neg, m-own]", "[]", ["3:31: a computed key needs 'distractors'"]),
        ("[m-neg, m-own]", "[m-neg], key_position: 0", ["3:83: 'key_position' needs 'shuffle: false'"]),
        ("[m-neg, m-own]", "[m-neg], key_position: 2, shuffle: false", ["3:97: the key can't be at position 2 of 2 options (counted from 0)"]),
        (", feedback: Ours.", "", ["6:10: 'm-own' isn't in the registry; give it 'feedback' here, or a sentence in misconceptions.yaml"]),
        ("id: m-own", "id: m-neg", ["3:82: 'm-own' isn't among 'misconceptions'; list it there with its 'expr'", "6:10: a misconception with the id 'm-neg' is defined above already"]),
        ("key: softmax(e), ", "", ["3:9: a single choice needs 'options', or 'key' and 'distractors'"]),
    ],
)  # fmt: skip
def test_computed_options(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    assert load(tmp_path, COMPUTED)
    assert faults(tmp_path, replaced(COMPUTED, old, new)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("{type: token}", ["2:9: say what is right: 'accepted' texts, or a 'key'"]),
        ("{type: token, accepted: [a], key: words(1)}", ["2:38: give either 'accepted' or 'key', not both"]),
        ("{type: token, accepted: [' ']}", ["2:34: an accepted text is empty"]),
        (
            "{type: ordering, cards: [{id: a, text: A}, {id: a, text: A}]}",
            [
                "2:57: a card with the id 'a' is defined above already",
                "2:66: this card has the text of one above",
            ],
        ),
        (
            "{type: matching, targets: [{id: left, text: L}, {id: right, text: R}],"
            " prompts: [{text: x, target: lefft}, {text: y, target: right}]}",
            ["2:108: there is no target 'lefft'; did you mean 'left'?"],
        ),
        (
            "{type: matching, targets: [{id: a, text: L}, {id: a, text: R}],"
            " prompts: [{text: x, target: a}, {text: x, target: a}]}",
            [
                "2:59: a target with the id 'a' is defined above already",
                "2:112: this prompt has the text of one above",
            ],
        ),
    ],
)
def test_other_answers(tmp_path: Path, answer: str, expected: list[str]) -> None:
    assert faults(tmp_path, f"stem: x\nanswer: {answer}\n") == expected


STEPS = """\
parameters: {e: {kind: vector, size: 3, range: [0, 5]}}
derived: {f: 2 * e}
stem: Work.
steps:
  - id: w
    prompt: Weights of {{ f }}?
    answer: {type: vector, key: softmax(f), decimals: 3}
    invariants: ["abs(sum(w) - 1) < 0.1"]
    misconceptions: [{id: m-neg, expr: softmax(-f)}]
  - {id: c, prompt: Context?, answer: {type: vector, key: "context(w, e)", decimals: 3}}
solution: "{{ w }} {{ c }}"
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("softmax(f), d", "softmax(c), d", ["7:41: 'c' is defined only further down; an expression uses what is above it"]),
        ("softmax(f), d", "softmax(w), d", ["7:41: 'w' is defined only further down; an expression uses what is above it"]),
        ("sum(w)", "sum(c)", ["8:27: 'c' is defined only further down; an expression uses what is above it"]),
        ("softmax(-f)", "softmax(-c)", ["9:49: 'c' is defined only further down; an expression uses what is above it"]),
        ("{{ f }}?", "{{ w }}?", ["6:27: 'w' isn't defined; the names here are e, f"]),
        ("2 * e", "2 * c", ["2:18: 'c' isn't defined; the names here are e"]),
        ("id: w\n", "id: f\n", ["5:9: 'f' is the name of a derived value already", "8:27: 'w' isn't defined; the names here are e, f", "10:68: 'w' isn't defined; the names here are e, f", "11:15: 'w' isn't defined; the names here are c, e, f"]),
        ("{type: vector, key: \"context(w, e)\", decimals: 3}", "{type: code, function: f, signature: f(x), exercise: softmax, solutions: [a.py], checks: [{id: a, property: a, points: 1}]}", ["10:46: a step can't ask for code; code is an item of its own", "11:23: 'c' isn't defined; the names here are e, f, w"]),
    ],
)  # fmt: skip
def test_steps_see_what_stands_above_them(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    assert load(tmp_path, STEPS)
    assert faults(tmp_path, replaced(STEPS, old, new)) == expected


def test_points_that_are_left_out_are_the_sum_of_the_steps(tmp_path: Path) -> None:
    assert load(tmp_path, STEPS).points == 2  # type: ignore[attr-defined]
    assert load(tmp_path, VECTOR).points == 1  # type: ignore[attr-defined]
    assert faults(tmp_path, VECTOR + "points:\n") == ["5:8: a number was expected, not nothing"]


def test_a_step_without_a_value_is_no_name(tmp_path: Path) -> None:
    body = (
        "stem: x\nsteps:\n"
        "  - {id: m, prompt: x, answer: {type: ordering, cards: [{id: a, text: A}, {id: b, text: B}]}}\n"
        "  - {id: n, prompt: x, answer: {type: number, key: m + 1, decimals: 0}}\n"
        "solution: '{{ n }} {{ key }}'\n"
    )
    assert faults(tmp_path, body) == [
        "4:52: 'm' isn't defined; no names are defined here",
        "5:23: 'key' isn't defined; the names here are n",
    ]


def test_known_mistakes_of_an_item_with_steps_stand_in_the_steps(tmp_path: Path) -> None:
    assert faults(tmp_path, STEPS + "misconceptions: [{id: m-neg, expr: softmax(-e)}]\n") == [
        "12:1: the misconceptions of an item with steps belong in its steps"
    ]


ERRATUM = """\
status: erratum
stem: Which?
answer: {type: token, accepted: [x]}
printed: {options: {a: [0.665, 0.244], b: [0.1, 0.2]}, key: null, expr: "1", decimals: 3}
errata:
  - {id: F-02, kind: nearest_option_misrounded, note: A note., intended_option: a, accept_intended: true}
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("status: erratum\n", "\n", ["5:1: a printed exercise with errata needs 'status: erratum'"]),
        ("intended_option: a", "intended_option: z", ["6:81: 'z' isn't a printed letter; printed are a or b"]),
        ("intended_option: a, ", "", ["6:64: say which letter: 'intended_option'"]),
        ("key: null", "key: c", ["4:61: 'c' isn't a printed letter; printed are a or b"]),
        ("key: null", "key: [a, c]", ["4:65: 'c' isn't a printed letter; printed are a or b"]),
        ("key: null, ", "", ["4:10: the key 'key' is missing here"]),
        ("[0.1, 0.2]}", "{x: 1}}", ["4:43: a number or a list of numbers was expected, not a mapping (key: value)"]),
    ],
)  # fmt: skip
def test_errata(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    assert load(tmp_path, ERRATUM)
    assert faults(tmp_path, replaced(ERRATUM, old, new)) == expected


def test_an_erratum_without_errata(tmp_path: Path) -> None:
    body = ERRATUM[: ERRATUM.index("errata:")]
    assert faults(tmp_path, body) == ["1:9: the status is 'erratum', but 'errata' doesn't say which"]


def test_an_exercise_without_correct_option_has_no_key(tmp_path: Path) -> None:
    body = ERRATUM.replace("nearest_option_misrounded", "no_correct_option").replace("key: null", "key: a")
    assert faults(tmp_path, body) == ["4:56: an exercise without a correct option has 'key: null'"]


def test_background_is_attributed_to_no_lecture(tmp_path: Path) -> None:
    path = tmp_path / "item.yaml"
    path.write_text((HEAD + CHOICE).replace("document: S0", "document: background"), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    assert caught.value.diagnostics[0].message == (
        "background knowledge has no 'section'; name the lecture, or leave this out"
    )


def test_faults_of_yaml_model_and_checks_come_together(tmp_path: Path) -> None:
    body = replaced(VECTOR, "softmax(e)", "softmax(x)") + "stem: again\nhints: 3\n"
    assert faults(tmp_path, body) == [
        "4:37: 'x' isn't defined; the names here are e",
        "5:1: the key 'stem' appears here twice; first on line 9",
        "6:8: a list was expected, not the number 3",
    ]
