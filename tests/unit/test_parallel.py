"""Work spread over processes gives what one process gives; what fails there is left to the caller."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal

import pytest

from engine.items import builtin_bank
from engine.parallel import on_all_cores, without_collecting
from engine.quiz import compose, read_blueprint

LEAST = 400
KEYS = list(range(LEAST + 100))


def test_every_key_is_done_elsewhere():
    here, both_at_work = os.getpid(), multiprocessing.get_context("fork").Barrier(2)
    begun = set()

    def act(key):
        # On a busy machine one process could do everything before the other has begun: they wait here.
        if os.getpid() not in begun:
            begun.add(os.getpid())
            both_at_work.wait(60)
        return key * key, os.getpid()

    found = on_all_cores(act, KEYS, least=LEAST, core_count=2)
    assert {key: value for key, (value, _) in found.items()} == {key: key * key for key in KEYS}
    assert here not in {process for _, process in found.values()}
    assert len({process for _, process in found.values()}) == 2


def test_little_work_and_one_core_stay_here():
    assert on_all_cores(lambda key: key, KEYS[: LEAST - 1], least=LEAST, core_count=2) == {}
    assert on_all_cores(lambda key: key, KEYS, least=LEAST, core_count=1) == {}


def test_a_key_that_fails_is_left_out():
    def act(key):
        if key == 7:
            raise ValueError("no")
        return key

    assert on_all_cores(act, KEYS, least=LEAST, core_count=2) == {key: key for key in KEYS if key != 7}


def test_a_killed_process_leaves_the_rest_to_the_caller():
    def act(key):
        if key == LEAST:
            os.kill(os.getpid(), signal.SIGKILL)
        return key

    found = on_all_cores(act, KEYS, least=LEAST, core_count=2)
    assert LEAST not in found
    assert all(found[key] == key for key in found)


PLAN = """\
title: A large class
sections:
  - {title: numbers, items: [softmax-weights, context-vector], count: 2}
  - {title: words, items: [io-length-claims, greedy-path], count: 2}
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return read_blueprint(path)


@pytest.mark.slow
def test_a_class_drawn_on_all_cores_is_the_class_drawn_on_one(plan, monkeypatch):
    students = [f"s{n}" for n in range(LEAST // 4 + 5)]
    asked = []
    real = on_all_cores

    def two(act, keys, *, least):
        asked.append(len(keys))
        return real(act, keys, least=least, core_count=2)

    module = __import__("sys").modules["engine.quiz.compose"]
    monkeypatch.setattr(module, "on_all_cores", two)
    fast = compose(plan, builtin_bank(), students, secret=b"s", name="q")
    monkeypatch.setattr(module, "on_all_cores", lambda act, keys, *, least: {})
    slow = compose(plan, builtin_bank(), students, secret=b"s", name="q")
    assert asked == [4 * len(students)]
    assert fast == slow


def test_what_came_back_is_told_piece_by_piece():
    told: list[dict[int, int]] = []
    on_all_cores(lambda key: key, KEYS, least=LEAST, together=7, core_count=2, progress=told.append)
    assert [key for found in told for key in found] == KEYS
    assert max(map(len, told)) == 7


@pytest.mark.parametrize("before", [True, False])
def test_collecting_is_as_it_was_afterwards(before):
    was = gc.isenabled()
    try:
        (gc.enable if before else gc.disable)()
        with pytest.raises(KeyError), without_collecting():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() is before
    finally:
        (gc.enable if was else gc.disable)()
