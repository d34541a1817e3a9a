"""Problem files as YAML that people will edit: keys in order, with comments, nothing read as something else.

PyYAML writes the characters. What is decided here is the style: short lists on one line, texts of several
lines as blocks, and quotes wherever our reader, which reads numbers by rules of its own, would read another
value. The text stays the same from version to version, because a file that is there already with the very
same text tells an import that it has been done before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from engine.text.words import visible
from engine.text.yaml import WrittenFloat, read_scalar

_PLAIN = re.compile(r"[^\W\d_](?:[\w ()./-]*[\w()./-])?")
_WORD = re.compile(r"[\w-]+")
_MAX_COMMENT = 300
_MAX_LINE = 100  # of a list on one line
_TEXT, _MAP, _LIST = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))


class WrittenNumber(str):
    """A number with the digits that are to stand in the file."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # entries of a list stand to the right of its key


# where a value needs quotes is decided below, by our own reader: PyYAML would take 1e3 for text
_Dumper.yaml_implicit_resolvers = {}


def yaml_text(data: Mapping[str, Any], comments: Mapping[str, Sequence[str]]) -> str:
    """Return a mapping as YAML.

    Parameters
    ----------
    data : mapping
        Nested mappings and lists of text, numbers and truth values; keys are plain words.
    comments : mapping of str to sequence of str
        Lines that stand before a key of the outermost mapping; before all for ``""``.
    """
    parts = [f"{line}\n" for line in comment_lines(comments.get("", ()))]
    for key, value in data.items():
        parts += [f"{line}\n" for line in comment_lines(comments.get(key, ()))]
        node = _node({key: value}, 0)
        parts.append(yaml.serialize(node, Dumper=_Dumper, allow_unicode=True, width=10**9))
    return "".join(parts)


def as_read(value: Any) -> Any:
    """Return a value as our reader of YAML gives it back."""
    if isinstance(value, WrittenNumber):
        return read_scalar(value)
    if isinstance(value, Mapping):
        return {key: as_read(inner) for key, inner in value.items()}
    return [as_read(inner) for inner in value] if isinstance(value, list | tuple) else value


def comment_lines(texts: Sequence[str]) -> Iterator[str]:
    """Yield texts as comments, each on one line."""
    for text in texts:
        line = visible(text).replace("\n", " ").replace("\t", " ").rstrip()
        yield f"# {line if len(line) <= _MAX_COMMENT else line[: _MAX_COMMENT - 1] + '…'}".rstrip()


def _node(value: Any, indent: int, lead: int = 0) -> yaml.Node:
    """Return a value as a node; `lead` is how long the key before it is."""
    if isinstance(value, Mapping):
        pairs = [
            (yaml.ScalarNode(_TEXT, key), _node(inner, indent + 2, indent + len(key) + 2))
            for key, inner in value.items()
        ]
        return yaml.MappingNode(_MAP, pairs, flow_style=False)
    if not isinstance(value, list | tuple):
        return _scalar(value, _PLAIN)
    if not any(isinstance(entry, Mapping) or "\n" in str(entry) for entry in value):
        short = [_scalar(entry, _WORD) for entry in value]
        # brackets, commas, quotes and the quotes that are doubled within quotes
        length = 2 + 2 * max(0, len(short) - 1)
        length += sum(len(node.value) + (2 + node.value.count("'") if node.style else 0) for node in short)
        if lead + length <= _MAX_LINE:
            return yaml.SequenceNode(_LIST, short, flow_style=True)
    return yaml.SequenceNode(_LIST, [_node(entry, indent + 2) for entry in value], flow_style=False)


def _scalar(value: Any, unquoted: re.Pattern[str]) -> yaml.ScalarNode:
    if isinstance(value, bool):
        return yaml.ScalarNode(_TEXT, str(value).lower())
    if isinstance(value, int | float | WrittenNumber):
        return yaml.ScalarNode(_TEXT, str(value))
    if "\n" in value:
        return yaml.ScalarNode(_TEXT, value, style="|")
    reads_as = read_scalar(value) if unquoted.fullmatch(value) and _PLAIN.fullmatch(value) else None
    is_text = isinstance(reads_as, str) and not isinstance(reads_as, WrittenFloat)
    return yaml.ScalarNode(_TEXT, value, style=None if is_text else "'")
