"""`agentgym shop`: WebShop as a website, for people."""

from __future__ import annotations

from typing import Annotated

import typer

from agentgym.cli.options import Edition, Options, key_values


def shop(
    edition: Edition = "mini",
    task: Annotated[
        str | None, typer.Option("--task", "-t", help="Begin with this task (webshop_12).")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="0: any.")] = 8765,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = False,
    env_option: Options = None,
) -> None:
    """Open WebShop as a website: the same products, search and reward, for people.

    [dim]Examples:[/dim]

      agentgym shop

      agentgym shop --task webshop_12 --port 8080
    """
    import webbrowser

    from agentgym.cli.console import err, out
    from agentgym.core import make
    from agentgym.core.errors import InvalidConfig
    from agentgym.envs.webshop.env import WebShopEnv
    from agentgym.envs.webshop.site.server import Site, serve

    env = make("WebShop", edition=edition, **key_values(env_option))
    assert isinstance(env, WebShopEnv)
    if task is not None:
        env.tasks.get(task)  # a wrong one is named before anything is served
    try:
        server = serve(Site(env), host, port)
    except OSError as error:
        raise InvalidConfig(
            f"{host}:{port} cannot be listened on ({error.strerror}): choose another --port, or 0"
        ) from error
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{server.server_address[1]}/" + (f"?task={task}" if task else "")
    out().print(f"The shop is open at {address}", soft_wrap=True, markup=False)
    err().print("Ctrl-C closes it.")
    if browser:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        err().print("Closed.")
    finally:
        server.server_close()
        env.close()
