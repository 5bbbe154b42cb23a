"""The Java processes in use: when they are shared, replaced and ended.

Starting a JVM costs a second and a quarter of a gigabyte, a world in it one megabyte. So the
environments of a Python process that ask for the same options share JVMs. The simulator of a JVM
serves one environment at a time, so that a JVM takes `sessions` of them and the next one begins
another: that is what uses more cores than one.

- After `recycle_after` episodes, or when the worlds in it fill most of its heap, new episodes go to
  a fresh process; the old one ends with the last episode that is still played in it.
- A process that ends (with its heap full, say) is replaced, its episodes played again. Whoever had
  the turn when it ended goes to a process of its own, so that an episode no process survives ends
  alone.
- A process ends when its last player has left, `linger` seconds later, so that closing one
  environment and making the next is cheap; at exit; and with the Python process.
- After a fork the child begins with none and leaves the parent's alone.
"""

from __future__ import annotations

import atexit
import os
import threading

from agentgym.envs.sciworld.jvm import Jvm, JvmOptions


class JvmPool:
    """The Java processes of this Python process, by the options they were started with."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._all: list[Jvm] = []
        self._timers: dict[int, threading.Timer] = {}

    def enter(self, options: JvmOptions, *, alone: bool = False) -> Jvm:
        """Return a process to play on, started if need be; `leave` it when done.

        Args:
            options: how it is run.
            alone: whether nobody else is to play on it.
        """
        with self._lock:
            for worn in [j for j in self._all if j.worn and j.players <= 0]:
                self._end(worn)
            shared = [j for j in self._all if j.options == options and not (j.worn or j.full)]
            if shared and not alone:
                jvm = min(shared, key=lambda j: j.players)
            else:
                jvm = Jvm(options)
                jvm.retired = alone
                self._all.append(jvm)
            timer = self._timers.pop(id(jvm), None)
            if timer is not None:
                timer.cancel()
            jvm.players += 1
            return jvm

    def leave(self, jvm: Jvm) -> None:
        """Give a process back; the last one to leave ends it, after its time to linger."""
        with self._lock:
            jvm.players -= 1
            if jvm.players > 0 or jvm not in self._all:
                return
            if jvm.worn or jvm.options.linger <= 0:
                self._end(jvm)
                return
            timer = threading.Timer(jvm.options.linger, self._end_unused, (jvm,))
            timer.daemon = True
            self._timers[id(jvm)] = timer
            timer.start()

    def close(self) -> None:
        """End every process now; environments that still play get a fresh one."""
        with self._lock:
            for jvm in tuple(self._all):
                self._end(jvm)

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the running Java processes."""
        with self._lock:
            return tuple(j.process.pid for j in self._all if j.alive)

    def _end_unused(self, jvm: Jvm) -> None:
        with self._lock:
            if jvm.players <= 0 and jvm in self._all:
                self._end(jvm)

    def _end(self, jvm: Jvm) -> None:
        timer = self._timers.pop(id(jvm), None)
        if timer is not None:
            timer.cancel()
        self._all.remove(jvm)
        jvm.close()

    def forked(self) -> None:
        """In the child of a fork: begin with nothing."""
        for jvm in self._all:
            jvm.disown()
        self.__init__()  # type: ignore[misc]


pool = JvmPool()
atexit.register(lambda: pool.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: pool.forked())
