"""HTML, Markdown and plain text become Markdown of ours; what goes is named."""

from __future__ import annotations

from contextlib import suppress

import pytest

from engine.authoring.importing.foreign_question import MarkedText, TextForm
from engine.authoring.importing.text_blocks import TextTooLong, looks_like_dollar_maths, normal_formula
from engine.authoring.importing.to_markdown import convert
from engine.prose.markdown import render_prose
from tests.timing import cpu_seconds


def prose(text: str, form: TextForm = TextForm.HTML, *, inline: bool = False) -> str:
    return convert(MarkedText(text, form), inline=inline).prose


def lost(text: str, form: TextForm = TextForm.HTML) -> list[str]:
    return list(convert(MarkedText(text, form)).lost)


@pytest.mark.parametrize(
    ("html", "ours"),
    [
        ("<p>One</p><p>two</p>", "One\n\ntwo"),
        ("a<br>b<br/>c", "a\\\nb\\\nc"),
        ("a<br><br>b", "a\n\nb"),
        ("  a \n b&nbsp; c ", "a b c"),
        ("<b>a</b> <strong> b </strong><i>c</i>", "**a** **b** *c*"),
        ("<b>(x)</b>y", "(x)y"),  # no emphasis for Markdown: shown without it
        ("<code>a_b</code> <tt>x`y</tt>", "`a_b` x&#96;y"),
        ("<ul><li>a<li><p>b</p><p>c</p></ul>", "- a\n- b\\\n  c"),
        ("<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>", "1. a\n   - b\n2. c"),
        ("<table><tr><th>a<th>b<tr><td>1|<td>2</table>", "| a | b |\n| --- | --- |\n| 1\\| | 2 |"),
        ("<table><tr><td>alone</td></tr></table>", "alone"),
        ("<blockquote>a<br>b</blockquote>c", "> a\\\n> b\n\nc"),
        ("<pre>x = 1\n  <b>y</b></pre>", "```\nx = 1\n  y\n```"),
        ("<h3>Head</h3>text", "**Head**\n\ntext"),
        ("x<sub>i</sub><sup>2</sup> y<sub>max</sub>", "x$_{i}$$^{2}$ y$_{\\text{max}}$"),
        ("x<sup>a long note that is no index</sup>", "xa long note that is no index"),
        ("&lt;b&gt; &amp;lt; &#36; &copy;", "<b> &amp;lt; \\$ ©"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("# a<br>- b<br>1. c<br>&gt; d", "\\# a\\\n\\- b\\\n1\\. c\\\n\\> d"),
        ("<script type='math/tex; mode=display'>x^2</script>", "$$x^2$$"),
        ("<math><mi>x</mi><annotation encoding='application/x-tex'>x_1</annotation></math>", "$x_1$"),
        ("<img class='texrender' alt='\\frac{1}{2}' src='x.gif'>", "$\\frac{1}{2}$"),
        ("a <!-- hidden --> b<unfinished", "a b<unfinished"),
        ("<ul>loose<li>a</ul>", "- loose\n- a"),
    ],
)
def test_html(html: str, ours: str) -> None:
    assert prose(html) == ours
    assert render_prose(ours).plain


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        (r"\(a\) and \[b\] and $$c$$", "$a$ and $$b$$ and $$c$$"),
        (r"\( a &lt; b \)", "$a < b$"),
        (r"\[ a<br>+ b \]", "$$a + b$$"),
        (r"costs $5 and $6", r"costs \$5 and \$6"),
        (r"\(open", "&#92;(open"),
        (r"\(\frac{{a}}{{b}}\)", "$\\frac{ {a}}{ {b}}$"),
        (r"\(\unknown{x}\)", "`\\unknown{x}`"),
        (r"\alpha alone", "&#92;alpha alone"),
        (r"\(\)", "&#92;(&#92;)"),
    ],
)
def test_formulas(text: str, ours: str) -> None:
    assert prose(text) == ours


def test_formulas_in_options_are_never_displayed() -> None:
    assert prose("$$x$$ <p>y</p>", inline=True) == "$x$\\\ny"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (r"\dfrac12", r"\frac{1}{2}"),
        (r"x^12", r"x^{1}2"),
        (r"\operatorname*{softmax}(x)", r"\operatorname{softmax}(x)"),
        (r"\begin{array}{cc}1&2\\3&4\end{array}", r"\begin{matrix}1&2\\3&4\end{matrix}"),
        (r"\begin{align*}a&=b\end{align*}", r"\begin{aligned}a&=b\end{aligned}"),
        (r"a \lt b", "a < b"),
        (r"\bigl(x\bigr)", "(x)"),
        (r"a\$", r"a\$"),
        ("", None),
        (r"\left( x", None),
        (r"a\\$b", None),
        ("x" * 5000, None),
    ],
)
def test_other_names_in_formulas(theirs: str, ours: str | None) -> None:
    assert normal_formula(theirs) == ours


@pytest.mark.parametrize(
    ("markdown", "ours"),
    [
        ("**a** and *b* and `c`", "**a** and *b* and `c`"),
        ("- a\n- b\n\n1. c", "- a\n- b\n\n1. c"),
        (r"\(x_1*y\) and \\(z\\) and `\(w\)`", r"$x_1*y$ and $z$ and `\(w\)`"),
        ("a\\*b", "a\\*b"),
        ("<u>a</u> &amp; b", "a & b"),
        ("```\nx = {1}\n```", "```\nx = {1}\n```"),
    ],
)
def test_markdown(markdown: str, ours: str) -> None:
    assert prose(markdown, TextForm.MARKDOWN) == ours


