# Bakery: how many trays of bread to bake each morning.
# Policy gradient with two small Keras networks (actor and baseline).
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
import sys
import time

import keras
import numpy as np
import torch
from keras import layers

torch.set_num_threads(1)
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
keras.utils.set_random_seed(SEED)

# ---------------------------------------------------------------- settings
SHOPS = 64            # shops simulated side by side
DAYS = 28             # length of an episode
HISTORY = 5           # days of demand shown to the policy
N_LEVELS = 21         # trays 0, 1, ..., 20
PRICE, BAKE, STALE = 3.0, 1.0, 0.4
GAMMA = 0.8
ITERATIONS = 150


# ---------------------------------------------------------------- demand
def demand_paths(n, length, rng):
    """Weekly pattern times a slow local trend times daily noise, in trays."""
    weekday = np.array([0.8, 0.8, 0.9, 1.0, 1.3, 1.5, 0.7])
    start = rng.integers(0, 7, n)
    days = (start[:, None] + np.arange(length)) % 7
    level = np.zeros((n, length))
    level[:, 0] = rng.normal(0, 0.25, n)
    for t in range(1, length):
        level[:, t] = 0.9 * level[:, t - 1] + rng.normal(0, 0.11, n)
    mean = 8.0 * weekday[days] * np.exp(level)
    return rng.poisson(mean * rng.gamma(12.0, 1 / 12.0, mean.shape)).astype("float32"), days


# ---------------------------------------------------------------- simulator
class Bakery:
    """Bread left in the evening is sold the next day once more, then thrown away."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng

    def reset(self):
        self.demand, self.weekday = demand_paths(self.n, HISTORY + DAYS + 1, self.rng)
        self.t = HISTORY
        self.old = np.zeros(self.n, dtype="float32")
        return self.state()

    def state(self):
        recent = self.demand[:, self.t - HISTORY:self.t]
        angle = 2 * np.pi * self.weekday[:, self.t] / 7
        cal = np.stack([np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)], axis=1)
        return np.concatenate([recent / 10.0, self.old[:, None] / 10.0, cal], axis=1).astype("float32")

    def step(self, trays):
        want = self.demand[:, self.t]
        sold_old = np.minimum(self.old, want)
        sold_new = np.minimum(trays, want - sold_old)
        thrown = self.old - sold_old
        reward = PRICE * sold_new + 0.6 * PRICE * sold_old - BAKE * trays - STALE * thrown
        self.old = (trays - sold_new).astype("float32")
        self.t += 1
        return self.state(), reward.astype("float32"), sold_old + sold_new, want


# ---------------------------------------------------------------- networks
N_STATE = HISTORY + 1 + 4


def build_actor():
    x = inputs = keras.Input((N_STATE,))
    x = layers.Dense(64, activation="tanh")(x)
    x = layers.Dense(64, activation="tanh")(x)
    mid = layers.Dense(1, bias_initializer=keras.initializers.Constant(0.8))(x)
    spread = layers.Dense(1, activation="softplus")(x)
    grid = np.arange(N_LEVELS, dtype="float32")[None, :] / 10.0
    gap = layers.Lambda(lambda z: -((keras.ops.convert_to_tensor(grid) - z[0]) ** 2) * (z[1] + 0.3) * 8.0)([mid, spread])
    model = keras.Model(inputs, layers.Softmax()(gap))
    model.compile(keras.optimizers.Adam(2e-3, clipnorm=1.0), loss="sparse_categorical_crossentropy")
    return model


def build_baseline():
    model = keras.Sequential([keras.Input((N_STATE,)), layers.Dense(64, activation="tanh"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(5e-3), loss="mse")
    return model


def probabilities(actor, s):
    with torch.no_grad():
        return actor(s).cpu().numpy()


def rollout(actor, env, rng, greedy=False):
    s = env.reset()
    states, actions, rewards, sold, want = [], [], [], 0.0, 0.0
    for _ in range(DAYS):
        prob = probabilities(actor, s)
        if greedy:
            a = prob.argmax(1)
        else:
            u = rng.random((len(prob), 1))
            a = np.minimum((prob.cumsum(1) < u).sum(1), N_LEVELS - 1)
        nxt, r, so, wa = env.step(a.astype("float32"))
        states.append(s)
        actions.append(a)
        rewards.append(r)
        sold, want = sold + so.sum(), want + wa.sum()
        s = nxt
    return np.stack(states), np.stack(actions), np.stack(rewards), sold / want


def returns_to_go(rewards):
    out = np.zeros_like(rewards)
    acc = np.zeros(rewards.shape[1], dtype="float32")
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + GAMMA * acc
        out[t] = acc
    return out


# ---------------------------------------------------------------- training
rng = np.random.default_rng(SEED)
env = Bakery(SHOPS, rng)
actor, baseline = build_actor(), build_baseline()
start = time.time()
for it in range(1, ITERATIONS + 1):
    states, actions, rewards, service = rollout(actor, env, rng)
    ret = returns_to_go(rewards).reshape(-1) / 20.0
    flat = states.reshape(-1, N_STATE)
    with torch.no_grad():
        expected = baseline(flat).cpu().numpy()[:, 0]
    adv = ret - expected
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    actor.train_on_batch(flat, actions.reshape(-1), sample_weight=adv)
    for _ in range(3):
        baseline.train_on_batch(flat, ret[:, None])
    if it % 25 == 0:
        print(f"iter {it:4d}  profit/day {rewards.mean():.3f}  service {service:.3f}")

test_env = Bakery(1000, np.random.default_rng(10_000))
_, trays, rewards, service = rollout(actor, test_env, rng, greedy=True)
print(f"held-out shops: profit/day {rewards.mean():.3f}  service {service:.3f}  trays/day {trays.mean():.2f}"
      f"  ({time.time() - start:.1f}s)")
