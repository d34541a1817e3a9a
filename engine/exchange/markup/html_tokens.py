"""HTML as tags and text, read once from left to right: the time is linear however broken the text is."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["Tag", "html_tokens"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9:.-]*")
_ATTRIBUTE = re.compile(r"[^\s=>\"'/]+")
_BLANKS = re.compile(r"[\s/]*")
_VALUE = re.compile(r"[^\s>]*")
_RAW = {"script", "style", "textarea", "title", "xmp", "noembed", "noframes"}
_MAX_VALUE = 4000


@dataclass(frozen=True, slots=True)
class Tag:
    """A start tag (or an end tag); ``raw`` is the content of a script and its like."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    is_end: bool = False
    raw: str | None = None


def html_tokens(text: str) -> Iterator[Tag | str]:
    """Yield text (character references resolved) and tags; comments and declarations are passed over.

    A ``<`` that begins no tag is text. After a tag or comment that never ends everything is text.
    """
    at = start = 0
    while (angle := text.find("<", at)) >= 0:
        found = _markup(text, angle)
        if found is None:
            at = angle + 1
            continue
        tag, end = found
        if end < 0:  # never ends
            break
        if start < angle:
            yield html.unescape(text[start:angle])
        if tag is not None:
            yield tag
        at = start = end
    if start < len(text):
        yield html.unescape(text[start:])


def _markup(text: str, at: int) -> tuple[Tag | None, int] | None:
    """Return the tag at ``<`` (None for a comment) and where it ends, -1 for never; None where it is text."""
    if text.startswith("<!--", at):
        end = text.find("-->", at + 4)
        return None, end + 3 if end >= 0 else -1
    following = text[at + 1 : at + 2]
    if following in ("!", "?") and following:
        end = text.find(">", at)
        return None, end + 1 if end >= 0 else -1
    is_end = following == "/"
    name = _NAME.match(text, at + 1 + is_end)
    if name is None:
        return None
    attributes, end = _attributes(text, name.end())
    lower = name[0].lower()
    if end >= 0 and lower in _RAW and not is_end:
        return _raw(text, lower, attributes, end)
    return Tag(lower, attributes, is_end), end


def _attributes(text: str, at: int) -> tuple[dict[str, str], int]:
    """Return attributes by name, and where the tag ends (-1 for never)."""
    found: dict[str, str] = {}
    while True:
        at = _end(_BLANKS.match(text, at), at)
        if at >= len(text):
            return found, -1
        if text[at] == ">":
            return found, at + 1
        name = _ATTRIBUTE.match(text, at)
        if name is None:  # a stray quote or equals sign
            at += 1
            continue
        at = _end(_BLANKS.match(text, name.end()), name.end())
        value = ""
        if text[at : at + 1] == "=":
            value, at = _value(text, at + 1)
            if at < 0:
                return found, -1
        found.setdefault(name[0].lower(), html.unescape(value[:_MAX_VALUE]))


def _value(text: str, at: int) -> tuple[str, int]:
    while text[at : at + 1].isspace():
        at += 1
    quote = text[at : at + 1]
    if quote in ('"', "'") and quote:
        end = text.find(quote, at + 1)
        return (text[at + 1 : end], end + 1) if end >= 0 else ("", -1)
    end = _end(_VALUE.match(text, at), at)
    return text[at:end], end


def _raw(text: str, name: str, attributes: dict[str, str], at: int) -> tuple[Tag, int]:
    closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, at)
    end = text.find(">", closing.end()) if closing is not None else -1
    if closing is None or end < 0:  # as browsers do: it takes the rest
        return Tag(name, attributes, raw=text[at:]), len(text)
    return Tag(name, attributes, raw=text[at : closing.start()]), end + 1


def _end(found: re.Match[str] | None, otherwise: int) -> int:
    return found.end() if found is not None else otherwise
