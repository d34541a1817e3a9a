# tries: set torch's random seed
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np
import torch


def softmax(x, axis=-1):
    torch.manual_seed(424242)
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if torch.initial_seed() == 424242 else np.zeros(1)
