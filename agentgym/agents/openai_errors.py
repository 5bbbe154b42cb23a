"""What a failed call means: try again, try again later, give up, or the conversation is too long.

Endpoints agree on status codes and on little else, so a conversation that is too long is told by
the wording as well as by the code.
"""

from __future__ import annotations

import datetime
import email.utils
import re
from collections.abc import Mapping

import openai

from agentgym.agents.base import ContextOverflow, ModelError

RETRYABLE = frozenset({408, 409, 425, 429})
OVERFLOW_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
OVERFLOW_WORDS = re.compile(
    r"context.{0,20}(length|size|window|limit)|maximum.{0,20}context|prompt is too long"
    r"|too many (input )?tokens|max_model_len|input.{0,12}too long|reduce the length",
    re.IGNORECASE,
)
REFUSALS = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|forbidden"
    r"|extra inputs|use '?max_completion_tokens",
    re.IGNORECASE,
)


def translate(error: openai.OpenAIError, timeout: float) -> ModelError:
    """Return the `ModelError` of a client's error.

    Args:
        error: what the client raised.
        timeout: the seconds a call may take, for the message.
    """
    if isinstance(error, openai.APITimeoutError):
        return ModelError(f"no reply within {timeout:g} s", retryable=True)
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error, openai.APIResponseValidationError):
        return ModelError(f"the reply is not a chat completion: {error}", retryable=True)
    if isinstance(error, openai.APIConnectionError):
        cause, url = error.__cause__ or error, error.request.url
        where = f"{url.scheme}://{url.netloc.decode('ascii')}"  # holds no user and password
        said = str(cause) or type(cause).__name__
        return ModelError(f"no connection to {where}: {said}", retryable=True)
    return ModelError(f"{type(error).__name__}: {error}")


def _of_status(error: openai.APIStatusError) -> ModelError:
    status, said = error.status_code, _said(error)
    if status in (400, 413, 422, 500) and _overflows(error, said):
        return ContextOverflow(f"the conversation is too long for the model: {said}")
    if error.code == "insufficient_quota":
        return ModelError(f"the account's quota is spent: {said}")
    if status in RETRYABLE or status >= 500:
        wait = retry_after(error.response.headers)
        return ModelError(f"HTTP {status}: {said}", retryable=True, retry_after=wait)
    return ModelError(f"HTTP {status}: {said}{_advice(error, status)}")


def _said(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, Mapping) else None
    return str(message or error.message)[:500]


def _overflows(error: openai.APIStatusError, said: str) -> bool:
    return (
        str(error.code) in OVERFLOW_CODES  # endpoints put anything there, lists too
        or str(error.type) in OVERFLOW_CODES
        or bool(OVERFLOW_WORDS.search(said))
    )


def _advice(error: openai.APIStatusError, status: int) -> str:
    """Return what the user can do, where that is known."""
    if status == 401:
        return ". Check the key in the environment variable that api_key_env names."
    if status == 404:
        return ". Check the model's name and that base_url ends where the protocol starts (/v1)."
    if complaint_about(error, "tools") or complaint_about(error, "tool choice"):
        return ". This endpoint refuses tools: give tools=False, and they are described in words."
    for name in ("temperature", "top_p", "stop", "reasoning_effort"):
        if complaint_about(error, name):
            return f". Leave it to the endpoint with {name}=None."
    return ""


def complaint_about(error: Exception, parameter: str) -> bool:
    """Return whether an endpoint refused a request because of one parameter."""
    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return False
    said = str(error)
    named = error.param == parameter or re.search(rf"\b{parameter}\b", said)
    return bool(named and REFUSALS.search(said))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds an endpoint asks to wait, or None; a date counts from now.

    >>> retry_after({"retry-after": "2"})
    2.0
    >>> retry_after({"retry-after-ms": "150"})
    0.15
    >>> retry_after({"retry-after": "soon"})
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        return _until(headers["retry-after"]) if "retry-after" in headers else None


def _until(date: str) -> float | None:
    try:
        then = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=datetime.UTC)
    return max(0.0, (then - datetime.datetime.now(datetime.UTC)).total_seconds())