def test_line_ends_count_in_moodles_own_form_and_in_plain_text() -> None:
    assert prose("a\nb <b>c</b>", TextForm.AUTO) == "a\\\nb **c**"
    assert prose("a\nb <b>c</b>", TextForm.PLAIN) == "a\\\nb <b>c</b>"


@pytest.mark.parametrize(
    ("html", "what"),
    [
        ("<img src='@@PLUGINFILE@@/plan.png'>", "a picture (plan.png)"),
        ("<img src='data:image/png;base64,AAAA'>", "a picture"),
        ("<img alt='the plan' src='x'>", "a picture (the plan)"),
        ("a<script>alert(1)</script>", "a script"),
        ("a<iframe src='http://x'>y</iframe>", "an embedded page"),
        ("<svg><text>y</text></svg>", "a drawing (SVG)"),
        ("<a href='https://example.org/x'>t</a>", "a link to https://example.org/x; its text is kept"),
        ("<foo>t</foo>", "the unknown tag <foo>; its text is kept"),
        ("<s>no</s>", "a line through words; the words are kept"),
        ("<math><mi>x</mi><maction/></math>", "a formula in MathML that can't be written in LaTeX"),
        ("a\u202eb", "invisible characters"),
        (r"\(\foo\)", "a formula that can't be typeset here; it is shown as typed: \\foo"),
        ("let $x_i$ be", "single dollars: they are shown as dollars, as in Moodle; \\(…\\) is a formula"),
    ],
)
def test_what_goes_is_named(html: str, what: str) -> None:
    assert lost(html) == [what]


def test_what_scripts_and_frames_hold_is_never_text() -> None:
    assert prose("a<script>b</script><style>c</style><iframe>d</iframe><svg><text>e</text></svg>f") == "af"


@pytest.mark.parametrize("mark", ["{{ 7*7 }}", "{% for x in y %}", "{# x #}", "{{{{", "{{%", "{{{%#"])
@pytest.mark.parametrize(
    "around", ["{}", "<b>{}</b>", "<code>{}</code>", "<pre>{}</pre>", "<li>{}", "{{<i>{}</i>"]
)
def test_templates_show_literally(mark: str, around: str) -> None:
    html = around.replace("{}", mark)
    shown = render_prose(prose(html)).plain
    assert mark in shown
    assert "{{" not in prose(html)
    assert "{%" not in prose(html)
    assert "{#" not in prose(html)


def test_a_fence_of_theirs_can_not_become_a_picture_of_ours() -> None:
    text = "```picture heatmap\n{}\n```"
    assert "<svg" not in render_prose(prose(f"<pre>{text}</pre>")).html
    assert "<svg" not in render_prose(prose(text, TextForm.PLAIN)).html


def test_dollars_of_money_are_no_formula() -> None:
    assert not looks_like_dollar_maths("costs $5 and $6")
    assert looks_like_dollar_maths("let $x_i$ be")


def test_long_texts_are_refused() -> None:
    with pytest.raises(TextTooLong, match="at most 20,000"):
        prose("x" * 20_001)
    with pytest.raises(TextTooLong, match="formulas"):
        prose(r"\(x\)" * 1001)


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<!--",
        "</",
        "<",
        "<script>",
        "<script></script ",
        "<a b='",
        "<!",
        "<?",
        "\\(",
        "$$",
        "<b>",
        "&",
        "<a b=c ",
        "<b><p>x",
        "<table><a href=x>",
        "<i></b>",
    ],
)
def test_broken_html_takes_no_longer_than_good_html(piece: str) -> None:
    text = piece * (100_000 // len(piece))

    def read() -> None:
        with suppress(TextTooLong):
            convert(MarkedText(text, TextForm.HTML))

    assert cpu_seconds(read, 2.0) < 2


def test_a_picture_within_the_text_may_be_large() -> None:
    html = f"a<img alt='the plan' src='data:image/png;base64,{'AAAA' * 100_000}'>b"
    assert (prose(html), lost(html)) == ("ab", ["a picture (the plan)"])


def test_misnested_formatting_is_refused_before_it_multiplies() -> None:
    with pytest.raises(TextTooLong, match="more HTML tags"):
        prose("".join(f"<font face={n}>" for n in range(400)) + "<p>x</p>" * 1000)
    with pytest.raises(TextTooLong, match="nested over 450 deep"):
        prose("<span>" * 500 + "x")


@pytest.mark.parametrize(
    ("html", "ours"),
    [
        ("<p>where a<b and b>c</p>", "where a**c**"),  # a browser takes it for a tag, too
        ("<p>where a<b, c</p>", "where a<b, c"),
        ("<p title=it's>don't</p>", "don't"),
        ("a\ue002b", "ab"),
        ("<script type='math/tex'>a<b</script>", "$a<b$"),
    ],
)
def test_angles_that_begin_no_tag_are_characters(html: str, ours: str) -> None:
    assert prose(html) == ours


def test_deep_nesting_is_flattened() -> None:
    deep = "<ul><li>" * 200 + "x" + "</li></ul>" * 200
    assert "x" in prose(deep)
    assert any("nested deeper" in what for what in lost(deep))
