import numpy as np  # or: import torch (then positions arrives as a tensor, and the result must be one)


def sinusoidal_positions(positions, d, base=10000.0):
    """Return the sinusoidal encodings of positions.

    positions : (n,), floating, not always 0, 1, 2, ...
    d : int, even and at least 2
    base : float

    Returns: (n, d), of the dtype of positions.
    """
    raise NotImplementedError("write me")
