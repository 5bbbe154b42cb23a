"""The kinds of jobs of the mini edition: questions, changes, and both at once."""

from __future__ import annotations

from collections.abc import Mapping

from agentgym.envs.todolist.jobs.base import Job
from agentgym.envs.todolist.jobs.both import BOTH
from agentgym.envs.todolist.jobs.changes import CHANGES
from agentgym.envs.todolist.jobs.conditional import CONDITIONAL
from agentgym.envs.todolist.jobs.in_account import IN_ACCOUNT
from agentgym.envs.todolist.jobs.in_project import IN_PROJECT
from agentgym.envs.todolist.jobs.lookups import LOOKUPS

JOBS: tuple[Job, ...] = (*LOOKUPS, *IN_PROJECT, *IN_ACCOUNT, *CHANGES, *CONDITIONAL, *BOTH)
"""All kinds, by rising level within each part."""

BY_NAME: Mapping[str, Job] = {job.name: job for job in JOBS}
"""The kinds by name."""
