import numpy as np  # or: import torch (then the result must be a tensor)


def causal_mask(n):
    """Return who may attend to whom: True where query i may see key j.

    n : int, 0 or more

    Returns: boolean, (n, n).
    """
    raise NotImplementedError("write me")
