"""Say in plain words what a YAML parser complains about, and where each value of a file is.

PyYAML names tokens and states (``expected <block end>, but found '?'``); authors want to know which bracket
or quotation mark is open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from engine.errors import Diagnostic
from engine.text.files import source_line
from engine.text.words import one_line


def explain_syntax(problem: yaml.YAMLError, text: str) -> tuple[int, int, str]:
    """Return line and column (from 1) and our own sentence for a parser's complaint.

    Parameters
    ----------
    problem : yaml.YAMLError
        As raised by PyYAML's C parser.
    text : str
        The whole file.
    """
    if not isinstance(problem, yaml.MarkedYAMLError):
        return 1, 1, "this isn't YAML text"
    mark = problem.problem_mark or problem.context_mark
    if mark is None:
        return 1, 1, "this isn't YAML"
    line, column = mark.line + 1, mark.column + 1
    runaway = _runaway_quote(text, mark.line)
    if runaway is not None:
        quote, closed = runaway
        message = (
            f"the quotation mark that is opened here is closed only on line {closed}: close it where the "
            "text ends (one inside the text must be doubled, or the other kind)"
        )
        return quote.line + 1, quote.column + 1, message
    bracket = _open_bracket(text) if "expected node content" in (problem.problem or "") else None
    if bracket is not None and not "\n".join(text.split("\n")[mark.line :])[mark.column :].strip():
        kind, start = bracket
        return start.line + 1, start.column + 1, _NOT_CLOSED[kind]
    message = _sentence(problem, source_line(text, line), column)
    opened = problem.context_mark
    if opened is not None and "opened" in message:  # where it starts says more than where it ends
        line, column = opened.line + 1, opened.column + 1
    return line, column, message


def _runaway_quote(text: str, line: int) -> tuple[yaml.Mark, int] | None:
    """Return where a quotation mark opens whose text ends lines below, at the fault, and on which line.

    A mark that isn't closed takes all up to the next one, so that the parser stumbles where all is well.

    Parameters
    ----------
    text : str
        The whole file.
    line : int
        Where the parser stumbled, from 0.
    """
    last = None
    try:
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"'):
                last = token
    except yaml.YAMLError:
        pass
    if last is None or not last.start_mark.line < last.end_mark.line == line:
        return None
    return last.start_mark, last.end_mark.line + 1


def _open_bracket(text: str) -> tuple[str, yaml.Mark] | None:
    opened: list[tuple[str, yaml.Mark]] = []
    try:
        for token in yaml.scan(text, Loader=yaml.CSafeLoader):
            if isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken):
                kind = "[" if isinstance(token, yaml.FlowSequenceStartToken) else "{"
                opened.append((kind, token.start_mark))
            elif isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken) and opened:
                opened.pop()
    except yaml.YAMLError:
        pass
    return opened[-1] if opened else None


_NOT_CLOSED = {
    "[": "a list that was opened with '[' isn't closed, or lacks a comma",
    "{": "a mapping that was opened with '{' isn't closed, or lacks a comma",
}


def _sentence(problem: yaml.MarkedYAMLError, line: str, column: int) -> str:
    complaint, context = problem.problem or "", problem.context or ""
    here = line[column - 1 : column]
    if "tab character" in complaint or ("\t" in line[:column] and not line[: column - 1].strip()):
        return "a tab can't be used for indentation; use blanks"
    if "cannot start any token" in complaint:
        return f"a value can't start with '{one_line(here)}'; put it in quotes"
    if "mapping values are not allowed" in complaint:
        return _about_colon(line, column)
    if here in ("[", "{") and re.search(r"expected ',' or '[\]}]'", complaint):
        return f"inside {{ }} and [ ] a text with '{here}' must be in quotes; put it in quotes"
    if "quoted scalar" in context:
        return _about_quotes(complaint, line[column - 1 : column + 1])
    for pattern, sentence in _SENTENCES:
        if re.search(pattern, complaint) or re.search(pattern, context):
            return sentence
    return f"this isn't YAML: {one_line(complaint, 100)}"


def _about_colon(line: str, column: int) -> str:
    if ":" in line[: column - 1]:
        return "this line has a second ': '; put the text in quotes"
    return "a ': ' isn't possible here; check the indentation and the line above"


def _about_quotes(complaint: str, here: str) -> str:
    if "end of stream" in complaint or "document indicator" in complaint:
        return "a quotation mark was opened and never closed"
    if "escape" in complaint:
        return f"in double quotes '{one_line(here)}' has no meaning; use single quotes, or | and a new line"
    return "something is wrong in this quoted text"


_SENTENCES = (
    (r"nesting depth", "this is nested more than 64 levels deep"),
    (r"could not find expected ':'", "a key without its ': '"),
    (r"expected ',' or '\]'", _NOT_CLOSED["["]),
    (r"expected ',' or '\}'", _NOT_CLOSED["{"]),
    (
        r"expected '-' indicator",
        "this line is where a '- ' of the list above was expected; check the indentation",
    ),
    (
        r"expected key",
        "this doesn't continue the lines above; check the indentation, and quotes that end early",
    ),
    (r"expected node content", "a value was expected here; put it in quotes if it is text"),
    (r"block sequence entries", "a '- ' isn't possible here; start the list on a new line"),
    (r"block scalar", "after | or > the line must end; the text starts on the next line"),
    (r"directive|%", "lines that start with % can't be used"),
    (r"anchor|alias", "'&' and '*' at the start of a value have a meaning in YAML; put the text in quotes"),
    (r"tag", "'!' at the start of a value has a meaning in YAML; put the text in quotes"),
    (r"document start", "there is text after the end of the document; check the indentation"),
)


NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""What means nothing at all, unless it is quoted."""

