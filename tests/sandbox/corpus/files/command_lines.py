# tries: read the command lines of the other processes
# stopped by: landlock bwrap
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    found = b"nothing"
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        pids = [str(TARGET["canary_pid"])]
    # the canary first: what comes back has a limit, and a busy machine has many processes
    for pid in [str(TARGET["canary_pid"]), *pids]:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += file.read()
        except OSError:
            continue
    return np.frombuffer(found, dtype=np.uint8)
