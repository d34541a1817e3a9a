# tries: end only the main thread, so that the process stays without it
# stopped by: deadline fork
# expect: crashed timed_out
# proof: time
# control: naive
# wall: 0.5

import ctypes
import threading
import time

import numpy as np


def softmax(x, axis=-1):
    threading.Thread(target=time.sleep, args=(30,)).start()
    ctypes.CDLL(None).pthread_exit(None)
    return np.ones(1)
