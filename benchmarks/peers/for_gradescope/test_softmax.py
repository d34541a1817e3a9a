"""gradescope-utils: one weighted test per property of ``softmax(x, axis=-1)``."""

import unittest

import submission
from checks import Call
from checks import softmax as properties
from gradescope_utils.autograder_utils.decorators import number, weight


class TestSoftmax(unittest.TestCase):
    def setUp(self):
        self.call = Call(getattr(submission, "softmax", None))

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
    def test_nonneg(self):
        properties.nonneg(self.call)

    @weight(1)
    @number("4")
    def test_sum1(self):
        properties.sum1(self.call)

    @weight(1)
    @number("5")
    def test_order(self):
        properties.order(self.call)

    @weight(1)
    @number("6")
    def test_logratio(self):
        properties.logratio(self.call)

    @weight(1)
    @number("7")
    def test_hot(self):
        properties.hot(self.call)

    @weight(1)
    @number("8")
    def test_perm_eq(self):
        properties.perm_eq(self.call)

    @weight(1)
    @number("9")
    def test_rowind(self):
        properties.rowind(self.call)

    @weight(1)
    @number("10")
    def test_axis(self):
        properties.axis(self.call)

    @weight(1)
    @number("11")
    def test_shift(self):
        properties.shift(self.call)

    @weight(1)
    @number("12")
    def test_stable(self):
        properties.stable(self.call)

    @weight(1)
    @number("13")
    def test_rows_apart(self):
        properties.rows_apart(self.call)

    @weight(1)
    @number("14")
    def test_dtype(self):
        properties.dtype(self.call)

    @weight(1)
    @number("15")
    def test_single_precision(self):
        properties.single_precision(self.call)

    @weight(1)
    @number("16")
    def test_pure(self):
        properties.pure(self.call)
