"""Plays the example class: fills in each student's quiz file, right or with a known mistake.

Usage: python answer_quizzes.py COURSE QUIZ HANDED_IN

The answers are those of simulated students: each has a skill, and where the skill fails, one of
the item's misconceptions (or a blank) is answered.  One copies a number from a neighbour, whose sheet has
other numbers.  The files go where students would put them.
"""

import hashlib
import sys
from pathlib import Path

from engine.answers import right_response, wrong_responses
from engine.course import Course
from engine.quiz import fill_in_text

# What the class knows although the item's key says something else, until the key is corrected.
TRUE = {"same-number-added": "All weights stay as they are."}
# student -> neighbour and item
COPIED = {"s17": ("s05", "context-vector")}


def chance(*words):
    """Return a number in [0, 1) that depends on the words alone."""
    digest = hashlib.sha256("/".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def answer(student, number, item, part):
    skill = 0.35 + 0.6 * chance(student, "skill")
    luck = chance(student, number, part.id)
    if item in TRUE:
        letters = {option.text.plain.strip(): option.id for option in part.options}
        right = letters.pop(TRUE[item])
        others = [letters[text] for text in sorted(letters)]
        knows = skill > 0.45 + 0.3 * luck
        return right if knows else others[int(chance(student, number, "which") * len(others))]
    if luck < skill:
        return right_response(part)
    wrong = wrong_responses(part)
    if not wrong or luck > 0.97:
        return ""
    return wrong[int(chance(student, number, "which") * len(wrong))][0]


def answers_to(student, question, keys):
    item, parts = question.variant.item, question.variant.parts
    neighbour, copied = COPIED.get(student, (None, None))
    if item == copied and (neighbour, item) in keys:
        return dict(zip((part.id for part in parts), keys[neighbour, item], strict=True))
    return {part.id: answer(student, question.number, item, part) for part in parts}


def main(course, name, handed_in):
    with Course.open(Path(course)).open_store() as store:
        quizzes = store.quizzes(name)
    keys = {
        (quiz.student, q.variant.item): [right_response(part) for part in q.variant.parts]
        for quiz in quizzes
        for q in quiz.questions
    }
    for quiz in quizzes:
        answers = {q.number: answers_to(quiz.student, q, keys) for q in quiz.questions}
        folder = Path(handed_in) / quiz.student
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "quiz.yaml").write_text(fill_in_text(quiz, answers), encoding="utf-8")
    print(f"{len(quizzes)} quiz files filled in")


if __name__ == "__main__":
    main(*sys.argv[1:])
