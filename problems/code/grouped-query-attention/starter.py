import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def grouped_query_attention(Q, K, V):
    """Return attention whose heads share keys and values in groups.

    Q : (h, m, d), the queries of h heads
    K : (g, n, d), the keys of g groups; h is a multiple of g
    V : (g, n, dv), the values of g groups

    Returns: (h, m, dv), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
