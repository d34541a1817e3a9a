import numpy as np


class Hypothesis:
    def __init__(self, last, state):
        self.last = last
        self.state = state
        self.tokens = []

    def extend(self, step):
        P, self.state = step(self.last, self.state)
        self.last = min(range(len(P)), key=lambda y: (-float(P[y]), y))
        self.tokens.append(self.last)


def greedy_decode(step, s0, bos, eos, max_len):
    hypothesis = Hypothesis(bos, s0)
    for _ in np.arange(max_len):
        hypothesis.extend(step)
        if hypothesis.last == eos:
            break
    return hypothesis.tokens
