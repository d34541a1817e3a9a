"""What the grammar of gift-pegjs takes, and what breaks it."""

from __future__ import annotations

from tests.oracles.gift_client import gift_questions, parsed_gift


def test_what_breaks_the_grammar() -> None:
    broken = [
        "::[id:a] title::q{=a ~b}\n",  # a colon of a title is escaped, and ids stand in comments
        "::n::q{#0.27:0.01#feedback}\n",  # feedback of a number needs = before the number
        "::n::q{#1e-3}\n",  # numbers have no exponent
        "::n::q with { in it{=a ~b}\n",
    ]
    fits = [
        "// [id:a] [tag:softmax]\n::title\\: one::q{=a ~b}\n",
        "::n::q{#=%100%0.265..0.275#feedback =%0%0.7..0.8#no}\n",
        "::n::q{#=0.001}\n",
        "::n::q with \\{ in it{=a ~b}\n",
    ]
    assert ["error" in tree for tree in parsed_gift([*broken, *fits])] == [True] * 4 + [False] * 4


def test_a_tree_becomes_questions() -> None:
    text = (
        "$CATEGORY: $module$/top/a\n\n"
        "// [id:x] [tag:t]\n::n::[html]q{#=%100%0.25..0.75#good =%0%1..2#no####general}\n\n"
        "::m::q{=left -> r\\:1\n= -> r2}\n\n::s::q{~%50%a ~%50%b ~%-50%c}\n"
    )
    (tree,) = parsed_gift([text])
    number, pairs, several = gift_questions(tree["questions"])
    assert (number.kind, number.category, number.tags, number.idnumber) == (
        "numerical", "$module$/top/a", ("t",), "x",
    )  # fmt: skip
    assert [(a.text, a.tolerance, a.fraction, a.feedback) for a in number.answers] == [
        ("0.5", 0.25, 1.0, "good"),
        ("1.5", 0.5, 0.0, "no"),
    ]
    assert number.general == "general"
    assert pairs.pairs == (("left", "r:1"), ("", "r2"))
    assert (several.single, [answer.fraction for answer in several.answers]) == (False, [0.5, 0.5, -0.5])
