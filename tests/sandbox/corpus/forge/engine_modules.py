# tries: find modules of the engine or the reference that the process already has
# stopped by: fork
# expect: returned
# proof: value
# control: naive

import sys

import numpy as np


def softmax(x, axis=-1):
    names = [name for name in sys.modules if name.split(".")[0] in ("reference", "problems", "secret_keys")]
    names += [name for name in sys.modules if name.startswith("engine.") and "sandbox" not in name]
    return np.ones(1) if names else np.zeros(1)
