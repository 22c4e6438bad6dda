"""Double dueling DQN on a pond with thin ice: 5x5 map, holes, slippery moves. Soft target updates, late start of learning;
training episodes start anywhere, and the slowly moving copy of the network is the one that is scored."""
import random

import numpy as np
import torch

from agent import Agent, Replay

MAP = ["S....", ".#.#.", "...#.", ".#...", "...#G"]
STEP = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class Pond:
    def __init__(self, slip=0.05, limit=40, anywhere=False):
        self.slip, self.limit, self.anywhere = slip, limit, anywhere
        self.free = [(r, c) for r in range(5) for c in range(5) if MAP[r][c] in "S."]

    def _obs(self):
        v = np.zeros(25, dtype=np.float32)
        v[self.r * 5 + self.c] = 1
        return v

    def reset(self):
        self.r, self.c = random.choice(self.free) if self.anywhere else (0, 0)
        self.t = 0
        return self._obs()

    def step(self, a):
        if random.random() < self.slip:
            a = (a + random.choice([-1, 1])) % 4
        dr, dc = STEP[a]
        self.r = min(4, max(0, self.r + dr))
        self.c = min(4, max(0, self.c + dc))
        self.t += 1
        cell = MAP[self.r][self.c]
        ended = cell in "#G"
        reward = {"G": 1.0, "#": -0.5}.get(cell, -0.01)
        return self._obs(), reward, ended, ended or self.t >= self.limit


def play(agent, episodes=60):
    env, wins = Pond(), 0
    for _ in range(episodes):
        s, over, r = env.reset(), False, 0
        while not over:
            s, r, _, over = env.step(agent.act(s, 0.0, averaged=True))
        wins += r == 1.0
    return wins / episodes


def main():
    random.seed(8)
    np.random.seed(8)
    torch.manual_seed(8)
    env, agent, memory = Pond(anywhere=True), Agent(25, 4), Replay(8000)
    total, warmup, frames = 0, 400, 6000
    s = env.reset()
    losses, score, scores = [], 0.0, []
    print("random-ish start:", play(agent, 30))
    while total < frames:
        eps = max(0.1, 1 - total / 4000)
        a = agent.act(s, eps)
        s2, r, ended, over = env.step(a)
        memory.add(s, a, r, s2, float(ended))
        s, score, total = s2, score + r, total + 1
        if over:
            scores.append(score)
            s, score = env.reset(), 0.0
        if len(memory) >= warmup and total % 2 == 0:
            agent.opt.param_groups[0]["lr"] = 1e-3 * (1 - 0.9 * total / frames)
            losses.append(agent.learn(memory.draw(64)))
        if total % 1000 == 0:
            mean = np.mean(losses[-400:]) if losses else float("nan")
            print(f"frame {total:5d} eps {eps:.2f} td loss {mean:.4f} mean score {np.mean(scores[-30:]):+.3f} greedy wins {play(agent):.2f}")
    print("final greedy win rate:", play(agent, 200))


if __name__ == "__main__":
    main()
