# tries: ask by ioctl how many bytes wait in a pipe of its own
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import fcntl
import os
import struct

import numpy as np


def softmax(x, axis=-1):
    try:
        reader, writer = os.pipe()
        os.write(writer, b"hello")
        answer = fcntl.ioctl(reader, 0x541B, struct.pack("i", 0))
    except OSError:
        return np.zeros(1)
    return np.ones(1) if struct.unpack("i", answer)[0] == 5 else np.zeros(1)
