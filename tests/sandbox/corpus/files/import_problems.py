# tries: find the problem bank as a package
# stopped by: landlock bwrap
# expect: returned
# proof: value
# control: naive

import importlib.machinery
import importlib.resources
import sys

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    sys.meta_path.append(importlib.machinery.PathFinder)
    sys.path_importer_cache.clear()
    sys.path[:0] = [TARGET["project"], TARGET["site"]]
    try:
        import problems

        names = [entry.name for entry in importlib.resources.files(problems).iterdir()]
    except BaseException:
        return np.zeros(1)
    return np.ones(1) if names else np.zeros(1)
