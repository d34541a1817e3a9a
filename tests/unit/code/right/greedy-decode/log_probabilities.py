import heapq
import math


def log(p):
    return math.log(p) if p > 0 else -math.inf


def greedy_decode(step, s0, bos, eos, max_len):
    sequence, state = [bos], s0
    while len(sequence) - 1 < max_len and (len(sequence) == 1 or sequence[-1] != eos):
        P, state = step(sequence[-1], state)
        heap = [(-log(float(p)), token) for token, p in enumerate(P)]
        heapq.heapify(heap)
        sequence.append(heapq.heappop(heap)[1])
    return sequence[1:]
