"""What to test beside the contract: what your environment alone knows."""

import gymnasium
import my_package  # noqa: F401  (registers the environment)

from agentgym.core.checker import require_env


def test_it_keeps_the_contract() -> None:
    require_env("my_package:MyEnv-v0")


def test_the_lock_says_where_to_turn() -> None:
    env = gymnasium.make("MyEnv-v0")
    env.reset(options={"task_id": "my_env_0"})
    hidden = env.unwrapped.hidden["left"]
    assert "too low" in env.step(f"turn left to {hidden - 1}")[0]
    observation, reward, terminated, _, info = env.step(f"turn left to {hidden}")
    assert (observation, reward, terminated) == ("The lock opens.", 1.0, True)
    assert info["success"]
