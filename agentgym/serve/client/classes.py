"""A class for each environment of each server.

What Gymnasium and the contract read off a class (name, editions, render modes) is the server's to
say, so the class is made when its server has said it, and then kept.
"""

from __future__ import annotations

import threading
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.serve.client.address import Address
from agentgym.serve.client.catalogue import Catalogue
from agentgym.serve.client.patience import Patience
from agentgym.serve.client.service import Service

REMOTE = "agentgym/Remote-v0"

HOW = (
    f'gymnasium.make("{REMOTE}", url="http://127.0.0.1:8765", env_id="agentgym/WebShop-v0"); on a '
    "command line: --env-option url=… --env-option env_id=…"
)

_classes: dict[tuple[Address, str], type[Any]] = {}
_lock = threading.Lock()


def class_of(
    cls: type[Any],
    url: str | None,
    env_id: str | None,
    token: str | None,
    patience: Patience,
) -> type[Any]:
    """Return the class of an environment on a server, made when it is first asked for."""
    if url is None or env_id is None:
        missing = "url" if url is None else "env_id"
        raise InvalidConfig(f"{REMOTE} needs the option {missing}: {HOW}")
    if not isinstance(env_id, str) or not env_id.isprintable():
        raise InvalidConfig(f'env_id must be text such as "agentgym/WebShop-v0", got {env_id!r}')
    address = Address.of(url, token)
    with _lock:
        known = _classes.get((address, env_id))
    if known is None:
        catalogue = Catalogue(Service(address, patience), env_id)
        about = catalogue.about({})
        known = type(
            cls.__name__,
            (cls,),
            {
                "__doc__": f"{about.title} of the server at {address.url}.",
                "__module__": cls.__module__,
                "_catalogue": catalogue,
                "_address": address,
                "_env_id": env_id,
                "name": about.name,
                "title": about.title,
                "editions": about.editions,
                "max_action_length": about.max_action_length,
                "multiline_actions": about.multiline_actions,
                "metadata": {**cls.metadata, "render_modes": list(about.render_modes)},
            },
        )
        with _lock:
            known = _classes.setdefault((address, env_id), known)
    return known
