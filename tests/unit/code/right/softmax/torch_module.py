import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, axis):
        with torch.no_grad():
            return nn.Softmax(dim=axis)(x)


net = Net()


def softmax(x, axis=-1):
    return net(x, axis)
