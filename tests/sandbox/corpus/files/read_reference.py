# tries: read the source of the reference by its path
# stopped by: landlock bwrap
# expect: returned
# proof: value
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    for root in (TARGET["project"], TARGET["site"]):
        folder = os.path.join(root, "reference")
        try:
            for name in os.listdir(folder):
                if name.endswith(".py"):
                    with open(os.path.join(folder, name)) as file:
                        file.read()
                    return np.ones(1)
        except OSError:
            continue
    return np.zeros(1)
