"""The ways to write a word or a sequence of tokens, listed: other platforms compare whole lines.

Our own field reads an answer token by token, whatever stands between them. A platform that compares lines
gets those ways of writing that people use most.
"""

from __future__ import annotations

from itertools import islice, permutations

from engine.answers.token import TokenSpelling
from engine.export.exported_fields import WordsField

# Of several sequences: with more orders than these, those behind them are left out.
_MOST_ORDERS = 24
# Where one sequence ends and the next begins.
_ENDS = (", ", ",", " ", "; ")


def accepted_spellings(field: WordsField) -> dict[str, float]:
    """Return texts that earn something, with their share of the points; the usual one first.

    Parameters
    ----------
    field : WordsField

    Examples
    --------
    ``A B`` is also accepted as ``AB``, ``A-B``, ``A, B`` and more; with ``order_credit``, ``AA, BA`` earns it
    as ``BA, AA``.
    """
    spelling = TokenSpelling.of(
        field.accepted, [text for text, _ in field.wrong], case_sensitive=field.case_sensitive
    )
    shares: dict[str, float] = {}
    for text in field.accepted:
        for way in (text, *spelling.other_ways(text)):
            shares.setdefault(_one_line(way), 1.0)
        # telephones end a word with a blank, and people a sentence with a full stop
        for end in (" ", "."):
            shares.setdefault(text + end, 1.0)
    if field.order_credit:
        for text in field.accepted:
            groups = [group.replace(" ", "") for group in text.split(",")]
            for order in islice(permutations(groups), _MOST_ORDERS):
                for end in _ENDS:
                    shares.setdefault(end.join(order), field.order_credit)
    wrong = {text.casefold() for text, _ in field.wrong}
    seen: set[str] = set()
    unique: dict[str, float] = {}
    for text, share in shares.items():
        name = text if field.case_sensitive else text.casefold()
        # a mistake that reads like a way to write the key would be both
        if name and name not in seen and (share == 1.0 or text.casefold() not in wrong):
            seen.add(name)
            unique[text] = share
    return unique


def _one_line(text: str) -> str:
    return " ".join(text.split())
