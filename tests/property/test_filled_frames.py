"""A template of values only is filled without jinja and parsed before its words come, into the same text."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.items import builtin_bank
from engine.prose.frames import prose_frame
from engine.prose.markdown import ProseError, render_prose
from engine.prose.stems import (
    TemplateFault,
    _meanings,
    _read,
    _words,
    fill_template,
    is_template,
    render_text,
)

CONSTANTS = st.text(alphabet="ab $`\\\n{}^_=-1|*#.(,", max_size=6)
WORDS = st.one_of(
    st.sampled_from(
        ["0.5", "-2", "[0.1, -0.2]", r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}", "A", r"\alpha"]
    ),
    st.text(alphabet="ab $`\\\n1.-{}", max_size=4),
)


@st.composite
def texts(draw):
    words = draw(st.lists(WORDS, max_size=3))
    parts: list[str | None] = [draw(CONSTANTS)]
    for _ in words:
        parts += [
            draw(st.sampled_from(["$", " ", "$x = ", ""])),
            None,
            draw(st.sampled_from(["$", " ", "", ".$ and "])),
        ]
    return (*parts, draw(CONSTANTS)), words


def whole(parts, words) -> str:
    rest = iter(words)
    return "".join(next(rest) if part is None else part for part in parts)


@given(texts(), st.booleans())
@example((("$", None, "$"), [""]), False)
@example((("$", None, "$"), ["a\\"]), False)
@example((("a ", None, " b"), [r"\alpha"]), True)
@example((("$$", None, "$$ and ", None), ["-1", "x"]), False)
def test_a_frame_gives_what_the_filled_text_gives(case, inline):
    parts, words = case
    frame = prose_frame(parts, inline)
    try:
        text = frame.filled(words) if frame is not None else None
    except ProseError as error:
        with pytest.raises(ProseError) as same:
            render_prose(whole(parts, words), inline=inline)
        assert str(same.value) == str(error)
        return
    if text is not None:
        assert text == render_prose(whole(parts, words), inline=inline)


NUMBERS = ["0.5", "-2", "7", "-0.25", "10.0", "3"]


@st.composite
def numbered(draw):
    shapes = st.sampled_from(
        ["N", "[N, N]", "(N)", "N. N", r"\begin{bmatrix} N & N \\ N \end{bmatrix}", "xN", "N*"]
    )
    parts: list[str | None] = [draw(CONSTANTS)]
    words = draw(st.lists(shapes, min_size=1, max_size=3))
    for _ in words:
        # what numbers stand beside decides whether they can be put in afterwards
        around = st.sampled_from(
            ["$", " ", "$x = ", "", "$h_", "$x^{", r"$2 \cdot ", "|a|\n|-|\n|", "- ", "&#", "`"]
        )
        parts += [
            draw(around),
            None,
            draw(st.sampled_from(["$", " ", "", ".$ and ", "}$", ". ", "|\n", "`"])),
        ]
    return (*parts, draw(CONSTANTS)), words


@given(numbered(), st.booleans(), st.randoms(use_true_random=False))
@example((("$h_", None, "$ and $x = ", None, "$"), ["N", "[N, N]"]), False, Random(0))
@example((("one\n", None, ". two"), ["N"]), False, Random(0))
@example((("|a|b|\n|-|-|\n|", None, "|$", None, "$|\n"), ["N", "N"]), False, Random(1))
@example((("```\n", None, "\n```\n\n|a|\n|-|\n|b|\n"), ["N"]), False, Random(0))
def test_numbers_are_put_into_a_text_that_was_found_before(case, inline, random):
    parts, shapes = case
    frame = prose_frame(parts, inline)
    for _ in range(6 if frame is not None else 0):
        words = ["".join(random.choice(NUMBERS) if c == "N" else c for c in shape) for shape in shapes]
        try:
            text = frame.filled(words)
        except ProseError:
            continue
        if text is not None:
            assert text == render_prose(whole(parts, words), inline=inline)


VALUES = {"n": 3, "x": 0.25, "w": "word"}


@pytest.mark.parametrize(
    "template",
    [
        "{{ n }}",
        "{{ x + 1 }} and {{ 2 * n - 1 }}",
        "{{ num(x, 3) }}",
        "{{ w }}{{ n / 2 }}",
        "{{ w[0] }}",
        "{{ exp(x) }}",
    ],
)
def test_plain_parts_are_filled_as_by_jinja(template):
    needed, parts = _read(template)
    assert parts is not None
    words = iter(_words(parts, _meanings(needed, VALUES)) or ())
    assert "".join(p if isinstance(p, str) else next(words) for p in parts) == fill_template(template, VALUES)


@pytest.mark.parametrize(
    "template",
    [
        "{{ y }}",
        "{{ w * 3 }}",
        "{{ n[0] }}",
        "{{ w() }}",
        "{{ num(w) }}",
        "{{ 9 ** 99 }}",
        "{{ w.upper() }}",
        "{{ n / 0 }}",
    ],
)
def test_what_fails_without_jinja_fails_with_its_message(template):
    with pytest.raises(TemplateFault) as fault:
        fill_template(template, VALUES)
    with pytest.raises(Exception, match="can't be shown") as shown:
        render_text(template, VALUES)
    assert str(fault.value) in str(shown.value)


def test_most_templates_of_the_bank_need_no_jinja():
    bank = builtin_bank()
    stems = {bank.load(item).stem for item in bank.ids()}
    plain = [_read(stem)[1] is not None for stem in stems if is_template(stem)]
    assert sum(plain) > 0.7 * len(plain)
