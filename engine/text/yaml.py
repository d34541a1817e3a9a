"""Reads YAML that people write: safe, YAML 1.2, every value with its place; and makes a pydantic model of it.

What PyYAML would do and this doesn't: read ``NO`` as false and ``010`` as eight, keep the last of
two equal keys, follow aliases (a small file can grow to gigabytes), obey tags (``!!python/…``),
lose the digits of ``0.10``.

What is said of a faulty file is in :mod:`~engine.text.yaml_errors` (how it is written) and
:mod:`~engine.text.schema_errors` (what its values are).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import yaml

from engine.errors import Diagnostic, InputError, SpecError
from engine.text.files import (
    MAX_BYTES,
    check_text,
    decode,
    find_control_character,
    read_text,
    source_line,
    utf16_as_utf8,
)
from engine.text.words import count_noun, one_line
from engine.text.yaml_errors import NULLS, YamlDocument, YamlPlace, YamlScalar, explain_syntax

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

# Far more than any quiz or file of a class needs: each level is one recursion here, and each value is kept
# with its place.
MAX_DEPTH = 64
MAX_VALUES = 50_000
# Nobody fixes more at a time, and a file of another kind has a fault in each line.
_MAX_FAULTS = 100

# LaTeX in double quotes: "\tanh" is a tab and "anh"; "\nabla" a new line and "abla".
_EATEN = re.compile(
    r"""(?<!\\)(?:\\\\)*(?P<eaten>\\(?:[abefrtv0](?=[A-Za-z])|n(?:abla|eq|ot|u|i|leq|geq|exists|mid)(?![A-Za-z])))"""
)
_COMMAND = re.compile(r"\\[A-Za-z0-9]+")


class _Loader(yaml.CSafeLoader):
    # No implicit types: what a plain value means is decided by read_scalar, which knows the key's place.
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (PyYAML's own class attribute)


def read_yaml(
    source: Path | str | bytes,
    filename: str | None = None,
    *,
    error: type[InputError] = SpecError,
    keep_going: bool = False,
    scalars_as_text: bool = False,
) -> YamlDocument:
    """Read one YAML document.

    Parameters
    ----------
    source : Path, str or bytes
        A file, or the text itself.
    filename : str, optional
        Name in messages; the path, or ``"<text>"``, if left out.
    error : type of InputError
        What is raised, with all faults.
    keep_going : bool
        Leave faults that don't keep the rest from being read in ``YamlDocument.faults``.
    scalars_as_text : bool
        Give every single value as the text that was typed: ``0.50`` as ``"0.50"``, nothing as ``""``. Escapes
        in double quotes are what YAML says they are, whatever LaTeX they may have been.

    Returns
    -------
    YamlDocument

    Raises
    ------
    InputError
        Of class ``error``: the file can't be read, isn't UTF-8, isn't YAML, is empty, too large or
        too deep, holds aliases, anchors, tags, merge keys, duplicate keys, or more than one document.
    """
    name = filename if filename is not None else (str(source) if isinstance(source, Path) else "<text>")
    name = one_line(name, 300)
    if isinstance(source, Path):
        text = read_text(source, error, name)
    elif isinstance(source, bytes):
        if len(source) > MAX_BYTES:
            raise error("the file is too large", where=name, expected=f"at most {MAX_BYTES // 2**20} MiB")
        text = decode(utf16_as_utf8(source), name, error=error)
    else:
        text = source.removeprefix("\ufeff")
    text = check_text(text, name, error)
    document = _Reading(name, text, scalars_as_text).document(error)
    if document.faults and not keep_going:
        raise error.of_file(document.faults)
    return document


def validate(document: YamlDocument, model: type[M], *, error: type[InputError] = SpecError) -> M:
    """Return the model that a document describes.

    Parameters
    ----------
    document : YamlDocument
        From :func:`engine.text.yaml.read_yaml`.
    model : type of BaseModel
    error : type of InputError
        What is raised, with all faults in the order of their lines.

    Raises
    ------
    InputError
        Of class ``error``.
    """
    value, faults = validation_faults(document, model)
    faults += document.faults
    if value is None or faults:
        raise error.of_file(in_order(faults))
    return value


def validation_faults(document: YamlDocument, model: type[M]) -> tuple[M | None, list[Diagnostic]]:
    """Return the model and no fault, or None and all faults."""
    # Not above: most readers of YAML need no pydantic, and the sentences are for faulty files only.
    from pydantic import ValidationError

    if not isinstance(document.data, dict):
        from engine.text.schema_errors import describe

        message = f"the file must hold keys and values (key: value), not {describe(document.data)}"
        return None, [document.diagnostic((), message)]
    try:
        return model.model_validate(document.data), []
    except ValidationError as problem:
        from engine.text.schema_errors import schema_faults

        return None, schema_faults(document, model, problem.errors(include_url=False))


def in_order(faults: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return faults by line and column, each once, at most 100."""
    unique = dict.fromkeys(faults)
    return sorted(unique, key=lambda fault: (fault.line, fault.column))[:_MAX_FAULTS]


