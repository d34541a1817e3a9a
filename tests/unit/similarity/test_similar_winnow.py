"""Winnowing: its guarantee, its names, and that it is the same in every process."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from engine.similarity.fingerprints import (
    GRAM,
    GUARANTEE,
    LEAST,
    WINDOW,
    NormalForm,
    all_grams,
    fingerprints,
    grams,
    normal_form,
)
from engine.similarity.tokens import CodeToken, TokenStatement

WORDS = st.sampled_from(["a", "b", "c", "d"])


def normal(*statements: list[str]) -> NormalForm:
    """Return statements of these texts; a text that begins with $ is an own name."""
    return NormalForm(
        tuple(
            TokenStatement(
                tuple(CodeToken("·" if t[0] == "$" else t, 1, t if t[0] == "$" else "") for t in texts), 0
            )
            for texts in statements
        )
    )


@given(
    st.lists(WORDS, min_size=GUARANTEE, max_size=GUARANTEE),
    *[st.lists(WORDS, max_size=12) for _ in range(4)],
)
def test_a_common_run_of_the_guaranteed_length_shares_a_fingerprint(
    run: list[str], before: list[str], after: list[str], other_before: list[str], other_after: list[str]
) -> None:
    one = fingerprints(normal(before + run + after))
    other = fingerprints(normal(other_before + run + other_after))
    assert one & other


@given(st.lists(WORDS, max_size=30), st.lists(st.sampled_from(["p", "q", "r"]), max_size=30))
def test_statements_without_a_common_token_share_none(one: list[str], other: list[str]) -> None:
    assert not fingerprints(normal(one)) & fingerprints(normal(other))


@given(st.lists(WORDS, min_size=GRAM + WINDOW, max_size=60))
def test_of_every_window_one_hash_is_kept_and_each_is_a_gram(texts: list[str]) -> None:
    statement = normal(texts)
    hashes = [hashed for hashed, _, _ in grams(statement.statements[0].tokens)]
    kept = fingerprints(statement)
    assert kept <= all_grams(statement) == set(hashes)
    assert all(kept & set(hashes[i : i + WINDOW]) for i in range(len(hashes) - WINDOW + 1))
    assert all(any(h == min(hashes[i : i + WINDOW]) for i in range(len(hashes))) for h in kept)


def test_a_random_file_keeps_half_of_its_hashes() -> None:
    """The density of winnowing is 2 / (w + 1)."""
    text = [f"t{(i * 7919) % 10007}" for i in range(10_000)]
    statement = normal(text)
    density = len(fingerprints(statement)) / len(all_grams(statement))
    assert abs(density - 2 / (WINDOW + 1)) < 0.02


def test_statements_that_say_nothing_have_no_fingerprint() -> None:
    assert LEAST == 4
    assert not fingerprints(normal(["return", "$x"], ["=", "$i", "0"], []))
    assert len(fingerprints(normal(["=", "$i", "f", "$x"]))) == 1


def test_the_order_of_statements_changes_nothing() -> None:
    statements = [["=", "$a", "f", "$b", "$c"], ["if", "Lt", "$a", "1", "$b"], ["return", "g", "$a", "$b"]]
    assert fingerprints(normal(*statements)) == fingerprints(normal(*reversed(statements)))


def test_names_count_by_where_they_came_last() -> None:
    def marks(*texts: str) -> frozenset[int]:
        return fingerprints(normal(list(texts)))

    assert marks("Sub", "$x", "max", "$x") == marks("Sub", "$scores", "max", "$scores")
    assert marks("Sub", "$x", "max", "$x") != marks("Sub", "$x", "max", "$y")


def test_another_process_finds_the_same_fingerprints() -> None:
    source = "def f(x):\n    return g(x - x.max(axis=-1), x + 1)\n"
    script = (
        "from engine.similarity.fingerprints import normal_form; "
        "from engine.similarity.fingerprints import fingerprints; "
        f"print(sorted(fingerprints(normal_form({source!r}))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sorted(fingerprints(normal_form(source))))
