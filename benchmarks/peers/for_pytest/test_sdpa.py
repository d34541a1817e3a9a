"""Plain pytest: one test per property of ``sdpa``; the submission lies beside this file."""

import pytest
import submission
from checks import Call
from checks import sdpa as properties


@pytest.fixture
def call():
    return Call(getattr(submission, "sdpa", None))


def test_shape(call):
    properties.shape(call)


def test_values(call):
    properties.values(call)


def test_weights_sum(call):
    properties.weights_sum(call)


def test_order(call):
    properties.order(call)


def test_hull(call):
    properties.hull(call)


def test_nonneg(call):
    properties.nonneg(call)


def test_log_weights(call):
    properties.log_weights(call)


def test_same_keys(call):
    properties.same_keys(call)


def test_one_key(call):
    properties.one_key(call)


def test_joint_perm(call):
    properties.joint_perm(call)


def test_query_perm(call):
    properties.query_perm(call)


def test_linear_v(call):
    properties.linear_v(call)


def test_tile_law(call):
    properties.tile_law(call)


def test_key_shift(call):
    properties.key_shift(call)


def test_batch(call):
    properties.batch(call)


def test_masked_values(call):
    properties.masked_values(call)


def test_subset(call):
    properties.subset(call)


def test_mask_irrel(call):
    properties.mask_irrel(call)


def test_all_true(call):
    properties.all_true(call)


def test_fullmask(call):
    properties.fullmask(call)


def test_stable(call):
    properties.stable(call)


def test_dtype(call):
    properties.dtype(call)


def test_single_precision(call):
    properties.single_precision(call)


def test_pure(call):
    properties.pure(call)


def test_refuses(call):
    properties.refuses(call)
