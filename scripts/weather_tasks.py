"""Draw agentgym/envs/weather/data/tasks.json: the mini tasks of Weather, frozen.

    python scripts/weather_tasks.py

Changing how tasks are drawn, the places or the climate changes the tasks: raise the version of the
task set in `agentgym/envs/weather/tasks.py` as well.
"""

from __future__ import annotations

import json
from collections import Counter

from agentgym.envs.weather.drawing import draw_rows
from agentgym.envs.weather.tasks import TASKS


def main() -> None:
    """Write the tasks and say how many there are of each kind."""
    rows = draw_rows()
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    TASKS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(Counter(split for split, _, _ in rows), Counter(kind for _, kind, _ in rows))


if __name__ == "__main__":
    main()
