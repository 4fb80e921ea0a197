"""The settings: pydantic, from one commented TOML file and from CLEW_… environment variables, which win."""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from graph.events import Sampling

from .errors import SettingsError

DEFAULT_SYSTEM_PROMPT = "You are clew, a helpful assistant that runs on this computer. Answer plainly and briefly."

CONFIG_TEXT = """\
# clew's settings. A line that begins with # is a default: take the # away to change it.
# Environment variables win over this file: CLEW_MODEL=…, CLEW_SAMPLING__TEMPERATURE=….

# The model that answers: a name from `clew models list`, or a path to a GGUF file.
# model = "smollm2-135m"

# The model that turns text into vectors.
# embedder = "minilm-l6"

# What every new chat tells the model first. Each chat can have its own (/system).
# system_prompt = "You are clew, a helpful assistant that runs on this computer. Answer plainly and briefly."

# Tokens the model can see at once, and where its prompt is shortened: past high_water, down to low_water.
# context = 8192
# high_water = 6000
# low_water = 3000

# Processor threads (0: as many as there are cores) and layers put on a GPU (-1: all that fit, 0: none).
# threads = 0
# gpu_layers = -1

# Megabytes of disk for what the model worked out of long chats, so that they are resumed at once (-1: as much as one
# chat takes that fills the context, which is 190 with the default model; 0: none). What it would read again within 5
# seconds is not kept, as these pass while you read the chat and type.
# kv_mb = -1

# What was said before is looked up for each message, and put before the model as quotes: at most so many turns, and so
# many tokens of them. Fewer are faster.
# recall = true
# recall_limit = 5
# recall_tokens = 300

# Let the model look into the memory by itself: "on", "off", or "auto": models of about a billion parameters and more.
# tools = "auto"

# After each reply, learn from it in the background: what it says about you, with its proof. What is not sure waits for
# your review; "ask" lets everything wait.
# reflect = true
# review = "auto"

# What other programs may do that ask to remember something (`clew mcp`): "review" lets it wait for your review,
# "active" takes it into use at once, "off" refuses it.
# mcp_remember = "review"

# After the first reply, offer a better model of the catalogue where this computer can run one.
# offer_model = true

# Looks: "dark", "light", or the name of any theme in the palette (Ctrl+P).
# theme = "dark"

# Ring the terminal's bell when a reply took longer than this many seconds (0: never).
# bell_after_s = 10

# The model to ask where the one that answers refuses to learn from an exchange: a name or a path as above, "" for none.
# It is loaded at the first refusal, and stays in memory beside the other.
# fallback_model = ""

# [sampling]
# temperature = 0.7
# top_k = 40
# top_p = 0.95
# min_p = 0.05
# repeat_penalty = 1.1
# max_tokens = 1024
"""

WATERS = ("low_water", "high_water", "context")  # each less than the next


