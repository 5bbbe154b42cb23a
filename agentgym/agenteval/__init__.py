"""AgentEval: which tasks, how they are played, what is measured and how far it can be trusted."""

from agentgym.agenteval.compare import Comparison, compare
from agentgym.agenteval.compare_view import comparison_markdown, comparison_table
from agentgym.agenteval.evaluate import Evaluation, aevaluate, evaluate, load_run
from agentgym.agenteval.intervals import Estimate
from agentgym.agenteval.markdown import report_markdown
from agentgym.agenteval.metrics import Measures, measure
from agentgym.agenteval.official import load_official, official_ids
from agentgym.agenteval.render import report_table, runs_table
from agentgym.agenteval.report import Report, build_report
from agentgym.agenteval.suites import (
    Selection,
    find_suite,
    published_sizes,
    select,
    size_table,
    suites,
)

__all__ = [
    "Comparison",
    "Estimate",
    "Evaluation",
    "Measures",
    "Report",
    "Selection",
    "aevaluate",
    "build_report",
    "compare",
    "comparison_markdown",
    "comparison_table",
    "evaluate",
    "find_suite",
    "load_official",
    "load_run",
    "measure",
    "official_ids",
    "published_sizes",
    "report_markdown",
    "report_table",
    "runs_table",
    "select",
    "size_table",
    "suites",
]
