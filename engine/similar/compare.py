"""All files of one item → the pairs that are most alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.cores import on_all_cores
from engine.similar.channel import Channel, Features
from engine.similar.groups import groups, identical, is_close
from engine.similar.normal import normal_form
from engine.similar.rarity import Match
from engine.similar.spread import sample_spread
from engine.similar.winnow import all_grams, fingerprints
from engine.similar.wording import words
from engine.similar.work import Comparison, Pair, Work

__all__ = ["compare"]

_FORK_FROM = 300
_LEAST_WORDING = 10.0  # two rare names say nothing


def compare(item: str, works: Sequence[Work], *, given: Iterable[str] = (), keep: int = 50) -> Comparison:
    """Compare all files of one item with each other.

    Parameters
    ----------
    item : str
        For the result only.
    works : sequence of Work
        One student may have several; no two files of one student are compared, nor two of earlier years.
    given : iterable of str
        Sources that everybody got, such as the starter: what comes from there doesn't count.
    keep : int
        How many pairs to return.
    """
    sources = list(dict.fromkeys(work.source for work in works))
    given = list(given)
    made = on_all_cores(_features, sources, least=_FORK_FROM)
    features = {source: made[source] if source in made else _features(source) for source in sources}
    shape = Channel(
        works,
        {source: found[0] for source, found in features.items()},
        {gram for source in given for gram in all_grams(normal_form(source))},
    )
    wording = Channel(
        works,
        {source: found[1] for source, found in features.items()},
        {word for source in given for word in words(source)},
    )

    def pair(first: Work, second: Work) -> Pair:
        match = shape.match(first, second)
        said = wording.match(first, second).surprise
        return Pair(first, second, match.shared, match.share_first, match.share_second, match.surprise, said)

    def surprise(match: Match) -> float:
        return match.surprise

    by_shape = shape.best(keep, lambda a, b: surprise(wording.match(a, b)))
    pairs = tuple(pair(a, b) for _, a, b in by_shape)
    listed = {frozenset((found.first.person, found.second.person)) for found in pairs}
    by_wording = [
        pair(a, b)
        for match, a, b in wording.best(keep, lambda a, b: surprise(shape.match(a, b)))
        if match.surprise >= _LEAST_WORDING and frozenset((a.person, b.person)) not in listed
    ]
    spread = sample_spread(works, lambda a, b: _larger(shape.match(a, b)))
    return Comparison(
        item=item,
        files=len(works),
        students=shape.rarity.persons,
        pairs=pairs,
        by_wording=tuple(by_wording),
        groups=groups(found for found in pairs if is_close(found, spread)),
        usual=shape.usual,
        spread=spread,
        identical=identical(works, given),
    )


def _features(source: str) -> tuple[Features, Features]:
    return fingerprints(normal_form(source)), words(source)


def _larger(match: Match) -> float:
    return max(match.share_first, match.share_second)
