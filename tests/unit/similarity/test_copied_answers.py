"""Wrong answers that match a classmate's key: what counts, what doesn't, and how likely it is by chance."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import pytest

from engine.answers import right_response, wrong_responses
from engine.grading import grade_answers
from engine.items.bank import builtin_bank
from engine.model import ChoiceOption, FloatArray, Mode, Part, RenderedText, Response, Variant
from engine.similarity.answers import LEAST_CHANCE, AnswerComparison, AnswerSearch, ItemKeys, VariantHolder
from engine.store import Attempt
from engine.variants import draw_seeded

NOW = datetime(2026, 11, 27, tzinfo=UTC)
TEXT = RenderedText("", "", "")


def attempt(student: str, variant: Variant, answers: Mapping[str, str]) -> Attempt:
    response = Response(answers)
    report = grade_answers(variant, response, mode=Mode.MARKS, student=student)
    return Attempt(student, f"{student}{variant.id}{answers}", report, NOW, NOW, variant, response)


def number(name: str, key: int, half: int = 0, kind: str = "number") -> Variant:
    """Return a variant of one item whose key is a whole number, with an interval around it."""
    settings = {
        "decimals": 0,
        "significant": None,
        "places": [0],
        "lower": [str(key - half)],
        "upper": [str(key + half)],
        "partial": "all",
        "near_credit": 0,
    }
    part = Part("answer", kind, 1.0, key=FloatArray((), (float(key),)), settings=settings)
    return Variant(name, "sum", "v1", "A sum", TEXT, (part,))


def drawn(item: str, count: int) -> dict[str, Variant]:
    bank = builtin_bank()
    spec = bank.load(item)
    return {
        f"s{i:03}": draw_seeded(spec, version="v", registry=bank.registry(), seed=i) for i in range(count)
    }


def found_among(attempts: Sequence[Attempt], variants: Mapping[str, Variant]) -> AnswerComparison:
    return compared(attempts, variants.items())


def compared(attempts: Iterable[Attempt], handed_out: Iterable[tuple[str, Variant]]) -> AnswerComparison:
    search = AnswerSearch()
    for student, variant in handed_out:
        search.hand_out(student, variant)
    for made in attempts:
        search.add(made)
    return search.comparison()


def guesses(variants: Mapping[str, Variant]) -> list[Attempt]:
    """Return a wrong answer of everybody, at random."""
    chance = random.Random(2)
    found = []
    for student, variant in variants.items():
        part = variant.parts[0]
        assert part.key is not None
        entries = [round(value + chance.uniform(0.05, 0.9), 3) for value in part.key.data]
        found.append(attempt(student, variant, {part.id: str(entries if part.key.shape else entries[0])}))
    return found


def test_a_classmates_vector_is_found_and_nothing_else() -> None:
    variants = drawn("softmax-weights", 60)
    attempts = guesses(variants)
    assert found_among(attempts, variants).unlikely == (), "numbers at random are nobody's key"

    theirs = variants["s041"].parts[0]
    attempts[7] = attempt("s007", variants["s007"], {theirs.id: right_response(theirs)})
    (match,) = found_among(attempts, variants).unlikely
    assert (match.who, match.whose) == ("s007", "s041")
    (answer,) = match.answers
    key = right_response(theirs)
    assert (answer.item, answer.answer, answer.key, answer.holders) == ("softmax-weights", key, key, 1)
    assert answer.chance < 1e-5
    assert match.expected == pytest.approx(answer.chance * 60 * 59)


def test_keys_on_a_coarse_grid_meet_by_chance() -> None:
    """Two entries in steps of 0.1 look like six digits, but the class's own keys meet once in 900 pairs."""
    variants = drawn("context-vector", 60)
    theirs = variants["s041"].parts[0]
    attempts = guesses(variants)
    attempts[7] = attempt("s007", variants["s007"], {theirs.id: right_response(theirs)})
    found = found_among(attempts, variants)
    assert (found.unlikely, found.explained) == ((), 1)


def test_an_answer_that_a_known_mistake_gives_is_explained() -> None:
    """The classmate's key is what the student's own known mistake gives: no evidence."""
    variants = drawn("softmax-weights", 30)
    mine = variants["s000"]
    wrong, _ = wrong_responses(mine.parts[0])[0]
    theirs = Variant("other", mine.item, "v", "", TEXT, (_with_key(mine.parts[0], wrong),))
    variants["s001"] = theirs
    told = attempt("s000", mine, {mine.parts[0].id: wrong})
    assert told.report.diagnosis != ()
    assert found_among([told], variants).compared == 0
    # the same numbers typed by somebody whose own mistakes give others
    other = attempt("s002", variants["s002"], {mine.parts[0].id: wrong})
    assert [c.whose for c in found_among([other], variants).unlikely] == ["s001"]


def _with_key(part: Part, text: str) -> Part:
    entries = [float(entry) for entry in text.strip("[]").split(",")]
    key = FloatArray((len(entries),), tuple(entries))
    bounds = [f"{entry:.3f}" for entry in entries]
    return Part(
        part.id, part.type, 1.0, key=key, settings={**part.settings, "lower": bounds, "upper": bounds}
    )


def test_right_blank_and_unreadable_answers_are_left_out_and_so_are_the_students_own_draws() -> None:
    variants = {f"s{i}": number(f"v{i}", 1000 + 37 * i) for i in range(20)}
    again = number("again", 5555)
    attempts = [
        attempt("s0", variants["s0"], {"answer": "1000"}),
        attempt("s1", variants["s1"], {"answer": "  "}),
        attempt("s2", variants["s2"], {"answer": "many"}),
        attempt("s3", again, {"answer": "1111"}),  # 1000 + 37 * 3: their own first draw
    ]
    found = found_among(attempts, variants)
    assert (found.compared, found.unlikely, found.explained) == (1, (), 0)


