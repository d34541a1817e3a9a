# tries: become root again, or any other user
# stopped by: uid seccomp
# expect: returned
# proof: value
# control: naive-root

import os

import numpy as np


def softmax(x, axis=-1):
    for change in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setreuid(0, 0),
                   lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.seteuid(0)):
        try:
            change()
        except OSError:
            continue
        if os.geteuid() == 0 or os.getegid() == 0 or 0 in os.getgroups():
            return np.ones(1)
    return np.zeros(1)
