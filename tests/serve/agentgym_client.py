"""AgentGym's clients, written anew from what the published ones send and read.

Each is made with a base URL and the number of items, creates its environment at once, and has
`reset(index)`, `observe()`, `step(reply)` and `close()`. Like the published ones, they assert a
status of 200, index into the JSON that comes, and look at nothing else.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, NamedTuple

import httpx


class StepOutput(NamedTuple):
    """What a step of a published client returns."""

    state: str
    reward: float
    done: bool


class Client:
    """What the clients share.

    Args:
        env_server_base: the base URL, without a slash at its end.
        data_len: the number of items.
    """

    key: ClassVar[str]
    index: ClassVar[str]
    create_body: ClassVar[dict[str, Any] | None] = None

    def __init__(self, env_server_base: str, data_len: int = 100) -> None:
        self.env_server_base, self.data_len = env_server_base, data_len
        self.http = httpx.Client(timeout=300, verify=False)  # reading certificates takes long
        answer = self.http.post(f"{env_server_base}/create", json=self.create_body)
        if answer.status_code != 200:
            raise RuntimeError(f"Failed to create environment: {answer}")
        self.env_id = self.created(answer.json())

    def created(self, answer: Any) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return self.data_len

    def post(self, path: str, data: dict[str, Any]) -> Any:
        data[self.key] = self.env_id
        answer = self.http.post(f"{self.env_server_base}/{path}", json=data)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        answer = self.http.get(f"{self.env_server_base}/{path}?{self.key}={self.env_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def close(self) -> Any:
        """Close the environment, as the clients that can and AgentGym-RL's do."""
        return self.post("close", {})


def after_action(reply: str) -> str:
    """Return what stands behind the first "Action:", or all of a reply without."""
    parts = reply.removesuffix("</s>").split("Action:")
    return (parts[1] if len(parts) > 1 else parts[0]).strip()


class First(Client):
    """A client of the first dialect, which keeps the last answer."""

    key = "id"

    def created(self, answer: Any) -> Any:
        return answer["id"]

    def observe(self) -> str:
        observation: str = self.info["observation"]
        return observation


class TextCraft(First):
    index = "data_idx"
    create_body: ClassVar = {
        "minecraft_dir": "agentenv_textcraft/",
        "commands": None,
        "goal": None,
    }

    def created(self, answer: Any) -> Any:
        self.info = {"observation": answer["observation"], "reward": 0, "done": False}
        return answer["id"]

    def step(self, reply: str) -> StepOutput:
        found = re.findall(r"Action:\s*(.*?)(?=\n|$)", reply, re.DOTALL)
        if len(found) > 1:
            return StepOutput("Error: Only one 'Action' is allowed per response.", 0, False)
        action = re.sub(r"[^A-Za-z0-9, ]+", "", found[-1] if found else "")
        response = self.post("step", {"action": " ".join(action.split())})
        self.info = {name: response[name] for name in ("observation", "reward", "done")}
        return StepOutput(response["observation"], response["reward"], response["done"])

    def reset(self, index: int = 0) -> Any:
        response = self.post("reset", {"data_idx": index})
        self.info.update(observation=response["observation"], reward=0, done=False)
        return response


class BabyAI(First):
    index = "data_idx"
    names = ("observation", "reward", "score", "done")

    def step(self, reply: str) -> StepOutput:
        response = self.post("step", {"action": after_action(reply)})
        self.info = {name: response[name] for name in self.names}
        return StepOutput(response["observation"], response["score"], response["done"])

    def reset(self, index: int = 0) -> Any:
        response = self.post("reset", {"data_idx": index})
        self.info = {name: response[name] for name in self.names}
        return response


class SciWorld(BabyAI):
    def reset(self, index: int = 0) -> Any:
        response = self.post("reset", {"data_idx": index})
        text = response["task_description"] + "\n" + response["observation"]
        self.info = {"observation": text, "reward": 0, "score": 0, "done": False}
        return response


