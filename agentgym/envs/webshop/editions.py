"""The editions: which products, and which tasks over them.

A task's spec is {"asin", "instruction", "attributes", "options", "price_upper"}: a goal without
what its product knows.
"""

from __future__ import annotations

from functools import cache

from agentgym.core.data import EVAL_IDS, cache_root, data_root, find_eval_ids
from agentgym.core.errors import InvalidConfig
from agentgym.core.task import Task, TaskSet
from agentgym.envs.webshop.catalogue import mini_products
from agentgym.envs.webshop.goalmaker import shuffled_goals
from agentgym.envs.webshop.official import CATALOGUES, NAME, open_catalogue
from agentgym.envs.webshop.product import Goal
from agentgym.envs.webshop.stock import SmallStock, Stock
from agentgym.envs.webshop.warehouse import Warehouse

STANDIN_EVAL = 200
"""Eval tasks of the official edition without a published list: the first ones, as many as
AgentEval has; they lie in the 500 that the WebShop paper holds out."""


def official_stock(data_dir: str | None, products: str | None = None) -> Warehouse:
    """Return a published catalogue, opened once a process.

    Args:
        data_dir: the data folder.
        products: "1000" or "all"; None takes the 1,000 where they are there, else all.

    Raises:
        MissingData: if a file is not there.
        InvalidConfig: if a file or an option cannot be used.
    """
    return _opened(products or _there(data_dir), str(data_root(data_dir)), str(cache_root()))


@cache
def mini_stock() -> Stock:
    """Return the mini edition's products."""
    return SmallStock("mini", mini_products())


def official_tasks(
    data_dir: str | None, products: str | None = None, goals: str | None = None
) -> TaskSet:
    """Return the published goals as tasks, in the published order.

    Args:
        data_dir: the data folder; a list of eval ids in `webshop/eval_ids.json` there is used.
        products: "1000" or "all"; None takes the 1,000 where they are there, else all.
        goals: "synthetic" or "human"; None takes synthetic with the 1,000, as AgentGym does, and
            human with all, as the WebShop paper does.

    Raises:
        MissingData: if a file is not there.
        InvalidConfig: if a file or an option cannot be used.
    """
    products = products or _there(data_dir)
    goals = goals or ("synthetic" if products == "1000" else "human")
    found = shuffled_goals(official_stock(data_dir, products), goals)
    # AgentEval's list is of the synthetic goals of 1,000 products; elsewhere its ids mean others.
    listed = find_eval_ids(NAME, len(found), data_dir) if (products, goals) == AGENTGYM else None
    evals = range(STANDIN_EVAL) if listed is None else listed
    rows = (("eval" if i in evals else "train", *goal) for i, goal in enumerate(found))
    if listed is None:
        split = f"Stand-in split: the first {STANDIN_EVAL} goals are eval, the rest is train. "
        split += f"webshop/{EVAL_IDS} in the data folder, a list of ids, is used where it is there."
    else:
        split = f"Eval ids from {EVAL_IDS}; every other goal is train."
    version = f"{products}-{goals}-{'standin' if listed is None else 'listed'}-1"
    return TaskSet.build(NAME, "official", version, rows, split)


AGENTGYM = ("1000", "synthetic")
"""Products and goals of AgentGym's server."""


def goal_of(stock: Stock, task: Task) -> Goal:
    """Return the goal of a task.

    Raises:
        InvalidConfig: if the stock has no such product.
    """
    product = stock.get(task.spec["asin"])
    if product is None:
        raise InvalidConfig(f"{task.id} is about {task.spec['asin']}, which the shop does not have")
    return Goal.from_spec(task.spec, product)


def _there(data_dir: str | None) -> str:
    """Return the catalogue whose items are in the data folder, AgentGym's before the full one."""
    folder = data_root(data_dir) / NAME
    whole = (
        not (folder / CATALOGUES["1000"][0]).is_file() and (folder / CATALOGUES["all"][0]).is_file()
    )
    return "all" if whole else "1000"


@cache
def _opened(products: str, data_dir: str, cache_dir: str) -> Warehouse:
    return open_catalogue(products, data_dir)
