"""Fair scoring with an adversary: Lightning with manual optimization, two optimizers pulling in opposite directions."""

import lightning as L
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def applicants(n):
    """The group leaks into the inputs but not into merit: a fair score can be nearly as good as an unfair one."""
    group = torch.randint(0, 2, (n,)).float()
    merit = torch.randn(n)
    x = torch.randn(n, 8)
    x[:, 0] += 1.2 * merit
    x[:, 1] += 0.8 * merit
    x[:, 2] += 1.5 * (group - 0.5)
    x[:, 3] -= 1.2 * (group - 0.5)
    hired = (torch.rand(n) < torch.sigmoid(2.0 * merit + 1.0 * (group - 0.5))).float()
    return x, hired, group


class FairModel(L.LightningModule):
    """The adversary's loss shall rise to log 2 while its own optimizer pushes it down: it hovers."""

    def __init__(self, strength=2.0):
        super().__init__()
        self.automatic_optimization = False
        self.strength = strength
        self.scorer = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
        self.adversary = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return self.scorer(x).squeeze(-1)

    def guess(self, score):
        return self.adversary(score.unsqueeze(-1)).squeeze(-1)

    def training_step(self, batch, _):
        x, y, group = batch
        scorer_opt, adversary_opt = self.optimizers()

        adversary_loss = F.binary_cross_entropy_with_logits(self.guess(self(x).detach()), group)
        adversary_opt.zero_grad()
        self.manual_backward(adversary_loss)
        adversary_opt.step()

        score = self(x)
        task = F.binary_cross_entropy_with_logits(score, y)
        against = F.binary_cross_entropy_with_logits(self.guess(score), group)
        scorer_opt.zero_grad()
        self.manual_backward(task - self.strength * against)  # a minus on purpose: the adversary shall fail
        scorer_opt.step()
        self.log_dict({"task": task, "adversary": adversary_loss}, on_step=False, on_epoch=True)

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch:2d} task {m['task']:.4f} adversary {m['adversary']:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.scorer.parameters(), 2e-3), torch.optim.Adam(self.adversary.parameters(), 5e-3)


if __name__ == "__main__":
    L.seed_everything(11, verbose=False)
    x, hired, group = applicants(4000)
    loader = DataLoader(TensorDataset(x[:3000], hired[:3000], group[:3000]), batch_size=60, shuffle=True)
    for strength in (0.0, 2.0):
        model = FairModel(strength)
        trainer = L.Trainer(
            max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(model, loader)
        with torch.no_grad():
            score = model.eval()(x[3000:]).numpy()
        task_auc, group_auc = roc_auc_score(hired[3000:], score), roc_auc_score(group[3000:], score)
        print(f"strength {strength}: AUC for the task {task_auc:.3f}, for the group {group_auc:.3f} (0.5 is fair)")
