import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
torch.set_num_threads(1)

N_EPOCHS = 6
MAX_NORM = 0.5


class Parity(nn.Module):
    """Does a bit string hold more ones than noughts?"""

    def __init__(self, hidden_size: int = 16):
        super().__init__()
        self.rnn = nn.GRU(1, hidden_size, batch_first=True)
        self.classifier = nn.Linear(hidden_size, 2)

    def forward(self, bits):
        _, state = self.rnn(bits)
        return self.classifier(state[-1])


bits = torch.randint(0, 2, (260, 9, 1)).float()
answer = (bits.sum((1, 2)) > 4.5).long()
loader = DataLoader(TensorDataset(bits[:200], answer[:200]), batch_size=20, shuffle=True)

model = Parity()
loss_fn = nn.CrossEntropyLoss()
optimizer = SGD(model.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-4, nesterov=True)
scheduler = CosineAnnealingLR(optimizer, T_max=N_EPOCHS)

for epoch in range(N_EPOCHS):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        clip_grad_norm_(model.parameters(), max_norm=MAX_NORM)
        optimizer.step()
    scheduler.step()

    model.eval()
    with torch.no_grad():
        held_out = (model(bits[200:]).argmax(-1) == answer[200:]).float().mean().item()
    print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.4f} held-out accuracy {held_out:.3f}")
