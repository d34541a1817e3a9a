"""Problem files as YAML that people will edit: in order, with comments, nothing read as something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.text.escape import visible
from engine.text.yaml_errors import WrittenFloat, read_scalar

__all__ = ["WrittenNumber", "comment_lines", "meant", "yaml_text"]

_PLAIN = re.compile(r"[^\W\d_](?:[\w ()./-]*[\w()./-])?")
_MAX_COMMENT = 300


class WrittenNumber(str):
    """A number with the digits that are to stand in the file."""

    __slots__ = ()


def yaml_text(data: Mapping[str, Any], comments: Mapping[str, Sequence[str]]) -> str:
    """Return a mapping as YAML.

    Parameters
    ----------
    data : mapping
        Nested mappings and lists of text, numbers and truth values; keys are plain words.
    comments : mapping of str to sequence of str
        Lines that stand before a key of the outermost mapping; before all for ``""``.
    """
    lines = list(comment_lines(comments.get("", ())))
    for key, value in data.items():
        lines += comment_lines(comments.get(key, ()))
        lines += _entry(key, value, "")
    return "\n".join(lines) + "\n"


def meant(value: Any) -> Any:
    """Return what a reader of YAML gets of a value."""
    if isinstance(value, WrittenNumber):
        return read_scalar(value)
    if isinstance(value, Mapping):
        return {key: meant(inner) for key, inner in value.items()}
    return [meant(inner) for inner in value] if isinstance(value, list | tuple) else value


def comment_lines(texts: Sequence[str]) -> Iterator[str]:
    """Yield texts as comments, each on one line."""
    for text in texts:
        line = visible(text).replace("\n", " ").replace("\t", " ").rstrip()
        yield f"# {line if len(line) <= _MAX_COMMENT else line[: _MAX_COMMENT - 1] + '…'}".rstrip()


def _entry(key: str, value: Any, indent: str) -> Iterator[str]:
    lead = f"{indent}{key}:"
    if isinstance(value, Mapping):
        yield lead
        for name, inner in value.items():
            yield from _entry(name, inner, indent + "  ")
    elif isinstance(value, list | tuple):
        yield from _list(lead, value, indent + "  ")
    else:
        yield from _scalar(lead, value, indent + "  ")


def _list(lead: str, values: Sequence[Any], indent: str) -> Iterator[str]:
    if not any(isinstance(value, Mapping) for value in values) and not any("\n" in str(v) for v in values):
        short = f"{lead} [{', '.join(_inside_list(value) for value in values)}]"
        if len(short) <= 100:
            yield short
            return
    yield lead
    for value in values:
        if isinstance(value, Mapping):
            lines = [line for name, inner in value.items() for line in _entry(name, inner, indent + "  ")]
            yield f"{indent}- {lines[0].strip()}"
            yield from lines[1:]
        else:
            yield from _scalar(f"{indent}-", value, indent + "  ")


def _inside_list(value: Any) -> str:
    shown = _one_line(value)
    return (
        shown
        if isinstance(value, bool | int | float | WrittenNumber) or re.fullmatch(r"[\w-]+", shown)
        else _quoted(value)
    )


def _scalar(lead: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, str) and not isinstance(value, WrittenNumber) and "\n" in value:
        # the indentation is stated, as the first line may begin with blanks
        yield f"{lead} |{'2' if value.startswith(' ') else ''}-"
        yield from (
            f"{indent}{line}".rstrip() if not line.strip() else f"{indent}{line}"
            for line in value.split("\n")
        )
    else:
        yield f"{lead} {_one_line(value)}"


def _one_line(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | WrittenNumber):
        return str(value)
    return str(value) if _is_plain(value) else _quoted(value)


def _is_plain(text: str) -> bool:
    """Tell whether a text may stand without quotes and is read as this text."""
    if not _PLAIN.fullmatch(text) or " #" in text:
        return False
    meant = read_scalar(text)
    return isinstance(meant, str) and not isinstance(meant, WrittenFloat)


def _quoted(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"
