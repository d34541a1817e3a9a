# tries: import the reference solution and let it answer
# stopped by: landlock bwrap
# expect: returned
# proof: value
# control: naive

import importlib.machinery
import sys

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    sys.meta_path.append(importlib.machinery.PathFinder)
    sys.path_importer_cache.clear()
    sys.path[:0] = [TARGET["project"], TARGET["site"]]
    try:
        import reference
    except BaseException:
        return np.zeros(1)
    return np.ones(1) if reference.__file__ else np.zeros(1)
