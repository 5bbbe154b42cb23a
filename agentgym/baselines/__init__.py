"""The trainers: BC, AgentEvol, DPO, GRPO and ADCA-GRPO, each one readable file.

Begin with `bc`; then `agentevol` and `dpo`, which explore first, and `grpo` and `adca_grpo`, which
play while they learn. Each says its formula at the top and which files to read on in. `losses` and
`advantage` hold the formulas alone, `sft`, `preference` and `policy_trainer` are where they meet
TRL, and docs/baselines.md has a table of which formula is in which function.

They stand on `agentgym.rollout` (episodes with the sampled tokens) and `agentgym.trajectories`
(datasets with loss flags). torch, transformers and TRL are imported when a trainer starts.
"""
