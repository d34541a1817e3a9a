import torch
import torch.nn.functional as F


def decoder_step(y, s, H, p):
    attn_energies = torch.tanh(F.linear(s, p["W"]) + F.linear(H, p["U"])).mv(p["v"])
    attn_weights = F.softmax(attn_energies, dim=0)
    context = attn_weights.unsqueeze(0).mm(H).squeeze(0)
    hidden = torch.tanh(F.linear(torch.cat((context, y)), p["Wx"]) + F.linear(s, p["Ws"]))
    output = F.log_softmax(F.linear(hidden, p["Wy"]), dim=0)
    return attn_weights, context, hidden, output
