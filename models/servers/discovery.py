"""What a model server is: by what it answers to some short questions, none of which has a word of the user in it.

A server may answer anything; what has not the expected shape counts as not told.
"""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn

from models.errors import ServerBroken, ServerError, ServerLost, ServerRefused
from models.servers.address import checked_address
from models.servers.client import RETRY, ServerClient

WITHIN_S = 15.0  # for all questions together
QUESTION_S = 5.0
PORT_S = 0.3
USUAL_PORTS = {8080: "llama-server", 11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 30000: "SGLang"}
OWNERS = {"vllm": "vLLM", "sglang": "SGLang", "llamacpp": "llama-server"}
LONGEST_NAME, MOST_MODELS = 200, 1000
NO_KEY = (401, 403)


class ServedModel(NamedTuple):
    """A model that a server has; `context` in tokens and `size` in bytes, None where it does not tell."""

    name: str
    context: int | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What a server is. `base` is where it is spoken to: natively for "llama", else what `/models` follows.

    `prefix` is what stands between the address that was asked and `/chat/completions`; `slots`: None if not told.
    """

    kind: Literal["llama", "openai"]
    product: str
    base: str
    prefix: str
    models: tuple[ServedModel, ...]
    slots: int | None = None
    build: str = ""


def found_at(client: ServerClient, *, within_s: float = WITHIN_S) -> ServerReport:
    """What answers at an address. Blocking, for about `within_s` seconds at most.

    Raises ServerRefused for a server in neither manner, or that does not take the key; else ServerError.
    """
    questions = _Questions(client, time.monotonic() + within_s)
    return _llama_server(questions) or _compatible(questions) or questions.give_up()


def usual_ports() -> tuple[ServerReport, ...]:
    """The model servers on this machine's usual ports; nothing else is asked. Blocking, for about PORT_S seconds."""
    with ThreadPoolExecutor(len(USUAL_PORTS)) as threads:
        return tuple(each for each in threads.map(_at_port, USUAL_PORTS) if each is not None)


def _at_port(port: int) -> ServerReport | None:
    client = ServerClient(checked_address(USUAL_PORTS[port], f"http://127.0.0.1:{port}"), answer_s=PORT_S)
    try:
        return found_at(client, within_s=PORT_S)
    except ServerError:
        return None
    finally:
        client.drop()


def root_of(url: str) -> str:
    """An address without the /v1 at its end: there a server tells most of itself, and /v1 is found from there."""
    return url.strip().rstrip("/").removesuffix("/v1").rstrip("/")


def model_name(told: str) -> str:
    """How a model is called: of the whole path of a file at a llama-server only the name, which no server needs."""
    path = told.replace("\\", "/")
    if path.endswith(".gguf") and (path.startswith("/") or path[1:3] == ":/"):
        return path.rpartition("/")[2].removesuffix(".gguf")
    return told


