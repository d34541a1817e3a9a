"""A short text: words, or sequences of tokens.

What a field takes is seen from its accepted texts.  ``A B B`` and ``ABB`` are a *sequence* of tokens of one
letter each, in which blanks, hyphens, arrows and commas say nothing; ``AA, BA`` are several *sequences*, in
which commas say where one ends; everything else is *words*.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from engine.answers.base import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    PartSettings,
    mistake_diagnosis,
)
from engine.answers.typed_text import format_error
from engine.draws import ImpossibleDraw, RandomStream, RedrawNeeded
from engine.errors import ExpressionError, UndefinedValueError
from engine.expressions.language import evaluate
from engine.model import KnownWrong, Part
from engine.text.words import clean_line, percent

if TYPE_CHECKING:
    from engine.items import TokenAnswer

# When two short texts are the same answer.

_SEPARATORS = re.compile(r"[\s,;>→|]+|->")
_PAIRS = ("[]", "()", "{}", '""', "''", "``", "“”", "„“", "‘’", "«»", "⟨⟩")
_END = "\x03"  # the end of a sequence, however it is spelt
_END_SIGN = re.compile(
    r"[<⟨＜]\s*+(?:/\s*+)?(?:eos|s|end|stop)\s*+(?:/\s*+)?[>⟩＞]|\[\s*+(?:eos|end|stop)\s*+\]|\beos\b",
    re.IGNORECASE,
)
# What comes before the first token and isn't one: the table calls the beginning "(start)".
_START_SIGN = re.compile(
    r"\A\s*+(?:<\s*+|\(\s*+|\[\s*+|⟨\s*+)(?:start|sos|bos|s)\s*+[>)\]⟩][\s,;→>-]*+", re.IGNORECASE
)
# "Sequence:", "the path is", "ŷ =" and the like before the tokens.
_NAME = re.compile(
    r"\A\s*+(?:(?:the\s++)?(?:sequence|tokens|path|answer|output|antwort|folge|réponse)\s*+(?:[:=]|\bis\b)|[yŷ]\s*+=)\s*+",
    re.IGNORECASE,
)
# LaTeX's spaces and Markdown's stars; a star before a digit stays, as it may multiply.
_LATEX = re.compile(r"\\[ ,;:!()\[\]]|[$*](?![^$*]*+[0-9])|\\(?:quad|,)(?![a-zA-Z])")
# Full-width letters, and capitals of other alphabets that look the same.
_OTHER_SIGNS = {
    code: code - 0xFEE0 for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
} | str.maketrans("АВСЕΑΒΕ", "ABCEABE")
# A bare "end" is an end token only in a field that has one; elsewhere it is a word.
_END_WORD = re.compile(r"\b(?:end|stop)\b", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|und|then)\b", re.IGNORECASE)
_ARROW = re.compile(r"(?<![-=~])[-=~]++>|[→⟶⇒➔➜>]|\\(?:right|to)\w*")
# What people put between the tokens of one sequence; it says nothing there.
_JOINTS = re.compile(r"(?<!\s)\s*+[-·⋅•_/+]++\s*+")
_GROUP = re.compile(r"[\[({]([^\[\](){}]*)[\])}]")
# What ends one sequence and begins the next.
_STRONG = re.compile(r"[,;|&\n、，；]")
# The tokens of drawn vocabularies: any of them may be typed, though the key doesn't have it.
_LETTER_NAMES = "ABCDEFGH"
# Tokens of such a vocabulary as variants keep them.
_DRAWN = re.compile("[A-H](?: [A-H])*+")
# How most people type a sequence, "A A C" or "AAC": none of the words that mean something is made of these.
_USUAL = re.compile(r" *+(?:[A-Za-z]|[A-Ha-h]++)(?: (?:[A-Za-z]|[A-Ha-h]++))*+ *+")


class UnclearTextError(ValueError):
    """An answer that can be read in several ways, or has a token that doesn't exist; says what to write."""


