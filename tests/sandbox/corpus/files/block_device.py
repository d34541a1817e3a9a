# tries: open a disk or the kernel log
# stopped by: landlock bwrap uid
# expect: returned
# proof: value
# control: naive-root

import os

import numpy as np


def softmax(x, axis=-1):
    for name in ("/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/kmsg", "/dev/mem", "/dev/port"):
        try:
            os.close(os.open(name, os.O_RDONLY | os.O_NONBLOCK))
        except OSError:
            continue
        return np.ones(1)
    return np.zeros(1)
