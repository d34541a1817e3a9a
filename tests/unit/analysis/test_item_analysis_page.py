"""What docs/item-analysis.md shows is what the code says."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "item-analysis.md"


def test_the_examples_of_the_page_are_real() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted > 8 and found.failed == 0
