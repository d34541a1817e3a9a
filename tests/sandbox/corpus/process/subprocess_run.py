# tries: run a shell command with subprocess
# stopped by: seccomp
# expect: returned
# proof: file
# control: naive

import subprocess

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        subprocess.run(["/bin/sh", "-c", f"echo > {TARGET['mark']}"], check=False, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return np.zeros(1)
    return np.ones(1)
