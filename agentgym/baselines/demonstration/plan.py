"""What a demonstration would do, in words; nothing is played or trained."""

from __future__ import annotations

from agentgym.baselines.demonstration.experiment import EnvSettings, Experiment
from agentgym.baselines.demonstration.run import find_arm
from agentgym.baselines.plan import count_tasks, describe_tasks


def plan(experiment: Experiment) -> list[str]:
    """Return what would be done, a line each."""
    cells = len(experiment.envs) * len(experiment.seeds)
    lines = [
        f"{cells} cells (an environment and a seed each), {experiment.jobs} at a time, "
        f"{experiment.threads} thread each; in each of them: "
        + ", ".join(find_arm(name).title for name in experiment.arms)
    ]
    for setting in experiment.envs:
        lines += _env(setting)
    return lines


def _env(setting: EnvSettings) -> list[str]:
    held_out = count_tasks(setting.measured()) or 0
    wide = setting.tasks("train", setting.wide)
    played = (count_tasks(wide) or 0) * setting.samples * setting.iterations
    group, paired = setting.group, setting.tasks("train", setting.dpo.tasks)
    return [
        f"{describe_tasks(wide)}, {setting.demos} of them demonstrated:",
        f"  BC {setting.steps} steps; AgentEvol {setting.iterations} x {setting.evol_steps} steps "
        f"and {played} episodes; the control of demonstrations {setting.controls_steps} steps",
        f"  DPO {(count_tasks(paired) or 0) * setting.dpo.samples} episodes; GRPO and ADCA-GRPO "
        f"{group.samplings * group.groups * group.group_size} episodes",
        f"  each is measured on {held_out} held-out tasks, {setting.attempts} a task and seed",
    ]
