# tries: leave a module in sys.modules
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import sys
import types

import numpy as np


def softmax(x, axis=-1):
    sys.modules["left_here"] = types.ModuleType("left_here")
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if "left_here" in sys.modules else np.zeros(1)
