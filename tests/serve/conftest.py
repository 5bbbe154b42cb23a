"""Running commands as a user does, for the tests of the server's command."""

from tests.cli.conftest import run  # noqa: F401  (a fixture)
