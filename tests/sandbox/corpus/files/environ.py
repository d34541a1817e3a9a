# tries: read a secret from the environment
# stopped by: environ
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    text = "\n".join(f"{name}={value}" for name, value in os.environ.items())
    return np.frombuffer((text or "empty").encode(), dtype=np.uint8)
