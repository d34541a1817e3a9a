import torch
import torch.nn.functional as F  # noqa: N812


def concat_scores(q, K, W1, w2):
    x = torch.cat([q.expand(K.shape[0], q.shape[0]), K], dim=-1)
    return F.linear(torch.tanh(F.linear(x, W1)), w2.view(1, -1)).flatten()
