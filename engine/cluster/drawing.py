"""What is exchanged where workers draw a class's variants: seeds and the item's files out, variants back.

A worker gets neither the course's secret nor a student, but 32 bytes for each variant, from which it draws
what the course's machine would draw. It sees the keys of these items, so this is allowed to an account for
workers separately. What comes back is JSON of variants, checked here as far as that can be done without
drawing; whether a worker drew rightly is found out by samples (:mod:`engine.cluster.class_drawing`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.cluster.published_items import PublishedItems
from engine.cluster.work_queue import QueuedProgram
from engine.errors import EngineError, StoreError
from engine.items.bank import Bank
from engine.model import Variant
from engine.store.sql_tables import decode, encode
from engine.text.words import count_noun

MOST_DRAWN: Final = 200
"""Variants of one row at most: a worker draws no more, whoever asks."""

_SEED: Final = re.compile("[0-9a-f]{64}")
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_MOST_BYTES: Final = 4 * 2**20  # as the queue's policies take from an account for workers

# What `encode` never escapes, or no text of an item has: letters and quotes, under which a key or a tag could
# hide from the patterns below, control characters, and those that turn the direction of a line.
_ODD_ESCAPE: Final = re.compile(r"\\u(?:00[0-9]|200[efEF]|202[a-eA-E]|206[6-9]|[fF][eE][fF][fF])")
_FORM: Final = re.compile(r'"(html|latex)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"')
_TAG: Final = re.compile(r"<([^<>]*)>")
_TAG_WORDS: Final = re.compile(r'/?([a-z][a-z0-9]*)((?: [a-zA-Z:-]+="[^"]*")*) ?/?')
_ATTRIBUTE: Final = re.compile(r' ([a-zA-Z:-]+)="')
_COMMAND: Final = re.compile(r"\\([a-zA-Z@]+|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DrawingRequest:
    """Variants of one item that a worker is to draw.

    Parameters
    ----------
    seeds : tuple of bytes
        32 bytes for each variant.
    files : str
        What stands for the item's files, as :func:`engine.cluster.published_items.publish_drawn_item` says.
    wording : mapping of str to bool
        The course's settings, as :attr:`engine.items.bank.Bank.wording`.
    """

    seeds: tuple[bytes, ...]
    files: str
    wording: Mapping[str, bool]

    def text(self) -> str:
        """Return the request as JSON, the same for the same request."""
        plain = {
            "seeds": [seed.hex() for seed in self.seeds],
            "files": self.files,
            "wording": dict(self.wording),
        }
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """The hash by which the queue knows the request: what is asked for again isn't drawn again."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @classmethod
    def of_text(cls, text: str) -> DrawingRequest:
        """Return the request that :meth:`text` wrote.

        Raises
        ------
        EngineError
            It isn't one, or asks for too much.
        """
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _no_request(str(error)) from error
        if not isinstance(plain, dict) or set(plain) != {"seeds", "files", "wording"}:
            raise _no_request("other fields")
        seeds, files, wording = plain["seeds"], plain["files"], plain["wording"]
        if not (isinstance(seeds, list) and 0 < len(seeds) <= MOST_DRAWN and all(map(_is_seed, seeds))):
            raise _no_request(f"no list of up to {count_noun(MOST_DRAWN, 'seed')}")
        if not (isinstance(files, str) and _DIGEST.fullmatch(files)):
            raise _no_request("no hash of the item's files")
        if not (
            isinstance(wording, dict)
            and set(wording) == set(Bank([]).wording)
            and all(type(value) is bool for value in wording.values())
        ):
            raise _no_request("other settings than this version has")
        return cls(tuple(map(bytes.fromhex, seeds)), files, wording)


def _is_seed(seed: Any) -> bool:
    return isinstance(seed, str) and _SEED.fullmatch(seed) is not None


def _no_request(why: str) -> EngineError:
    return EngineError(
        "a request for variants can't be read",
        got=why,
        next_step="use one version of Softmark on all machines",
    )


@dataclass(frozen=True, slots=True)
class DrawnVariants:
    """What a worker drew for one request.

    Parameters
    ----------
    count : int
    text : str
        As it is handed in: a JSON list.
    """

    count: int
    text: str


def draw_requested(items: PublishedItems, program: QueuedProgram) -> DrawnVariants:
    """Draw what a row of the queue asks for, from published files; runs no code but the engine's.

    Raises
    ------
    EngineError, InputError
        The request or the item can't be used, or no variant can be drawn.
    """
    from engine.variants import draw_of_key  # a second, which a worker that only grades needn't spend

    request = DrawingRequest.of_text(program.code)
    bank = items.bank_of_drawn(program, request.files, request.wording)
    spec, registry = bank.load(program.item), bank.registry()
    texts = [
        encode(draw_of_key(spec, version=program.version, registry=registry, key=seed))
        for seed in request.seeds
    ]
    text = f"[{','.join(texts)}]"
    if len(text) > _MOST_BYTES:
        raise EngineError(
            f"{count_noun(len(texts), 'variant')} of {program.item} are too large to be handed in together",
            expected=f"{_MOST_BYTES} bytes at most",
            got=count_noun(len(text), "byte"),
        )
    return DrawnVariants(len(texts), text)


def read_drawn(text: str, like: Variant, count: int) -> Sequence[Variant] | None:
    """Return the variants that a worker handed in; None where they can't be those that were asked for.

    Parameters
    ----------
    text : str
    like : Variant
        Another variant of the same item, drawn here.
    count : int
        So many were asked for.
    """
    try:
        variants = decode(list[Variant], text, "variants in the queue")
    except StoreError:
        return None
    is_right = len(variants) == count and all(_shape(variant) == _shape(like) for variant in variants)
    return variants if is_right else None


def markup_of(text: str) -> frozenset[str] | None:
    """Return the tags, attributes and LaTeX commands in JSON of variants; None where it isn't ours.

    Pages and files show the texts of a variant as they are. All variants of an item are made from the same
    sentences, so a worker's that uses a tag or a command more than those drawn here is looked at no further.

    Parameters
    ----------
    text : str
        As :func:`engine.store.sql_tables.encode` writes it.

    Examples
    --------
    >>> sorted(markup_of('{"html":"<p>x<sub>1</sub></p>","latex":"\\\\\\\\alpha"}'))
    ['<p>', '<sub>', '\\\\alpha']
    """
    if not text.isascii() or _ODD_ESCAPE.search(text):
        return None
    forms: dict[str, list[str]] = {"html": [], "latex": []}
    for form, body in _FORM.findall(text):
        forms[form].append(body)
    html, latex = (str(json.loads('"' + "\\n".join(forms[form]) + '"')) for form in ("html", "latex"))
    tags = _TAG.findall(html)
    # A tag that isn't closed; characters that TeX reads by their number.
    if not html.count("<") == html.count(">") == len(tags) or "^^" in latex:
        return None
    words = {f"\\{command}" for command in set(_COMMAND.findall(latex))}
    for tag in set(tags):
        match = _TAG_WORDS.fullmatch(tag)
        if match is None:
            return None
        words.add(f"<{match[1]}>")
        words |= {f"{match[1]} {name}" for name in _ATTRIBUTE.findall(match[2])}
    return frozenset(words)


def _shape(variant: Variant) -> tuple[Any, ...]:
    """Return what all variants of an item have in common."""
    parts = tuple((part.id, part.type, part.points) for part in variant.parts)
    return variant.item, variant.item_version, variant.title, parts, len(variant.notes), len(variant.hints)
