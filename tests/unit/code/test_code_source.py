"""What the source shows before it runs, hostile sources included."""

from __future__ import annotations

import time

import pytest

from engine.code.examine import examine_source
from engine.code.source import function_names

SIGNATURE = "softmax(x, axis=-1)"


def facts(source: str):  # type: ignore[no-untyped-def]
    return examine_source(source, "softmax", SIGNATURE)


@pytest.mark.parametrize(
    ("source", "library"),
    [
        ("import numpy as np\ndef softmax(x, axis=-1): ...", "numpy"),
        ("def softmax(x, axis=-1): ...", "numpy"),
        ("import torch\ndef softmax(x, axis=-1): ...", "torch"),
        ("import numpy, torch.nn as nn\ndef softmax(x, axis=-1): ...", "torch"),
        ("from torch.nn import functional\ndef softmax(x, axis=-1): ...", "torch"),
        ("def softmax(x, axis=-1):\n    import torch\n    return x", "torch"),
        ("# import torch\ns = 'import torch'\ndef softmax(x, axis=-1): ...", "numpy"),
        ("import torchlike\ndef softmax(x, axis=-1): ...", "numpy"),
        ("from .torch import x\ndef softmax(x, axis=-1): ...", "numpy"),
    ],
)
def test_library_is_what_the_file_imports(source: str, library: str) -> None:
    assert facts(source).library == library
    assert facts(source).unreadable is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def softmax(x, axis=-1)\n    return x", "in line 1: def softmax(x, axis=-1)"),
        ("x = 1\nprint 'a'", "line 2"),
        ("def softmax(x):\nreturn x", "line 2"),
        ("", "empty"),
        ("  \n\t", "empty"),
        ("x = 1\0", "null bytes"),
        ("x" * 300_000, "more than 262144 characters"),
        ("(" * 1000, "Python can't read"),
        ("x = '\x1b[31m", "Python can't read"),
    ],
)
def test_unreadable_source_gets_one_clean_sentence(source: str, words: str) -> None:
    told = facts(source).unreadable
    assert told is not None and words in told and "\n" not in told and "\x1b" not in told


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "-" * 100_000 + "1",
        "x = " + "not " * 60_000 + "1",
        "x = " + "a." * 100_000 + "a",
        "x = a" + "()" * 100_000,
        "x = " + "[" * 190 + "]" * 190,
        "x = " + "lambda: " * 30_000 + "1",
        "x = " + "1+" * 100_000 + "1",
        "x = " + "(yield " * 150 + "1" + ")" * 150,
        "if x:\n  pass\n" + "elif x:\n  pass\n" * 10_000,
        "x = f'" + "{" * 100 + "1" + "}" * 100 + "'",
        "def softmax(x, axis=" + "-" * 50_000 + "1): ...",
        "\n".join(f"def f{i}(): ..." for i in range(15_000)),
        "global " + ", ".join(f"a{i}" for i in range(30_000)),
    ],
    ids=lambda source: source[:12],
)
def test_hostile_source_is_survived(source: str) -> None:
    found = facts(source)
    assert found.unreadable or found.fault or found.library == "numpy"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def soft_max(x, axis=-1): ...", "It defines soft_max: rename that if it is the one."),
        ("def Softmax(x, axis=-1): ...", "It defines Softmax: rename that if it is the one."),
        ("def f(x, axis=-1): ...", "It defines f."),
        ("x = 1", "doesn't define softmax(x, axis=-1)."),
        ("class A:\n    def softmax(self, x, axis=-1): ...", "top level"),
        ("def main():\n    def softmax(x, axis=-1): ...", "top level"),
        ("def softmax(): ...", "written softmax(); expected"),
        ("def softmax(x, y, axis=-1): ...", "written softmax(x, y, axis=…); expected"),
        ("def softmax(x, axis=-1, *, debug): ...", "written softmax(x, axis=…, *, debug); expected"),
        ("def softmax(*, x, axis=-1): ...", "written softmax(*, x, axis); expected softmax(x, axis=-1)"),
        ("def softmax(x, extra, axis=-1): ...", "written softmax(x, extra, axis=…); expected"),
        ("class softmax:\n    def __call__(self, x, axis=-1): ...", "is a class here; expected the function"),
        (
            "from torch.nn import Module\nclass softmax(Module):\n    def forward(self, x): ...",
            "is a class here",
        ),
        ("async def softmax(x, axis=-1): ...", "async"),
    ],
)
def test_missing_or_wrong_function_is_told_before_anything_runs(source: str, words: str) -> None:
    fault = facts(source).fault
    assert fault is not None and words in fault


