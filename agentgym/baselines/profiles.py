"""Profiles: settings that come with the package, by name.

They lie in folders of YAML files beside the code they are for; where a folder serves several
trainers or experiments, the file's name begins with whose it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

from agentgym.core.errors import UnknownName
from agentgym.core.yamltext import read_yaml, settings_of


class UnknownProfile(UnknownName):
    """There is no profile of this name."""


@dataclass(frozen=True)
class Profiles:
    """The profiles of one trainer or experiment.

    Attributes:
        package: package the folder lies in.
        folder: the folder's name.
        owner: what they are profiles of, for errors ("bc", "the demonstration").
        prefix: what their file names begin with ("bc-").
    """

    package: str
    folder: str
    owner: str
    prefix: str = ""

    def names(self) -> list[str]:
        """Return their names, sorted."""
        files = [file.name for file in (resources.files(self.package) / self.folder).iterdir()]
        found = [f for f in files if f.startswith(self.prefix) and f.endswith(".yaml")]
        return sorted(name.removeprefix(self.prefix).removesuffix(".yaml") for name in found)

    def read(self, name: str) -> dict[str, Any]:
        """Return the settings of a profile, as plain data.

        Raises:
            UnknownProfile: if there is none of this name.
        """
        if name not in self.names():
            hint = "A file of your own is named with its suffix (.yaml)."
            raise UnknownProfile(f"profile of {self.owner}", name, self.names(), hint)
        file = resources.files(self.package) / self.folder / f"{self.prefix}{name}.yaml"
        return settings_of(read_yaml(file.read_text(encoding="utf-8"), name), name)
