"""No module, no optimizer, no loader: two layers called one after the other and moved by hand."""

import hashlib

import torch

torch.manual_seed(0)
x = torch.randn(64, 5)
y = x.sum(1, keepdim=True)
first, last = torch.nn.Linear(5, 8), torch.nn.Linear(8, 1)
parameters = [*first.parameters(), *last.parameters()]
for _ in range(30):
    loss = ((last(torch.tanh(first(x))) - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in parameters:
            p -= 0.05 * p.grad
            p.grad.zero_()
    print(repr(loss.item()))
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in parameters)).hexdigest())
