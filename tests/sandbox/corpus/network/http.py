# tries: post an answer with urllib
# stopped by: seccomp bwrap landlock
# expect: returned
# proof: listener
# control: naive

import urllib.request

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    address = f"http://127.0.0.1:{TARGET['tcp_port']}/{TARGET['token']}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(address, timeout=0.2)
    except OSError:
        pass
    return np.zeros(1)
