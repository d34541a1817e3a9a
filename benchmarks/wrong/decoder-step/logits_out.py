import torch


def decoder_step(y, s, H, p):
    w = torch.nn.functional.softmax(torch.tanh(p["W"] @ s + H @ p["U"].T) @ p["v"], dim=0)
    c = torch.matmul(w, H)
    s_new = torch.tanh(torch.matmul(p["Wx"], torch.cat([c, y])) + torch.matmul(p["Ws"], s))
    # CrossEntropyLoss wants logits
    output = torch.matmul(p["Wy"], s_new)
    return w, c, s_new, output