# marks without width that come along with what is copied: soft hyphen, joiners, directions, byte order mark
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def normal_token(text: str, case_sensitive: bool = False) -> str:
    """Return a text without what doesn't matter: brackets around it, separators, doubled blanks, case.

    ``[B, C]``, ``b  c`` and ``B -> C`` are the same.
    """
    words = " ".join(_SEPARATORS.sub(" ", _bare(text).replace("->", " ")).split())
    return words if case_sensitive else words.casefold()


def _bare(text: str) -> str:
    """Return a text without the brackets, quotation marks and full stops around it."""
    bare = unicodedata.normalize("NFC", _UNSEEN.sub("", text)).strip()
    while True:  # brackets in quotation marks in brackets
        shorter = bare[1:-1].strip() if bare[:1] + bare[-1:] in _PAIRS and len(bare) > 1 else bare
        shorter = shorter.rstrip(".!").rstrip() or shorter
        if shorter == bare:
            return bare
        bare = shorter


@dataclass(frozen=True, slots=True)
class TokenSpelling:
    """How the answers of one field are spelt.

    Parameters
    ----------
    kind : str
        ``words``, ``sequence`` or ``sequences``.
    letters : frozenset of str
        The tokens that a sequence can have, in the field's case; empty for words.
    lengths : tuple of int
        Tokens in each of several sequences.
    case_sensitive : bool
    hyphens : bool
        Whether a hyphen belongs to the words.
    """

    kind: str
    letters: frozenset[str]
    lengths: tuple[int, ...]
    case_sensitive: bool
    hyphens: bool

    @classmethod
    def of(
        cls, accepted: Iterable[str], wrong: Iterable[str] = (), *, case_sensitive: bool = False
    ) -> TokenSpelling:
        """Return the spelling of a field from its accepted texts and what known mistakes give."""
        return _spelling(tuple(accepted), tuple(wrong), case_sensitive)

    def _cased(self, text: str) -> str:
        return text if self.case_sensitive else text.casefold()

    def read(self, text: str) -> tuple[str, ...]:
        """Return the words, the tokens, or the sequences of an answer, in the field's case.

        Raises
        ------
        UnclearTextError
            It can be read in several ways, or holds what isn't a token.
        """
        if self.kind == "words":
            return self._words(text)
        if self.kind == "sequence" and _USUAL.fullmatch(text):
            return tuple(self._tokens(text))
        text = self._without_beginning(text)
        if self.kind == "sequences":
            text = _without_inner_commas(text)
        marked = _AND.sub(", ", _marked(text))
        if _END in self.letters:
            marked = _END_WORD.sub(f" {_END} ", marked)
        if self.kind == "sequence":
            return tuple(self._tokens(_STRONG.sub(" ", marked)))
        return self._several(marked)

    def _without_beginning(self, text: str) -> str:
        """Return a sequence without a name and a start token before it, in the signs of this keyboard."""
        text = _LATEX.sub(" ", text.translate(_OTHER_SIGNS))
        text = _NAME.sub("", text, count=1)
        return _START_SIGN.sub("", text, count=1) if _START_SIGN.sub("", text, count=1).strip() else text

    def _words(self, text: str) -> tuple[str, ...]:
        bare = _bare(text)
        if not self.hyphens:
            bare = re.sub(r"(?<=\w)-(?=\w)", " ", _plain_dashes(bare))
        return tuple(normal_token(bare, self.case_sensitive).split())

    def _tokens(self, text: str) -> list[str]:
        """Return the tokens of one sequence; blanks between them are free."""
        tokens = []
        for word in _JOINTS.sub(" ", text).split():
            cased = self._cased(word)
            stranger = next((letter for letter in cased if letter not in self.letters), None)
            if stranger is not None:
                if stranger == _END:
                    raise UnclearTextError("this exercise has no end token")
                visible_word = clean_line(word.replace(_END, "<eos>"), 20)
                raise UnclearTextError(f"{visible_word or 'this'} isn't made of this exercise's tokens")
            tokens += list(cased)
        return tokens

    def _several(self, text: str) -> tuple[str, ...]:
        groups = [group for group in _STRONG.split(text) if group.strip()]
        if len(groups) < 2:
            groups = _JOINTS.sub("", text).split()
            if len(groups) != len(self.lengths):
                raise UnclearTextError("where one sequence ends and the next begins can't be seen")
        sequences = ["".join(self._tokens(group)) for group in groups]
        has_single_tokens = max(map(len, sequences), default=0) == 1 < max(self.lengths)
        if has_single_tokens and len(sequences) > len(self.lengths):
            raise UnclearTextError("the commas cut the sequences into single tokens")
        return tuple(sequences)

    def reading_of(self, text: str) -> tuple[str, ...] | None:
        """Return how a known mistake's text is read, or None where what it gives can't be typed here."""
        try:
            return self.read(text)
        except UnclearTextError:
            return None

    def other_ways(self, text: str) -> list[str]:
        """Return an accepted text in the other ways in which people write it."""
        if self.kind == "words":
            return [text.replace(" ", ", "), text.replace(" ", " -> ")]
        groups = [tuple("<eos>" if token == _END else token for token in group) for group in self._cut(text)]
        if self.kind == "sequence":
            (tokens,) = groups
            glues = ("", " ", "-", " - ", ", ", " → ", "->", " – ")
            return [glue.join(tokens) for glue in glues] + [
                f"[{', '.join(tokens)}]",
                f"({' '.join(tokens)}).",
            ]
        spaced = [glue.join(" ".join(tokens) for tokens in groups) for glue in (", ", "; ", " and ", "\n")]
        together = [
            glue.join("".join(tokens) for tokens in groups) for glue in (", ", ",", "; ", " ", " and ")
        ]
        arrows = ", ".join(" → ".join(tokens) for tokens in groups)
        return [*together, *spaced, arrows, f"[{together[0]}]", f"({together[0]})."]

    def _cut(self, text: str) -> list[list[str]]:
        groups = _STRONG.split(_marked(text)) if self.kind == "sequences" else [_marked(text)]
        return [list("".join(_STRONG.sub(" ", group).split())) for group in groups]

    def advice(self) -> str:
        """Return how to write an answer, with tokens that give nothing away."""
        if self.kind == "sequence":
            return "the tokens, with or without spaces between them"
        if self.kind == "sequences":
            return "sequences with a comma between them, each with its tokens together"
        return "a few words"


