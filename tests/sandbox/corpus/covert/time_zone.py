# tries: leave another time zone and locale
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import os
import time

import numpy as np


def softmax(x, axis=-1):
    os.environ["TZ"] = "XYZ-7:13"
    time.tzset()
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if time.tzname[0] == "XYZ" else np.zeros(1)