# Where every value of a YAML file is, so that a fault can be shown with a caret.

Loc = Sequence[int | str]
"""A path into the data, as pydantic gives it: keys and list positions from 0."""


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """What a single value looks like in the file: its text and how it is quoted.

    ``style`` is ``""`` for a plain value, a quote character, ``"|"`` or ``">"``.
    """

    text: str
    style: str


@dataclass(frozen=True, slots=True)
class YamlPlace:
    """The place of one value; line and column from 0, ``start`` and ``end`` as offsets into the text."""

    line: int
    column: int
    start: int
    end: int
    scalar: YamlScalar | None = None
    keys: Mapping[str, YamlPlace] = field(default_factory=dict)
    children: Mapping[str | int, YamlPlace] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A YAML file that has been read.

    Parameters
    ----------
    file : str
        Its name, as messages show it.
    text : str
        Its whole text.
    data : object
        Nested dict (keys are always text), list, str, int, float, bool and None.
        A float is a :class:`~engine.text.yaml.WrittenFloat`: its ``str`` is what the file says.
    root : YamlPlace
        The places of all values.
    faults : tuple of Diagnostic
        Faults that don't keep the rest from being read (duplicate keys, for instance).
    """

    file: str
    text: str
    data: Any
    root: YamlPlace
    faults: tuple[Diagnostic, ...] = ()

    def locate(self, loc: Loc, *, key: bool = False) -> tuple[int, int]:
        """Return line and column, from 1, of the value at ``loc``, or of its key.

        Elements of ``loc`` that are neither a key nor a position here (the tags that pydantic puts in)
        are passed over; where the path leaves the file, the deepest value reached counts.
        """
        place = self._place(loc, key=key)
        return place.line + 1, place.column + 1

    def locate_inside(self, loc: Loc, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of character ``offset`` of the text at ``loc``.

        Where quoting or folding hides how characters map, the start of the value.
        """
        place = self._place(loc)
        inner = _inside(self.text, place, offset)
        return self.locate(loc) if inner is None else inner

    def value(self, loc: Loc) -> Any:
        """Return the value at ``loc``, or None where there is none."""
        value = self.data
        for part in loc:
            inside = part in value if isinstance(value, dict) else isinstance(part, int) and part < len(value)
            if not inside:
                return None
            value = value[part]
        return value

    def written(self, loc: Loc = ()) -> str:
        """Return a value as it was typed: a single value unquoted, a list or mapping as its source text."""
        place = self._place(loc)
        return place.scalar.text if place.scalar is not None else self.text[place.start : place.end].strip()

    def is_null(self, loc: Loc) -> bool:
        """Return whether there is nothing at ``loc`` but YAML's word for it, however values were read."""
        scalar = self._place(loc).scalar
        return scalar is not None and not scalar.style and scalar.text in NULLS

    def diagnostic(
        self, loc: Loc, message: str, *, key: bool = False, offset: int | None = None
    ) -> Diagnostic:
        """Return the fault at the value ``loc``, at its key, or at a character of its text."""
        if offset is None:
            line, column = self.locate(loc, key=key)
        else:
            line, column = self.locate_inside(loc, offset)
        return Diagnostic(self.file, line, column, one_line(message, 1000), source_line(self.text, line))

    def _place(self, loc: Loc, *, key: bool = False) -> YamlPlace:
        place, own_key = self.root, None
        for part in loc:
            child = place.children.get(part)
            if child is None:
                continue
            own_key = place.keys.get(part) if isinstance(part, str) else None
            place = child
        return own_key if key and own_key is not None else place


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


def _inside(text: str, place: YamlPlace, offset: int) -> tuple[int, int] | None:
    """Return the place, from 1, of a character of a scalar, None where it can't be determined."""
    if place.scalar is None or not 0 <= offset <= len(place.scalar.text):
        return None
    if place.scalar.style in ("|", ">"):
        return _inside_block(text, place, place.scalar.text, offset)
    quote = len(place.scalar.style)
    if text[place.start + quote : place.end - quote] != place.scalar.text:
        return None
    before = place.scalar.text[:offset]
    return None if "\n" in before else (place.line + 1, place.column + 1 + quote + offset)


def _inside_block(text: str, place: YamlPlace, value: str, offset: int) -> tuple[int, int] | None:
    # The lines of a block text stand in the file as they are, except for their indent.
    row, column = value.count("\n", 0, offset), offset - (value.rfind("\n", 0, offset) + 1)
    lines = _LINE.findall(text[place.start : place.end])[1:]
    if row >= len(lines):
        return None
    written, line = lines[row].rstrip("\r\n"), value.split("\n")[row]
    if not line or not written.endswith(line):  # folded lines don't match
        return None
    return place.line + 2 + row, len(written) - len(line) + column + 1
