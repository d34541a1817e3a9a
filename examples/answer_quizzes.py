"""Plays the example class: fills in each student's quiz file, right or with a known mistake.

Usage: python answer_quizzes.py COURSE QUIZ HANDED_IN

The answers are those of simulated students: each has a skill, and where the skill fails, one of
the item's misconceptions (or a blank) is answered.  The files go where students would put them.
"""

import hashlib
import sys
from pathlib import Path

from engine.answers import right_response, wrong_responses
from engine.course import Course
from engine.quiz import fill_in_text


def chance(*words):
    """Return a number in [0, 1) that depends on the words alone."""
    digest = hashlib.sha256("/".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def answer(student, number, part):
    skill = 0.35 + 0.6 * chance(student, "skill")
    luck = chance(student, number, part.id)
    if luck < skill:
        return right_response(part)
    wrong = wrong_responses(part)
    if not wrong or luck > 0.97:
        return ""
    return wrong[int(chance(student, number, "which") * len(wrong))][0]


def main(course, name, handed_in):
    with Course.open(Path(course)).open_store() as store:
        quizzes = store.quizzes(name)
    for quiz in quizzes:
        answers = {
            q.number: {part.id: answer(quiz.student, q.number, part) for part in q.variant.parts}
            for q in quiz.questions
        }
        folder = Path(handed_in) / quiz.student
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "quiz.yaml").write_text(fill_in_text(quiz, answers), encoding="utf-8")
    print(f"{len(quizzes)} quiz files filled in")


if __name__ == "__main__":
    main(*sys.argv[1:])
