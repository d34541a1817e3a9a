import torch


def greedy_decode(step, s0, bos, eos, max_len):
    answer = []
    y = bos
    s = s0
    while True:
        p, s = step(y, s)
        best_prob = -1.0
        best_token = None
        for token, prob in enumerate(p.tolist()):
            if prob >= best_prob:
                best_prob = prob
                best_token = token
        y = best_token
        answer.append(y)
        if y == eos or len(answer) == max_len:
            return answer
