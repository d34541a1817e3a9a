# tries: read any problem file by its path
# stopped by: landlock bwrap
# expect: returned
# proof: value
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    roots = [TARGET["project"], TARGET["site"]]
    for root in roots:
        for folder, _, names in os.walk(os.path.join(root, "problems")):
            for name in names:
                if not name.endswith((".yaml", ".py", ".json")):
                    continue
                try:
                    with open(os.path.join(folder, name)) as file:
                        if file.read():
                            return np.ones(1)
                except OSError:
                    continue
    return np.zeros(1)
