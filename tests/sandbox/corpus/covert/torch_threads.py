# tries: change torch's number of threads
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np
import torch


def softmax(x, axis=-1):
    torch.set_num_threads(3)
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if torch.get_num_threads() == 3 else np.zeros(1)
