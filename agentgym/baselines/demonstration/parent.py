"""Ending a cell's process with the run that started it.

Apart from `run`, whose imports take seconds, so that a process which only waits is there at once.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing.connection import wait


def end_with_parent() -> None:
    """End this process when the one that started it does; else a cell would be trained to its end.

    What a cell has done is on disk, and the next run takes it up.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
