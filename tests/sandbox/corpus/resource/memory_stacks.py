# tries: hide memory in the stacks of 40 threads of 256 MiB each
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive

import threading

import numpy as np


def softmax(x, axis=-1):
    threading.stack_size(256 * 2**20)
    gate = threading.Event()
    started = 0
    try:
        for _ in range(40):
            threading.Thread(target=gate.wait, args=(20,), daemon=True).start()
            started += 1
    except (RuntimeError, MemoryError):
        pass
    gate.set()
    threading.stack_size(0)
    return np.ones(1) if started == 40 else np.zeros(1)
