"""Stems: Markdown, maths and templates into three forms, each safe for its medium."""

from __future__ import annotations

import re

import html5lib
import numpy as np
import pytest

from engine.errors import DrawError
from engine.model import DrawnValue
from engine.prose import markdown
from engine.prose.markdown import ProseError, render_prose
from engine.prose.stems import render_text

H = DrawnValue((3, 2), ("1", "2", "-1", "0", "3", "4"))
W = DrawnValue((3,), ("0.2", "0.3", "0.5"))
TEMPERATURE = DrawnValue((), ("0.50",))


def test_three_forms_of_one_paragraph():
    text = render_prose(r"The *score* of $h_1$ is **5 %** of `x_1`, at \$2 & <b>.")
    assert text.plain == "The score of h₁ is 5 % of x_1, at $2 & <b>."
    assert text.html.startswith("<p>The <em>score</em> of <math ")
    assert text.html.endswith("is <strong>5 %</strong> of <code>x_1</code>, at $2 &amp; &lt;b&gt;.</p>")
    assert text.latex == (
        r"The \emph{score} of $h_1$ is \textbf{5 \%} of \texttt{x\_1}, at \$2 \& \textless{}b\textgreater{}."
    )


def test_displayed_formulas_stand_on_a_line_of_their_own():
    text = render_prose("Let $$H = \\begin{bmatrix} 1 & 2 \\\\ 3 & 4 \\end{bmatrix}$$ be given.")
    assert text.plain == "Let\n    H = [[1, 2], [3, 4]]\nbe given."
    assert 'display="block"' in text.html
    assert "\\[H = " in text.latex


def test_lists_and_tables():
    text = render_prose(
        "Steps:\n\n1. one $x_1$\n2. two\n   - inner\n\n| a | b |\n|---|---|\n| $0.1$ | long cell |\n"
    )
    assert text.plain == ("Steps:\n\n1. one x₁\n2. two\n  - inner\n\na    b\n---  ---------\n0.1  long cell")
    assert "<ol>" in text.html
    assert "<table>" in text.html
    assert r"\begin{enumerate}" in text.latex
    assert r"\begin{tabular}{ll}" in text.latex
    assert r"a & b \\" in text.latex


def test_a_bracket_is_no_argument_of_the_latex_before_it():
    text = render_prose("- [BOS] first\n- *x*\n\n| a |\n|---|\n| [EOS] |\n| \\* |\n\nline\\\n[end]")
    assert r"\item {}[BOS]" in text.latex
    assert "line\\\\\n{}[end]" in text.latex
    assert "\\\\\n{}*" in text.latex
    assert r"\item \emph{x}" in text.latex


def test_there_are_no_links_images_or_raw_html():
    source = "[a](javascript:alert(1)) ![x](http://e/x.png) <img src=x onerror=alert(1)> <https://e>"
    html = render_prose(source).html
    assert "<a" not in html
    assert "<img" not in html
    assert "&lt;img" in html


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("costs $5", "partner"),
        (r"\alpha is Greek", r"\\alpha is outside"),
        (r"$\foo$", "unknown macro"),
        ("$x", "partner"),
        ("$a\n\nb$", "empty line"),
        ("a \ue000 b", "private-use"),
    ],
)
def test_faulty_prose_says_what_is_wrong(source, reason):
    with pytest.raises(ProseError, match=reason):
        render_prose(source)


def test_code_may_hold_dollars():
    assert render_prose("`$x` and `\\alpha`").plain == "$x and \\alpha"


def test_inline_text_has_no_paragraphs():
    assert render_prose("**a** $x$", inline=True).html.startswith("<strong>a</strong> <math")


def test_html_is_valid():
    source = "A $x<1$ & *b*\n\n- c\n\n| a |\n|---|\n| $y$ |\n\n```\ncode <x>\n```\n\n$$\\frac{1}{2}$$"
    page = (
        "<!DOCTYPE html><html><head><title>t</title></head><body>"
        + render_prose(source).html
        + "</body></html>"
    )
    html5lib.HTMLParser(strict=True).parse(page)


