"""AgentTraj: trajectories to learn from, collected here or published elsewhere."""

from agentgym.trajectories.chat import ChatExample, chat_example, chat_examples
from agentgym.trajectories.collect import (
    Collection,
    CollectionWarning,
    ExpertFailed,
    collect,
    gather,
)
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.hf import from_hf, to_hf
from agentgym.trajectories.hub import fetch_eval_ids, load_agenteval, load_agenttraj
from agentgym.trajectories.items import ItemId, parse_item_id
from agentgym.trajectories.published import (
    PublishedItem,
    Turn,
    to_episode,
    to_evaluation,
    to_item,
)
from agentgym.trajectories.schema import About, Card, Episode, InvalidTrajectories, Step
from agentgym.trajectories.stats import EnvStats
from agentgym.trajectories.store import (
    iter_episodes,
    iter_items,
    read,
    read_card,
    read_items,
    write,
    write_items,
)

__all__ = [
    "About",
    "Card",
    "ChatExample",
    "Collection",
    "CollectionWarning",
    "EnvStats",
    "Episode",
    "ExpertFailed",
    "InvalidTrajectories",
    "ItemId",
    "PublishedItem",
    "Step",
    "TrajectoryDataset",
    "Turn",
    "chat_example",
    "chat_examples",
    "collect",
    "fetch_eval_ids",
    "from_hf",
    "gather",
    "iter_episodes",
    "iter_items",
    "load_agenteval",
    "load_agenttraj",
    "parse_item_id",
    "read",
    "read_card",
    "read_items",
    "to_episode",
    "to_evaluation",
    "to_hf",
    "to_item",
    "write",
    "write_items",
]
