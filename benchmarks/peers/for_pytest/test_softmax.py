"""Plain pytest: one test per property of ``softmax(x, axis=-1)``; the submission lies beside this file."""

import pytest
import submission
from checks import Call
from checks import softmax as properties


@pytest.fixture
def call():
    return Call(getattr(submission, "softmax", None))


def test_shape(call):
    properties.shape(call)


def test_values(call):
    properties.values(call)


def test_nonneg(call):
    properties.nonneg(call)


def test_sum1(call):
    properties.sum1(call)


def test_order(call):
    properties.order(call)


def test_logratio(call):
    properties.logratio(call)


def test_hot(call):
    properties.hot(call)


def test_perm_eq(call):
    properties.perm_eq(call)


def test_rowind(call):
    properties.rowind(call)


def test_axis(call):
    properties.axis(call)


def test_shift(call):
    properties.shift(call)


def test_stable(call):
    properties.stable(call)


def test_rows_apart(call):
    properties.rows_apart(call)


def test_dtype(call):
    properties.dtype(call)


def test_single_precision(call):
    properties.single_precision(call)


def test_pure(call):
    properties.pure(call)
