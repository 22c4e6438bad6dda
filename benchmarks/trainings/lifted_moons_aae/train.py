"""Adversarial autoencoder on two-moon-like shapes: manual optimisation, three optimisers, EMA decoder."""
import copy

import lightning as L
import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_float32_matmul_precision("high")


def mlp(i, o, h=64):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


class AdversarialAE(L.LightningModule):
    def __init__(self, x_dim=16, z_dim=2, ema=0.99):
        super().__init__()
        self.automatic_optimization = False
        self.enc, self.dec, self.critic = mlp(x_dim, z_dim), mlp(z_dim, x_dim), mlp(z_dim, 1)
        self.dec_ema = copy.deepcopy(self.dec).requires_grad_(False)
        self.ema, self.z_dim = ema, z_dim
        self.bce = nn.BCEWithLogitsLoss()

    def configure_optimizers(self):
        recon = torch.optim.Adam([*self.enc.parameters(), *self.dec.parameters()], lr=2e-3)
        critic = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.5, 0.99))
        fool = torch.optim.Adam(self.enc.parameters(), lr=5e-4, betas=(0.5, 0.99))
        return [recon, critic, fool]

    def training_step(self, batch, batch_idx):
        (x,) = batch
        opt_rec, opt_critic, opt_fool = self.optimizers()

        rec = nn.functional.mse_loss(self.dec(self.enc(x)), x)
        opt_rec.zero_grad()
        self.manual_backward(rec)
        opt_rec.step()

        prior = torch.randn(len(x), self.z_dim)
        real, fake = self.critic(prior), self.critic(self.enc(x).detach())
        d_loss = self.bce(real, torch.ones_like(real)) + self.bce(fake, torch.zeros_like(fake))
        opt_critic.zero_grad()
        self.manual_backward(d_loss)
        opt_critic.step()

        self.toggle_optimizer(opt_fool)
        score = self.critic(self.enc(x))
        g_loss = self.bce(score, torch.ones_like(score))
        opt_fool.zero_grad()
        self.manual_backward(g_loss)
        opt_fool.step()
        self.untoggle_optimizer(opt_fool)

        with torch.no_grad():
            for p_ema, p in zip(self.dec_ema.parameters(), self.dec.parameters()):
                p_ema.lerp_(p, 1 - self.ema)
        self.log_dict({"rec": rec, "critic": d_loss}, on_step=False, on_epoch=True)

    def validation_step(self, batch, batch_idx):
        (x,) = batch
        z = self.enc(x)
        r2 = 1 - ((self.dec_ema(z) - x) ** 2).sum() / ((x - x.mean(0)) ** 2).sum()
        gap = z.mean(0).abs().mean() + (z.std(0) - 1).abs().mean()
        self.log_dict({"val_r2": r2, "prior_gap": gap})

    def on_validation_epoch_end(self):
        if not self.trainer.sanity_checking and self.current_epoch % 2 == 1:
            m = self.trainer.callback_metrics
            print(f"epoch {self.current_epoch + 1}: val_r2 {m['val_r2']:.3f} prior_gap {m['prior_gap']:.3f}")


def lifted_moons(n, seed):
    """Moons pushed into 16 dimensions with a fixed smooth map."""
    pts, _ = make_moons(n, noise=0.08, random_state=seed)
    g = torch.Generator().manual_seed(0)
    w = torch.randn(2, 16, generator=g)
    return torch.tanh(torch.tensor(pts, dtype=torch.float32) @ w) + 0.05 * torch.randn(n, 16)


if __name__ == "__main__":
    L.seed_everything(8, verbose=False)
    train = DataLoader(TensorDataset(lifted_moons(2000, 1)), batch_size=50, shuffle=True)
    valid = DataLoader(TensorDataset(lifted_moons(500, 2)), batch_size=500)
    trainer = L.Trainer(
        max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(AdversarialAE(), train, valid)
