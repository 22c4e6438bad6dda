"""SimSiam-style self-supervised learning on waveforms, followed by a linear probe."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression

torch.manual_seed(31)
LEN, CLASSES = 64, 5


def waveforms(n):
    """Five families; amplitude, phase, offset and noise vary within each."""
    label = torch.arange(n) % CLASSES
    t = torch.linspace(0, 1, LEN)
    phase = torch.rand(n, 1)
    arg = 2 * torch.pi * (4 * t + phase)
    bank = torch.stack([
        arg.sin(),
        arg.sin().sign(),
        2 * ((4 * t + phase) % 1) - 1,
        arg.sin() * (2 * arg).cos(),
        arg.sin() + 0.8 * (3 * arg).sin(),
    ], 1)
    x = bank[torch.arange(n), label]
    x = x / x.std(1, keepdim=True)
    return x + 0.25 * torch.randn(n, LEN), label


def augment(x):
    n = x.size(0)
    shift = torch.randint(LEN, (n, 1))
    x = x.gather(1, (torch.arange(LEN) + shift) % LEN)
    scale = 0.6 + 0.8 * torch.rand(n, 1)
    return scale * x + 0.3 * torch.randn(n, 1) + 0.15 * torch.randn(n, LEN)


class Encoder(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 24, 7, padding=3, padding_mode="circular"), nn.BatchNorm1d(24), nn.ReLU(),
            nn.Conv1d(24, dim, 5, stride=2, padding=2), nn.BatchNorm1d(dim), nn.ReLU(),
        )

    def forward(self, x):
        return self.conv(x[:, None]).mean(-1)


class SimSiam(nn.Module):
    def __init__(self, dim=48, proj=48):
        super().__init__()
        self.encoder = Encoder(dim)
        self.projector = nn.Sequential(nn.Linear(dim, proj, bias=False), nn.BatchNorm1d(proj), nn.ReLU(),
                                       nn.Linear(proj, proj, bias=False), nn.BatchNorm1d(proj, affine=False))
        self.predictor = nn.Sequential(nn.Linear(proj, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, proj))

    def forward(self, a, b):
        za, zb = self.projector(self.encoder(a)), self.projector(self.encoder(b))
        pa, pb = self.predictor(za), self.predictor(zb)
        # targets get no gradient, this is what keeps the representation from collapsing
        loss = -0.5 * (F.cosine_similarity(pa, zb.detach()).mean() + F.cosine_similarity(pb, za.detach()).mean())
        spread = F.normalize(za, dim=1).std(0).mean()
        return loss, spread


def probe(encoder, tr, te):
    encoder.eval()
    with torch.no_grad():
        f_tr, f_te = encoder(tr[0]), encoder(te[0])
    encoder.train()
    clf = LogisticRegression(C=0.3, max_iter=60).fit(f_tr.numpy(), tr[1].numpy())
    return clf.score(f_te.numpy(), te[1].numpy())


unlabelled, _ = waveforms(2560)
few, test = waveforms(50), waveforms(1000)
model = SimSiam()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
EPOCHS, BS = 8, 128
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS * len(unlabelled) // BS)
print(f"50-label probe, random encoder: {probe(model.encoder, few, test):.3f}; on raw samples: "
      f"{LogisticRegression(max_iter=200).fit(few[0].numpy(), few[1].numpy()).score(test[0].numpy(), test[1].numpy()):.3f}")
for epoch in range(1, EPOCHS + 1):
    total = 0.0
    for idx in torch.randperm(len(unlabelled)).split(BS):
        batch = unlabelled[idx]
        loss, spread = model(augment(batch), augment(batch))
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item()
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d}  loss {total / (len(unlabelled) // BS):+.4f}  spread {spread.item():.3f} (1/sqrt(d)={48 ** -0.5:.3f})  probe {probe(model.encoder, few, test):.3f}")
