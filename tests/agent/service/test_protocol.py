"""The protocol is pinned to what can be asked and told: whoever changes a method changes the protocol."""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from agent.agent import Agent
from agent.face import Face
from agent.past import PastView
from agent.service.client import AgentClient
from agent.service.methods import PARTS, TOLD, adapter, methods
from agent.service.protocol import PROTOCOL

WORDS = {"title", "description", "examples"}


def shape(made: TypeAdapter[Any], mode: Literal["validation", "serialization"]) -> Any:
    """What crosses as JSON, without words about it."""
    try:
        return bare(made.json_schema(mode=mode))
    except PydanticInvalidForJsonSchema:  # bytes of a kind, which are what they are
        return "other"


def bare(schema: Any) -> Any:
    match schema:
        case dict():
            return {key: bare(value) for key, value in schema.items() if key not in WORDS or not isinstance(value, str)}
        case list():
            return [bare(each) for each in schema]
        case _:
            return schema


def spoken() -> Iterator[Any]:
    """Every method with what it takes and gives, and everything that is told."""
    for name, method in sorted(methods().items()):
        taken = [
            each for each in (*method.signature.parameters, *method._more) if each not in (method.tells, method._rest)
        ]
        yield name, method.kind, method.plain, method.tells
        for each in taken:
            about = method.signature.parameters.get(each)
            needed = about is not None and about.default is about.empty
            yield each, needed, shape(method._argument(each), "validation")
        for given in (method.gives, method.steps):
            yield None if given in (None, PastView) else shape(adapter(given), "serialization")
    for name, event in sorted(TOLD.items()):
        yield name, shape(adapter(event), "serialization")


def test_the_protocol_is_that_of_these_methods() -> None:
    told = json.dumps(list(spoken()), sort_keys=True)
    found = blake2b(told.encode(), digest_size=6).hexdigest()
    assert found == PROTOCOL, f'What can be asked has changed: PROTOCOL = "{found}" in agent/service/protocol.py.'


def test_what_a_client_lacks_is_no_method_of_a_face() -> None:
    """So that who asks a service for it is told by the type checker."""
    lacking = {
        name
        for name in dir(Agent)
        if not name.startswith("_") and name not in methods() and not hasattr(AgentClient, name) and name not in PARTS
    }
    assert lacking == set(Face.__annotations__)
