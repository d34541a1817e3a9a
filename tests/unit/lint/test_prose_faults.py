"""What counts as a fault of a rendered text."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.authoring.lint.rules import rendered_text
from engine.authoring.lint.rules.keys import rounds_safely, units_apart
from engine.authoring.lint.rules.rendered_text import faults_of
from engine.authoring.lint.subject import typed_text
from engine.items import builtin_bank
from engine.model import RenderedText

GOOD = RenderedText(
    plain="c = 0.3·[1, 1] − 0.5; from -0.25 on",
    html="<p>c = <math><mi>c</mi></math><br>next</p>",
    latex=r"$c = \{1\}$ \begin{pmatrix} 1 \\ 2 \end{pmatrix} costs 5\$",
)


def changed(**forms: str) -> RenderedText:
    return RenderedText(**{"plain": GOOD.plain, "html": GOOD.html, "latex": GOOD.latex, **forms})


def test_a_good_text_has_no_fault() -> None:
    assert faults_of(GOOD) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (changed(plain="  "), "the plain text is empty"),
        (changed(plain="the value {{ w }} is"), "'{{'"),
        (changed(plain="{% for x in H %}"), "'{%'"),
        (changed(plain="w = tensor(0.5)"), "'tensor('"),
        (changed(plain="w = nan"), "'nan'"),
        (changed(plain="w = None"), "None"),
        (changed(plain="w = [-0.00, 1]"), "negative zero"),
        (changed(plain="w = −0"), "negative zero"),
        (changed(html="<p><b>x</p></b>"), "out of turn"),
        (changed(html="<p>x"), "leaves <p> open"),
        (changed(html="<p>x</p><script>1</script>"), "<script>"),
        (changed(latex="$x"), "dollars"),
        (changed(latex=r"\frac{1}{2"), "braces"),
        (changed(latex=r"\begin{pmatrix} 1"), "leaves pmatrix open"),
        (changed(latex=r"\begin{pmatrix} 1 \end{bmatrix}"), "ends bmatrix"),
    ],
)
def test_each_fault_is_named(text: RenderedText, fault: str) -> None:
    assert any(fault in found for found in faults_of(text)), faults_of(text)


def test_a_latex_text_may_end_in_braces_of_its_own() -> None:
    assert faults_of(changed(plain="Use x", latex=r"Use \textbf{\texttt{x}}")) == []
    assert any("'}}'" in fault for fault in faults_of(changed(plain="Use x }}")))


@pytest.mark.parametrize("plain", ["from -0.5 to 0", "5-0 or 10-0.0", "-0.05", "s_0 - 0.5"])
def test_what_only_looks_like_a_negative_zero(plain: str) -> None:
    assert faults_of(changed(plain=plain)) == []


@pytest.mark.parametrize(
    ("value", "decimals", "safe"),
    [
        (0.125, 2, False),
        (0.1251, 2, True),
        (0.1249, 2, True),
        (-0.125, 2, False),
        (2.5, 0, False),
        (1.0, 3, True),
    ],
)
def test_ties_are_unsafe(value: float, decimals: int, safe: bool) -> None:
    assert rounds_safely(value, decimals) is safe


def test_units_apart_counts_the_largest_entry() -> None:
    assert units_apart((0.1, 0.2), (0.1, 0.203), 3) == 3
    assert units_apart((0.1004, 0.2), (0.1, 0.2), 3) == 0
    assert units_apart((1.0,), (-1.0,), 1) == 20


def test_what_an_author_typed_is_not_left_over() -> None:
    text = RenderedText("the {{ of jinja, nan and -0", "<p>x</p>", "x")
    assert any("'{{'" in fault for fault in faults_of(text))
    assert faults_of(text, "the {{ of jinja, nan and -0") == []
    assert any("'{{'" in fault for fault in faults_of(text, "nan and -0"))


def test_typed_text_has_no_templates_and_no_escapes(spoiler: Any) -> None:
    def change(data: dict[str, Any]) -> None:
        data["stem"] = r"{{ tex(e) }} {\{ a }} {&#123; b {% if 1 %}nan{% endif %} \*c\* $\alpha$"

    subject = spoiler.subject("softmax-weights", change)
    typed = typed_text(subject.spec)
    assert r" {{ a }} {{ b " in typed
    assert r"*c* $\alpha$" in typed
    assert "tex(e)" not in typed


# --- numbers and names of our own lists ---------------------------------------------------


@pytest.mark.parametrize(
    ("where", "text", "told"),
    [
        (("solution",), "We list this as F-07.", "F-07"),
        (("hints", 0), "See D-3 for the form.", "D-3"),
        (("stem",), "It covers S0-weights. How large is the sum?", "S0-weights"),
        (("misconceptions", 0, "feedback"), "That is m-base2 again.", "m-base2"),
        (("errata", 0, "note"), "Compare F-21.", "F-21"),
    ],
)
def test_students_never_read_a_number_of_our_lists(
    spoiler: Any, where: tuple[str | int, ...], text: str, told: str
) -> None:
    def change(data: dict[str, Any]) -> None:
        data["errata"] = [{"id": "F-02", "kind": "notation", "note": "A note."}]
        at: Any = data
        for step in where[:-1]:
            at = at[step]
        at[where[-1]] = text

    found = [
        f
        for f in rendered_text.check(spoiler.subject("softmax-weights", change))
        if "our own lists" in f.message
    ]
    assert [f.message.split()[2].rstrip(",") for f in found] == [told]


def test_a_short_name_is_introduced_by_its_full_name(spoiler: Any) -> None:
    def said(text: str) -> list[str]:
        subject = spoiler.subject("softmax-weights", lambda data: data.update(solution=text))
        return [f.message for f in rendered_text.check(subject) if "short name" in f.message]

    assert said("As in S2, the weights are {{ tex(key) }}.") == [
        "the short name S2 of a document isn't introduced"
    ]
    assert said('As in the notes "Attention Mechanism" (S2), the weights are {{ tex(key) }}.') == []
    assert said("The matrix $S2$ is no document: {{ tex(key) }}.") == []


def test_no_sentence_of_the_registry_holds_such_a_number() -> None:
    registry = builtin_bank().registry()
    assert [
        i for i, sentence in registry.items() if re.search(r"\b[FDS]-?\d{1,2}\b|\bm-[a-z]", sentence)
    ] == []
