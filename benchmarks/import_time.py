"""How long `import agentgym` takes beyond `import gymnasium`.

Each import runs in a fresh process; the two alternate, and the median of the differences between
neighbours is what is claimed (at most 0.15 s).

    python benchmarks/import_time.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from machine import write_result

ROUNDS = 15
CODE = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def seconds(module: str) -> float:
    """Return the seconds an import takes in a fresh process."""
    command = [sys.executable, "-c", CODE.format(module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Measure and write the result."""
    seconds("agentgym")  # compiles the bytecode
    pairs = [(seconds("gymnasium"), seconds("agentgym")) for _ in range(ROUNDS)]
    extra = statistics.median(ours - theirs for theirs, ours in pairs)
    body = (
        f"| import | median of {ROUNDS} |\n|---|---|\n"
        f"| gymnasium | {statistics.median(t for t, _ in pairs):.3f} s |\n"
        f"| agentgym (imports gymnasium) | {statistics.median(o for _, o in pairs):.3f} s |\n"
        f"| difference, median of pairs | {extra:.3f} s |\n\nClaim: at most 0.15 s."
    )
    path = write_result("import_time", "Import time", "python benchmarks/import_time.py", body)
    print(f"difference {extra:.3f} s; written to {path}")


if __name__ == "__main__":
    main()
