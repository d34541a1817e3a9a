# tries: leave a file in /tmp
# stopped by: landlock bwrap rlimits
# expect: returned
# proof: file
# control: naive

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with open(TARGET["mark"], "w") as file:
            file.write("was here")
    except OSError:
        return np.zeros(1)
    return np.ones(1)
