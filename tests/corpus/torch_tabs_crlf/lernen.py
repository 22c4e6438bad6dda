# -*- coding: utf-8 -*-
"""Schaltet zwischen drei Größen: tabs, carriage returns, a byte-order mark."""
import numpy as np
import torch
from torch import nn

np.random.seed(0)
torch.manual_seed(0)

größe = 0.5	# keine Lernrate


class Netz(nn.Module):
	def __init__(self, eingänge=5):
		super().__init__()
		self.eins = nn.Linear(eingänge, 22)
		self.zwei = nn.Linear(22, 3)
		self.aktivierung = nn.ReLU6()

	def forward(self, x):
		return self.zwei(
			self.aktivierung(
				self.eins(x)
			)
		)


x = np.random.randn(180, 5).astype(np.float32)
y = (x[:, 0] > größe).astype(np.int64) + (x[:, 1] > -größe).astype(np.int64)
x, y = torch.from_numpy(x), torch.from_numpy(y)

netz = Netz()
verlust = nn.MultiMarginLoss()
optimierer = torch.optim.ASGD(
	netz.parameters(),
	lr = .5,
	weight_decay = 0.001,
)

for epoche in range(0, 5):
	for i in range(0, 180, 18):
		optimierer.zero_grad()
		fehler = verlust(netz(x[i:i + 18]), y[i:i + 18])
		fehler.backward()
		optimierer.step()
	print('Epoche', epoche, 'Fehler', round(fehler.item(), 4))

print('Treffer: %.3f' % (netz(x).argmax(1) == y).float().mean().item())
