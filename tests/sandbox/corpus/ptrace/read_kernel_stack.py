# tries: read what system call the zygote waits in, and where
# stopped by: landlock bwrap uid
# expect: returned
# proof: value
# control: naive

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with open(f"/proc/{TARGET['canary_pid']}/syscall") as file:
            return np.ones(1) if file.read() else np.zeros(1)
    except FileNotFoundError:
        return np.full(1, 2.0) if TARGET["naive"] else np.zeros(1)
    except OSError:
        return np.zeros(1)
