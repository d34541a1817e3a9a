# tries: a multiprocessing worker that leaves a mark
# stopped by: seccomp
# expect: returned
# proof: file
# control: naive

import multiprocessing

import numpy as np

TARGET: dict = {}  # the arena fills this in


def _work(path):
    open(path, "w").close()


def softmax(x, axis=-1):
    try:
        worker = multiprocessing.get_context("fork").Process(target=_work, args=(TARGET["mark"],))
        worker.start()
        worker.join(5)
    except (OSError, AssertionError):
        return np.zeros(1)
    return np.ones(1)
