"""Protocols of others, each a thin translation onto the same session store.

`agentgym` speaks to the clients of AgentGym's environment servers, `agentevolver` to those of
AgentEvolver's environment service, `openenv` to OpenEnv's. Each module has a `router(store)`. A
session belongs to the protocol that made it, and no other finds it.
"""
