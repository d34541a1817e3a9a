"""What people read is idiomatic: phrases that were carried over from German word by word are named here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine"
PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
]
# Pattern → what to write instead.
_PHRASES = {
    r"(?:\b(?:it|this|that|which|file|line)|['}\"]) is no (?!longer|more|such|room|way)": "isn't a …",
    r"\bthat are no (?!longer|more)": "that aren't …",
    r"(?:[;:,] |^)(?:see|look) (?:that|whether)\b(?! a file outside)": "check that",
    r"\banew\b(?!\*)": "again",
    r"\bstands? alone\b": "by itself",
    r"\bcounts? for nothing\b": "doesn't count, earns nothing",
    r"\b(?:for|from) want of\b": "because … is missing",
    r"\bnothing of (?:it|this|that)\b": "nothing about it, none of it",
    r"\b(?:lie|lies) in \{": "are in, is in",
    r"\bof this kind there\b": "of this kind",
    r"\bto mind\b": "to report, to worry about",
    r"\b(?:stands?|stood) (?:in|here|there|above|below|beside|under|before|behind|first|with)\b": "is in",
    r"\b(?:look|looks|see|sees) (?:into (?:your|the|a)\b|among the\b)": "check",
    r"\b(?<!e )[Mm]ails? (?:is|are|was|can't|isn't|aren't|waits?|address)": "email",
    r"\b(?:no|a|unwanted) mails?\b(?! \w+er\b)": "email",
    r"\b(?:commas|blanks) between (?:them|each)\b": "separated by commas or spaces",
    r"\bsomebody put\b|\b(?:is|are) told so\b|\bso far above\b": "say who does what",
    r"\bknows? no\b|\bknows? nobody\b": "has no …",
    r"\btold of\b|\b(?:that|this) is said\b": "say it in a sentence of its own",
    r"\bwith the items? as (?:it is|they are) now\b": "with the current item",
    r"\bthat hold now\b": "current",
    r"\b[Ww]rite nothing\b(?! outside)": "cancel",
    r"\b(?:[Nn]obody|[Nn]othing|none|[Ww]ho) fits\b|\bfits nobody\b": "matches",
    r"\bgo(?:es)? on (?:serving|answering)\b": "keeps …",
    r"\bso many (?:days|percent|points)\b": "a number of …",
}


def _sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what people may read of a file: a module's strings without docstrings, a template's lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        is_code = False
        for number, line in enumerate(text.splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            # Comments are for readers of the code; a template's and a script's are on lines of their own.
            if not is_code and not line.lstrip().startswith(("{#", "//", "* ")):
                yield number, line
        return
    tree = ast.parse(text)
    # click shows the docstrings of commands; others are for readers of the code.
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and "commands" not in path.parts
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            pieces = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            yield node.lineno, "".join(map(str, pieces))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def unidiomatic(path: Path) -> Iterator[str]:
    """Yield the phrases of a file that should be said otherwise."""
    for line, sentence in _sentences(path):
        for pattern, better in _PHRASES.items():
            if (match := re.search(pattern, sentence)) is not None:
                yield f"{path.name}:{line}: {match[0]!r}; better: {better}"


@pytest.mark.parametrize("suffix", ["py", "j2", "js"])
def test_what_people_read_is_idiomatic(suffix: str) -> None:
    assert not [fault for path in sorted(ENGINE.rglob(f"*.{suffix}")) for fault in unidiomatic(path)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_the_pages_say_is_idiomatic(page: Path) -> None:
    assert not list(unidiomatic(page))


def test_a_phrase_is_found_in_a_message_and_not_in_a_docstring(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""See that it works."""\nprint(f"{name} is no folder", "this is no longer so")\n')
    assert list(unidiomatic(module)) == ["module.py:2: '} is no '; better: isn't a …"]
