# tries: answer, then never end: a thread that isn't a daemon, an atexit hook and a finaliser that block
# stopped by: deadline fork
# expect: returned
# proof: survivor
# control: naive

import atexit
import threading
import time

import numpy as np


class Sticky:
    def __del__(self):
        time.sleep(20)

_sticky = Sticky()
atexit.register(time.sleep, 20)


def softmax(x, axis=-1):
    threading.Thread(target=time.sleep, args=(20,)).start()
    return np.zeros(1)
