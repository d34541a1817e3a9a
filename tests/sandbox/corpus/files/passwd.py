# tries: list the accounts of the machine
# stopped by: landlock bwrap
# expect: returned
# proof: value
# control: naive

import numpy as np


def softmax(x, axis=-1):
    try:
        with open("/etc/passwd", "rb") as file:
            return np.ones(1) if b"root:" in file.read() else np.zeros(1)
    except OSError:
        return np.zeros(1)