class ALFWorld(First):
    index = "game"

    def observe(self) -> str:
        actions = ",".join(self.info["available_actions"])
        return f"{self.info['observation']}\nAVAILABLE ACTIONS: {actions}"

    def step(self, reply: str) -> StepOutput:
        response = self.post("step", {"action": after_action(reply)})
        if "observation" not in response:
            raise KeyError(f"AlfWorld step response missing 'observation': {response}")
        self.info = response
        return StepOutput(response["observation"], response["reward"], response["done"])

    def reset(self, game: int, world_type: str = "Text") -> Any:
        for _ in range(3):
            response = self.post("reset", {"game": game, "world_type": world_type})
            if "observation" in response:
                break
        if "observation" not in response:
            raise KeyError(f"AlfWorld reset failed after 3 attempts: {response}")
        self.info = response
        return response


class Maze(First):
    index = "game"
    prompt = "Your objective is to reach the goal in as few steps as possible."

    def step(self, reply: str) -> StepOutput:
        response = self.post("step", {"action": self.read(after_action(reply))})
        if "error" in response:  # the published client takes this for an end without reward
            self.info.update(observation=response["error"], done=True)
            return StepOutput(response["error"], 0.0, True)
        self.info.update({name: response[name] for name in ("observation", "reward", "done")})
        return StepOutput(response["observation"], response["reward"], response["done"])

    def read(self, action: str) -> str:
        return f"move {action.lower()}" if action.lower() in ("up", "down") else action

    def reset(self, index: int = 0) -> Any:
        response = self.post("reset", {"game": index})
        response["observation"] = self.prompt + "\n" + response["observation"]
        self.info = {"observation": response["observation"], "reward": 0, "done": False}
        return response


class Wordle(Maze):
    index = "seed"

    def created(self, answer: Any) -> Any:
        self.env_id = answer["id"]
        self.vocabulary = self.get("filtered_vocab")
        self.info = {"observation": "\n".join(self.vocabulary), "reward": 0, "done": False}
        return self.env_id

    def read(self, action: str) -> str:
        word = action.strip().lower()
        return " ".join(word) if len(word) == 5 and word.isalpha() else action

    def reset(self, index: int = 0) -> Any:
        response = self.post("reset", {"seed": index})
        self.info.update(observation="\n".join(self.vocabulary), reward=0, done=False)
        return response


class Second(Client):
    """A client of the second dialect, which asks for the observation when it wants it."""

    key = "env_idx"

    def created(self, answer: Any) -> Any:
        return answer

    def observe(self) -> str:
        observation: str = self.get("observation")
        return observation


class Retrying(Second):
    """The clients of WebShop and SQLGym, which try five times."""

    def post(self, path: str, data: dict[str, Any]) -> Any:
        data[self.key] = self.env_id
        for _ in range(5):
            answer = self.http.post(f"{self.env_server_base}/{path}", json=data)
            if answer.status_code == 200:
                break
        assert answer.status_code == 200, answer.text
        return answer.json()

    def step(self, reply: str) -> StepOutput:
        response = self.post("step", {"action": self.read(reply)})
        return StepOutput(response["state"], response["reward"], response["done"])

    def read(self, reply: str) -> str:
        return after_action(reply)


class WebShop(Retrying):
    index = "session_id"

    def reset(self, index: int) -> Any:
        response = self.post("reset", {"session_id": index})
        response[0] = self.observe()
        return response


class SqlGym(Retrying):
    index = "item_id"

    def read(self, reply: str) -> str:
        return reply.rpartition("```sql")[2].split("```")[0].strip()

    def reset(self, index: int) -> Any:
        return self.post("reset", {"item_id": index})


class Tool(Second):
    """The clients of the five tool environments, which send the whole reply."""

    index = "id"
    create_body: ClassVar = {"id": 0}

    def step(self, reply: str) -> StepOutput:
        response = self.post("step", {"action": reply})
        return StepOutput(response["observation"], response["reward"], response["done"])

    def reset(self, index: int) -> Any:
        return self.post("reset", {"id": index})


CLIENTS: dict[str, type[Client]] = {
    "textcraft": TextCraft,
    "babyai": BabyAI,
    "sciworld": SciWorld,
    "alfworld": ALFWorld,
    "lmrlgym/maze": Maze,
    "maze": Maze,
    "lmrlgym/wordle": Wordle,
    "wordle": Wordle,
    "webshop": WebShop,
    "sqlgym": SqlGym,
    "bird": SqlGym,
    "academia": Tool,
    "movie": Tool,
    "sheet": Tool,
    "todo": Tool,
    "weather": Tool,
}
"""A client by the path it is given."""
