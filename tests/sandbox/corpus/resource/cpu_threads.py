# tries: answer at once and leave threads spinning for the next submission to suffer
# stopped by: fork
# expect: returned
# proof: survivor
# control: naive

import threading
import time

import numpy as np


def _spin():
    end = time.monotonic() + 20
    while time.monotonic() < end:
        pass


def softmax(x, axis=-1):
    for _ in range(4):
        threading.Thread(target=_spin).start()
    return np.zeros(1)
