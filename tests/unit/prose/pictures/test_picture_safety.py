"""Pictures hold no markup but ours, say clearly what is wrong, and cost little."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from engine.authoring.lint.rules.rendered_text import faults_of
from engine.errors import DrawError
from engine.prose.markdown import ProseError, render_prose
from engine.prose.pictures import FENCE, PICTURES, PictureFault, picture_text
from engine.prose.stems import render_text
from tests.oracles.figures import NAMES, Figure, figure, shown

CALLS = ["heatmap(A, W, W2)", "alignment_grid(A, W, W2)", "beam_tree(T, 2, W)"]
HOSTILE = [
    "<script>alert(1)</script>",
    '"onload="x',
    "'><b>",
    "```",
    "`x`",
    "</text></svg>",
    "$x$",
    "\\input{x}",
    "|a|",
    "&lt;b&gt;",
    "[BOS]",
    "{x}",
    "%&#_^~",
    "]]>",
    "<!--",
]
PRESENTATION = {
    "aria-label", "class", "cx", "cy", "d", "fill", "fill-opacity", "font-size", "height", "r", "role", "rx",
    "stroke", "stroke-dasharray", "stroke-opacity", "stroke-width", "tabindex", "text-anchor", "transform",
    "viewBox", "width", "x", "y",
}  # fmt: skip


@pytest.mark.parametrize("word", HOSTILE)
@pytest.mark.parametrize("call", CALLS)
def test_a_word_is_shown_as_it_is_and_never_markup(call, word):
    word = word[:20]
    names = NAMES | {"W": f"{word} b c", "W2": f"a {word} c d"}
    text = render_text("before\n\n{{ " + call + " }}\n\nafter", names)
    found = Figure(text.html)
    assert any(word in printed for printed in found.printed)
    assert word in found.spoken
    assert word in text.plain
    assert {element.tag.rpartition("}")[2] for element in found.svg.iter()} <= {
        "svg", "g", "title", "text", "rect", "circle", "path",
    }  # fmt: skip
    for element in found.figure.iter():
        assert {name.rpartition("}")[2] for name in element.attrib} <= PRESENTATION
    assert faults_of(text) == []
    assert "\\input" not in text.latex
    assert not re.search(r"\\\\\s*\[", text.latex)  # a break would take the bracket for its own
    assert text.plain.startswith("before\n") and text.plain.endswith("\nafter")


@pytest.mark.parametrize("call", ["heatmap(A)", "alignment_grid(A)", "beam_tree(T, 2)"])
def test_a_picture_needs_nothing_that_pages_forbid(call):
    html = shown(call).html
    assert not re.search(r"style=|<style|<script|\bon\w+=|href|url\(|\bid=", html)
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', html)) <= {"currentColor", "none"}


@pytest.mark.parametrize("call", ["heatmap(A)", "alignment_grid(A)", "beam_tree(T, 2)"])
def test_a_picture_is_one_image_with_a_caption(call):
    found = figure(call)
    assert found.svg.attrib["role"] == "img"
    assert found.svg.attrib["viewBox"] == f"0 0 {found.svg.attrib['width']} {found.svg.attrib['height']}"
    (caption,) = found.figure.iter("{http://www.w3.org/1999/xhtml}figcaption")
    assert "".join(caption.itertext()).endswith(".")


FAULTS = [
    ("heatmap(b)", "a heatmap needs a matrix, got int"),
    ('heatmap("x")', "a heatmap needs a matrix, got str"),
    ('heatmap(A, "a b")', "3 row words are needed, got 2: a b"),
    ('heatmap(A, "a b c", "d")', "4 column words are needed, got 1: d"),
    ("heatmap(A, 7)", "the row words are one text"),
    ("heatmap(A, places=9)", "places is a whole number from 0 to 6, got 9"),
    ("heatmap(zeros(13, 2))", "1 to 12 rows and columns, got 13 x 2"),
    ("heatmap(zeros(2, 13))", "1 to 12 rows and columns, got 2 x 13"),
    ("heatmap(log([0, 1]))", "finite numbers only"),
    ('heatmap(A, "aaaaaaaaaaaaaaaaaaaaaaaaa b c")', "longer than 20 characters"),
    ('heatmap(A, "a\\u202eb b c")', "can't be shown"),
    ("heatmap()", "missing 1 required positional argument: 'A'"),
    ("alignment_grid(S)", "an alignment grid holds weights from 0 to 1 only"),
    ("beam_tree(A, 2)", "3 rows of 4 words are no full tree"),
    ("beam_tree(T)", "missing 1 required positional argument: 'b'"),
    ("beam_tree(T, 0)", "a beam width is a whole number from 1, got 0"),
    ("beam_tree(T, 1.5)", "a beam width is a whole number from 1, got 1.5"),
    ('beam_tree(T, 2, "a b")', "3 vocabulary words are needed, got 2: a b"),
    ('beam_tree(T, 2, "a b a")', "appears twice"),
    ("beam_tree([0.5, 0.5], 2)", "needs a table of probabilities"),
    ("beam_tree(S, 2)", "no full tree"),
    ("beam_tree(stack([1, 0.5]), 2)", "sum"),
]


@pytest.mark.parametrize(("call", "reason"), FAULTS, ids=[call for call, _ in FAULTS])
def test_a_faulty_call_says_what_is_wrong(call, reason):
    with pytest.raises(DrawError) as caught:
        shown(call)
    assert reason in caught.value.what
    assert caught.value.what.startswith("the text can't be shown: ")


@pytest.mark.parametrize("template", ["a {{ heatmap(A) }} b", "{{ heatmap(A) }}"])
def test_an_option_or_card_can_hold_no_picture(template):
    with pytest.raises(DrawError, match="a picture goes on lines of its own"):
        render_text(template, NAMES, inline=True)


@pytest.mark.parametrize(
    ("info", "data"),
    [
        ("heatmap", "{}"),
        ("heatmap", "[]"),
        ("heatmap", "nonsense"),
        ("heatmap", '{"rows":["a"],"columns":["b"],"values":[[1]],"texts":[["<b>"]]}'),
        ("heatmap", '{"rows":["a"],"columns":["b"],"values":[["x"]],"texts":[["1"]]}'),
        ("heatmap", '{"rows":["a"],"columns":["b"],"values":[[1,2]],"texts":[["1"]]}'),
        ("heatmap", '{"rows":[1],"columns":["b"],"values":[[1]],"texts":[["1"]]}'),
        ("heatmap", '{"rows":["a"],"columns":["b"],"values":[[NaN]],"texts":[["1"]]}'),
        ("heatmap", '{"rows":[],"columns":[],"values":[],"texts":[]}'),
        ("beam_tree", '{"width":2,"hypotheses":[[["a","b"],"1","1",1]]}'),
        ("beam_tree", '{"width":2,"hypotheses":[[["a"],"<b>","1",1]]}'),
        ("beam_tree", '{"width":"<b>","hypotheses":[[["a"],"1","1",1]]}'),
        ("beam_tree", '{"width":2,"hypotheses":[]}'),
        ("pie", "{}"),
    ],
)
def test_a_block_that_somebody_wrote_by_hand_is_checked_like_ours(info, data):
    with pytest.raises(ProseError):
        render_prose(f"```{FENCE} {info}\n{data}\n```")
    with pytest.raises(PictureFault):
        picture_text(info, data)


@pytest.mark.parametrize(
    "source",
    [
        f"```{FENCE}\n$x$\n```",
        f"````\n```{FENCE} heatmap\n"
        + '{"rows":["a"],"columns":["b"],"values":[[1]],"texts":[["1"]]}\n```\n````',
        f"a ```{FENCE} heatmap\n" + '{"rows":["a"],"columns":["b"],"values":[[1]],"texts":[["1"]]}\n```',
    ],
)
def test_a_picture_where_none_can_be_is_code_or_refused(source):
    try:
        text = render_prose(source)
    except ProseError:
        return
    assert "<figure" not in text.html


def test_every_kind_draws_again_what_it_wrote():
    assert sorted(PICTURES) == ["alignment_grid", "beam_tree", "heatmap"]
    fenced = render_text("{{ heatmap(A) }}", NAMES)
    assert render_text("{{ A | heatmap }}", NAMES) == fenced


def test_many_pictures_and_formulas_come_back_in_their_places():
    text = render_text(
        "$x_1$\n{{ heatmap(A) }}\n$x_2$\n{{ beam_tree(T, 2) }}\n| a |\n|---|\n| $x_3$ |", NAMES
    )
    order = [text.plain.index(part) for part in ("x₁", "Heatmap", "x₂", "Beam search", "x₃")]
    assert order == sorted(order)
    assert text.html.index("<figure") < text.html.index("<table>")


def test_a_heatmap_costs_under_a_millisecond():
    names = {"A": np.arange(25.0).reshape(5, 5) % 7 / 6}
    template = '{{ heatmap(A, "he hit me with pie", "il a m\' a entarté") }}'
    best = float("inf")
    for _ in range(20):
        start = time.process_time()
        for _ in range(5):
            render_text(template, names)
        best = min(best, (time.process_time() - start) / 5)
    assert best < 0.001
