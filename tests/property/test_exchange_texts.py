"""Foreign texts of any kind become Markdown of ours that shows them, and nothing else."""

from __future__ import annotations

import html5lib
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.authoring.importing.foreign_question import MarkedText, TextForm
from engine.authoring.importing.text_blocks import plain_characters
from engine.authoring.importing.to_markdown import convert
from engine.authoring.importing.yaml_writer import as_read, yaml_text
from engine.items.checks.texts import latex_faults
from engine.prose.markdown import render_prose
from engine.prose.stems import is_template
from engine.text.yaml import read_yaml

MARKS = [
    "{{", "}}", "{%", "%}", "{#", "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\alpha", "\\", "`", "```",
    "*", "**", "_", "__", "#", "# ", "- ", "+ ", "1. ", "2) ", "> ", "|", "---", "===", "~~~", "&",
    "&amp;", "&#36;", "&lt;", "<", ">", "\n", "\n\n", "    ", " ", "a", "B", "x1", "ä", "α", "[a](b)",
    "![a](b)", "```picture heatmap\n", ":--", "\ue000", "\ufdd0", "\u202e", "\x07", "[bold red]", "(",
    ")", ".", "'", '"', "\\frac{1}{2}", "x^2", "\\foo", "{", "}", "\\\\",
]  # fmt: skip
TAGS = [
    "<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<br>", "<br/>", "<ul>", "</ul>", "<ol>", "<li>",
    "</li>", "<table>", "<tr>", "<td>", "</td>", "</table>", "<code>", "</code>", "<pre>", "</pre>",
    "<sub>", "</sub>", "<sup>", "</sup>", "<blockquote>", "</blockquote>", "<h2>", "</h2>",
    "<span class='x'>", "</span>", "<a href='y'>", "</a>", "<th>",
]  # fmt: skip
DROPPED = [
    "<script>", "</script>", "<img src=x>", "<svg>", "</svg>", "<math>", "</math>", "<foo>", "<!--",
    "-->", "<a b='",
]  # fmt: skip


def soup(*parts: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), max_size=14).map("".join)


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(st.one_of(soup(*MARKS), st.text(max_size=60)), st.booleans())
@example("a\\", True)
@example("- a\n- b", False)
def test_plain_text_shows_as_it_is(text: str, inline: bool) -> None:
    converted = convert(MarkedText(text, TextForm.PLAIN), inline=inline)
    assert not is_template(converted.prose)
    if not converted.prose:
        return
    shown = render_prose(converted.prose, inline=inline).plain
    if "\\(" not in text and "\\[" not in text and "$$" not in text:
        assert squeezed(shown) == squeezed(plain_characters(text)[0])


@pytest.mark.parametrize("form", list(TextForm))
@given(text=soup(*MARKS, *TAGS, *DROPPED), inline=st.booleans())
def test_every_text_can_be_rendered_and_is_no_template(form: TextForm, text: str, inline: bool) -> None:
    converted = convert(MarkedText(text, form), inline=inline)
    assert not is_template(converted.prose)
    assert list(latex_faults(converted.prose)) == []
    if converted.prose:
        rendered = render_prose(converted.prose, inline=inline)
        assert "<script" not in rendered.html


OURS = "-–.…0123456789"
LETTERS = [
    "a",
    "B",
    "x1",
    "ä",
    " ",
    "&lt;",
    "&amp;amp;",
    "{{",
    "*",
    "_",
    "#",
    "- ",
    "|",
    "`",
    "\\x",
    "$",
    "1. ",
    "(",
    ".",
]


@given(soup(*LETTERS, *[tag for tag in TAGS if "su" not in tag]))
def test_html_keeps_every_character_that_a_browser_shows(text: str) -> None:
    converted = convert(MarkedText(text, TextForm.HTML))
    tree = html5lib.parse(f"<body>{text}", namespaceHTMLElements=False)
    expected = squeezed("".join(tree.itertext()))
    shown = render_prose(converted.prose).plain if converted.prose else ""
    # marks of lists and lines of tables are ours
    bare = [c for c in squeezed(shown) if c not in OURS]
    assert sorted(bare) == sorted(c for c in expected if c not in OURS)


VALUES = st.one_of(
    soup(*MARKS, ": ", " #", "yes", "null", "0x1", "1e3", "!!x", "&a", "*a", "- - ", "? ", "%"),
    st.text(max_size=40),
)


@given(st.lists(VALUES, min_size=1, max_size=5), st.lists(VALUES, max_size=3))
def test_yaml_holds_what_was_written(texts: list[str], comments: list[str]) -> None:
    clean = [
        "\n".join(line.rstrip() for line in plain_characters(t)[0].split("\n")).strip("\n") or "x"
        for t in texts
    ]
    data = {
        "one": clean[0],
        "list": clean,
        "inner": {"b": True, "n": 3},
        "entries": [{"text": t} for t in clean],
    }
    document = read_yaml(yaml_text(data, {"": comments, "list": comments}), "x.yaml")
    assert document.data == as_read(data)
