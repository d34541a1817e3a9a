"""gradescope-utils: one weighted test per property of ``sdpa(Q, K, V, mask=None)``."""

import unittest

import submission
from checks import Call
from checks import sdpa as properties
from gradescope_utils.autograder_utils.decorators import number, weight


class TestSdpa(unittest.TestCase):
    def setUp(self):
        self.call = Call(getattr(submission, "sdpa", None))

    @weight(1)
    @number("1")
    def test_shape(self):
        properties.shape(self.call)

    @weight(1)
    @number("2")
    def test_values(self):
        properties.values(self.call)

    @weight(1)
    @number("3")
    def test_weights_sum(self):
        properties.weights_sum(self.call)

    @weight(1)
    @number("4")
    def test_order(self):
        properties.order(self.call)

    @weight(1)
    @number("5")
    def test_hull(self):
        properties.hull(self.call)

    @weight(1)
    @number("6")
    def test_nonneg(self):
        properties.nonneg(self.call)

    @weight(1)
    @number("7")
    def test_log_weights(self):
        properties.log_weights(self.call)

    @weight(1)
    @number("8")
    def test_same_keys(self):
        properties.same_keys(self.call)

    @weight(1)
    @number("9")
    def test_one_key(self):
        properties.one_key(self.call)

    @weight(1)
    @number("10")
    def test_joint_perm(self):
        properties.joint_perm(self.call)

    @weight(1)
    @number("11")
    def test_query_perm(self):
        properties.query_perm(self.call)

    @weight(1)
    @number("12")
    def test_linear_v(self):
        properties.linear_v(self.call)

    @weight(1)
    @number("13")
    def test_tile_law(self):
        properties.tile_law(self.call)

    @weight(1)
    @number("14")
    def test_key_shift(self):
        properties.key_shift(self.call)

    @weight(1)
    @number("15")
    def test_batch(self):
        properties.batch(self.call)

    @weight(1)
    @number("16")
    def test_masked_values(self):
        properties.masked_values(self.call)

    @weight(1)
    @number("17")
    def test_subset(self):
        properties.subset(self.call)

    @weight(1)
    @number("18")
    def test_mask_irrel(self):
        properties.mask_irrel(self.call)

    @weight(1)
    @number("19")
    def test_all_true(self):
        properties.all_true(self.call)

    @weight(1)
    @number("20")
    def test_fullmask(self):
        properties.fullmask(self.call)

    @weight(1)
    @number("21")
    def test_stable(self):
        properties.stable(self.call)

    @weight(1)
    @number("22")
    def test_dtype(self):
        properties.dtype(self.call)

    @weight(1)
    @number("23")
    def test_single_precision(self):
        properties.single_precision(self.call)

    @weight(1)
    @number("24")
    def test_pure(self):
        properties.pure(self.call)

    @weight(1)
    @number("25")
    def test_refuses(self):
        properties.refuses(self.call)