class Settings(BaseSettings):
    """Everything a user can set; tokens are the model's, times are seconds."""

    model_config = SettingsConfigDict(
        env_prefix="CLEW_", env_nested_delimiter="__", extra="forbid", frozen=True, validate_default=True
    )

    model: Annotated[str, Field(min_length=1)] = "smollm2-135m"
    embedder: Annotated[str, Field(min_length=1)] = "minilm-l6"
    system_prompt: str = DEFAULT_SYSTEM_PROMPT
    context: Annotated[int, Field(ge=1024, le=1_048_576)] = 8192
    high_water: Annotated[int, Field(ge=512)] = 6000
    low_water: Annotated[int, Field(ge=256)] = 3000
    threads: Annotated[int, Field(ge=0, le=1024)] = 0
    gpu_layers: Annotated[int, Field(ge=-1)] = -1
    kv_mb: Annotated[int, Field(ge=-1)] = -1
    recall: bool = True
    recall_limit: Annotated[int, Field(ge=1, le=50)] = 5
    recall_tokens: Annotated[int, Field(ge=0, le=8192)] = 300
    tools: Literal["auto", "on", "off"] = "auto"
    reflect: bool = True
    review: Literal["auto", "ask"] = "auto"
    mcp_remember: Literal["review", "active", "off"] = "review"
    offer_model: bool = True
    theme: str = "dark"
    bell_after_s: Annotated[float, Field(ge=0)] = 10
    fallback_model: str = ""
    sampling: Sampling = Sampling()

    @model_validator(mode="after")
    def _waters_in_order(self) -> Self:
        if not self.low_water < self.high_water < self.context:
            raise ValueError(
                f"low_water < high_water < context must hold, but they are {self.low_water}, {self.high_water} "
                f"and {self.context}"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment before the file, whose values come in as initial ones; no .env, no secrets folder."""
        return env_settings, init_settings


def load_settings(path: Path, *, model: str | None = None) -> Settings:
    """The settings of the file at `path`, under the environment and `model`.

    A missing file is made, with its comments, where that is possible; without one the defaults hold.
    Raises SettingsError, which names each wrong value with its line or its variable.
    """
    text = _read(path)
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Mend that line; nothing else was touched.") from error
    from pydantic_settings import SettingsError as UnreadableVariable

    try:
        settings = Settings(**values)
    except UnreadableVariable as error:
        raise SettingsError(_explain_variable(error)) from error
    except ValidationError as error:
        raise SettingsError(_explain(error, path, text)) from error
    return settings.model_copy(update={"model": model}) if model else settings


def write_setting(path: Path, key: str, value: str | int | float | bool) -> None:
    """Set one top-level `key` in the file at `path`, keeping its comments; the file is replaced in one step."""
    import tomlkit

    document = tomlkit.parse(_read(path))
    if key in document:
        document[key] = value
    else:
        # Ahead of everything: a key after a [table] header would belong to that table.
        fresh = tomlkit.document()
        fresh.add(key, tomlkit.item(value))
        document = tomlkit.parse(tomlkit.dumps(fresh) + tomlkit.dumps(document))
    partial = path.with_suffix(".toml.part")
    try:
        partial.write_text(tomlkit.dumps(document), encoding="utf-8")
        partial.chmod(0o600)
        partial.replace(path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror or error}. It is as it was.") from error


def _read(path: Path) -> str:
    try:
        if not path.exists():
            try:
                path.write_text(CONFIG_TEXT, encoding="utf-8")
                path.chmod(0o600)
            except OSError:  # a home that can only be read has the defaults
                return CONFIG_TEXT
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be used: {error.strerror or error}. Nothing was changed.") from error


def _explain(error: ValidationError, path: Path, text: str) -> str:
    lines = []
    for problem in error.errors():
        keys = [str(part) for part in problem["loc"]]
        message = problem["msg"].removeprefix("Value error, ")
        if not keys:  # the one rule about several at once
            message += _waters_from(path, text)
        lines.append(f"  {_where(keys, path, text)}{'.'.join(keys) or 'settings'}: {message}")
    return "Some settings are wrong; nothing was changed:\n" + "\n".join(lines) + f"\nMend {path} or the variable."


def _explain_variable(error: Exception) -> str:
    """What is wrong where a variable for a whole table is no JSON; only the field's name is in the error."""
    named = re.search(r'field "(\w+)"', str(error))
    variable = f"CLEW_{named[1].upper()}" if named else "A CLEW_… variable"
    return (
        f'{variable} is wrong; nothing was changed: it must be a JSON object like {{"temperature": 0.7}}. '
        f"Mend or unset it; one value alone is set by {variable}__NAME, as in CLEW_SAMPLING__TEMPERATURE=0.7."
    )


def _waters_from(path: Path, text: str) -> str:
    """Where each of the three that have to be in order comes from."""
    places = [f"{_where([name], path, text).strip() or 'the default'} ({name})" for name in WATERS]
    return f", set by {', '.join(places)}"


def _where(keys: list[str], path: Path, text: str) -> str:
    """The place a value came from, as far as it can be told: its variable, or file and line."""
    given = {name.upper(): value for name, value in os.environ.items()}  # they count in any case of letters
    for depth in range(len(keys), 0, -1):
        variable = "CLEW_" + "__".join(keys[:depth]).upper()
        if all(key in given.get(variable, "") for key in keys[depth:]) and variable in given:
            return f"{variable} "
    line = _line_of(keys, text)
    return f"{path}:{line} " if line else ""


def _line_of(keys: list[str], text: str) -> int | None:
    """The line (from 1) that sets `keys` in TOML `text`; the standard parser keeps no positions."""
    if not keys:
        return None
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
            table = [part.strip().strip("\"'") for part in header[1].split(".")]
            if table == keys:
                return number
        elif entry := re.match(r"\s*([\w\"'. -]+?)\s*=", line):
            full = table + [part.strip().strip("\"'") for part in entry[1].split(".")]
            if full == keys[: len(full)]:
                return number
    return None
