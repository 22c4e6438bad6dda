"""pKa regression with a GIN on an in-house style measurement table (several rows per compound)."""
import hashlib
import os
import warnings
from dataclasses import dataclass

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

warnings.filterwarnings("ignore")
SEED = int(os.environ.get("SEED", 0))
SYMBOLS = "CNOSF"
MAX_BONDS = {"C": 4, "N": 3, "O": 2, "S": 2, "F": 1}
EN = {"C": 2.55, "N": 3.04, "O": 3.44, "S": 2.58, "F": 3.98}


@dataclass
class Row:
    atoms: list          # element symbols in file order
    bonds: list          # (i, j) with i < j
    pka: float


def draw_compound(rng):
    n = int(rng.integers(8, 17))
    atoms, bonds, degree = ["C"], [], [0]
    while len(atoms) < n:
        open_ = [i for i, a in enumerate(atoms) if degree[i] < MAX_BONDS[a]]
        i = int(rng.choice(open_))
        left = sum(MAX_BONDS[a] - d for a, d in zip(atoms, degree))
        a = "C" if left < 2 else str(rng.choice(list(SYMBOLS), p=[.55, .18, .15, .06, .06]))
        atoms.append(a)
        degree[i] += 1
        degree.append(1)
        bonds.append((i, len(atoms) - 1))
    open_ = [i for i, a in enumerate(atoms) if degree[i] < MAX_BONDS[a]]
    if len(open_) >= 2:
        i, j = sorted(int(k) for k in rng.choice(open_, 2, replace=False))
        if (i, j) not in bonds:
            bonds.append((i, j))
    return atoms, bonds


def true_pka(atoms, bonds, rng):
    pull = 0.0
    for i, j in bonds:
        pull += (EN[atoms[i]] - 2.5) * (EN[atoms[j]] - 2.5)
    amines = sum(a == "N" for a in atoms)
    acids = sum(a == "O" for a in atoms)
    conformation = 1.1 * rng.standard_normal()
    return 7.0 + 1.4 * amines - 1.3 * acids - 0.6 * pull + conformation


def measurement_table(n_compounds, rng):
    """Each compound was registered and measured several times, by different groups."""
    rows = []
    for _ in range(n_compounds):
        atoms, bonds = draw_compound(rng)
        pka = true_pka(atoms, bonds, rng)
        for _ in range(int(rng.integers(3, 8))):
            perm = rng.permutation(len(atoms))
            new_atoms = [None] * len(atoms)
            for old, new in enumerate(perm):
                new_atoms[new] = atoms[old]
            new_bonds = [tuple(sorted((int(perm[i]), int(perm[j])))) for i, j in bonds]
            rng.shuffle(new_bonds)
            new_bonds = [(int(i), int(j)) for i, j in new_bonds]
            rows.append(Row(new_atoms, new_bonds, pka + 0.15 * rng.standard_normal()))
    rng.shuffle(rows)
    return rows


def compound_key(row):
    """Identifier of a compound, built from its elements and bonds."""
    labels = list(row.atoms)
    for _ in range(len(row.atoms)):
        around = [[] for _ in labels]
        for i, j in row.bonds:
            around[i].append(labels[j])
            around[j].append(labels[i])
        labels = [hashlib.sha1((a + "".join(sorted(nb))).encode()).hexdigest()
                  for a, nb in zip(labels, around)]
    return hashlib.sha1("".join(sorted(labels)).encode()).hexdigest()


def split_by_compound(rows, rng, fractions=(0.6, 0.1, 0.3)):
    keys = [compound_key(r) for r in rows]
    unique = sorted(set(keys))
    rng.shuffle(unique)
    cuts = np.cumsum([int(f * len(unique)) for f in fractions[:2]])
    parts = [set(p) for p in np.split(np.array(unique), cuts)]
    return [[r for r, k in zip(rows, keys) if k in part] for part in parts]


def collate(rows):
    x, edges, graph, offset = [], [], [], 0
    for g, r in enumerate(rows):
        x += [SYMBOLS.index(a) for a in r.atoms]
        for i, j in r.bonds:
            edges += [(i + offset, j + offset), (j + offset, i + offset)]
        graph += [g] * len(r.atoms)
        offset += len(r.atoms)
    y = torch.tensor([r.pka for r in rows], dtype=torch.float32)
    return torch.tensor(x), torch.tensor(edges).T, torch.tensor(graph), y


class GIN(L.LightningModule):
    def __init__(self, mean, std, width=80, depth=3, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.embed = nn.Embedding(len(SYMBOLS), width)
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.LayerNorm(width))
            for _ in range(depth))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, x, edge_index, graph, n_graphs):
        h = self.embed(x)
        src, dst = edge_index
        for mlp in self.mlps:
            h = h + mlp(h.index_add(0, dst, h[src])).relu()
        pooled = h.new_zeros(n_graphs, h.size(1)).index_add(0, graph, h) / 10.0
        return self.head(pooled).squeeze(1) * self.hparams.std + self.hparams.mean

    def training_step(self, batch, _):
        x, e, g, y = batch
        loss = F.mse_loss(self(x, e, g, len(y)), y)
        return loss

    def _evaluate(self, batch, name):
        x, e, g, y = batch
        pred = self(x, e, g, len(y))
        self.log_dict({f"{name}_mse": F.mse_loss(pred, y), f"{name}_mae": F.l1_loss(pred, y)},
                      batch_size=len(y))

    def validation_step(self, batch, _):
        self._evaluate(batch, "valid")

    def test_step(self, batch, _):
        self._evaluate(batch, "test")

    def on_validation_epoch_end(self):
        if self.current_epoch % 10 == 9 and not self.trainer.sanity_checking:
            m = self.trainer.callback_metrics
            print(f"epoch {self.current_epoch + 1:3d}  valid RMSE {m['valid_mse'] ** 0.5:.3f}  MAE {m['valid_mae']:.3f}")

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-4)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingLR(opt, self.trainer.max_epochs)]


def main():
    L.seed_everything(SEED, verbose=False)
    rng = np.random.default_rng(SEED)
    rows = measurement_table(130, rng)
    train, valid, test = split_by_compound(rows, rng)
    y = np.array([r.pka for r in train])
    print(f"rows: {len(train)} train, {len(valid)} valid, {len(test)} test; pKa {y.mean():.2f} +- {y.std():.2f}")
    model = GIN(float(y.mean()), float(y.std()))
    trainer = L.Trainer(max_epochs=40, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=1.0)
    trainer.fit(model, DataLoader(train, 16, shuffle=True, collate_fn=collate),
                DataLoader(valid, 256, collate_fn=collate))
    result = trainer.test(model, DataLoader(test, 256, collate_fn=collate), verbose=False)[0]
    print(f"test RMSE {result['test_mse'] ** 0.5:.3f}  MAE {result['test_mae']:.3f}"
          f"  (std of test pKa {np.std([r.pka for r in test]):.3f})")
    return model


if __name__ == "__main__":
    main()
