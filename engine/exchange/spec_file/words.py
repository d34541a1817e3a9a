"""Short answers and matchings."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from engine.exchange.markup.characters import plain_characters
from engine.exchange.numerals import percent
from engine.exchange.question import Answer, Question
from engine.exchange.spec_file.naming import slug
from engine.exchange.spec_file.texts import Texts, UnfitError, named
from engine.plurals import counted
from engine.variants.tokens import normal_token

__all__ = ["matching_answer", "token_answer"]

_MAX_WORD = 200
_MAX_ACCEPTED = 50
_MAX_FORESEEN = 64
_WILD = re.compile(r"(?<!\\)\*")


def token_answer(question: Question, texts: Texts) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the answer of a short-answer question, and the wrong answers that its author foresaw.

    Raises
    ------
    UnfitError
        No accepted text is one that we can compare with.
    """
    accepted: list[str] = []
    others: list[tuple[str, Answer]] = []
    for answer in question.answers:
        raw = answer.text.text.strip()
        if raw == "*":
            if answer.feedback:
                texts.note("feedback for any other answer isn't kept", answer.place)
            if answer.fraction != 0:
                texts.note(f"{percent(answer.fraction)} for any other answer isn't kept", answer.place)
            continue
        if _WILD.search(raw):
            texts.note(f"{named(raw)} isn't kept: there are no patterns here, list the answers", answer.place)
            continue
        word = " ".join(plain_characters(raw.replace("\\*", "*"))[0].split())
        if answer.fraction == 1:
            accepted.append(word)
        else:
            others.append((word, answer))
    accepted = [word for word in dict.fromkeys(accepted) if normal_token(word)]
    _check(accepted)
    data: dict[str, Any] = {"type": "token", "accepted": accepted}
    if not question.case_sensitive and any(word.upper().casefold() != word.casefold() for word in accepted):
        texts.note(
            "capitals matter here, as the accepted text has letters such as a dotless i", question.place
        )
        question = replace(question, case_sensitive=True)
    if question.case_sensitive:
        data["case_sensitive"] = True
    return data, _foreseen(accepted, others, question, texts)


def _check(accepted: list[str]) -> None:
    if not accepted:
        raise UnfitError("it accepts patterns or signs only", "list the words that are right")
    if len(accepted) > _MAX_ACCEPTED:
        raise UnfitError(
            f"it accepts {counted(len(accepted), 'text')}; at most {_MAX_ACCEPTED} are possible", "list fewer"
        )
    if any(len(word) > _MAX_WORD for word in accepted):
        raise UnfitError(f"an accepted text has over {_MAX_WORD} characters", "ask for a few words")


def _foreseen(
    accepted: list[str], others: list[tuple[str, Answer]], question: Question, texts: Texts
) -> list[dict[str, Any]]:
    """Return wrong answers with feedback as known mistakes; one that the rules here accept is left out.

    Their ids are given when the item's own is known.
    """
    seen = {normal_token(word, question.case_sensitive) for word in accepted}
    found: list[dict[str, Any]] = []
    for word, answer in others:
        feedback = texts.feedback(answer.feedback, f"feedback of {named(word)}", place=answer.place)
        if answer.fraction != 0:
            texts.note(
                f"{percent(answer.fraction)} for {named(word)} isn't kept: it earns 0 here", answer.place
            )
        normal = normal_token(word, question.case_sensitive)
        if normal in seen or not normal or len(word) > _MAX_FORESEEN:
            if feedback:
                texts.note(f"feedback of {named(word)} isn't kept", answer.place)
            continue
        seen.add(normal)
        if feedback:
            expression = '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
            found.append({"id": "", "expr": expression, "feedback": feedback})
    return found


def matching_answer(question: Question, texts: Texts) -> dict[str, Any]:
    """Return the answer of a matching question: equal right sides become one target.

    Raises
    ------
    UnfitError
        All pairs have the same right side, or there are too many.
    """
    ids: dict[str, str] = {}
    targets: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    wrong = texts.feedback(question.wrong, "feedback for wrong answers")
    for number, pair in enumerate(question.pairs, start=1):
        text = texts.needed(pair.target, f"the right side of pair {number}", place=pair.place).prose
        if text not in ids:
            ids[text] = _target_id(text, list(ids.values()))
            targets.append({"id": ids[text], "text": text})
        if pair.prompt:
            left = texts.needed(pair.prompt, f"the left side of pair {number}", place=pair.place).prose
            prompt: dict[str, Any] = {"text": left, "target": ids[text]}
            if wrong:
                prompt["feedback"] = wrong
            prompts.append(prompt)
    if len(targets) < 2:
        raise UnfitError("all pairs have the same right side", "add another right side")
    if len(targets) > 20 or len(prompts) > 40:
        what = f"it has {len(prompts)} left and {len(targets)} right sides"
        raise UnfitError(f"{what}; at most 40 and 20 are possible", "make two questions of it")
    return {"type": "matching", "prompts": prompts, "targets": targets}


def _target_id(text: str, taken: list[str]) -> str:
    name = slug(text, 24) or "target"
    return next(i for i in (name, *(f"{name}-{n}" for n in range(2, 1000))) if i not in taken)
