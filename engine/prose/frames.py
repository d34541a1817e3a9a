"""The texts of templates, found once for all variants: a variant only puts its numbers in.

A frame knows the text around the words that a template fills in. Where the words of two variants differ in
nothing but their numbers, so do their texts: a form holds all three of them, with holes for the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.model import RenderedText
from engine.prose.markdown import (
    Formula,
    HoledText,
    ProseError,
    formula_forms,
    hole_of,
    rendered,
    take_pieces,
    text_skeleton,
)
from engine.prose.maths import MathsError
from engine.prose.maths.mathml import holed_forms, number_element

# Where words come into a text while it is searched for formulas: a private plane that nobody writes in.
_FIRST_MARK, _MOST_WORDS = 0xF0000, 0x1000
_MARKS = re.compile("([\U000f0000-\U000f0fff])")
# Words that end or begin nothing in the text around them: nothing with which code, a formula or a line ends.
_NO_WORD = "^$`\n\r\ue000-\uf8ff\ufdd0\U000f0000-\U000f0fff"
_HARMLESS = re.compile(rf"(?!\s)(?:[{_NO_WORD}\\]|\\[{_NO_WORD}])+(?<!\s)")

# How a word is looked at: its numbers with their signs are holes; or without them, where the sign decides how
# a formula is set; or it is kept as it is, where the digits decide.
_SIGNED, _UNSIGNED, _AS_IT_IS = range(3)
_NUMBERS = (re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)"), re.compile(r"([0-9]+(?:\.[0-9]+)?)"))
# No number of an item: it and those after it stand for the numbers of words while a form is made.
_STAND_IN = 70_000_001
_PLACEHOLDER = re.compile(r"(-?)(7[0-9]{7})")
# Beside a number these could mean something else to Markdown.
_MEANINGFUL = frozenset("*_~`<>&#\\")
_MOST_FORMS = 128  # of one template: where its words vary more than in numbers, none comes again anyway


@dataclass(frozen=True, slots=True)
class _Form:
    """A text in its three forms with holes for its numbers; those with signs come a second time as MathML."""

    signed: int
    html: HoledText
    latex: HoledText
    plain: Callable[[Sequence[str]], str]

    def filled(self, numbers: Sequence[str]) -> RenderedText:
        values = [*numbers, *map(number_element, numbers[: self.signed])]
        return RenderedText(self.plain(values), self.html.filled(values), self.latex.filled(values))


class _View:
    """How each word is looked at, and what came of it."""

    __slots__ = ("_places", "forms", "kinds")

    def __init__(self, kinds: Sequence[int]) -> None:
        self.kinds = kinds
        self._places = [[i for i, k in enumerate(kinds) if k == kind] for kind in range(3)]
        self.forms: dict[tuple[str, ...], _Form | None] = {}

    def split(self, words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
        """Return what stands between the numbers of the words, and these, those with signs first."""
        signed, unsigned, others = self._places
        between, numbers = [words[i] for i in others], []
        for kind, places in ((_SIGNED, signed), (_UNSIGNED, unsigned)):
            if places:
                pieces = _NUMBERS[kind].split("\0".join([words[i] for i in places]))
                between += pieces[::2]
                numbers += pieces[1::2]
        return tuple(between), numbers


class ProseFrame:
    """The text of a template before its words are filled in, with its formulas found once for all variants.

    Parameters
    ----------
    body : str
        With marks where words come, and holes for the formulas.
    formulas : sequence of Formula
        With marks.
    inline : bool
        As for :func:`engine.prose.markdown.render_prose`.
    """

    def __init__(self, body: str, formulas: Sequence[Formula], inline: bool) -> None:
        self._body = HoledText(body, _MARKS, _FIRST_MARK)
        self._formulas = [(HoledText(f.source, _MARKS, _FIRST_MARK), f.display) for f in formulas]
        self._inline = inline
        kinds = [_SIGNED] * (len(self._body.places) + sum(len(holed.places) for holed, _ in self._formulas))
        for mark in _MARKS.finditer(body):
            if not _is_inert(body, mark.start()):
                kinds[ord(mark[0]) - _FIRST_MARK] = _AS_IT_IS
        self._view = _View(kinds)

    def filled(self, words: Sequence[str]) -> RenderedText | None:
        """Return the text with its words, or None where one of them could end what stands around it."""
        view = self._view  # another thread may change it meanwhile
        between, numbers = view.split(words)
        form = view.forms.get(between)
        if form is not None:
            return form.filled(numbers)
        text = self._parsed(words)
        if text is None or any("\0" in word for word in words):
            return text
        if between not in view.forms:  # most of many are seen only once
            if len(view.forms) >= _MOST_FORMS:
                view.forms.clear()
            view.forms[between] = None
        elif (form := self._form(words, view)) is not None and form.filled(numbers) == text:
            view.forms[between] = form
        return text

    def _parsed(self, words: Sequence[str]) -> RenderedText | None:
        has_macro = any("\\" in words[place] for place in self._body.places)  # a fault outside of formulas
        if has_macro or not all(map(_HARMLESS.fullmatch, words)):
            return None
        formulas = [Formula(holed.filled(words), display) for holed, display in self._formulas]
        return rendered(self._body.filled(words), formulas, self._inline)

    def _form(self, words: Sequence[str], view: _View) -> _Form | None:
        """Return the form of a text; None where a word must be looked at otherwise, as it is from now on."""
        places: list[int] = []  # of the word of each number
        digits, holes, kinds = list(words), list(words), list(view.kinds)
        for kind in (_SIGNED, _UNSIGNED):
            for place in [place for place, k in enumerate(kinds) if k == kind]:
                between = _NUMBERS[kind].split(words[place])[::2]
                new = range(len(places), len(places) + len(between) - 1)
                places += [place] * len(new)
                digits[place] = _woven(between, [f"{'-'[kind:]}{_STAND_IN + i}" for i in new])
                shift = 0
                if place in self._body.places:
                    shift = len(self._formulas)
                    if new and any(between):
                        kinds[place] = _AS_IT_IS
                holes[place] = _woven(between, [hole_of(shift + i) for i in new])
        signed = sum(view.kinds[place] == _SIGNED for place in places)
        hidden = {i for i, place in enumerate(places) if place not in self._body.places}
        forms = []
        for holed, display in self._formulas:
            try:
                plain, elements, numbers = holed_forms(holed.filled(digits), display)
            except MathsError:  # h_2 is a formula and h_-2 is none: its numbers stay hidden
                continue
            texts, nodes = [], []
            for number in numbers:
                placeholder = _PLACEHOLDER.fullmatch(number)
                index = -1 if placeholder is None else int(placeholder[2]) - _STAND_IN
                if placeholder is not None and index in hidden and (placeholder[1] or index >= signed):
                    hidden.discard(index)
                    is_signed = index < signed
                    number = ("" if is_signed else placeholder[1]) + hole_of(index)
                    nodes.append(hole_of(len(places) + index) if is_signed else number_element(number))
                else:
                    nodes.append(number_element(number))
                texts.append(number)
            formula = Formula(holed.filled(holes), display)
            forms.append(formula_forms(formula, _woven(plain, texts), _woven(elements, nodes)))
        for index in hidden:
            kinds[places[index]] = min(view.kinds[places[index]] + 1, _AS_IT_IS)
        if kinds != view.kinds:
            self._view = _View(kinds)
            return None
        skeleton = text_skeleton(self._body.filled(holes), self._inline)
        numerals = [hole_of(i) for i in range(len(places))]
        plains = [*(form.plain for form in forms), *numerals]
        if skeleton.pictures or len(plains) > _MOST_WORDS:
            return None
        pieces = [HoledText(piece) for piece in plains]
        return _Form(
            signed,
            HoledText(skeleton.html.filled([*(form.html for form in forms), *numerals])),
            HoledText(skeleton.latex.filled([*(form.latex for form in forms), *numerals])),
            (lambda values: skeleton.plain([piece.filled(values) for piece in pieces]))
            if skeleton.has_table
            else HoledText(skeleton.plain(plains)).filled,
        )


def _woven(between: Sequence[str], values: Sequence[str]) -> str:
    return between[0] + "".join([value + after for value, after in zip(values, between[1:], strict=True)])


def _is_inert(body: str, at: int) -> bool:
    """Return whether any number in this place is just a number to Markdown."""
    before, after = body[body.rfind("\n", 0, at) + 1 : at], body[at + 1 : at + 2]
    if "&" in before or before[-1:] in _MEANINGFUL or after in _MEANINGFUL:
        return False
    # "3." at the beginning of a line is an item of a list
    return after in ("", " ", ",", "\n") or re.search("[A-Za-z\ue000-\uf8ff]", before) is not None


@lru_cache(maxsize=1024)
def prose_frame(parts: tuple[str | None, ...], inline: bool) -> ProseFrame | None:
    """Return the frame of a text.

    Parameters
    ----------
    parts : tuple of str or None
        The text, None where words will come.
    inline : bool
        As for :func:`engine.prose.markdown.render_prose`.

    Returns
    -------
    ProseFrame or None
        None where the text must be filled before it is looked at: faulty ones, pictures, very many words.
    """
    constants = [part for part in parts if part is not None]
    # a backslash at an end would change the first sign of the words behind it
    if any(_MARKS.search(part) or part.endswith("\\") for part in constants):
        return None
    if len(parts) - len(constants) > _MOST_WORDS:
        return None
    marks = map(chr, range(_FIRST_MARK, _FIRST_MARK + _MOST_WORDS))
    try:
        body, pieces = take_pieces("".join([next(marks) if part is None else part for part in parts]))
    except ProseError:
        return None
    formulas = [piece for piece in pieces if isinstance(piece, Formula)]
    return ProseFrame(body, formulas, inline) if len(formulas) == len(pieces) else None
