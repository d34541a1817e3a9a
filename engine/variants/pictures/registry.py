"""The kinds of pictures, and how one travels through a text."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Self

from engine.model import Text

__all__ = ["FENCE", "PICTURES", "PICTURE_FUNCTIONS", "Picture", "PictureFault", "drawn", "picture"]

FENCE = "softmark-picture"
"""The info string of a fenced block that holds a picture."""


class PictureFault(ValueError):  # noqa: N818 - reaches authors as a fault of their template
    """A picture that can't be drawn; the message says why."""


class Picture(ABC):
    """One picture: small plain data, checked when it is made, and its three forms."""

    @classmethod
    @abstractmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Return the picture of some JSON data; faulty data is a KeyError, TypeError or PictureFault."""

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """Return the picture as JSON data."""

    @abstractmethod
    def plain(self) -> str:
        """Return it in characters: a caption, then indented lines, which nothing wraps."""

    @abstractmethod
    def html(self) -> str:
        """Return it as a ``<figure>`` with inline SVG."""

    @abstractmethod
    def latex(self) -> str:
        """Return it in LaTeX that needs no package."""


PICTURES: dict[str, type[Picture]] = {}
PICTURE_FUNCTIONS: dict[str, Callable[..., str]] = {}
"""The functions of templates: each returns a fenced block."""


def picture(kind: type[Picture]) -> Callable[[Callable[..., Picture]], Callable[..., Picture]]:
    """Register a kind of picture under the name of the function that templates call for it."""

    def register(call: Callable[..., Picture]) -> Callable[..., Picture]:
        name = call.__name__

        @wraps(call)
        def fenced(*args: Any, **kwargs: Any) -> str:
            # a backtick in a word would end the block
            data = json.dumps(call(*args, **kwargs).data(), separators=(",", ":")).replace("`", "\\u0060")
            return f"\n\n```{FENCE} {name}\n{data}\n```\n\n"

        PICTURES[name] = kind
        PICTURE_FUNCTIONS[name] = fenced
        return call

    return register


def drawn(name: str, data: str) -> Text:
    """Return the picture that a fenced block holds.

    Parameters
    ----------
    name : str
        The kind, as the block's info string has it after ``softmark-picture``.
    data : str
        JSON.

    Raises
    ------
    PictureFault
        There is no such kind, or the data isn't what the kind's function writes.
    """
    kind = PICTURES.get(name)
    if kind is None:
        raise PictureFault(f"there is no picture {name[:40]!r}; there are {', '.join(sorted(PICTURES))}")
    try:
        found = kind.read(json.loads(data))
    except PictureFault:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PictureFault(f"this block isn't what {name}(…) writes; call the function instead") from None
    return Text(found.plain(), found.html(), found.latex())