class _Reading:
    def __init__(self, file: str, text: str, scalars_as_text: bool) -> None:
        self.file = file
        self.text = text
        self.scalars_as_text = scalars_as_text
        self.faults: list[Diagnostic] = []

    def document(self, error: type[InputError]) -> YamlDocument:
        fatal = self._scan()
        if fatal or self.faults:  # nothing is composed from a stream with aliases or tags
            raise error.of_file(sorted(self.faults, key=lambda d: (d.line, d.column)))
        try:
            node = yaml.compose(self.text, Loader=_Loader)
        except yaml.YAMLError as problem:  # pragma: no cover (the scan has seen every event)
            raise error.of_file([self._syntax(problem)]) from None
        if node is None:
            raise error.of_file([Diagnostic(self.file, 1, 1, "the file is empty")])
        data, root = self._build(node)
        return YamlDocument(self.file, self.text, data, root, tuple(in_order(self.faults)))

    def _scan(self) -> bool:
        # The first pass, over the events, before anything is built: no bomb is ever expanded. True where
        # reading must stop.
        depth = values = documents = 0
        try:
            for event in yaml.parse(self.text, Loader=_Loader):
                depth += isinstance(event, yaml.CollectionStartEvent)
                depth -= isinstance(event, yaml.CollectionEndEvent)
                values += isinstance(event, yaml.NodeEvent)
                documents += isinstance(event, yaml.DocumentStartEvent)
                for message in _objections(event, depth, values, documents):
                    self._fault(event.start_mark, message)
                if (
                    depth > MAX_DEPTH
                    or values > MAX_VALUES
                    or documents > 1
                    or len(self.faults) > _MAX_FAULTS
                ):
                    return True
        except yaml.YAMLError as problem:
            self.faults.append(self._syntax(problem))
            return True
        return False

    def _build(self, node: yaml.Node) -> tuple[Any, YamlPlace]:
        # The second pass: values and places.
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if isinstance(node, yaml.SequenceNode):
            built = [self._build(child) for child in node.value]
            place = _place(node, children={index: place for index, (_, place) in enumerate(built)})
            return [value for value, _ in built], place
        return self._mapping(node)

    def _mapping(self, node: yaml.Node) -> tuple[dict[str, Any], YamlPlace]:
        data: dict[str, Any] = {}
        keys: dict[str, YamlPlace] = {}
        children: dict[str | int, YamlPlace] = {}
        for key_node, value_node in node.value:
            value, place = self._build(value_node)
            key = self._key(key_node)
            if key is None:
                continue
            if key in data:
                first = keys[key].line + 1
                message = f"the key '{one_line(key)}' appears here twice; first on line {first}"
                self._fault(key_node.start_mark, message)
                continue
            data[key], keys[key], children[key] = value, _place(key_node), place
        return data, _place(node, keys=keys, children=children)

    def _key(self, node: yaml.Node) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self._fault(node.start_mark, "a key must be a word, not a list or a mapping")
            return None
        if not node.value:
            self._fault(node.start_mark, "a key is empty")
            return None
        if node.value == "<<" and not node.style:
            self._fault(node.start_mark, "merge keys (<<) can't be used; write the keys out")
            return None
        if node.style == '"':
            self._look_at_escapes(node)
        return str(node.value)

    def _scalar(self, node: yaml.ScalarNode) -> tuple[Any, YamlPlace]:
        place = _place(node, scalar=YamlScalar(node.value, node.style or ""))
        if node.style == '"':
            self._look_at_escapes(node)
        if node.style or self.scalars_as_text:
            return node.value, place
        try:
            return read_scalar(node.value), place
        except ValueError as problem:
            self._fault(node.start_mark, one_line(str(problem), 100))
            return node.value, place

    def _look_at_escapes(self, node: yaml.ScalarNode) -> None:
        raw = self.text[node.start_mark.index : node.end_mark.index]
        # In a text that isn't LaTeX "\\t" is what programs write for a tab.
        eaten = None if self.scalars_as_text else _EATEN.search(raw)
        if eaten:
            word = _COMMAND.match(raw, eaten.start("eaten"))
            escape = one_line(word[0] if word else eaten["eaten"], 20)
            message = (
                f"in double quotes '{escape}' loses its backslash; use single quotes, or | and a new line"
            )
            self._fault(node.start_mark, message)
        elif find_control_character(node.value) is not None:
            self._fault(node.start_mark, "a control character isn't allowed in a text; delete the escape")

    def _fault(self, mark: Any, message: str) -> None:
        line, column = mark.line + 1, mark.column + 1
        self.faults.append(Diagnostic(self.file, line, column, message, source_line(self.text, line)))

    def _syntax(self, problem: yaml.YAMLError) -> Diagnostic:
        line, column, message = explain_syntax(problem, self.text)
        return Diagnostic(self.file, line, column, message, source_line(self.text, line))


