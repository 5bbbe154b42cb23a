"""The engine a policy samples from while it is trained, as the settings name it.

TRL starts vLLM, or finds its server, with the trainer itself, so its part is told beforehand
(`vllm_arguments`); the engine stands on what is there once the trainer is (`build_engine`).
"""

from __future__ import annotations

from typing import Any

from agentgym.baselines.chat import ChatTemplate
from agentgym.baselines.engines import (
    HFEngine,
    TokenAgent,
    VLLMColocateEngine,
    VLLMServerEngine,
    check_server,
)
from agentgym.baselines.grpo import GRPOConfig
from agentgym.baselines.sampling import context_of
from agentgym.core.errors import InvalidConfig
from agentgym.core.extras import require


def vllm_arguments(config: GRPOConfig, reach: int) -> dict[str, Any]:
    """Return what TRL is told of vLLM; nothing where the model in this process samples.

    Args:
        config: the settings.
        reach: most tokens the model takes.

    Raises:
        MissingExtra: if vLLM is asked for and not installed.
    """
    engine = config.engine
    if engine.kind == "hf":
        return {}
    require("vllm", f"The engine {engine.kind} (constraints/train-vllm.txt)", "vllm")
    return {
        "use_vllm": True,
        "vllm_mode": engine.kind.removeprefix("vllm-"),
        "vllm_server_base_url": engine.url,
        "vllm_group_port": engine.group_port,
        "vllm_server_timeout": engine.timeout,
        "vllm_gpu_memory_utilization": engine.gpu_memory,
        "vllm_max_model_length": context_of(config.length, reach),
        "vllm_importance_sampling_correction": False,  # the ratio starts from what was sampled
    }


def build_engine(trainer: Any) -> TokenAgent:
    """Return where a policy samples from.

    Args:
        trainer: a `PolicyTrainer`, whose model is in place.

    Raises:
        InvalidConfig: if its model cannot sample there.
    """
    policy, config = trainer.policy, trainer.config
    sampling, kind = config.sampling, config.engine.kind
    template = ChatTemplate(policy.tokenizer, policy.ends, config.model.template_options)
    context = context_of(config.length, policy.context)
    if kind == "hf":
        if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
            raise InvalidConfig(
                "a model in parts cannot sample in this process: set engine.kind to "
                "vllm-server or vllm-colocate (docs/vllm.md)"
            )
        return HFEngine(
            policy, sampling, template, context=context, cache_tokens=config.engine.cache_tokens
        )
    tokenizer = policy.tokenizer
    if kind == "vllm-server":
        from trl.generation.vllm_client import VLLMClient

        # Every process asks for itself; the weights go through the main process's client.
        client = getattr(trainer.vllm_generation, "vllm_client", None) or VLLMClient(
            base_url=config.engine.url, connection_timeout=config.engine.timeout
        )
        check_server(client.get_server_info())
        return VLLMServerEngine(client, tokenizer, sampling, template, context=context)
    from vllm import SamplingParams

    llm = trainer.vllm_generation.llm
    return VLLMColocateEngine(
        llm, SamplingParams, tokenizer, sampling, template, context=context,
        device=trainer.accelerator.device,
    )  # fmt: skip
