"""Bring Python source into a form that stays the same when a file is disguised.

Renaming, reformatting, reordering and rewriting of loops change nothing in it: ``r = x - m`` and ``out = y -
peak`` are the same tokens. A file that Python can't read is compared as far as possible.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.code.source import MAX_CHARACTERS, parse_python
from engine.similarity.rewrite import plain, without_temporaries
from engine.similarity.tokens import OWN, CodeToken, FileNames, StatementTokens, TokenStatement, names_of

__all__ = ["MOST_TOKENS", "NormalForm", "normal_form"]

# Exercises have a few hundred tokens. Comparing passages is quadratic at worst, so that one endless file
# must not hold up a class.
MOST_TOKENS = 20_000
# Each repair parses the text again; a file with more broken lines is read as plain words.
_REPAIRS = 20
# What Python's parser raises for hostile text: deep brackets run out of stack or memory.
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_WORDS = re.compile(
    r"(?P<skip>\s+|\#.*)|(?P<string>\"[^\"]*\"?|'[^']*'?)|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<sign>.)"
)
_OPENS = re.compile(r"\s*(def|class|if|elif|else|for|while|with|try|except|finally|async)\b.*:\s*(#.*)?$")
_KEYWORDS = frozenset(keyword.kwlist) - {"None", "True", "False"}


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A file in normal form.

    Parameters
    ----------
    statements : tuple of TokenStatement
    is_whole : bool
        Whether Python can read the file; else it was read as far as possible.
    is_cut : bool
        Whether only its beginning was read, because it is too long.
    """

    statements: tuple[TokenStatement, ...]
    is_whole: bool = True
    is_cut: bool = False


def normal_form(source: str) -> NormalForm:
    """Return the normal form of any text; nothing in it can make this fail."""
    # NUL and a byte order mark alone keep Python from reading a file that is fine otherwise.
    text = source[:MAX_CHARACTERS].replace("\0", " ").removeprefix("\ufeff")
    statements, is_whole = _statements(text)
    shortened: list[TokenStatement] = []
    room = MOST_TOKENS
    for statement in statements:
        room -= len(statement.tokens)
        if room < 0:
            break
        shortened.append(statement)
    return NormalForm(tuple(shortened), is_whole, room < 0 or len(source) > MAX_CHARACTERS)


def _statements(text: str) -> tuple[Iterable[TokenStatement], bool]:
    for repaired, is_whole in _repairs(text):
        try:
            tree = parse_python(repaired)
            names = names_of(tree)
            plain(tree)
            without_temporaries(tree)
            return StatementTokens(names).module(tree.body), is_whole
        except _UNREADABLE:
            continue
    return _by_lines(text), False


def _repairs(text: str) -> Iterator[tuple[str, bool]]:
    # A file with one broken line is otherwise as comparable as any.
    yield text, True
    lines = text.split("\n")
    for _ in range(_REPAIRS):
        try:
            parse_python("\n".join(lines))
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
            if not 0 <= at < len(lines) or isinstance(error, IndentationError):
                return
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            blank = f"{indent}if 1:" if _OPENS.match(lines[at]) else f"{indent}pass"
            if lines[at] == blank:
                return
            lines[at] = blank
        except _UNREADABLE:
            return
        else:
            yield "\n".join(lines), False
            return


def _by_lines(text: str) -> Iterator[TokenStatement]:
    names = names_of(ast.Module([], []))
    for number, line in enumerate(text.split("\n"), start=1):
        tokens = tuple(_line_tokens(line.strip(), number, names))
        if tokens:
            yield TokenStatement(tokens, 0)


def _line_tokens(line: str, number: int, names: FileNames) -> Iterator[CodeToken]:
    whole = f"{line} pass" if line.endswith(":") else line
    try:
        tree = plain(ast.increment_lineno(parse_python(whole), number - 1))
        statements = StatementTokens(names).module(tree.body)
        yield from (token for statement in statements for token in statement.tokens)
    except _UNREADABLE:
        yield from _words(line, number, names)


def _words(line: str, number: int, names: FileNames) -> Iterator[CodeToken]:
    for match in _WORDS.finditer(line):
        word = match.group()
        if match.lastgroup == "string":
            yield CodeToken("STRING", number)
        elif match.lastgroup == "number":
            yield CodeToken(word if len(word) == 1 else "NUMBER", number)
        elif match.lastgroup == "name":
            known = word if word in _KEYWORDS else names.library(word)
            yield (
                CodeToken(OWN, number, word) if known is None else CodeToken(known.rpartition(".")[2], number)
            )
        elif match.lastgroup == "sign" and word not in "()[]{},.:;":
            yield CodeToken(word, number)
