import json
import os
from types import SimpleNamespace

import torch
import torch.nn as nn

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "params.json")) as f:
    hp = SimpleNamespace(**json.load(f))

torch.manual_seed(2)


class Forecaster(nn.Module):
    """Next value of a noisy sine."""

    def __init__(self):
        nn.Module.__init__(self)
        self.lstm = nn.LSTM(
            input_size=1,
            hidden_size=hp.hidden_size,
            num_layers=hp.num_layers,
            dropout=hp.rnn_dropout,
            batch_first=True,
        )
        self.head = nn.Linear(hp.hidden_size, 1)

    def forward(self, series):
        out, _ = self.lstm(series)
        return self.head(out[:, -1])


phase = torch.rand(hp.n_train, 1) * 6.28
time = torch.arange(hp.seq_len + 1)[None, :] * 0.4
wave = torch.sin(time + phase) + 0.02 * torch.randn(hp.n_train, hp.seq_len + 1)
inputs, targets = wave[:, :-1, None], wave[:, -1:]

model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=hp.learning_rate)
mse = nn.MSELoss()
best, waited = float("inf"), 0
for epoch in range(hp.num_epochs):
    order = torch.randperm(hp.n_train)
    epoch_loss = 0.0
    for start in range(0, hp.n_train, hp.batch_size):
        rows = order[start : start + hp.batch_size]
        optimizer.zero_grad()
        loss = mse(model(inputs[rows]), targets[rows])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(rows)
    epoch_loss /= hp.n_train
    print("epoch {} mse {:.5f}".format(epoch, epoch_loss))
    if epoch_loss < best:
        best, waited = epoch_loss, 0
    else:
        waited += 1
        if waited >= hp.patience:
            break
