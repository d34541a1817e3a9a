# tries: report impossible times by replacing the clocks
# stopped by: grader
# expect: returned raised protocol_violation
# proof: malformed
# control: status

import time

import numpy as np


def softmax(x, axis=-1):
    time.perf_counter = time.monotonic = time.time = time.process_time = lambda: float("nan")
    time.perf_counter_ns = time.monotonic_ns = lambda: -(10**30)
    return np.zeros(1)
