"""Trying a model outside any history: load it, let it say a few words, and measure how fast it is."""

import asyncio
from pathlib import Path

from agent.home import Home
from agent.settings import Settings
from graph.errors import InvalidVector
from graph.values import Check
from models.errors import (
    CrashingBuild,
    CrashingModel,
    DamagedModel,
    ModelError,
    NotInstalled,
    TruncatedModel,
    UnloadableBuild,
)
from models.protocols import Finished, SamplingParams

CONTEXT = 1024
WORDS = 16
AGAIN = "Choose another embedder with `clew models use NAME`, or download it again: `clew models rm {name}`, then pull."
REBUILD = "Rebuild llama.cpp with the command shown there. Your chats and models are not affected."
ANEW = "Download it again: `clew models rm {name}`, then `clew models pull {name}`."
PULL = "Download it with `clew models pull {name}`, or choose another with `clew models use NAME`."


def probe_generator(home: Home, settings: Settings) -> Check:
    """Whether the chat model of the settings loads and speaks, and its tokens a second."""
    from models.generator import load_generator
    from models.store import DEFAULT_CHAT, ModelStore

    try:
        path = ModelStore(home.models).path(settings.model)
    except NotInstalled as error:
        first = settings.model == DEFAULT_CHAT
        detail = f"{settings.model} will be downloaded when the first chat starts" if first else str(error)
        return Check("model", first, detail, PULL.format(name=settings.model))
    except ModelError as error:
        return Check("model", False, str(error), PULL.format(name=settings.model))
    warnings: list[str] = []
    try:
        generator = load_generator(
            path,
            name=_name(settings.model),
            context=CONTEXT,
            threads=settings.threads or None,
            gpu_layers=settings.gpu_layers,
            warn=warnings.append,
        )

        async def speak() -> Finished:
            prompt = [*generator.frame("user", "Count from one to twenty.", first=True), *generator.reply_open()]
            params = SamplingParams(temperature=0, max_tokens=WORDS)
            try:
                async for step in generator.generate(prompt, params):
                    if isinstance(step, Finished):
                        return step
                raise AssertionError("a generator ends with Finished")
            finally:
                await generator.close()

        end = asyncio.run(speak())
    except ModelError as error:
        return Check("model", False, str(error), _advice(error, settings.model))
    seconds = (end.total_ms - (end.first_token_ms or 0)) / 1000
    speed = (end.completion_tokens - 1) / seconds if seconds > 0 and end.completion_tokens > 1 else 0.0
    first_ms = f"{end.first_token_ms:.0f} ms" if end.first_token_ms is not None else "never"
    well = end.completion_tokens > 0
    said = f"{speed:.0f} tokens/s, first after {first_ms}" if well else "no output"
    detail = ". ".join([f"{settings.model}: {said}", *warnings])
    return Check("model", well, detail, PULL.format(name=settings.model))


def probe_embedder(home: Home, settings: Settings) -> Check:
    """Whether the embedder of the settings, if it is installed, turns a text into a vector that can be kept."""
    from graph.contents import pack
    from graph.soundness import KEPT_BYTES
    from models.embedder import load_embedder
    from models.store import ModelStore

    try:
        path = ModelStore(home.models).path(settings.embedder)
    except NotInstalled:
        detail = f"{settings.embedder} is not installed: recall works by words only"
        return Check("embedder", False, detail, PULL.format(name=settings.embedder))
    except ModelError as error:
        return Check("embedder", False, str(error), PULL.format(name=settings.embedder))
    try:
        embedder = load_embedder(path, name=_name(settings.embedder), threads=settings.threads or None)

        async def embed() -> int:
            try:
                (row,) = await embedder.embed(["The cat sat on the mat."])
                return len(pack(row, None)) // KEPT_BYTES  # refused as the memory would refuse it
            finally:
                await embedder.close()

        dimension = asyncio.run(embed())
    except InvalidVector as error:
        detail = f"{settings.embedder} produces unusable vectors: {error.why}"
        return Check("embedder", False, detail, AGAIN.format(name=settings.embedder))
    except ModelError as error:
        return Check("embedder", False, str(error), _advice(error, settings.embedder))
    return Check("embedder", True, f"{settings.embedder}: vectors of {dimension} numbers")


def _advice(error: ModelError, name: str) -> str:
    of_the_build = isinstance(error, CrashingBuild | CrashingModel | UnloadableBuild)
    if of_the_build:
        return REBUILD
    return (ANEW if isinstance(error, DamagedModel | TruncatedModel) else PULL).format(name=name)


def _name(model: str) -> str:
    return Path(model).stem if model.endswith(".gguf") else model
