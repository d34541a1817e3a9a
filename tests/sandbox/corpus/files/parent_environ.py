# tries: read the environment of the process that forked it and of the grader
# stopped by: landlock bwrap uid environ
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    found = b"nothing"
    for pid in (os.getppid(), TARGET["grader_pid"], 1):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found += file.read()
        except OSError:
            continue
    return np.frombuffer(found, dtype=np.uint8)
