"""Importing the package registers its environment with Gymnasium."""

import gymnasium

gymnasium.register(
    id="MyEnv-v0",
    entry_point="my_package.env:MyEnv",
    # TextEnv enforces the order of reset and step itself, and `agentgym check` tests it.
    disable_env_checker=True,
    order_enforce=False,
)
