"""Games by the interface that gym had before version 0.26, played by gymnasium.

Laid beside a program as `field_games.py`, where an edit of its line `import gym` asks for it by
`import field_games as gym`; so it imports nothing of ours.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

NAMES = {"Pendulum-v0": "Pendulum-v1", "FrozenLake-v0": "FrozenLake-v1"}
"""Games that have a new version alone."""


class Env:
    """What games have in common."""

    observation_space: Any
    action_space: Any
    spec: Any = None

    def render(self, *_: Any, **__: Any) -> None:
        """Nobody looks."""

    def close(self) -> None:
        """Nothing is open."""


class Around(Env):
    """A game around another one, which has what this one lacks."""

    env: Any

    def __getattr__(self, name: str) -> Any:
        if name == "env" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.env, name)


class Game(Around):
    """A game of gymnasium: an observation after a reset, four values after a step."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.spec, self._max_episode_steps = env.spec, env.spec.max_episode_steps
        self._seed: int | None = None

    def seed(self, seed: int | None = None) -> list[int | None]:
        """For the next reset."""
        self._seed = seed
        return [seed]

    def reset(self) -> Any:
        observation, _ = self.env.reset(seed=self._seed)
        self._seed = None
        return observation

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(reward), bool(terminated or truncated), info

    @property
    def unwrapped(self) -> Game:
        """The same without a limit of its steps."""
        return Game(self.env.unwrapped)


class Wrapper(Around):
    """A game whose actions, observations or rewards are changed on their way."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.spec, self._max_episode_steps = env.spec, getattr(env, "_max_episode_steps", None)

    def action(self, action: Any) -> Any:
        """What is played; `_action` where it is written so."""
        old = getattr(type(self), "_action", None)
        return old(self, action) if old else action

    def observation(self, observation: Any) -> Any:
        return observation

    def reward(self, reward: Any) -> Any:
        return reward

    def reset(self) -> Any:
        return self.observation(self.env.reset())

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        observation, reward, done, info = self.env.step(self.action(action))
        return self.observation(observation), self.reward(reward), done, info


def make(name: str, **options: Any) -> Game:
    """As `gym.make`."""
    options.pop("render_mode", None)
    return Game(import_module("gymnasium").make(NAMES.get(name, name), **options))


def __getattr__(name: str) -> Any:
    """Modules of gymnasium, which is not imported where nobody plays."""
    if name in ("spaces", "wrappers", "logger"):
        return import_module(f"gymnasium.{name}")
    raise AttributeError(name)


ActionWrapper = ObservationWrapper = RewardWrapper = Wrapper
