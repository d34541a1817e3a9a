"""otter-grader: its exception-based format, one case per property of ``softmax(x, axis=-1)``."""

from checks import Call
from checks import softmax as properties
from otter.test_files import test_case

OK_FORMAT = False

name = "softmax"
points = 16


@test_case(name="shape", points=1)
def test_shape(softmax):
    properties.shape(Call(softmax))


@test_case(name="values", points=1)
def test_values(softmax):
    properties.values(Call(softmax))


@test_case(name="nonneg", points=1)
def test_nonneg(softmax):
    properties.nonneg(Call(softmax))


@test_case(name="sum1", points=1)
def test_sum1(softmax):
    properties.sum1(Call(softmax))


@test_case(name="order", points=1)
def test_order(softmax):
    properties.order(Call(softmax))


@test_case(name="logratio", points=1)
def test_logratio(softmax):
    properties.logratio(Call(softmax))


@test_case(name="hot", points=1)
def test_hot(softmax):
    properties.hot(Call(softmax))


@test_case(name="perm_eq", points=1)
def test_perm_eq(softmax):
    properties.perm_eq(Call(softmax))


@test_case(name="rowind", points=1)
def test_rowind(softmax):
    properties.rowind(Call(softmax))


@test_case(name="axis", points=1)
def test_axis(softmax):
    properties.axis(Call(softmax))


@test_case(name="shift", points=1)
def test_shift(softmax):
    properties.shift(Call(softmax))


@test_case(name="stable", points=1)
def test_stable(softmax):
    properties.stable(Call(softmax))


@test_case(name="rows_apart", points=1)
def test_rows_apart(softmax):
    properties.rows_apart(Call(softmax))


@test_case(name="dtype", points=1)
def test_dtype(softmax):
    properties.dtype(Call(softmax))


@test_case(name="single_precision", points=1)
def test_single_precision(softmax):
    properties.single_precision(Call(softmax))


@test_case(name="pure", points=1)
def test_pure(softmax):
    properties.pure(Call(softmax))
