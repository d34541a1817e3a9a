"""Comments on lines of code, and sentences that markers use again, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engine.errors import UsageError
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.store import Attempt, Store
from tests.unit.store.filled import NOW

SOURCE = "import numpy as np\n\ndef softmax(x):\n    return np.exp(x)\n"


def program(store: Store, student: str = "amy") -> Attempt:
    code = CodeSubmission(SOURCE, "softmax.py", "1" * 64, {"helpers": "a = 1\nb = 2\n"})
    report = GradeReport("softmax", "v1", Outcome.WRONG, 0.0, 10.0, mode=Mode.MARKS)
    return store.record(Attempt.of_code(student, code, report, started=NOW))


def test_comments_stand_by_file_and_line_until_they_are_removed(store: Store) -> None:
    attempt = program(store)
    last = store.code_comments.add(attempt, 4, " Divide by the sum. ", by="prof", at=NOW)
    first = store.code_comments.add(attempt, 1, "Fine.", by="prof", at=NOW)
    beside = store.code_comments.add(attempt, 2, "Unused.", by="ta", at=NOW, file="helpers")
    stand = store.code_comments.of("amy", item="softmax", submission=attempt.submission)
    assert [(comment.id, comment.file, comment.line, comment.text) for comment in stand] == [
        (first, "", 1, "Fine."), (last, "", 4, "Divide by the sum."), (beside, "helpers", 2, "Unused.")
    ]  # fmt: skip
    assert store.code_comments.of("ben") == []
    found = store.code_comments.find(last)
    assert found is not None
    assert (found.by, found.at) == ("prof", NOW)
    assert store.code_comments.remove(last, at=NOW + timedelta(hours=1))
    assert not store.code_comments.remove(last, at=NOW)
    assert store.code_comments.find(last) is None
    assert [comment.id for comment in store.code_comments.of("amy")] == [first, beside]
    assert store.upkeep.check().faults == ()


@pytest.mark.parametrize(
    ("line", "text", "file", "message"),
    [
        (0, "words", "", "a line from 1 to 4"),
        (5, "words", "", "a line from 1 to 4"),
        (1, "words", "nowhere", "a program with lines"),
        (1, " \n", "", "empty"),
        (1, "x" * 5001, "", "at most 5000 characters"),
    ],
)
def test_what_is_no_comment_on_a_line_is_refused(
    store: Store, line: int, text: str, file: str, message: str
) -> None:
    attempt = program(store)
    with pytest.raises(UsageError) as refused:
        store.code_comments.add(attempt, line, text, by="prof", at=NOW, file=file)
    assert message in "\n".join(refused.value.lines())
    assert store.code_comments.of("amy") == []


def test_foreign_signs_are_stored_as_something_visible(store: Store) -> None:
    number = store.code_comments.add(program(store), 1, "a\0b\u202ec", by="prof", at=NOW)
    comment = store.code_comments.find(number)
    assert comment is not None
    assert comment.text == "a\ufffdb\ufffdc"


def test_sentences_are_saved_once_for_an_item_or_for_all(store: Store) -> None:
    for_all = store.saved_comments.add("Explain more.", by="prof", at=NOW)
    for_item = store.saved_comments.add("Name the gradients.", by="ta", at=NOW, item="why", points=-0.5)
    assert store.saved_comments.add("Explain more.", by="ta", at=NOW) == for_all
    assert [comment.id for comment in store.saved_comments.of("why")] == [for_item, for_all]
    assert [comment.id for comment in store.saved_comments.of(None)] == [for_all]
    assert store.saved_comments.of("why")[0].points == -0.5
    assert store.saved_comments.remove(for_all, at=NOW)
    assert store.saved_comments.of(None) == []
    with pytest.raises(UsageError, match="empty"):
        store.saved_comments.add(" ", by="prof", at=NOW)


def test_erasing_a_person_takes_the_comments_on_their_code(store: Store) -> None:
    store.code_comments.add(program(store), 1, "Fine.", by="prof", at=NOW)
    store.code_comments.add(program(store, "ben"), 1, "Fine, too.", by="prof", at=NOW)
    assert store.people.everything_on("amy")["code_comments"][0]["text"] == "Fine."
    store.people.erase("amy")
    assert store.code_comments.of("amy") == []
    assert len(store.code_comments.of("ben")) == 1
