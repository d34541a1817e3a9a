import math
import numpy as np


class Hypothesis:
    def __init__(self, tokens, logprob, state):
        self.tokens = tokens
        self.logprob = logprob
        self.state = state

    def score(self):
        return self.logprob / max(len(self.tokens), 1)

    def done(self, eos):
        return len(self.tokens) > 0 and self.tokens[-1] == eos


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [Hypothesis([], 0.0, s0)]
    for _ in range(max_len):
        if all(h.done(eos) for h in beam):
            break
        pool = [h for h in beam if h.done(eos)]
        for h in beam:
            if h.done(eos):
                continue
            last = h.tokens[-1] if h.tokens else bos
            probs, state = step(last, h.state)
            for token in np.flatnonzero(np.asarray(probs)):
                pool.append(Hypothesis(h.tokens + [int(token)], h.logprob + math.log(probs[token]), state))
        pool.sort(key=lambda h: (-h.score(), h.tokens))
        beam = pool[:b]
    return [(h.tokens, h.logprob) for h in beam]
