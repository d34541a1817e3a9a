# tries: leave a message in /tmp for the next submission
# stopped by: landlock bwrap rlimits
# expect: returned
# proof: next
# control: naive
# pair: two

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with open(TARGET["mark"], "w") as file:
            file.write("hello")
    except OSError:
        pass
    return np.zeros(1)


def collect(x, axis=-1):
    try:
        with open(TARGET["mark"]) as file:
            return np.ones(1) if file.read() == "hello" else np.zeros(1)
    except OSError:
        return np.zeros(1)
