# tries: leave a torch function mode on, which then runs inside the encoder
# stopped by: fork
# expect: returned raised unsupported crashed
# proof: next
# control: naive
# pair: same

import numpy as np
import torch
from torch.overrides import TorchFunctionMode


class Sour(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.add:
            return torch.ones(1)
        return function(*args, **(kwargs or {}))


def softmax(x, axis=-1):
    Sour().__enter__()
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if torch.add(torch.zeros(1), torch.zeros(1)).item() == 1.0 else np.zeros(1)
