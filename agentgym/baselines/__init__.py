"""The trainers: BC, AgentEvol, DPO and ADCA-GRPO, each one readable file on the same interface.

They stand on `agentgym.rollout` (episodes with the sampled tokens) and `agentgym.trajectories`
(datasets with loss flags). No trainer is in this release.
"""
