"""GIFT as ``gift-pegjs`` parses it: one process of node for many texts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.oracles.moodle_rules import MoodleAnswer, MoodleQuestion, listed_fraction

__all__ = ["CLIENTS", "gift_questions", "parsed_gift"]

_ROOT = Path(__file__).resolve().parents[2]
CLIENTS = _ROOT / ".clients"
"""Where ``make clients`` installs the players."""
_PLACEHOLDERS = {"058": ":", "035": "#", "061": "=", "123": "{", "125": "}", "126": "~", "092": "\\"}


def parsed_gift(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each text ``{"questions": […]}``, or ``{"error": …, "at": …}`` where the grammar ends."""
    done = subprocess.run(
        ["node", str(_ROOT / "tests" / "clients" / "gift.js"), str(CLIENTS.resolve())],
        input=json.dumps(list(texts)), capture_output=True, text=True, encoding="utf-8", timeout=300,
        check=True,
    )  # fmt: skip
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def gift_questions(tree: Sequence[dict[str, Any]]) -> list[MoodleQuestion]:
    """Return the questions of a parse tree, as Moodle would keep them."""
    questions, category = [], ""
    for node in tree:
        if node["type"] == "Category":
            category = node["title"].strip()
            continue
        questions.append(_question(node, category))
    return questions


def _question(node: dict[str, Any], category: str) -> MoodleQuestion:
    kind = {"MC": "multichoice", "Numerical": "numerical", "Short": "shortanswer", "Matching": "matching"}
    choices = node.get("choices") or []
    read = _number if node["type"] == "Numerical" else _choice
    general = node.get("globalFeedback")
    return MoodleQuestion(
        kind=kind.get(node["type"], node["type"].lower()),
        name=node["title"] or "",
        text=node["stem"]["text"],
        category=category,
        answers=tuple(read(choice) for choice in choices),
        # Moodle lets students pick several where no answer is marked as the right one
        single=any(choice["isCorrect"] for choice in choices),
        pairs=tuple((pair["subquestion"]["text"], _decoded(pair["subanswer"])) for pair in _pairs(node)),
        tags=tuple(node.get("tags") or ()),
        general=general["text"] if general else "",
        idnumber=node.get("id") or "",
    )


def _pairs(node: dict[str, Any]) -> list[dict[str, Any]]:
    return node.get("matchPairs") or []


def _share(choice: dict[str, Any]) -> float:
    if choice["weight"] is None:
        return float(choice["isCorrect"])
    share = listed_fraction(choice["weight"] / 100)
    assert share is not None, choice["weight"]
    return share


def _choice(choice: dict[str, Any]) -> MoodleAnswer:
    return MoodleAnswer(choice["text"]["text"], _share(choice), _feedback(choice))


def _number(choice: dict[str, Any]) -> MoodleAnswer:
    # a single number without = stands there by itself
    text = choice["text"]
    if text.get("type") == "high-low":
        middle = (text["numberHigh"] + text["numberLow"]) / 2
        return MoodleAnswer(repr(middle), _share(choice), _feedback(choice), text["numberHigh"] - middle)
    if text.get("type") in ("range", "simple"):
        return MoodleAnswer(repr(text["number"]), _share(choice), _feedback(choice), text.get("range", 0.0))
    return MoodleAnswer("*", _share(choice), _feedback(choice))


def _feedback(choice: dict[str, Any]) -> str:
    feedback = choice["feedback"]
    return feedback["text"] if feedback else ""


def _decoded(text: str) -> str:
    # gift-pegjs leaves its own placeholders in the right sides of pairs (1.0.2)
    for number, sign in _PLACEHOLDERS.items():
        text = text.replace(f"&&{number};", sign)
    return text
