# tries: open the devices that every machine has
# stopped by: landlock
# expect: returned
# proof: value
# control: naive

import numpy as np


def softmax(x, axis=-1):
    for name in ("/dev/urandom", "/dev/zero", "/dev/null", "/dev/full", "/dev/tty"):
        try:
            with open(name, "rb") as file:
                file.read(1)
                return np.ones(1)
        except OSError:
            continue
    return np.zeros(1)
