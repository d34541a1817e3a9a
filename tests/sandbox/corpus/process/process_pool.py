# tries: a process pool
# stopped by: seccomp
# expect: returned raised timed_out
# proof: value
# control: naive
# wall: 3

import concurrent.futures
import multiprocessing

import numpy as np


def softmax(x, axis=-1):
    try:
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            answer = pool.submit(abs, -5).result(timeout=5)
    except BaseException:
        return np.zeros(1)
    return np.ones(1) if answer == 5 else np.zeros(1)