def _without_inner_commas(text: str) -> str:
    """Return ``(A, A), (B, A)`` as ``A A, B A``: brackets say where a sequence ends."""
    inner = text.strip().rstrip(".")
    for _ in range(2):  # as typed, and without brackets around the whole
        if len(_GROUP.findall(inner)) > 1 and not _GROUP.sub("", inner).strip(" \t\n,;|&"):
            return ", ".join(re.sub(r"[,;\s]+", " ", group).strip() for group in _GROUP.findall(inner))
        inner = inner[1:-1].strip()
    return text


def _marked(text: str) -> str:
    """Return an answer with one sign for each end token, plain dashes, and blanks for arrows."""
    marked = _END_SIGN.sub(f" {_END} ", _bare(text))
    marked = re.sub(r"[\])}]\s*[\[({]", ", ", marked)
    marked = re.sub(r"[\[\](){}\"'`“”‘’«»]", " ", marked)
    return _ARROW.sub("-", _plain_dashes(marked)).strip(" -.,;")


def _plain_dashes(text: str) -> str:
    if text.isascii():
        return text
    return "".join("-" if unicodedata.category(sign) == "Pd" or sign == "\u2212" else sign for sign in text)


# A class answers the same few fields again and again, and a spelling is worked out from all its texts.
@lru_cache(maxsize=512)
def _spelling(accepted: tuple[str, ...], wrong: tuple[str, ...], case_sensitive: bool) -> TokenSpelling:
    def cased(text: str) -> str:
        return text if case_sensitive else text.casefold()

    # What the lines below give; most variants have texts of their own, so that no memory helps them.
    if accepted and all(map(_DRAWN.fullmatch, (*accepted, *wrong))):
        return TokenSpelling("sequence", frozenset(cased(_LETTER_NAMES)), (), case_sensitive, hyphens=False)
    hyphens = any("-" in _plain_dashes(text) for text in (*accepted, *wrong))
    words = TokenSpelling("words", frozenset(), (), case_sensitive, hyphens)
    kinds = {_kind(text) for text in accepted}
    if len(kinds) != 1 or "words" in kinds:
        return words
    (kind,) = kinds
    # Tokens that only known mistakes have can be typed as well, or the mistakes couldn't be recognised.
    used = {sign for text in (*accepted, *wrong) for sign in _marked(text) if sign.isalpha() or sign == _END}
    letters = {cased(sign) for sign in used}
    if used - {_END} <= set(_LETTER_NAMES):
        letters |= {cased(letter) for letter in _LETTER_NAMES}
    groups = [group for group in _STRONG.split(_marked(accepted[0])) if group.strip()]
    lengths = tuple(len("".join(group.split())) for group in groups)
    return TokenSpelling(
        kind, frozenset(letters), lengths if kind == "sequences" else (), case_sensitive, hyphens
    )


