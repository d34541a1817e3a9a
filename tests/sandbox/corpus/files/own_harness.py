# tries: read the code that runs beside it, to learn how the harness can be fooled
# stopped by: landlock
# expect: returned
# proof: value
# control: naive

import sys

import numpy as np


def softmax(x, axis=-1):
    for name, module in list(sys.modules.items()):
        if not name.startswith("child") and name != "__main__":
            continue
        try:
            with open(module.__file__) as file:
                return np.ones(1) if file.read() else np.zeros(1)
        except (OSError, AttributeError, TypeError):
            continue
    return np.zeros(1)