@dataclass(slots=True)
class _Questions:
    """Asks a server until the time is up, and keeps why it did not answer."""

    client: ServerClient
    until: float
    refused: ServerRefused | None = None  # because of the key, or as it is elsewhere
    lost: ServerLost | None = None

    def ask(self, path: str) -> Any:
        """What it answers to a GET; None where it has nothing there. Raises ServerError where it does not answer."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise ServerLost(self.client.address.name, "it takes too long to answer", RETRY)
        try:
            return self.client.ask(path, answer_s=min(left, QUESTION_S))
        except ServerRefused as error:
            if error.status in NO_KEY or 300 <= error.status < 400:
                self.refused = self.refused or error
        except ServerLost as error:
            self.lost = self.lost or error
        except ServerBroken:
            pass  # a page for people, as a rule
        return None

    def give_up(self) -> NoReturn:
        """Raises ServerError, which says why nothing was found out."""
        address = self.client.address
        for why in (self.refused, self.lost):
            if why is not None:
                raise why
        raise ServerRefused(
            address.name,
            f"{address.host} answers, but neither as a llama-server nor as an OpenAI-compatible one",
            "Check the address, which often ends in /v1. Nothing was changed.",
            404,
        )


def _llama_server(questions: _Questions) -> ServerReport | None:
    match questions.ask("/props"):
        case {"default_generation_settings": {"n_ctx": int(context)}, "total_slots": int(slots), **props} if (
            context > 0 < slots
        ):
            pass
        case _:
            return None
    questions.ask("/health")  # one that still loads its model says so
    told = _told_models(questions.ask("/v1/models"))
    names = [name for name, _ in told] or [_text(props, "model_alias") or _text(props, "model_path") or "model"]
    sizes = {name: _number(each, "meta", "size") for name, each in told}
    models = tuple(ServedModel(model_name(name), context, sizes.get(name)) for name in names)
    url = questions.client.address.url
    return ServerReport("llama", "llama-server", url, "", models, slots, _text(props, "build_info"))


OwnManner = tuple[str, str, dict[str, ServedModel]]
NOTHING: OwnManner = ("", "", {})


def _compatible(questions: _Questions) -> ServerReport | None:
    url = questions.client.address.url
    if url.endswith("/v1"):
        product, build, more = NOTHING
    else:
        product, build, more = _by_its_own_manner(questions)
    for prefix in ("",) if url.endswith("/v1") else ("/v1", ""):
        found = questions.ask(f"{prefix}/models")
        if not (isinstance(found, dict) and isinstance(found.get("data"), list)) and not product:
            continue
        told = _told_models(found)
        product = product or next(filter(None, (OWNERS.get(_text(each, "owned_by")) for _, each in told)), "")
        if product == "llama-server" and questions.refused:  # it lists its models to everybody
            return None
        called = model_name if product == "llama-server" else str  # others want it as they tell it
        models = {name: ServedModel(called(name), *_figures(each)) for name, each in told} | more
        return ServerReport(
            "openai", product or "OpenAI-compatible", url + prefix, prefix, tuple(models.values()), None, build
        )
    return None


def _by_its_own_manner(questions: _Questions) -> OwnManner:
    """The product, its version and its models, of one that tells more of them in another way; "" for any other."""
    match questions.ask("/api/version"):
        case {"version": str(version)}:
            told = _objects(_at(questions.ask("/api/tags"), "models"))
            models = [ServedModel(_text(each, "name"), None, _number(each, "size")) for each in told]
            return "Ollama", version, {each.name: each for each in models if each.name}
    told = _objects(_at(questions.ask("/api/v0/models"), "data"))
    contexts = {
        _text(each, "id"): _number(each, "loaded_context_length") or _number(each, "max_context_length")
        for each in told
        if _text(each, "type")
    }
    return "LM Studio" if contexts else "", "", {name: ServedModel(name, found) for name, found in contexts.items()}


def _figures(told: dict[str, Any]) -> tuple[int | None, int | None]:
    context = _number(told, "max_model_len") or _number(told, "meta", "n_ctx") or _number(told, "context_length")
    return context, _number(told, "meta", "size")


# -- reading what may be anything


def _told_models(found: Any) -> list[tuple[str, dict[str, Any]]]:
    """The models of a list in OpenAI's manner, each with all that is told of it."""
    named = ((_text(each, "id"), each) for each in _objects(_at(found, "data")))
    return [(name, each) for name, each in named if name and len(name) <= LONGEST_NAME][:MOST_MODELS]


def _objects(found: Any) -> Iterator[dict[str, Any]]:
    items: Iterable[Any] = found if isinstance(found, list) else ()
    return (each for each in items if isinstance(each, dict))


def _at(found: Any, *names: str) -> Any:
    """What stands under these names, one in the other; None where nothing does."""
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _text(found: Any, *names: str) -> str:
    value = _at(found, *names)
    return value if isinstance(value, str) else ""


def _number(found: Any, *names: str) -> int | None:
    """A whole number above 0."""
    value = _at(found, *names)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