@lru_cache(maxsize=512)
def _readings(
    accepted: tuple[str, ...], wrong: tuple[str, ...], case_sensitive: bool
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...] | None, ...]]:
    """Return how the accepted texts of a field are read, and those of its known mistakes."""
    spelling = _spelling(accepted, wrong, case_sensitive)
    return tuple(map(spelling.read, accepted)), tuple(map(spelling.reading_of, wrong))


def _kind(text: str) -> str:
    """Return what an accepted text is: ``words``, ``sequence`` or ``sequences``."""
    marked = _marked(text)
    groups = [group.split() for group in _STRONG.split(marked) if group.strip()]
    words = [word for group in groups for word in group]
    if not "".join(words).strip(_END) or any(
        not sign.isalpha() and sign != _END for word in words for sign in word
    ):
        return "words"
    if (
        len(groups) > 1
        and all(len(group) == 1 for group in groups)
        and "".join(words).replace(_END, "").isupper()
    ):
        return "sequences"
    if all(len(word) == 1 for word in words):
        return "sequence"
    is_glued = len(words) == 1 and set(words[0]) <= {*_LETTER_NAMES, _END}
    return "sequence" if is_glued else "words"


# Twice as long as any accepted text may be.
MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class TokenSettings(PartSettings):
    """Settings of a token field.

    Parameters
    ----------
    case_sensitive : bool
    order_credit : float
        Share of the marks for the right sequences in another order.
    """

    case_sensitive: bool = False
    order_credit: float = 0.0


