"""BabyAI: find, fetch, open and put things in rooms described in words, on Minigrid."""

from agentgym.envs.babyai.env import BabyAIEnv

__all__ = ["BabyAIEnv"]
