"""The published tables, and where your runs stand beside them."""

from agentgym.leaderboard.beside import Beside, OwnRow, beside
from agentgym.leaderboard.catalog import CATALOG, Entry, Link
from agentgym.leaderboard.paper import Cell, PaperTable, paper_table, paper_tables
from agentgym.leaderboard.view import catalog_table, paper_markdown, paper_view

__all__ = [
    "CATALOG",
    "Beside",
    "Cell",
    "Entry",
    "Link",
    "OwnRow",
    "PaperTable",
    "beside",
    "catalog_table",
    "paper_markdown",
    "paper_table",
    "paper_tables",
    "paper_view",
]
