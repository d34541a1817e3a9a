"""The last few results: found again, and those asked for longest ago gone first."""

from __future__ import annotations

from engine.parallel import LruCache


def test_what_was_asked_for_last_is_kept() -> None:
    kept = LruCache[str](2)
    kept.put("a", "A")
    kept.put(("b", 1), "B")
    assert kept.get("a") == "A"
    kept.put("c", "C")
    assert (kept.get("a"), kept.get(("b", 1)), kept.get("c")) == ("A", None, "C")


def test_a_key_has_its_latest_result() -> None:
    kept = LruCache[int](1)
    kept.put("a", 1)
    kept.put("a", 2)
    assert kept.get("a") == 2
