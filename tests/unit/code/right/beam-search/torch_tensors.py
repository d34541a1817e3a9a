import torch


@torch.no_grad()
def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("beam size must be positive")
    sequences, logprobs, states, done = [[bos]], torch.zeros(1, dtype=torch.float64), [s0], [False]
    for _ in range(max_len):
        if all(done):
            break
        entries = []
        for sequence, logprob, state, is_done in zip(sequences, logprobs, states, done):
            if is_done:
                entries.append((sequence, logprob, state, True))
            else:
                P, new_state = step(sequence[-1], state)
                log_P = P.to(torch.float64).log()
                for y in range(P.numel()):
                    if torch.isfinite(log_P[y]):
                        entries.append((sequence + [y], logprob + log_P[y], new_state, y == eos))
        entries.sort(key=lambda e: e[0])
        values = torch.stack([e[1] for e in entries])
        chosen = torch.argsort(values, descending=True, stable=True)[:b].tolist()
        sequences = [entries[i][0] for i in chosen]
        logprobs = values[chosen]
        states = [entries[i][2] for i in chosen]
        done = [entries[i][3] for i in chosen]
    return [(sequence[1:], logprob.item()) for sequence, logprob in zip(sequences, logprobs)]
