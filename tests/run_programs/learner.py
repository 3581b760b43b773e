"""A tiny learner. Arguments: how many updates, and what is wrong with it."""

import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # as many scripts do: it counts only before torch is imported

import torch
from torch import nn

updates = int(sys.argv[1])
wrong = sys.argv[2:]
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
total = 0.0
for update in range(updates):
    x = torch.randn(16, 3)
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
    if "nan" in wrong or ("late-nan" in wrong and update == 50):
        loss = loss * float("nan")
    optimizer.zero_grad()
    loss.backward()
    if not loss.isnan():
        total += net[0].weight.sum().item()
    optimizer.step()
    if "shape" in wrong and update == updates - 1:
        net(torch.randn(16, 4))
    if "killed" in wrong and update == updates - 1:
        os.kill(os.getpid(), 9)
print("weights in all", total, "threads", torch.get_num_threads())
if "_exit" in wrong:
    os._exit(5)