def test_options_say_nothing() -> None:
    def choice(name: str, key: str) -> Variant:
        options = tuple(ChoiceOption(letter, TEXT, correct=letter == key) for letter in "abcd")
        part = Part("answer", "single_choice", 1.0, key_ids=(key,), options=options)
        return Variant(name, "pick", "v", "", TEXT, (part,))

    variants = {f"s{i}": choice(f"v{i}", "abcd"[i % 4]) for i in range(8)}
    attempts = [attempt(student, v, {"answer": "b"}) for student, v in variants.items()]
    assert found_among(attempts, variants).compared == 0


def holders(keys: Sequence[int], half: int = 0) -> ItemKeys:
    return ItemKeys(
        [
            VariantHolder(f"v{i}", number(f"v{i}", key, half).parts[0], frozenset({f"s{i}"}))
            for i, key in enumerate(keys)
        ]
    )


def test_the_chance_by_hand() -> None:
    # three digits, keys from 100 to 199, each one unit wide: one in a hundred
    keys = holders(range(100, 200))
    assert keys.chance("157", 1) == pytest.approx(1 / 100)
    # fewer digits than the spread of keys lets one hope
    assert holders(range(0, 100_000, 1_000)).chance("7000", 1) == pytest.approx(1 / 10)
    # intervals of 21 in keys of 100 to 199: a fifth
    assert holders(range(100, 200), 10).chance("157", 1) == pytest.approx(21 / 119 + 0, abs=0.02)
    # three of 20 other variants have this key
    same = holders([*range(10_000, 80_000, 3_889), 12_345, 12_345, 12_345])
    assert len(same.holders) == 21
    assert same.chance("12345", 3) == pytest.approx(2 / 20)
    assert holders(range(10**9, 11 * 10**9, 10**8 + 1)).chance("1234567891", 1) >= LEAST_CHANCE


def test_accepting_is_the_items_own_rule() -> None:
    keys = holders([100, 105, 120], half=5)
    assert [h.variant for h in keys.accepting("104", [104.0])] == ["v0", "v1"]
    assert [h.variant for h in keys.accepting("110", [110.0])] == ["v1"]
    assert keys.accepting("104.0 3", [104.0, 3.0]) == []


def test_small_numbers_are_excluded_and_middling_ones_count_together() -> None:
    def course(item: str, step: int) -> dict[str, Variant]:
        found = {}
        for i in range(50):
            variant = number(f"{item}{i}", 100 + step * i)
            found[f"s{i:02}"] = Variant(variant.id, item, "v", item, TEXT, variant.parts)
        return found

    first, second = course("one", 13), course("two", 17)
    every = [*first.items(), *second.items()]
    single = [
        *(attempt(s, v, {"answer": "99"}) for s, v in first.items() if s != "s03"),
        attempt("s03", first["s03"], {"answer": right_response(first["s31"].parts[0])}),
    ]
    found = compared(single, every)
    assert (found.unlikely, found.explained) == ((), 1), "in 2,450 pairs one such match is chance"

    both = [
        *single,
        attempt("s03", second["s03"], {"answer": right_response(second["s31"].parts[0])}),
    ]
    (match,) = compared(both, every).unlikely
    assert (match.who, match.whose, len(match.answers)) == ("s03", "s31", 2)
    assert match.chance == pytest.approx(math.prod(answer.chance for answer in match.answers))
    assert match.expected == pytest.approx(match.chance * 50 * 49)

    tiny = {f"s{i}": number(f"v{i}", i) for i in range(9)}
    assert found_among([attempt("s1", tiny["s1"], {"answer": "5"})], tiny).explained == 0


def test_steps_of_one_item_count_once() -> None:
    def steps(name: str, key: int) -> Variant:
        one, two = number(name, key).parts[0], number(name, 3 * key).parts[0]
        parts = tuple(
            Part(part_id, "number", 1.0, key=part.key, settings=part.settings)
            for part_id, part in (("first", one), ("second", two))
        )
        return Variant(name, "steps", "v", "", TEXT, parts)

    variants = {f"s{i}": steps(f"v{i}", 100_003 + 7_919 * i) for i in range(12)}
    theirs = {part.id: right_response(part) for part in variants["s9"].parts}
    (match,) = found_among([attempt("s2", variants["s2"], theirs)], variants).unlikely
    assert len(match.answers) == 2
    assert match.chance == min(answer.chance for answer in match.answers)


def test_words_count_by_how_many_keys_there_are() -> None:
    def words(name: str, key: str) -> Variant:
        part = Part("answer", "token", 1.0, key_ids=(key,), settings={})
        return Variant(name, "tokens", "v", "", TEXT, (part,))

    variants = {
        f"s{i}": words(f"v{i}", f"the {w} sat") for i, w in enumerate(["cat", "dog", "cow", "hen"] * 6)
    }
    assert found_among([attempt("s0", variants["s0"], {"answer": "The dog  sat"})], variants).unlikely == ()
    many = {f"s{i}": words(f"v{i}", f"word{i} and word{i + 1}") for i in range(30)}
    found = found_among([attempt("s0", many["s0"], {"answer": "word7 AND word8"})], many)
    assert (found.compared, found.unlikely, found.explained) == (1, (), 1), "one of 30 keys, in 29 classmates"