def _objections(event: yaml.Event, depth: int, values: int, documents: int) -> Iterator[str]:
    anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
    if isinstance(event, yaml.AliasEvent):
        yield f"the alias *{one_line(str(anchor), 30)} can't be used; write the value out"
    elif anchor is not None:
        yield f"the anchor &{one_line(anchor, 30)} can't be used; write the value where it is needed"
    if tag is not None:
        name = tag.replace("tag:yaml.org,2002:", "!!")
        yield f"the tag {one_line(name, 60)} can't be used; write the plain value"
    if depth > MAX_DEPTH:
        yield f"this is nested more than {MAX_DEPTH} levels deep"
    if values > MAX_VALUES:
        yield f"the file holds more than {MAX_VALUES:,} values"
    if documents > 1:
        yield "a second document starts here (---); a file holds one"


def _place(
    node: yaml.Node,
    *,
    scalar: YamlScalar | None = None,
    keys: dict[str, YamlPlace] | None = None,
    children: dict[str | int, YamlPlace] | None = None,
) -> YamlPlace:
    start, end = node.start_mark, node.end_mark
    return YamlPlace(start.line, start.column, start.index, end.index, scalar, keys or {}, children or {})


# Exact arithmetic with more digits takes long, and no item has them.
_MAX_DIGITS = 100
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_NAN = re.compile(r"\.(?:nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(NULLS),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class WrittenFloat(float):
    """A float that remembers its digits, so that ``Decimal(str(x))`` is what the file says.

    Examples
    --------
    >>> str(WrittenFloat("0.10"))
    '0.10'
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Read the float from its text."""
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[WrittenFloat], tuple[str]]:
        return type(self), (self.text,)


def read_scalar(text: str) -> str | int | float | bool | None:
    """Return what a plain (unquoted) value means in YAML 1.2's core schema.

    ``yes``, ``no``, ``on``, ``off``, dates and ``12:30:45`` are text, ``010`` is ten, ``0o10`` eight.

    Raises
    ------
    ValueError
        For a number that is too long or too large to be meant.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(_bounded(text))
    if _OCTAL.fullmatch(text):
        return int(_bounded(text)[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(_bounded(text)[2:], 16)
    if _FLOAT.fullmatch(text):
        number = WrittenFloat(_bounded(text))
        if math.isinf(number):
            raise ValueError(f"the number {text} is too large")
        return number
    if _INFINITY.fullmatch(text):
        return WrittenFloat(text.replace(".", "").lower())
    if _NAN.fullmatch(text):
        return WrittenFloat("nan")
    return text


def _bounded(text: str) -> str:
    if len(text) > _MAX_DIGITS:
        raise ValueError(
            f"a number of {count_noun(len(text), 'character')} is too long; at most {_MAX_DIGITS}"
        )
    return text
