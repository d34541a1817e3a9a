"""From features to ranked pairs: rarity by hand, and the index beside comparing everybody with everybody."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest

from engine.similarity.compare import (
    FeatureChannel,
    FeatureRarity,
    compare,
    groups,
    is_close,
    sample_spread,
    spread,
)
from engine.similarity.fingerprints import words
from engine.similarity.gather import ComparedFile, FilePair, SimilaritySpread


def work(who: str, source: str = "", *, is_earlier: bool = False) -> ComparedFile:
    return ComparedFile(who, source or who, is_earlier=is_earlier)


def plain(first: ComparedFile, second: ComparedFile) -> float:
    return 0.0


def test_surprise_by_hand() -> None:
    """Eleven people; "a" has two holders, "b" three, "c" one."""
    people: dict[str, set[str]] = {f"p{i}": {f"own{i}"} for i in range(11)}
    people["p0"] |= {"a", "b"}
    people["p1"] |= {"a", "b", "c"}
    people["p2"] |= {"b"}
    rarity = FeatureRarity(people.items())
    match = rarity.match(frozenset({"a", "b"}), frozenset({"a", "b", "c"}))
    bits = -math.log2(0.5 / 10) - math.log2(1.5 / 10)
    assert (match.shared, match.share_first, match.share_second) == (2, 1.0, pytest.approx(2 / 3))
    assert match.surprise == pytest.approx(bits)  # the first has nothing else: its share is 1
    half = rarity.match(frozenset({"a", "own0"}), frozenset({"a", "c"}))
    assert half.surprise == pytest.approx(-math.log2(0.05) / 2)
    assert rarity.match(frozenset(), frozenset({"a"})).surprise == 0


def test_what_more_than_half_of_the_people_have_is_usual() -> None:
    rarity = FeatureRarity([(i, {"all", *(["half"] if i < 5 else [])}) for i in range(10)])
    assert rarity.usual() == {"all"}
    assert FeatureRarity([(i, {"all"}) for i in range(3)]).usual() == frozenset(), "three may have copied"


def test_one_person_counts_once_however_often_they_hand_in() -> None:
    rarity = FeatureRarity([("a", {"x"})] * 9 + [("b", {"x"}), ("c", {"y"}), ("d", {"y"})])
    assert rarity.persons == 4
    assert rarity.usual() == frozenset()


def test_the_index_finds_what_comparing_everybody_finds() -> None:
    chance = random.Random(3)
    works = [work(f"s{i:02}") for i in range(40)]
    features = {w.source: frozenset(chance.sample(range(60), chance.randint(1, 12))) for w in works}
    features["s07"] = features["s31"]
    channel = FeatureChannel(works, features, {0, 1})
    assert channel.usual >= {0, 1}
    every = [channel.match(a, b).surprise for a, b in combinations(works, 2)]
    found = channel.best(30, plain)
    assert [m.surprise for m, _, _ in found] == pytest.approx(sorted(every, reverse=True)[:30])
    assert all(m == channel.match(a, b) for m, a, b in found)
    assert {found[0][1].who, found[0][2].who} == {"s07", "s31"}


def test_nobody_is_compared_with_themselves_nor_one_earlier_year_with_another() -> None:
    works = [
        work("ada", "one"),
        work("ada", "two"),
        work("ada", "old", is_earlier=True),
        work("bob", "older", is_earlier=True),
        work("eve", "else"),
    ]
    features = dict.fromkeys(["one", "two", "old", "older"], frozenset({"x", "y"})) | {
        "else": frozenset({"z"})
    }
    channel = FeatureChannel(works, features, ())
    assert channel.usual == frozenset(), "three people, one of them twice"
    found = {frozenset((a.person, b.person)) for _, a, b in channel.best(50, plain)}
    ada = (False, "ada")
    assert found == {frozenset((ada, (True, "ada"))), frozenset((ada, (True, "bob")))}


def test_a_crowd_with_one_form_is_put_in_order_by_the_finer_comparison() -> None:
    works = [*(work(f"s{i:03}") for i in range(120)), *(work(f"other{i}") for i in range(200))]
    features = {w.source: frozenset({"form"} if w.who[0] == "s" else {w.who}) for w in works}
    channel = FeatureChannel(works, features, ())

    def finer(a: ComparedFile, b: ComparedFile) -> float:
        return float({a.who, b.who} == {"s005", "s017"})

    found = channel.best(10, finer)
    assert len(found) == 10
    assert {found[0][1].who, found[0][2].who} == {"s005", "s017"}


def test_the_spread_by_hand() -> None:
    assert spread([]) == SimilaritySpread(0, 0.0, 0.0, 0.0)
    assert spread([i / 100 for i in range(101)]) == SimilaritySpread(101, 0.5, 0.95, 1.0)
    works = [work("a"), work("b"), work("b", "again"), work("c")]
    assert sample_spread(works, lambda a, b: 0.25) == SimilaritySpread(5, 0.25, 0.25, 0.25), "not b with b"
    many = [work(f"s{i}") for i in range(500)]
    assert sample_spread(many, lambda a, b: 0.5).pairs > 3_900


def pair(first: str, second: str, share: float = 1.0, surprise: float = 50.0) -> FilePair:
    return FilePair(work(first), work(second), 9, share, share, surprise)


def test_close_pairs_link_groups_of_three_and_more() -> None:
    usual = SimilaritySpread(100, 0.0, 0.3, 0.5)
    assert is_close(pair("a", "b"), usual)
    assert not is_close(pair("a", "b", share=0.59), usual)
    assert not is_close(pair("a", "b", surprise=14.9), usual)
    assert not is_close(pair("a", "b", share=0.8), SimilaritySpread(100, 0.7, 0.9, 1.0)), (
        "many pairs share as much"
    )
    linked = groups(
        [pair("a", "b"), pair("c", "d"), pair("b", "e"), pair("x", "y"), pair("d", "q"), pair("q", "z")]
    )
    assert [[w.who for w in group] for group in linked] == [["c", "d", "q", "z"], ["a", "b", "e"]]


def test_words_are_own_names_comments_and_texts() -> None:
    source = '''"""What I did."""
import numpy as np
def f(wts, q):  # Sums  the Weights
    # noqa: E501
    total = np.sum(wts, where=None)
    return f"{total} grams", 'ok', "a long message", len(wts)
'''
    assert words(source) == {
        '" what i did.',
        "# sums the weights",
        "wts",
        "total",
        '" {total} grams',
        '" a long message',
    }
    assert words("x = '''never ended\nlonger = 1") == frozenset()
    assert words("longer = (1\n") == {"longer"}


def test_plain_copies_of_what_everybody_writes_are_found_by_their_words() -> None:
    body = (
        "def softmax(x):\n    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    return e / e.sum(axis=-1)\n"
    )
    works = [work(f"s{i}", f"import numpy as np\n# by number {i} of all\n{body}") for i in range(12)]
    odd = "# I wondered long about the axis\n# the largest one must go\nMYSTERY = 1\n"
    copies = [work(who, f"{odd}# {who} wrote this alone\n{body}") for who in ("ada", "bob")]
    found = compare("softmax", [*works, *copies], handouts=["import numpy as np\n"])
    assert found.pairs == (), "the structure is usual"
    (only,) = found.by_wording
    assert {only.first.who, only.second.who} == {"ada", "bob"}
    assert only.wording == pytest.approx(3 * math.log2(13 / 0.5) * 3 / 4)


def test_nothing_to_compare_is_no_error() -> None:
    for works in ([], [work("ada", "x = f(1, 2, 3)")], [work("ada", ""), work("bob", "")]):
        found = compare("softmax", works)
        assert found.pairs == found.by_wording == found.groups == ()
