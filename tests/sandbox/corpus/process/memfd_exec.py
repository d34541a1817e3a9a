# tries: execute a program from anonymous memory
# stopped by: seccomp rlimits
# expect: returned
# proof: replaced
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        fd = os.memfd_create("program", 0)
        os.write(fd, b"#!/bin/sh\nexit 7\n")
        os.execve(fd, ["program"], {})
    except OSError:
        return np.zeros(1)
