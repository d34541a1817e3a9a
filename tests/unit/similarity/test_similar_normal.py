"""The normal form: what changes nothing, what does, and what no text can do to it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.code.source import MAX_CHARACTERS
from engine.similarity.fingerprints import MOST_TOKENS, fingerprints, normal_form
from tests.unit.similarity.disguises import FOUND
from tests.unit.similarity.measure import solutions

SOFTMAX = """import numpy as np

def softmax(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)
"""


def form(source: str) -> list[str]:
    """Return the statements of a source as lines, own names numbered in their order."""
    numbers: dict[str, int] = {}
    return [
        " ".join(f"v{numbers.setdefault(t.name, len(numbers))}" if t.name else t.text for t in s.tokens)
        for s in normal_form(source).statements
    ]


def test_the_form_of_a_small_function_is_as_expected() -> None:
    assert form(SOFTMAX) == [
        "def v0 v1 -1",
        "= v2 exp Sub v0 max v0 axis= v1 keepdims= True",
        "return Div v2 sum v2 axis= v1 keepdims= True",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from numpy import exp as f\ny = f(x)", "import numpy as np\ny = np.exp(x)"),
        ("y = a + b * c", "y = c * b + a"),
        ("y = x.sum(axis=0)", "import torch\ny = torch.sum(x, dim=0)"),
        ("x += 1", "x = x + 1"),
        ("a, b = c, d", "a = c\nb = d"),
        ("if not a == b:\n    f(a)", "if a != b:\n    f(a)"),
        ("if a is not None:\n    f(a)\nelse:\n    g(a)", "if a is None:\n    g(a)\nelse:\n    f(a)"),
        ("y = 1 if a > b else 2", "y = 1 if b < a else 2"),
        ("f = lambda a: a + 1", "def f(a):\n    return 1 + a"),
        ("r = []\nfor a in b:\n    r.append(f(a))", "r = [f(a) for a in b]"),
        ("r = []\nfor a in b:\n    if a:\n        r.append(f(a))", "r = [f(a) for a in b if a]"),
        (
            "def f(a: int) -> int:\n    'Doc.'\n    return g(a)",
            "def f(a):\n    # why\n    print(a)\n    return g(a)",
        ),
        ("def f(a):\n    b = g(a)\n    c = h(b)\n    return c", "def f(a):\n    return h(g(a))"),
        ("def f(a):\n    unused = 3\n    return g(a)", "def f(a):\n    return g(a)\n    g(3)"),
        ("if False:\n    f(1)\ng(2, 3, 4)", "while 0:\n    f(1)\ng(2, 3, 4)"),
        ("raise ValueError('one')", "raise ValueError(f'two {x}')"),
        ("y = 1e-9 * 17", "y = 1e-12 * 18"),
        (
            "class A:\n    def m(self):\n        self.q = 1\n",
            "class B:\n    def k(this):\n        this.z = 1\n",
        ),
    ],
)
def test_two_ways_to_write_the_same_have_one_form(one: str, other: str) -> None:
    assert form(one) == form(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("y = a - b", "y = a + b"),
        ("y = x[0]", "y = x[1]"),
        ("y = x[:-2]", "y = x[-2:]"),
        ("y = x.sum(axis=0)", "y = x.sum(axis=1)"),
        ("y = x - f(x)", "y = x - f(z)"),
        ("y = a @ b @ c", "y = a @ (b @ c)"),
        ("if a < b:\n    f(a)", "if a <= b:\n    f(a)"),
    ],
)
def test_what_computes_something_else_has_another_form(one: str, other: str) -> None:
    assert form(one) != form(other)


def test_a_value_that_is_read_twice_or_before_it_is_assigned_stays_where_it_is() -> None:
    assert form("def f(a):\n    b = g(a)\n    return b + b")[1:] == ["= v1 v2 v0", "return Add v1 v1"]
    looped = form("def f(a):\n    for i in a:\n        g(b)\n        b = h(i)\n")
    assert looped[-1].startswith("= ")


@pytest.mark.parametrize("item", ["sdpa", "beam-search"])
@pytest.mark.parametrize("name", ["renamed", "reformatted", "functions reordered", "branches swapped"])
def test_a_disguise_that_changes_no_step_changes_no_fingerprint(item: str, name: str) -> None:
    for title, source in solutions(item).items():
        disguised = FOUND[name](source, random.Random(title))
        assert disguised != source or name == "branches swapped"
        assert fingerprints(normal_form(disguised)) == fingerprints(normal_form(source)), title


def test_lines_are_those_of_the_file() -> None:
    found = normal_form("\n\n" + SOFTMAX)
    assert [sorted({token.line for token in s.tokens}) for s in found.statements] == [[5], [6, 7], [8]]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("    e = np.exp(shifted)", "    e = np.exp(shifted"),
        ("def softmax(x, axis=-1):", "def softmax(x, axis=-1:"),
    ],
    ids=["a line", "the head"],
)
def test_a_file_that_python_cannot_read_still_shows_what_it_has(good: str, bad: str) -> None:
    broken = normal_form(SOFTMAX.replace(good, bad))
    assert not broken.is_whole
    whole = normal_form(SOFTMAX)
    assert whole.is_whole
    last = whole.statements[-1].tokens
    assert [token.text for token in broken.statements[-1].tokens] == [token.text for token in last]
    assert broken.statements[-1].tokens[0].line == last[0].line


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec=None), max_size=80))
def test_no_text_makes_it_fail(text: str) -> None:
    normal_form(text)
    normal_form(f"def f(x):\n    return {text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffx = f(1, 2, 3)\r\n",
        "x = f(1)\0\0",
        "(" * 5_000,
        "x = " + "-" * 5_000 + "1",
        "x = " + "1 + " * 5_000 + "1",
        "x = " + "a." * 5_000 + "b",
        "def f():\n" + "".join(f"    t{i + 1} = g(t{i})\n" for i in range(1_500)) + "    return t1500\n",
        "\n".join(" " * i + "if x:" for i in range(120)),
        "\ud800 = 1",
        "match x:\n    case [a, *b]:\n        f(a)\n    case {'k': v}:\n        g(v)\n",
        "async def f():\n    async with a as b:\n        await b\n    async for i in b:\n        yield i\n",
        "try:\n    f(1)\nexcept* E as e:\n    g(e)\nfinally:\n    h(2)\n",
        "def f(a, /, b, *c, d=1, **e):\n    global g\n    del a\n    assert (y := b), 'no'\n    x: int\n",
        "f" * 300_000,
    ],
    ids=range(14),
)
def test_hostile_files_have_a_form(text: str) -> None:
    found = normal_form(text)
    assert found.statements or text.startswith(("(", "\ud800"))


def test_a_long_file_is_cut_and_says_so() -> None:
    found = normal_form("x = f(1, 2, 3)\n" * 20_000)
    assert found.is_cut
    assert sum(len(statement.tokens) for statement in found.statements) <= MOST_TOKENS
    assert normal_form("#" * (MAX_CHARACTERS + 1)).is_cut
    assert not normal_form(SOFTMAX).is_cut