@pytest.mark.parametrize(
    ("source", "takes", "requires", "keyword"),
    [
        ("def softmax(x): ...", 1, None, None),
        ("def softmax(x, axis): ...", None, 2, None),
        ("def softmax(x, dim=0): ...", None, None, None),
        ("def softmax(*args): ...", None, None, None),
        ("def softmax(x, *, axis=-1): ...", None, None, "axis"),
        ("def softmax(x, *, dim=-1): ...", None, None, "dim"),
        ("def softmax(x, *, axis): ...", None, 2, "axis"),
        ("def softmax(x, *, verbose=False, axis=-1): ...", None, None, "axis"),
        ("def softmax(x, temperature=1.0, axis=-1): ...", None, None, "axis"),
        ("def softmax(x, **options): ...", None, None, "axis"),
        ("def softmax(*args, axis=-1): ...", None, None, "axis"),
        ("@timed\ndef softmax(x, *, axis=-1): ...", None, None, "axis"),
        ("softmax = lambda x, *, axis=-1: x", None, None, "axis"),
        ("def f(x, *, axis=-1): ...\nsoftmax = f", None, None, "axis"),
        ("def softmax(x): ...\ndef softmax(x, *, axis=-1): ...", None, None, "axis"),
        ("class A:\n    def __call__(self, x, *, axis=-1): ...\nsoftmax = A()", None, None, "axis"),
        ("class A:\n    def go(self, x, *, axis=-1): ...\nsoftmax = A().go", None, None, "axis"),
        ("class A:\n    @staticmethod\n    def go(x, *, axis=-1): ...\nsoftmax = A.go", None, None, "axis"),
        ("def f(e, x, axis=-1): ...\nsoftmax = functools.partial(f, 0)", None, None, None),
        ("def f(x, e=1, axis=-1): ...\nsoftmax = functools.partial(f, e=0)", None, None, "axis"),
    ],
)
def test_an_optional_argument_is_passed_as_the_function_takes_it(
    source: str, takes: int | None, requires: int | None, keyword: str | None
) -> None:
    """What such a function can't do is judged by the calls, so it isn't refused."""
    found = facts(source)
    assert (found.fault, found.passing.takes, found.passing.requires) == (None, takes, requires)
    assert dict(found.passing.keywords) == ({} if keyword is None else {1: keyword})


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x, axis=-1): ...",
        "def softmax(x, dim=-1): ...",
        "def softmax(x, axis=-1, eps=0): ...",
        "def softmax(*args): ...",
        "def softmax(x, /, axis=None, **more): ...",
        "softmax = lambda x, axis=-1: x",
        "from scipy.special import softmax",
        "import m as softmax",
        "from m import *",
        "class softmax:\n    def __new__(cls, x, axis=-1): ...",
        "class softmax(Base): ...",
        "try:\n    import a\nexcept ImportError:\n    def softmax(x, axis=-1): ...",
        "if True:\n    def softmax(x, axis=-1): ...",
        "def softmax(x): ...\nsoftmax = 3",
        "def make():\n    global softmax\n    softmax = 1",
        "globals()['soft' + 'max'] = 1",
        "for softmax in []: ...",
        "with open('f') as softmax: ...",
        "import functools\n@functools.cache\ndef softmax(x): ...",
    ],
)
def test_whatever_may_define_the_function_is_run(source: str) -> None:
    assert facts(source).fault is None and facts(source).unreadable is None


def test_markup_in_names_stays_text() -> None:
    told = facts("def softmax(x, a\u0431b, c): ...").fault
    assert told is not None and "a\u0431b" in told


def test_function_names_of_a_mutant_file() -> None:
    source = "def softmax(x): ...\ndef softmax_b(x): ...\ndef other(): ...\ndef softmaxes(): ..."
    assert function_names(source, "softmax") == ("softmax", "softmax_b")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import {}".format(".".join(["a"] * 80_000)), "a name with so many dots"),
        ("from {} import b".format(" \\\n.".join(["a"] * 30_000)), "a name with so many dots"),
        ("s = f'{}'".format("{a}" * 70_000), "an f-string of more than 1000 fields"),
        ("s = rF'''{}'''".format("{a}\n" * 50_000), "an f-string of more than 1000 fields"),
        ("s = f'{}'".format("{a:{b}}" * 20_000), "an f-string of more than 1000 fields"),
    ],
)
def test_what_the_parser_would_read_for_minutes_is_refused_at_once(line: str, message: str) -> None:
    """The grader's process parses it, and with it the site's pages would stand still."""
    begun = time.process_time()
    refused = facts(f"def softmax(x, axis=-1): ...\n{line}\n").unreadable
    assert refused is not None and message in refused
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "more",
    [
        "table = {" + ",".join(f"{n}: {{}}" for n in range(4000)) + "}",
        "page = '" + "{a} " * 4000 + "'",
        "page = f'" + "{x} " * 900 + "'\n" + "# a comment that makes it long\n" * 500,
        "y = x.sum().mean.real\n" * 3000,
        "open_bracket = 'no end" + "\\\n" * 6000 + "'",
    ],
)
def test_long_programs_of_any_honest_kind_are_read(more: str) -> None:
    assert facts(f"def softmax(x, axis=-1): ...\n{more}\n").unreadable is None