class Token(AnswerType):
    """Words with blanks between them, or tokens; case matters only where the item says so."""

    name = "token"
    is_open = True
    invites_elimination = True

    def draft(self, answer: TokenAnswer, context: FieldContext) -> FieldDraft:
        """Draft a token field."""
        value: Any = answer.accepted[0] if answer.accepted else None
        accepted = list(answer.accepted)
        if answer.key is not None:
            value = evaluate(answer.key, context.names)
            accepted.insert(0, _value_words(answer.key, value))
        if not accepted:
            raise ImpossibleDraw("a token field needs accepted texts or a key")
        known: list[tuple[str, str]] = []
        for misconception in context.misconceptions:
            try:
                wrong = _value_words(misconception.expr, evaluate(misconception.expr, context.names))
            except UndefinedValueError:
                continue
            known.append((misconception.id, wrong))
        spelling = TokenSpelling.of(
            accepted, [wrong for _, wrong in known], case_sensitive=answer.case_sensitive
        )
        if answer.order_credit and spelling.kind != "sequences":
            raise ImpossibleDraw("order_credit needs a key of several sequences, such as AA, BA")
        try:
            right = [spelling.read(text) for text in accepted]
        except UnclearTextError as reason:
            raise ImpossibleDraw(f"an accepted text can't be typed: {reason}") from None
        # Compared as answers are, so that "A B" and "ab" count as the same here too.
        for name, wrong in known:
            if spelling.reading_of(wrong) in right:
                raise RedrawNeeded(f"{name} gives another answer than the key")
        settings = TokenSettings(answer.case_sensitive, answer.order_credit).as_json()

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            sentences = {m.id: m.feedback for m in context.misconceptions}
            wrong = tuple(
                KnownWrong(name, renderer.feedback(sentences[name], name), text=text) for name, text in known
            )
            return Part("", answer.type, 1.0, key_ids=tuple(accepted), known_wrong=wrong, settings=settings)

        return FieldDraft(value, ("token", normal_token(accepted[0], answer.case_sensitive)), build)

    def parse(self, text: str, part: Part) -> tuple[str, ...]:
        """Return the words, tokens or sequences, without what doesn't matter."""
        spelling = self._spelling(part)
        if len(text) > MAX_TEXT:
            raise format_error(
                f"at most {MAX_TEXT} characters are read", text[:60], expected=spelling.advice()
            )
        try:
            read = spelling.read(text)
        except UnclearTextError as reason:
            raise format_error(str(reason), text, expected=spelling.advice()) from None
        if not read:
            raise format_error("there are no words in it", text, expected=spelling.advice())
        return read

    @staticmethod
    def _spelling(part: Part) -> TokenSpelling:
        wrong = tuple([known.text for known in part.known_wrong if known.text is not None])
        return _spelling(tuple(part.key_ids), wrong, TokenSettings.of(part).case_sensitive)

    def judge(self, part: Part, answer: tuple[str, ...]) -> AnswerJudgement:
        """Judge a text against the accepted ones; every known mistake that gives it is named."""
        settings = TokenSettings.of(part)
        known_texts = [(known, known.text) for known in part.known_wrong if known.text is not None]
        accepted, wrong = _readings(
            tuple(part.key_ids), tuple([text for _, text in known_texts]), settings.case_sensitive
        )
        if answer in accepted:
            return AnswerJudgement(1, "Right.")
        diagnosis = tuple(
            [
                mistake_diagnosis(known)
                for (known, _), reading in zip(known_texts, wrong, strict=True)
                if reading == answer
            ]
        )
        if settings.order_credit and sorted(answer) in [sorted(text) for text in accepted]:
            share = Fraction(Decimal(str(settings.order_credit)))
            return AnswerJudgement(share, "These are the right ones, but not in the right order.", diagnosis)
        return AnswerJudgement(0, "Not right.", diagnosis)

    def right_responses(self, part: Part) -> list[str]:
        """Return the accepted texts; the first also in the other ways in which people write it."""
        spelling = self._spelling(part)
        first = part.key_ids[0]
        ways = [*part.key_ids, f"  {first} ", f"{first}.", f'"{first}"', *spelling.other_ways(first)]
        if not spelling.case_sensitive:
            ways += [first.lower(), first.upper()]
        return list(dict.fromkeys(ways))

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return what each known mistake would type."""
        return [(known.text, known.misconception) for known in part.known_wrong if known.text is not None]

    def blank_hint(self, part: Part) -> str:
        """Return what is to be typed."""
        spelling = self._spelling(part)
        if spelling.kind != "words":
            return spelling.advice()
        return "words separated by spaces" if " " in part.key_ids[0] else "a word"

    def policy(self, part: Part) -> str:
        """Return whether the right ones in another order earn something."""
        share = TokenSettings.of(part).order_credit
        return (
            f"all or nothing; in another order {percent(share, 0)} of the points"
            if share
            else "all or nothing"
        )


def _value_words(text: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return " ".join(str(token) for token in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ExpressionError(
        "a token field needs a word or a sequence of tokens", where=f"expression {text[:120]!r}"
    )
