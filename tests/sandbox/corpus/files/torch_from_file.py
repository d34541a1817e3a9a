# tries: map the key file into memory with torch
# stopped by: landlock bwrap uid
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np
import torch

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        size = os.stat(TARGET["open_file"]).st_size
        return torch.from_file(TARGET["open_file"], shared=False, size=size, dtype=torch.uint8)
    except (OSError, RuntimeError):
        return np.zeros(1)
