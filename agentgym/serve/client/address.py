"""Where a server is, and what shows that one may use it.

A token is kept out of everything that is printed or written down: it is in no repr, and an address
in a configuration has none, since one that holds a name or a password is refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from agentgym.core.errors import InvalidConfig

TOKEN = "AGENTGYM_TOKEN"
"""The environment variable a token is read from where none is given."""

_EXAMPLE = 'a server\'s address, such as "http://127.0.0.1:8765"'


@dataclass(frozen=True)
class Address:
    """The address of a server and the token for it.

    Attributes:
        scheme: "http" or "https".
        host: name or number, without brackets.
        port: the port.
        path: what stands before every path of the protocol; "" or "/prefix".
        token: what is shown to the server, or None.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    token: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The address as text, without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    @classmethod
    def of(cls, url: object, token: str | None = None) -> Address:
        """Read an address.

        Args:
            url: "http://host:port", with a path if the server stands behind one.
            token: the server's token; None takes `$AGENTGYM_TOKEN`, where that is set.

        Raises:
            InvalidConfig: if either cannot be used.

        >>> Address.of("http://127.0.0.1:8765/").url
        'http://127.0.0.1:8765'
        """
        if not isinstance(url, str):
            raise InvalidConfig(f"url must be {_EXAMPLE}, got {url!r}")
        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError as error:
            raise InvalidConfig(f"url must be {_EXAMPLE}: {error}") from None
        if "@" in parts.netloc:
            raise InvalidConfig(
                f"url must hold no name or password, since it is written down; give token=, or set "
                f"{TOKEN}"
            )
        sound = url.isascii() and url.strip().isprintable() and " " not in url.strip()
        if parts.scheme not in ("http", "https") or not parts.hostname or not sound:
            raise InvalidConfig(f"url must be {_EXAMPLE}, got {url[:200]!r}")
        if parts.query or parts.fragment:
            raise InvalidConfig(f"url must be {_EXAMPLE}, without '?' or '#', got {url[:200]!r}")
        standard = 443 if parts.scheme == "https" else 80
        return cls(
            parts.scheme, parts.hostname, port or standard, parts.path.rstrip("/"), _token(token)
        )


def _token(token: object) -> str | None:
    where = "token"
    if token is None:
        token, where = os.environ.get(TOKEN) or None, TOKEN
    if token is None:
        return None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise InvalidConfig(f"{where} must be printable ASCII text")  # which is not told back
    return token.strip()
