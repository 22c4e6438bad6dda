import torch


class SAM:
    """Sharpness-aware minimisation: two backward passes per update around one base optimizer."""

    def __init__(self, base, rho):
        self.base, self.rho, self.moved = base, rho, []

    def parameters(self):
        return [p for g in self.base.param_groups for p in g["params"] if p.grad is not None]

    @torch.no_grad()
    def ascend(self):
        norm = torch.stack([p.grad.norm() for p in self.parameters()]).norm()
        self.moved = []
        for p in self.parameters():
            e = p.grad * (self.rho / (norm + 1e-12))
            p.add_(e)
            self.moved.append((p, e))
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, e in self.moved:
            p.sub_(e)
        self.base.step()
        self.base.zero_grad()
