import bisect
import itertools

import numpy as np


class Sampler:
    def __init__(self, logits, temperature):
        if temperature <= 0:
            raise ValueError("the temperature must be positive")
        z = logits / temperature
        self.p = np.exp(z - z.max())
        self.ranked = sorted(range(len(z)), key=lambda i: (-float(logits[i]), i))

    def keep(self, count):
        self.ranked = self.ranked[: max(count, 0)]

    def nucleus(self, mass):
        total = sum(self.p[i] for i in self.ranked)
        sums = itertools.accumulate(self.p[i] for i in self.ranked)
        enough = [rank for rank, reached in enumerate(sums) if reached >= mass * total]
        if enough:
            self.keep(enough[0] + 1)

    def __call__(self, number):
        ids = sorted(self.ranked)
        sums = list(itertools.accumulate(float(self.p[i]) for i in ids))
        return ids[min(bisect.bisect_right(sums, float(number) * sums[-1]), len(ids) - 1)]


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    sampler = Sampler(logits, temperature)
    if top_k is not None:
        if top_k < 1:
            raise ValueError("top_k must be at least 1")
        sampler.keep(top_k)
    if top_p is not None:
        if not 0 < top_p <= 1:
            raise ValueError("top_p must be above 0 and at most 1")
        sampler.nucleus(top_p)
    return [sampler(number) for number in u]
