# tries: torch's own worker processes
# stopped by: seccomp
# expect: returned raised
# proof: value
# control: naive
# wall: 3

import numpy as np
import torch
from torch.utils.data import DataLoader


def softmax(x, axis=-1):
    try:
        rows = list(DataLoader(list(range(4)), num_workers=1, multiprocessing_context="fork", timeout=5))
    except BaseException:
        return np.zeros(1)
    return np.ones(1) if len(rows) == 4 else np.zeros(1)
