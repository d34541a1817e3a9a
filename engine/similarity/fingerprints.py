"""The normal form of a file, and its fingerprints by winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003).

A file that Python can't read is repaired line by line, and read as plain words where that fails.

Every run of ``GRAM`` tokens of a statement is hashed; of any ``WINDOW`` hashes in a row the smallest is
kept. So two statements that share a run of at least ``GUARANTEE`` = ``GRAM + WINDOW - 1`` tokens share a
fingerprint, and no run of fewer than ``GRAM`` tokens is ever seen, except for statements that are shorter
as a whole.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.code.source import MAX_CHARACTERS, parse_python
from engine.similarity.rewrite import plain, without_temporaries
from engine.similarity.tokens import (
    STUDENT_NAME,
    CodeToken,
    FileNames,
    StatementTokens,
    TokenStatement,
    names_of,
)

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
        yield from _word_pieces(line, number, names)


def _word_pieces(line: str, number: int, names: FileNames) -> Iterator[CodeToken]:
    for match in _WORDS.finditer(line):
        word = match.group()
        if match.lastgroup == "string":
            yield CodeToken("STRING", number)
        elif match.lastgroup == "number":
            yield CodeToken(word if len(word) == 1 else "NUMBER", number)
        elif match.lastgroup == "name":
            known = word if word in _KEYWORDS else names.library(word)
            yield (
                CodeToken(STUDENT_NAME, number, word)
                if known is None
                else CodeToken(known.rpartition(".")[2], number)
            )
        elif match.lastgroup == "sign" and word not in "()[]{},.:;":
            yield CodeToken(word, number)


# Six tokens are about one short assignment: shorter runs are in every solution of an exercise, and longer
# ones miss copies in which every other expression was touched.
GRAM = 6
WINDOW = 3
GUARANTEE = GRAM + WINDOW - 1
LEAST = 4
"""Statements of fewer tokens say nothing: ``return x``, ``pass``, ``i = 0``."""


def fingerprints(normal: NormalForm) -> frozenset[int]:
    """Return the fingerprints of a file."""
    return frozenset(h for statement in normal.statements for h in _winnowed(statement.tokens))


def all_grams(normal: NormalForm) -> frozenset[int]:
    """Return the hash of every gram: what has to be known of a file that doesn't count."""
    return frozenset(hashed for statement in normal.statements for hashed, _, _ in grams(statement.tokens))


def _winnowed(tokens: Sequence[CodeToken]) -> Iterator[int]:
    hashes = [hashed for hashed, _, _ in grams(tokens)]
    for start in range(max(1, len(hashes) - WINDOW + 1)):
        if hashes:
            yield min(hashes[start : start + WINDOW])


def grams(tokens: Sequence[CodeToken]) -> list[tuple[int, int, int]]:
    """Return (hash, first token, number of tokens) of each gram of a statement.

    The student's own names count by where they came last in the gram, so that no renaming changes a hash and
    ``x - max(x)`` is another one than ``x - max(y)``.
    """
    if len(tokens) < LEAST:
        return []
    size = min(GRAM, len(tokens))
    return [
        (_hash("\n".join(_texts(tokens[start : start + size]))), start, size)
        for start in range(len(tokens) - size + 1)
    ]


def _texts(tokens: Sequence[CodeToken]) -> list[str]:
    # A student's own name counts as the number of names that came before it first, so that no renaming hides
    # it.
    numbers: dict[str, int] = {}
    return [f"·{numbers.setdefault(t.name, len(numbers))}" if t.name else t.text for t in tokens]


@lru_cache(maxsize=100_000)
def _hash(text: str) -> int:
    # Python's own hash differs from run to run, and with it what is kept.
    # Python's own hash differs from run to run, and the ranking of pairs must not.
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")


# The words of a file: its own names, comments and texts. They show plain copies of what all write alike.

_OURS = re.compile(r"noqa|type: ?ignore|coding[:=]|^# --- .* ---$|fmt: ")
_COMMON_WORDS = (
    frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"self", "np", "torch", "math", "numpy"}
)


def words(source: str) -> frozenset[str]:
    """Return the words that say something about who wrote a text; nothing in it can make this fail."""
    return frozenset(_words(source[:MAX_CHARACTERS].replace("\0", " ").removeprefix("\ufeff")))


def _words(text: str) -> Iterator[str]:
    before, name, depth = "", "", 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if name and not (token.string == "=" and depth):  # else it is the name of a library's argument
                yield name
            name = ""
            if token.type == tokenize.COMMENT and not _OURS.search(token.string):
                yield from _phrase("#", token.string.lstrip("#"))
            elif token.type == tokenize.STRING:
                yield from _phrase('"', token.string.strip("rbfuRBFU\"'"))
            elif token.type == tokenize.NAME and before != "." and token.string not in _COMMON_WORDS:
                name = token.string if len(token.string) > 1 else ""
            depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
            before = token.string
    except (tokenize.TokenError, SyntaxError):  # what came before it counts
        return


def _phrase(kind: str, text: str) -> Iterator[str]:
    plain = " ".join(text.split()).casefold()
    if sum(c.isalpha() for c in plain) >= 3:
        yield f"{kind} {plain}"
