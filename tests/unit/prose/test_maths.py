"""LaTeX maths: readable as text, well-formed as MathML, and strict about what it accepts."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import html5lib
import pytest

from engine.prose.maths import MathsError, mathml, maths_forms, plain_maths
from engine.prose.maths.mathml import split_numbers
from engine.prose.maths.parser import ACCENTS, ENVIRONMENTS, FUNCTIONS, SPACES, STYLES, SYMBOLS

PLAIN = [
    (r"\mathbf{h}^{(1)} = [1, -0.5]", "h⁽¹⁾ = [1, -0.5]"),
    (r"\begin{bmatrix} 0.5 & -0.3 \\ 0.2 & 0.4 \end{bmatrix}", "[[0.5, -0.3], [0.2, 0.4]]"),
    (r"\begin{bmatrix} 1 \\ -2 \end{bmatrix}", "[1, -2]ᵀ"),
    (r"\hat{\alpha}^{(t,1)} = 2", "α̂^(t,1) = 2"),
    (
        r"\mathbf{v}^\top \tanh(\mathbf{W}_h \mathbf{h}^{(t')} + \mathbf{W}_s \mathbf{s}^{(t-1)})",
        "vᵀ tanh(Wₕ h⁽ᵗ′⁾ + Wₛ s⁽ᵗ⁻¹⁾)",
    ),
    (r"P = \mathrm{softmax}(\mathbf{U}_y \mathbf{s}^{(t)})", "P = softmax(U_y s⁽ᵗ⁾)"),
    (r"\alpha_{tj} = \frac{\exp(e_{tj})}{\sum_{k=1}^{n} \exp(e_{tk})}", "αₜⱼ = exp(eₜⱼ) / Σₖ₌₁ⁿ exp(eₜₖ)"),
    (r"\frac{a}{\sum_k b_k} c", "a / (Σₖ bₖ) c"),
    (r"\frac{\exp(e_j / T)}{\sum_l \exp(e_l / T)}.", "exp(eⱼ / T) / Σₗ exp(eₗ / T)."),
    (r"\frac{\sum_k b_k}{n}", "(Σₖ bₖ) / n"),
    (r"\frac{(a + b)(c + d)}{n}", "(a + b)(c + d) / n"),
    (r"\frac{\partial h_{22}}{\partial h_4}", "∂h₂₂ / ∂h₄"),
    (r"\sum_i h_i \frac{\partial a}{\partial b} = c", "Σᵢ hᵢ ∂a/∂b = c"),
    (r"\sum_{k\ \text{visible}} x_k", "Σ_(k visible) xₖ"),
    (r"x_{k \text{ hidden}}", "x_(k hidden)"),
    (r"x_{i j}", "xᵢⱼ"),
    (r"2^{11 n}", "2¹¹ⁿ"),
    (r"s_{new}", "s_new"),
    (r"\sqrt{|\mathbf{k}|}", "√|k|"),
    (r"\sqrt{(a + b)}", "√(a + b)"),
    (r"\sqrt{(a)(b)}", "√((a)(b))"),
    (r"\mathrm{softmax}\!\left(\frac{a}{b}\right)", "softmax(a/b)"),
    (r"\frac{1}{3}", "1/3"),
    (r"\frac{a+b}{c}", "(a + b) / c"),
    (r"\frac{\mathbf{q}^\top \mathbf{k}}{\sqrt{d_k}}", "qᵀ k / √dₖ"),
    (r"\sqrt{a+b}", "√(a + b)"),
    (r"QK^\top / \sqrt{4}", "QKᵀ / √4"),
    (r"\mathbf{q} \in \mathbb{R}^{d_K}", "q ∈ ℝ^(d_K)"),
    (r"-x + 3 \cdot -2", "-x + 3 · -2"),
    (r"P(w|\mathbf{y}_{<t}, \mathbf{x})", "P(w | y_(<t), x)"),
    (r"|k| + |x-1|", "|k| + |x - 1|"),
    (r"\lVert k \rVert", "‖k‖"),
    (r"e^2 \approx 7.3891", "e² ≈ 7.3891"),
    (r"T_x \ne T_y", "Tₓ ≠ T_y"),
    (r"\begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}", "{ 1 if x > 0; 0 else }"),
    (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "a = b; c = d"),
    (r"0.3 \cdot [1, 2]", "0.3 · [1, 2]"),
    (r"5\,\%", "5 %"),
    (r"W^{-1}", "W⁻¹"),
    (r"O(n^2 d)", "O(n² d)"),
    (r"2x + 3y", "2x + 3y"),
    (r"x_1y_1", "x₁ y₁"),
    (r"[\mathbf{a}; \mathbf{s}]", "[a; s]"),
    (r"\left( \frac{a+b}{c} \right)^2", "((a + b) / c)²"),
    (r"h \ge -1", "h ≥ -1"),
    (r"f(-1)", "f(-1)"),
    (r"\operatorname{softmax}(x)_i", "softmax(x)ᵢ"),
    (r"t = 1, \ldots, n", "t = 1, …, n"),
    (r"\text{score}(s, h)", "score(s, h)"),
    (r"f'(x)", "f′(x)"),
    (r"\mathrm{softmax}\left( \frac{Q K^\top}{\sqrt{d}} \right) V", "softmax(Q Kᵀ / √d) V"),
]


@pytest.mark.parametrize(("source", "text"), PLAIN)
def test_plain_text_reads_well(source, text):
    assert plain_maths(source) == text


FAULTY = [
    "{x", "x}", r"\foo", "x^23", r"\frac12", "x^-1", "a & b", r"\left( x", r"\right)", "x^", "x__1", "x^1^2",
    "a $ b", "#", "~", '"', r"\text{a", r"\text{a {b}}", r"\text{\input{x}}", "{" * 50, r"\end{bmatrix}",
    r"\begin{bmatrix} 1", r"\begin{bmatrix} 1 & 2 \\ 3 \end{bmatrix}", r"\begin{tabular} 1 \end{tabular}",
    r"\begin{bmatrix} 1 \end{pmatrix}", r"\\", r"\left x", r"\input{x}", r"\def\x{1}", r"\href{x}{y}",
    "x" * 5000,    r"\hat", r"\sqrt", r"\mathbf", r"\frac{1}", "\x00", "\ue000",
]  # fmt: skip


@pytest.mark.parametrize("source", FAULTY, ids=range(len(FAULTY)))
def test_what_is_not_understood_is_an_error(source):
    with pytest.raises(MathsError):
        mathml(source)
    with pytest.raises(MathsError):
        plain_maths(source)


def _all_macros():
    yield from ("\\" + name for name in SYMBOLS if name not in ("{", "}", "|"))
    yield from (r"\{ x \}", r"\| x \|")
    yield from ("\\" + name for name in FUNCTIONS)
    yield from (rf"a \{name} b" for name in SPACES)
    yield from (rf"\{name}{{x}}" for name in (*ACCENTS, *STYLES))
    yield from (rf"\begin{{{name}}} a & b \\ c & d \end{{{name}}}" for name in ENVIRONMENTS)


@pytest.mark.parametrize("source", [*(source for source, _ in PLAIN), *sorted(_all_macros())])
def test_mathml_is_well_formed_and_valid_in_html(source):
    for display in (False, True):
        element = mathml(source, display)
        root = ElementTree.fromstring(element)
        assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
        assert root.get("display") == ("block" if display else "inline")
        assert "\\" not in "".join(root.itertext())
        parser = html5lib.HTMLParser(strict=True)
        parser.parse(
            f"<!DOCTYPE html><html><head><title>t</title></head><body><p>{element}</p></body></html>"
        )


COUNTS = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}


@pytest.mark.parametrize("source", [source for source, _ in PLAIN])
def test_mathml_elements_have_the_children_they_need(source):
    for element in ElementTree.fromstring(mathml(source)).iter():
        name = element.tag.rpartition("}")[2]
        if name in COUNTS:
            assert len(element) == COUNTS[name]


def test_mathml_escapes_what_html_would_read():
    for source in (r"a < b", r"\text{a < b}", r"x \& y", r"\operatorname{<b>}"):
        element = mathml(source)
        ElementTree.fromstring(element)
        assert not re.search(r"<b>|<(?![/a-z])", element)


def test_bold_letters_keep_their_alphabet():
    assert "𝐖" in mathml(r"\mathbf{W}")
    assert "ℝ" in mathml(r"\mathbb{R}")
    assert (
        "𝛂" in mathml(r"\mathbf{\alpha}")
        or "𝛂" in mathml(r"\boldsymbol{\alpha}")
        or "𝜶" in mathml(r"\boldsymbol{\alpha}")
    )
    assert "<mi>softmax</mi>" in mathml(r"\mathrm{softmax}")


def test_numbers_are_one_element():
    assert "<mn>12.75</mn>" in mathml("12.75")
    assert "<mo>−</mo><mn>0.5</mn>" in mathml("-0.5")


NUMBERS = [
    *(source for source, _ in PLAIN),
    r"[0.3, -1.2, 5]",
    r"\begin{bmatrix} -1 & 2.5 \\ 3 & -0.4 \end{bmatrix}",
    r"3 - 4",
    r"-3 - -4",
    r"x = -0.5",
    r"\sqrt 4 + \frac 1 2",
    r"\sqrt{4} \cdot 3",
    r"2^3_1 + 10",
    r"\hat 3",
    r"f(-1, 2)",
    r"1 \le x \le 12",
    r"\left[ -1, 2 \right]",
    r"\mathbf{3} 4",
]


@pytest.mark.parametrize("source", NUMBERS)
def test_taking_the_numbers_out_changes_nothing(source):
    plain, element = maths_forms(source)
    assert plain == plain_maths(source)
    # a number's own sign may be grouped with it, which is shown alike
    assert re.sub("</?mrow>", "", element) == re.sub("</?mrow>", "", mathml(source))
    ElementTree.fromstring(element)


def test_only_free_numbers_are_taken_out():
    skeleton, numbers = split_numbers(r"[0.3, -1.2] - 4 x^2 \frac{1}{2} h^{(3)} \sqrt 5")
    assert numbers == ["0.3", "-1.2", "4"]
    assert skeleton.count("\uf8ff") == 3
    assert "-" in skeleton


def test_a_wide_line_of_formulas_can_go_on_in_the_next_line():
    plain, element = maths_forms(r"a = 0.5,\quad \left(b \quad c\right),\qquad d_1 = 2", True)
    assert plain == maths_forms(r"a = 0.5,\quad \left(b \quad c\right),\qquad d_1 = 2")[0]
    span = ElementTree.fromstring(element)
    assert span.tag == "span"
    assert span.get("class") == "formulas"
    assert [piece.get("display") for piece in span] == ["block"] * 3
    assert ["".join(piece.itertext()) for piece in span] == ["a=0.5,", "(bc),", "d1=2"]
    # one formula, or one inside a sentence, stays one element
    for one in (maths_forms("a = 1", True)[1], maths_forms(r"a \quad b")[1]):
        assert one.startswith("<math ")
        assert one.count("<math ") == 1
