"""AgentEvolver's client of its environment service, written anew from what it sends and reads.

The published one tries three times and makes up an answer where all fail. Here a failure is raised,
so that no test can take made-up data for an answer.
"""

from __future__ import annotations

from typing import Any

import httpx


class EnvClient:
    """A client of an environment service.

    Args:
        base_url: the service's address.
    """

    def __init__(self, base_url: str = "http://localhost:8000") -> None:
        self.base_url = base_url.rstrip("/")
        self.http = httpx.Client(timeout=350, verify=False)

    def request(self, endpoint: str, **given: Any) -> Any:
        data = {
            "env_type": given.get("env_type", "default"),
            "task_id": given.get("task_id"),
            "instance_id": given.get("instance_id"),
            "messages": given.get("messages") or {},
            "params": given.get("params") or {},
        }
        response = self.http.post(f"{self.base_url}/{endpoint.lstrip('/')}", json=data)
        response.raise_for_status()
        return response.json()

    def get_env_profile(self, env_type: str, split: str = "train", **params: Any) -> list[str]:
        params = {"split": split, **params}
        response = self.request("/get_env_profile", env_type=env_type, params=params)
        ids: list[str] = response["data"]
        return ids

    def get_tools_info(self, instance_id: str) -> Any:
        return self.request("get_info", instance_id=instance_id).get("data")

    def create_instance(
        self, env_type: str, task_id: str, instance_id: str | None = None, **params: Any
    ) -> dict[str, Any]:
        response = self.request(
            "create", env_type=env_type, task_id=task_id, instance_id=instance_id, params=params
        )
        data: dict[str, Any] = response["data"]
        return data

    def step(self, instance_id: str, action: dict[str, Any], **params: Any) -> dict[str, Any]:
        response = self.request("step", instance_id=instance_id, messages=action, params=params)
        data: dict[str, Any] = response["data"]
        return data

    def evaluate(self, instance_id: str, **params: Any) -> float:
        response = self.request("evaluate", instance_id=instance_id, params=params)
        score: float = response.get("data", 0.0)
        return score

    def release_instance(self, instance_id: str) -> bool:
        released: bool = self.request("release", instance_id=instance_id).get("success", False)
        return released
