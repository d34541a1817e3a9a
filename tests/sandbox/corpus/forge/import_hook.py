# tries: answer other people's imports with modules of its own
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import sys
import types

import numpy as np


def softmax(x, axis=-1):
    fake = types.ModuleType("colorsys")
    fake.stolen = 1
    sys.modules["colorsys"] = fake
    sys.meta_path.insert(0, None.__class__)
    sys.path.insert(0, "/tmp")
    del sys.meta_path[0]
    return np.zeros(1)


def collect(x, axis=-1):
    import colorsys

    return np.ones(1) if hasattr(colorsys, "stolen") else np.zeros(1)
