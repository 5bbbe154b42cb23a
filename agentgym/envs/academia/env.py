"""Academia: answer questions about a citation network and its authors, one look-up at a time.

Nothing can be searched for: a paper is found under its title and an author under the name, and from
there the edges lead on. The score is 1 for the right answer, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Edition, Expert, Task, TaskSet
from agentgym.envs.academia.exported import load_exported
from agentgym.envs.academia.looking import Reader
from agentgym.envs.academia.network import Network, load_network
from agentgym.envs.academia.questions import BY_NAME
from agentgym.envs.academia.questions.base import MOST_CALLS
from agentgym.envs.academia.tasks import mini_tasks, official_tasks
from agentgym.envs.academia.tools import AcademiaTools
from agentgym.envs.tools import Move, Plan, PlanExpert, Tool, ToolEnv

INTRODUCTION = """You answer questions about a citation network. PaperNet holds papers, joined by \
citations; AuthorNet holds authors, joined by the papers they wrote together. Load a network \
before you ask it anything. Titles and names have to be written exactly as they appear; an author \
whose name is not unique carries a number, as in "Wei Gao_2". Do not guess a title or a name: find \
it."""

EXAMPLE = """Goal: How many papers have Lena Hart and Omar Diaz written together? Please give me a \
numerical value as an answer.
Thought: Joint papers are the edges of AuthorNet, so I load it.
Action: loadAuthorNet with Action Input: {}
Observation: AuthorNet is loaded.
Thought: The edge between the two lists their papers.
Action: authorEdgeCheck with Action Input: {"node1": "Lena Hart", "node2": "Omar Diaz"}
Observation: {'papers': ['On Shelves', 'Towards Better Shelves']}
Thought: There are two.
Action: finish with Action Input: {"answer": 2}"""


class AcademiaEnv(ToolEnv):
    """Look papers and authors up and answer a question; see `ToolEnv` for the options."""

    name = "academia"
    title = "Academia"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(MOST_CALLS + 3, "Questions over an invented network of 2,000 papers."),
        "official": Edition(12, "AgentBoard's 20 questions over DBLP, which has to be brought."),
    }
    toolkit = AcademiaTools
    introduction = INTRODUCTION
    example = EXAMPLE

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        return official_tasks(data_dir) if edition == "official" else mini_tasks()

    @property
    def network(self) -> Network:
        """The network the present edition asks about; it is not to be changed."""
        return load_exported(self.data_dir) if self.edition == "official" else load_network()

    def _open(self, task: Task) -> AcademiaTools:
        return AcademiaTools(self.network)

    def _make_expert(self) -> Expert:
        assert self.task is not None
        if "question" not in self.task.spec:
            raise NotImplementedError(
                "Academia's expert plays mini tasks; a published question is only text"
            )
        return PlanExpert(self, self._plan)

    def _plan(self) -> Plan:
        assert self.task is not None
        assert isinstance(self.kit, AcademiaTools)
        spec = self.task.spec
        answer = yield from BY_NAME[spec["question"]].plan(Reader(self.kit), spec["args"])
        told = ", ".join(answer) if isinstance(answer, list) else answer
        yield Move(f"That is all I need. The answer is: {told}.", "finish", {"answer": answer})

    def _sample_arguments(self, chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
        """Draw titles and names that exist; for an edge, often two that are joined."""
        network = self.network
        people = chosen.name.startswith("author") or bool(rng.integers(2))
        nodes = network.together if people else network.cited
        keys = list(nodes)
        one = keys[int(rng.integers(len(keys)))]
        near = list(nodes[one]) or keys
        drawn = {
            "graph": "AuthorNet" if people else "PaperNet",
            "node": one,
            "node1": one,
            "node2": near[int(rng.integers(len(near)))],
            "answer": one,
        }
        if chosen.name.startswith("paper") and people:
            papers = list(network.papers)
            title = papers[int(rng.integers(len(papers)))]
            linked = network.cited[title] or papers
            drawn |= {"node": title, "node1": title, "node2": linked[0]}
        wanted = chosen.parameters.get("properties", {})
        return {name: drawn[name] for name in wanted}
