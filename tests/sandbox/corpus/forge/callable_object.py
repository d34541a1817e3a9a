# tries: be an object that changes what it is at every look
# stopped by: grader
# expect: returned raised
# proof: none
# control: status

import numpy as np


class Shape:
    looks = 0

    def __call__(self, x, axis=-1):
        return np.zeros(1)

    def __getattribute__(self, name):
        Shape.looks += 1
        if Shape.looks > 50:
            raise RuntimeError("stop looking")
        return object.__getattribute__(self, name)

softmax = Shape()