# --- templates --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "plain"),
    [
        ("$\\alpha = {{ tex(w) }}$", "α = [0.2, 0.3, 0.5]"),
        ("$H = {{ H|mat }}$", "H = [[1, 2], [-1, 0], [3, 4]]"),
        ("$h = {{ H[1]|col }}$", "h = [-1, 0]ᵀ"),
        ("{{ H[0]|vec }} {{ w[1] }} {{ n }}", "[1, 2] 0.3 3"),
        ("{% for row in H %}{{ loop.index }}:{{ row[0] }} {% endfor %}", "1:1 2:-1 3:3"),
        ("{{ tex(matvec(H, [1, 2]), 1) }}", "[5.0, -1.0, 11.0]"),
        ("{{ num(sum(w * 2), 2) }}", "2.00"),
        ("{{ w|vec(2) }}", "[0.20, 0.30, 0.50]"),
        ("{{ T }}", "0.50"),
        ("{{ dec(T, 1) }}", "0.5"),
        ("{{ par(H[1][0]) }}", "(-1)"),
        ("{{ 'big' if n > 2 else 'small' }}", "big"),
        ("{{ tex(softmax([2, 1, 0]), 3) }}", "[0.665, 0.245, 0.090]"),
        ("{{ key }}", "[1.40, 2.40]"),
        ("{{ name }}", "tanh"),
        ("{{ num(0 * w[0], 2) }}", "0.00"),
        ("{{ num(-0.001 * n, 2) }}", "0.00"),
        ("{{ ['A', 'B'][1] }}", "B"),
    ],
)
def test_templates(template, plain):
    from engine.prose.figures import figure_of

    key = figure_of(np.array([1.4, 2.4]), 2)
    names = {"H": H, "w": W, "n": 3, "T": TEMPERATURE, "name": "tanh", "key": key}
    assert render_text(template, names).plain == plain


def test_tables_of_drawn_values():
    text = render_text("{{ H|table('x y', rows='a b c', corner='row') }}", {"H": H})
    assert text.plain == "row  x   y\n---  --  -\na    1   2\nb    -1  0\nc    3   4"


HOSTILE = [
    "{{ x }}", "{{ w.value }}", "{{ w.__class__ }}", "{{ ''.join }}", "{{ self }}", "{{ w|attr('value') }}",
    "{% for i in range(100) %}{% endfor %}", "{{ 'a' * 10000 }}", "{{ [1] * 100 }}", "{{ '%9999999d' % 1 }}",
    "{% macro x() %}{% endmacro %}", "{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}",
    "{{ w[7] }}", "{{ w", "{% for a in w %}", "{{ softmax('x') }}", "{{ lipsum() }}", "{{ cycler }}",
    "{{ softmax.__globals__ }}", "{{ tex.__init__.__globals__ }}", "{{ 2 ** 1000000 }}",
    "{{ namespace(a=1) }}",
    "{{ 'x'.format(1) }}", "{{ dict(a=1) }}", "{{ w[softmax] }}", "{{ num(w) }}", "{{ w|table }}",
    "{{ 1 / 0 }}",
    "{% for a in w recursive %}{{ loop(w) }}{% endfor %}", "{{ loop }}", "{{ caller() }}", "{{ w + H }}",
    "{% for a in range(64) %}{% for b in range(64) %}{% for c in range(64) %}{% for d in w %}{% endfor %}"
    "{% endfor %}{% endfor %}{% endfor %}",
    "{% for a in range(64) %}{% for b in range(64) %}{% for c in range(64) %}xxxxxxxxxx{% endfor %}"
    "{% endfor %}{% endfor %}",
    "{{ range(10 ** 9) }}", "$x", "{{ tex(w) }} \\alpha",
]  # fmt: skip


@pytest.mark.parametrize("template", HOSTILE, ids=range(len(HOSTILE)))
def test_a_faulty_template_is_a_draw_error_that_names_the_text(template):
    with pytest.raises(DrawError) as caught:
        render_text(template, {"w": W, "H": H}, where="stem")
    assert caught.value.where == "stem"
    assert "the stem can't be shown" in caught.value.what
    assert "0x" not in caught.value.what


def test_values_never_become_markup():
    text = render_text("{{ name }}", {"name": "<script>alert(1)</script>"})
    assert "<script" not in text.html


def test_rendering_needs_no_torch_where_nothing_is_computed():
    import subprocess
    import sys

    code = (
        "import sys; from engine.prose.stems import render_text; "
        "print(render_text('$x_{{ \"{\" }}n{{ \"}\" }}$ {{ n }}', {'n': 3}).plain); "
        "sys.exit('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.strip()) == (0, "xₙ 3")


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n| --- | --- |\n| 0.25 | 10 |\n| 3 | 12.5 |\n\nAfter 2 rows (0.5, 7) $x_1 = 2$.",
        "Two lists:\n\n 1. first\n 2) second\n\n10. tenth has 3.5",
        "`a 1 2` and *b 2* and **3.25 c** and _d 4_, a\\ 5, v 1.2.3, 3rd & 4 &#35; 5",
        "```python 3.11\nx = 1 + 2.5\n```\n\n``` softmark-picture\n 12\n```",
        "~~~softmark-picture\n 0.5\n~~~\n\n- 1\n- 2\n\n    code 3 4",
        "the end is 7",
    ],
)
def test_numbers_in_a_text_are_numbers_to_markdown_whatever_they_are(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = render_prose(text)
    monkeypatch.setattr(markdown, "_NUMBER", re.compile(r"(?!)"))
    assert render_prose(text) == quick
