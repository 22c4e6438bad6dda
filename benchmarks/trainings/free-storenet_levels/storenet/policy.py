"""Neural order-up-to policy, trained by gradients through the simulated periods."""
import lightning as L
import torch
import torch.nn as nn


class LevelNet(nn.Module):
    """Gives the order-up-to level of one store in one period."""

    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1)
        )

    def forward(self, forecast, cv, underage, scale):
        ratio = forecast / scale
        x = torch.stack([ratio / 4.0, cv * 2.0, torch.log(underage), torch.log(scale) / 3.0], dim=1)
        return scale * nn.functional.softplus(self.net(x).squeeze(1) + ratio)


class OrderUpTo(L.LightningModule):
    def __init__(self, lead_time, hidden=32, lr=3e-3, holding=1.0, warmup=10):
        super().__init__()
        self.save_hyperparameters()
        self.levels = LevelNet(hidden)
        self.history = []

    def simulate(self, demand, forecast, cv, underage, scale):
        """Periods in order: receive, place the order, see demand, pay. Demand not met waits."""
        n, horizon = demand.shape
        lead = self.hparams.lead_time
        net_stock = forecast[:, 0] / (lead + 1)
        on_order = [demand.new_zeros(n) + forecast[:, 0] / (lead + 1) for _ in range(lead)]
        costs, served, orders = [], [], []
        for t in range(horizon):
            net_stock = net_stock + on_order.pop(0)
            level = self.levels(forecast[:, t], cv, underage, scale)
            order = torch.relu(level - net_stock)
            on_order.append(order)
            available = torch.relu(net_stock)
            net_stock = net_stock - demand[:, t]
            cost = self.hparams.holding * torch.relu(net_stock) + underage * torch.relu(-net_stock)
            if t >= self.hparams.warmup:
                costs.append(cost / scale)
                served.append(torch.minimum(available, demand[:, t]) / demand[:, t].clamp_min(1e-3))
                orders.append(order / scale)
        return torch.stack(costs, 1), torch.stack(served, 1), torch.stack(orders, 1)

    def training_step(self, batch, _):
        costs, _, _ = self.simulate(*batch)
        loss = costs.mean()
        self.log("train_cost", loss)
        return loss

    def validation_step(self, batch, _):
        costs, served, orders = self.simulate(*batch)
        self.history.append(
            {"cost": costs.mean().item(), "service": served.mean().item(), "order_std": orders.std(1).mean().item()}
        )
        self.log("val_cost", costs.mean())

    def on_validation_epoch_end(self):
        if self.trainer.sanity_checking:
            return
        m = self.history[-1]
        print(f"epoch {self.current_epoch:2d}  cost {m['cost']:.4f}  service {m['service']:.3f}  "
              f"order std {m['order_std']:.3f}")

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=self.trainer.max_epochs)
        return {"optimizer": opt, "lr_scheduler": sched}
