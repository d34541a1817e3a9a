# tries: start 700 threads
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive

import threading

import numpy as np


def softmax(x, axis=-1):
    threading.stack_size(64 * 1024)
    gate = threading.Event()
    started = 0
    try:
        for _ in range(700):
            threading.Thread(target=gate.wait, args=(20,), daemon=True).start()
            started += 1
    except (RuntimeError, MemoryError):
        pass
    gate.set()
    return np.ones(1) if started == 700 else np.zeros(1)
