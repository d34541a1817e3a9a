"""otter-grader: its exception-based format, one case per property of ``sdpa``."""

from checks import Call
from checks import sdpa as properties
from otter.test_files import test_case

OK_FORMAT = False

name = "sdpa"
points = 26


@test_case(name="shape", points=1)
def test_shape(sdpa):
    properties.shape(Call(sdpa))


@test_case(name="values", points=1)
def test_values(sdpa):
    properties.values(Call(sdpa))


@test_case(name="weights_sum", points=1)
def test_weights_sum(sdpa):
    properties.weights_sum(Call(sdpa))


@test_case(name="order", points=1)
def test_order(sdpa):
    properties.order(Call(sdpa))


@test_case(name="hull", points=1)
def test_hull(sdpa):
    properties.hull(Call(sdpa))


@test_case(name="nonneg", points=1)
def test_nonneg(sdpa):
    properties.nonneg(Call(sdpa))


@test_case(name="log_weights", points=1)
def test_log_weights(sdpa):
    properties.log_weights(Call(sdpa))


@test_case(name="same_keys", points=1)
def test_same_keys(sdpa):
    properties.same_keys(Call(sdpa))


@test_case(name="one_key", points=1)
def test_one_key(sdpa):
    properties.one_key(Call(sdpa))


@test_case(name="joint_perm", points=1)
def test_joint_perm(sdpa):
    properties.joint_perm(Call(sdpa))


@test_case(name="query_perm", points=1)
def test_query_perm(sdpa):
    properties.query_perm(Call(sdpa))


@test_case(name="linear_v", points=1)
def test_linear_v(sdpa):
    properties.linear_v(Call(sdpa))


@test_case(name="tile_law", points=1)
def test_tile_law(sdpa):
    properties.tile_law(Call(sdpa))


@test_case(name="key_shift", points=1)
def test_key_shift(sdpa):
    properties.key_shift(Call(sdpa))


@test_case(name="batch", points=1)
def test_batch(sdpa):
    properties.batch(Call(sdpa))


@test_case(name="masked_values", points=1)
def test_masked_values(sdpa):
    properties.masked_values(Call(sdpa))


@test_case(name="subset", points=1)
def test_subset(sdpa):
    properties.subset(Call(sdpa))


@test_case(name="mask_irrel", points=1)
def test_mask_irrel(sdpa):
    properties.mask_irrel(Call(sdpa))


@test_case(name="all_true", points=1)
def test_all_true(sdpa):
    properties.all_true(Call(sdpa))


@test_case(name="fullmask", points=1)
def test_fullmask(sdpa):
    properties.fullmask(Call(sdpa))


@test_case(name="stable", points=1)
def test_stable(sdpa):
    properties.stable(Call(sdpa))


@test_case(name="dtype", points=1)
def test_dtype(sdpa):
    properties.dtype(Call(sdpa))


@test_case(name="single_precision", points=1)
def test_single_precision(sdpa):
    properties.single_precision(Call(sdpa))


@test_case(name="pure", points=1)
def test_pure(sdpa):
    properties.pure(Call(sdpa))


@test_case(name="refuses", points=1)
def test_refuses(sdpa):
    properties.refuses(Call(sdpa))
