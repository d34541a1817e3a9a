"""Texts, formulas and expressions: anything is either understood or refused, and what is shown is valid."""

from __future__ import annotations

from xml.etree import ElementTree

import html5lib
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DrawError, ExpressionError
from engine.expressions.language import evaluate
from engine.prose.markdown import ProseError, render_prose
from engine.prose.maths import MathsError, mathml, plain_maths
from engine.prose.stems import render_text
from engine.text.words import escape_latex

FORMULA = st.lists(
    st.sampled_from(
        [
            "x",
            "1",
            "0.5",
            "-",
            "+",
            "=",
            "<",
            ",",
            "(",
            ")",
            "[",
            "]",
            "|",
            " ",
            "{",
            "}",
            "^",
            "_",
            "'",
            "&",
            "\\\\",
            r"\alpha ",
            r"\frac",
            r"\sqrt",
            r"\hat",
            r"\mathbf",
            r"\text{a < b}",
            r"\sum",
            r"\tanh",
            r"\left(",
            r"\right)",
            r"\begin{bmatrix}",
            r"\end{bmatrix}",
            r"\cdot ",
            r"\foo",
            "é",
            "{x}",
            "^{(t)}",
            "_{ij}",
        ]
    ),
    max_size=14,
).map("".join)


@given(source=FORMULA)
def test_formulas_are_well_formed_or_refused(source):
    try:
        element = mathml(source)
    except MathsError:
        return
    root = ElementTree.fromstring(element)
    assert "\\" not in "".join(root.itertext())
    assert "\\" not in plain_maths(source)


PROSE = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "$x$",
                "$",
                "$$y$$",
                "*",
                "**",
                "`",
                "\n",
                "\n\n",
                "- a",
                "1. b",
                "| a | b |\n|---|---|\n| c | d |\n",
                "<b>",
                "&",
                "&lt;",
                "[a](b)",
                "![a](b)",
                "# h",
                "> q",
                "\\",
                "\\$",
                "```",
                "~",
                "_",
                "%",
                "{",
                "}",
                "\t",
            ]
        ),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)


@given(source=PROSE, inline=st.booleans())
def test_prose_is_valid_html_or_refused(source, inline):
    try:
        text = render_prose(source, inline=inline)
    except ProseError:
        return
    html = text.html
    assert "<script" not in html.lower()
    assert "<img" not in html.lower()
    if "\x00" not in source and all(c.isprintable() or c in "\n\t" for c in source):
        page = f"<!DOCTYPE html><html><head><title>t</title></head><body><div>{html}</div></body></html>"
        html5lib.HTMLParser(strict=True).parse(page)


@given(text=st.text(max_size=40))
def test_latex_holds_no_live_macro(text):
    import re

    escaped = escape_latex(text)
    allowed = {
        "textbackslash",
        "textasciitilde",
        "textasciicircum",
        "textless",
        "textgreater",
        "textbar",
        "textquotedbl",
    }
    assert set(re.findall(r"\\([A-Za-z]+)", escaped)) <= allowed
    assert not re.search(r"(?<!\\)[%#$&_]", escaped)


TEMPLATES = st.lists(
    st.sampled_from(
        [
            "{{",
            "}}",
            "{%",
            "%}",
            "{#",
            "#}",
            " w ",
            " n ",
            "[0]",
            "|vec",
            "|table",
            " for x in w ",
            " endfor ",
            " if n ",
            " endif ",
            ".x",
            "(",
            ")",
            " tex(w) ",
            "softmax",
            "*",
            "**",
            "'a'",
            "+",
            "text ",
            "$a$",
            " x ",
        ]
    ),
    max_size=10,
).map("".join)


@given(template=TEMPLATES)
def test_templates_are_filled_or_refused(template):
    names = {"w": np.array([0.3, 0.7]), "n": 2}
    try:
        text = render_text(template, names)
    except DrawError as error:
        assert "0x" not in error.what
    else:
        assert "{{" not in text.plain or "{{" in template


EXPRESSIONS = st.lists(
    st.sampled_from(
        [
            "w",
            "H",
            "n",
            "1",
            "0",
            "0.5",
            "+",
            "-",
            "*",
            "/",
            "**",
            "@",
            "(",
            ")",
            "[",
            "]",
            ",",
            ".",
            ":",
            "<",
            "==",
            " and ",
            " or ",
            " not ",
            " if ",
            " else ",
            " for ",
            " in ",
            "softmax(",
            "sum(",
            "row(",
            "context(",
            "'a'",
            "__class__",
            "lambda ",
            "max(",
            "words(",
            "greedy_decode(",
            "one_hot(",
            "zeros(",
        ]
    ),
    max_size=12,
).map("".join)


@given(text=st.one_of(EXPRESSIONS, st.text(max_size=30)))
def test_expressions_have_a_plain_value_or_one_error(text):
    names = {
        "w": np.array([0.3, 0.7]),
        "H": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "n": 2,
    }
    try:
        value = evaluate(text, names)
    except ExpressionError as error:
        assert "expression" in (error.where or "")
        return
    assert isinstance(value, int | float | bool | str | tuple | np.ndarray | np.generic)
    assert np.array_equal(names["w"], np.array([0.3, 0.7]))
