import numpy as np  # or: import torch (then the arrays arrive as tensors, and the results must be some)


def online_softmax(m, l, o, x, V):
    """Take one more tile of keys into attention's running maximum, sum and output.

    m : (q,), each query's largest score so far; -inf before the first tile
    l : (q,), the sum of exp(score - m) so far; 0 before the first tile
    o : (q, dv), the sum of exp(score - m) times the value so far; 0 before the first tile
    x : (q, n), the scores of the n keys of this tile
    V : (n, dv), the values of this tile

    Returns: the tuple (m, l, o) with this tile taken in, in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
