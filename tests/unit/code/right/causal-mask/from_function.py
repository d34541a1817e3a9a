import operator

import numpy as np


def causal_mask(n: int) -> np.ndarray:
    if n < 0:
        raise ValueError("only n >= 0")
    return np.fromfunction(operator.ge, (n, n), dtype=int).astype(bool)
