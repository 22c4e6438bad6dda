"""A game as gym had it before version 0.26."""

from __future__ import annotations

from copy import deepcopy

import pytest

pytest.importorskip("gymnasium")

from benchmarks.dataset import standin_games as gym


class Halved(gym.ActionWrapper):
    def _action(self, action: float) -> list[float]:
        return [action / 2]


def test_an_episode_ends_with_four_values_a_step() -> None:
    env = gym.make("CartPole-v0")
    env.seed(3)
    first = env.reset()
    done, steps = False, 0
    while not done:
        observation, reward, done, _ = env.step(1)
        steps += 1
    assert (first.shape, observation.shape, reward) == ((4,), (4,), 1.0)
    assert 5 < steps < 20
    env.seed(3)
    assert (env.reset() == first).all()


def test_a_limit_of_steps_ends_an_episode_too() -> None:
    env = gym.make("Pendulum-v0")
    env.reset()
    dones = [env.step([0.0])[2] for _ in range(env._max_episode_steps)]
    assert dones.index(True) == len(dones) - 1 == 199


def test_a_wrapper_changes_actions_by_either_name() -> None:
    env = Halved(gym.make("Pendulum-v0"))
    assert env.action(1.0) == [0.5]
    assert gym.Wrapper(env).action(1.0) == 1.0
    env.reset()
    assert env.step(1.0)[0].shape == (3,)
    assert isinstance(env.action_space, gym.spaces.Box)


def test_a_game_is_copied_and_has_what_the_game_within_has() -> None:
    env = deepcopy(Halved(gym.make("Pendulum-v0")))
    assert env.unwrapped.max_torque == 2.0
    assert env.reset().shape == (3,)
    with pytest.raises(AttributeError):
        _ = env.nothing_of_the_kind
