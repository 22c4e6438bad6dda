import torch


class BeamEnv:
    """Many beams with a rolling ball, stepped together. Tilt left / level / right; +1 for every step the ball
    stays on the beam. Episodes end when the ball falls (terminated) or after `limit` steps (truncated)."""

    n_obs, n_actions = 3, 3

    def __init__(self, n, limit=120, seed=0):
        self.n, self.limit = n, limit
        self.gen = torch.Generator().manual_seed(seed)
        self.state, self.t = torch.zeros(n, 3), torch.zeros(n)
        self._reset(torch.ones(n, dtype=torch.bool))

    def _reset(self, which):
        fresh = torch.empty(self.n, 3).uniform_(-0.3, 0.3, generator=self.gen)
        self.state = torch.where(which[:, None], fresh, self.state)
        self.t = torch.where(which, torch.zeros(self.n), self.t)

    def observe(self):
        return self.state.clone()

    def step(self, action):
        x, v, tilt = self.state.unbind(1)
        tilt = (tilt + 0.12 * (action.float() - 1)).clamp(-0.6, 0.6)
        gust = 0.06 * torch.randn(self.n, generator=self.gen)
        v = v + 0.15 * (tilt + 0.5 * x) + gust * 0.5
        x = x + 0.15 * v
        self.state = torch.stack([x, v, tilt], 1)
        self.t += 1
        terminated = x.abs() > 1.0
        truncated = ~terminated & (self.t >= self.limit)
        final_obs, length = self.observe(), self.t.clone()
        self._reset(terminated | truncated)
        return self.observe(), final_obs, torch.ones(self.n), terminated, truncated, length
