"""The settings: pydantic, from one commented TOML file and from CLEW_… environment variables, which win.

A key is written as in TOML, `top_k` in the table `sampling` is `sampling.top_k`.

What is to be known of a setting stands on its field, once: the file's comments and the settings screen are made of it.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from textwrap import wrap
from types import NoneType
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from agent.errors import SettingsError
from graph.events import RANDOM, Sampling

Value = str | int | float | bool
Way = Callable[[str, str, Any], str | None]
WIDTH = 118


def commented(head: str, settings: Iterable[tuple[str, str, Value]]) -> str:
    """A file in which all settings (key, meaning, default) are comments, and only the headings of tables are not."""
    lines, table = [head], ""
    for key, meaning, default in settings:
        within, _, name = key.rpartition(".")
        lines.append("")
        if within != table:
            table = within
            lines.append(f"[{table}]")
        lines += [f"# {line}" for line in wrap(meaning, WIDTH, break_long_words=False, break_on_hyphens=False)]
        lines.append(f"# {name} = {toml(default)}")
    return "\n".join(lines) + "\n"


def toml(value: Value | list[str]) -> str:
    """A value as TOML has it, on one line."""
    import json

    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, bool | str):  # a JSON string is a TOML string, but for the one control that JSON lets pass
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else repr(value)


def changed(text: str, key: str, value: Value | list[str] | None, default: Value) -> str:
    """`text` with `key` set; None: at its default again, which is a comment then. All else stays, line for line.

    Raises ValueError where that cannot be done, or `text` is no TOML.
    """
    wanted = _without_empty_tables(with_value(tomllib.loads(text), key, value))
    ways = (_assigned, _uncommented, _added, _inserted) if value is not None else (_as_comment, _removed)
    return _by_one_of(ways, text, key, default if value is None else value, wanted)


def without(text: str, key: str) -> str:
    """`text` without `key`, which may be a table; all else stays. Raises ValueError as `changed` does."""
    wanted = _without_empty_tables(with_value(tomllib.loads(text), key, None))
    return _by_one_of((_cut, _removed), text, key, None, wanted)


def _by_one_of(ways: Iterable[Way], text: str, key: str, value: Any, wanted: dict[str, Any]) -> str:
    from tomlkit.exceptions import TOMLKitError

    for way in ways:
        try:
            new = way(text, key, value)
        except TOMLKitError:  # of a document that the standard parser reads
            continue
        if new is not None and _config_text_read(new) == wanted:
            return new
    raise ValueError(f"the way it is written leaves no place to change {key} alone")


def with_value(values: dict[str, Any], key: str, value: Value | list[str] | None) -> dict[str, Any]:
    """What a file says, as it is read, with `key` set or left out. Raises ValueError where its table is none."""
    values = deepcopy(values)
    *tables, name = key.split(".")
    place = values
    for table in tables:
        place = place.setdefault(table, {})
        if not isinstance(place, dict):
            raise ValueError(f"{table} is not a table in it")
    if value is None:
        place.pop(name, None)
    else:
        place[name] = value
    return values


def line_of(keys: list[str], text: str) -> int | None:
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


# -- the ways to change it: each is tried, and what it makes is read again before it counts


def _assigned(text: str, key: str, value: Any) -> str | None:
    """Where it stands already, in whichever form."""
    import tomlkit

    document: Any = tomlkit.parse(text)
    *tables, name = key.split(".")
    place = document
    for table in tables:
        place = place.get(table, {})
    if name not in place:
        return None
    place[name] = value
    return tomlkit.dumps(document)


def _uncommented(text: str, key: str, value: Any) -> str | None:
    """In the place of the comment that has its default."""
    lines = text.split("\n")
    at = _comment_of(lines, key)
    if at is None:
        return None
    table, _, name = key.rpartition(".")
    lines[at] = f"{name} = {toml(value)}"
    if table and f"[{table}]" not in lines:
        heading = next((place for place in range(at) if lines[place] == f"# [{table}]"), None)
        if heading is None:
            return None
        lines[heading] = f"[{table}]"
    return "\n".join(lines)


def _added(text: str, key: str, value: Any) -> str | None:
    """As a line of its own: ahead of everything, as a key after a [table] would belong to that, or in its table."""
    table, _, name = key.rpartition(".")
    line = f"{name} = {toml(value)}"
    if not table:
        return f"{line}\n{text}"
    at = line_of(table.split("."), text)
    lines = text.split("\n")
    if at is not None and re.match(r"\s*\[", lines[at - 1]):
        return "\n".join([*lines[:at], line, *lines[at:]])
    return f"{text.rstrip()}\n\n[{table}]\n{line}\n".lstrip()


def _inserted(text: str, key: str, value: Any) -> str | None:
    """Beside what is in its table, which may be written with dots or in braces, and be headed by no line of its own."""
    import tomlkit

    document: Any = tomlkit.parse(text)
    *tables, name = key.split(".")
    place = document
    for table in tables:
        place = place.setdefault(table, {})
    place[name] = value
    return tomlkit.dumps(document)


def _as_comment(text: str, key: str, default: Any) -> str | None:
    """Its line is a comment with the default; gone, where there is such a comment already."""
    written = _assigned(text, key, default)  # on one line, whatever it was
    if written is None:
        return text
    at = line_of(key.split("."), written)
    if at is None:
        return None
    lines = written.split("\n")
    if _comment_of(lines, key) is None:
        lines[at - 1] = f"# {lines[at - 1]}"
    else:
        del lines[at - 1]
    return "\n".join(lines)


def _removed(text: str, key: str, default: Any) -> str | None:
    import tomlkit

    document: Any = tomlkit.parse(text)
    *tables, name = key.split(".")
    place = document
    for table in tables:
        place = place[table]
    del place[name]
    return tomlkit.dumps(document)


def _with_table(text: str, key: str, values: Mapping[str, Any]) -> str | None:
    """With a new table at its end; None where what is written above leaves no place for it there."""
    wanted = tomllib.loads(text)
    for name, value in values.items():
        wanted = with_value(wanted, f"{key}.{name}", value)
    lines = [f"[{key}]", *(f"{name} = {toml(value)}" for name, value in values.items())]
    above = text if text.endswith("\n") or not text else f"{text}\n"
    new = "\n".join([above, *lines, ""] if above else [*lines, ""])
    return new if _config_text_read(new) == _without_empty_tables(wanted) else None


def _cut(text: str, key: str, default: Any) -> str | None:
    """The fewest lines from where it stands are gone, with the blank one above a table; what is said below stays."""
    at = line_of(key.split("."), text)
    if at is None:
        return None
    wanted = _without_empty_tables(with_value(tomllib.loads(text), key, None))
    lines = text.split("\n")
    for end in range(at, len(lines)):
        first = at - 1
        if first and lines[first].lstrip().startswith("[") and not lines[first - 1] and not lines[end]:
            first -= 1
        new = "\n".join([*lines[:first], *lines[end:]])
        if _config_text_read(new) == wanted:
            return new
    return None


def _comment_of(lines: list[str], key: str) -> int | None:
    """The place of the line `# name = …` in the part of the file that is its table's, commented or not."""
    table, _, name = key.rpartition(".")
    within = ""
    for place, line in enumerate(lines):
        if header := re.match(r"(?:# )?\[([\w.]+)\]\s*$", line):
            within = header[1]
        elif within == table and re.match(rf"#\s*{re.escape(name)}\s*=", line):
            return place
    return None


def _config_text_read(text: str) -> dict[str, Any] | None:
    try:
        return _without_empty_tables(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return None


def _without_empty_tables(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value != {}}


DEFAULT_SYSTEM_PROMPT = "You are clew, a helpful assistant."
HEAD = """\
# clew's settings, which F10 in the chat shows and changes too.
# A line that begins with # and a setting's name is its default: take the # away to change it.
# Environment variables win over this file: CLEW_MODEL=…, CLEW_SAMPLING__TEMPERATURE=….\
"""
EXAMPLE = """
# A model server of your own, or several that have the same models (`clew models add`). Model M on it is M@den.
# [servers.den]
# address = "http://localhost:8080"
"""
CONTEXT = 8192
HIGH_WATER = 6000 / CONTEXT  # of the context
LOW_WATER = 0.5  # of that
WATERS = ("low_water", "high_water", "context")  # each less than the next


class Force(StrEnum):
    """From when on a change of a setting holds, where the chat that it is made in goes on."""

    AT_ONCE = "at once"
    NEXT_MESSAGE = "from the next message"
    NOT_OWN = "from the next message, in chats that have no setting of their own"
    LOADED = "at once; the model is reloaded in the background"
    NEXT_REQUEST = "from the next request of another program"
    NEXT_START = "from the next start"


SERVER_NAME = re.compile("[a-z0-9][a-z0-9-]{0,30}")


def checked_server_name(name: str) -> str:
    """A name that a server can have. Raises ValueError."""
    if SERVER_NAME.fullmatch(name) is None:
        raise ValueError(
            f"“{name[:40]}” cannot be a server's name: use up to 31 small letters, digits and -, as in den or gpu-2"
        )
    return name


def _one_or_several(given: Any) -> Any:
    texts = given if isinstance(given, list) else [given]
    if not texts or not all(isinstance(each, str) and each.strip() for each in texts):
        raise ValueError("Must be an address like http://localhost:8080, or a list of them")
    return given


class Server(BaseModel):
    """A model server, or several with one model; `states`: those save their slots in one folder (--slot-save-path).

    `certificate` is a file of PEM; `insecure`: its words may be read by the network between.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: Annotated[str | list[str], BeforeValidator(_one_or_several)]
    insecure: bool = False
    certificate: str = ""
    kind: Literal["auto", "llama", "openai"] = "auto"
    states: bool = False

    @property
    def addresses(self) -> tuple[str, ...]:
        """All its addresses, in their order."""
        return (self.address,) if isinstance(self.address, str) else tuple(self.address)


def server_of(name: str, servers: Mapping[str, Server]) -> tuple[str, str] | None:
    """The model and the server that MODEL@SERVER names; None where that is no server of the settings."""
    model, _, server = name.rpartition("@")
    return (model, server) if model and server in servers else None


class Settings(BaseSettings):
    """Everything a user can set; tokens are the model's, times are seconds."""

    model_config = SettingsConfigDict(
        env_prefix="CLEW_", env_nested_delimiter="__", extra="forbid", frozen=True, validate_default=True
    )

    model: Annotated[str, Force.LOADED] = Field(
        default="smollm2-135m",
        min_length=1,
        description="The model that answers: a name from `clew models list`, or a path to a GGUF file.",
    )
    embedder: Annotated[str, Force.LOADED] = Field(
        default="minilm-l6",
        min_length=1,
        description="The model that turns text into vectors, so that recall also finds the same thing in other words: "
        "a name, a path or MODEL@SERVER, which then gets all that is said.",
    )
    system_prompt: Annotated[str, Force.NOT_OWN] = Field(
        default=DEFAULT_SYSTEM_PROMPT,
        description="The system prompt of every chat. Each chat can have its own (/system).",
    )
    context: Annotated[int, Force.LOADED] = Field(
        default=CONTEXT,
        ge=1024,
        le=1_048_576,
        description="Tokens the model can see at once, up to its own limit. More tokens need more memory.",
    )
    high_water: Annotated[int, Force.NEXT_MESSAGE] = Field(
        default_factory=lambda others: int(others.get("context", CONTEXT) * HIGH_WATER),
        ge=512,
        description="Prompts longer than this many tokens are shortened. Must be less than context, which it follows "
        "where it is not set.",
    )
    low_water: Annotated[int, Force.NEXT_MESSAGE] = Field(
        default_factory=lambda others: int(others.get("high_water", CONTEXT * HIGH_WATER) * LOW_WATER),
        ge=256,
        description="Tokens a prompt is shortened to. Must be less than high_water, which it follows where it is not "
        "set.",
    )
    threads: Annotated[int, Force.LOADED] = Field(
        default=0, ge=0, le=1024, description="Processor threads for the models; 0: one per core."
    )
    gpu_layers: Annotated[int, Force.LOADED] = Field(
        default=-1, ge=-1, description="Model layers to put on a GPU; -1: all that fit, 0: none."
    )
    kv_mb: Annotated[int, Force.AT_ONCE] = Field(
        default=-1,
        ge=-1,
        description="Megabytes of disk for the model state of chats, so that they resume at once, also after a crash "
        "(-1: as much as one full context takes; 0: none). It is written after each reply. Chats that the model can "
        "read again within a quarter of a second are not kept.",
    )
    recall: Annotated[bool, Force.NEXT_MESSAGE] = Field(
        default=True,
        description="Search the memory for each message and give the model what fits, as quotes.",
    )
    recall_limit: Annotated[int, Force.NEXT_MESSAGE] = Field(
        default=5, ge=1, le=50, description="Maximum number of quotes for a message. Fewer are faster."
    )
    recall_tokens: Annotated[int, Force.NEXT_MESSAGE] = Field(
        default=300, ge=0, le=8192, description="Maximum number of tokens in these quotes. Fewer are faster."
    )
    service: Annotated[bool, Force.NEXT_START] = Field(
        default=True,
        description="Let one process hold the memory for all chats, commands and other programs (`clew serve`), so "
        "that several can be used at once. It is started by the first chat.",
    )
    linger: Annotated[float, Force.NEXT_START] = Field(
        default=60, ge=0, le=86_400, description="Seconds that process stays when nobody uses it any more."
    )
    tools: Annotated[Literal["auto", "on", "off"], Force.NEXT_MESSAGE] = Field(
        default="auto",
        description='Let the model search the memory itself and, with your leave, change it: "on" or "off"; "auto" is '
        "off, as small models call tools where nobody wants any.",
    )
    reflect: Annotated[bool, Force.AT_ONCE] = Field(
        default=True,
        description="After each reply, learn from it in the background what you said about yourself, with proof.",
    )
    review: Annotated[Literal["auto", "ask"], Force.AT_ONCE] = Field(
        default="auto",
        description='"auto": only uncertain memories wait for your review; "ask": all of them do.',
    )
    fallback_model: Annotated[str, Force.AT_ONCE] = Field(
        default="",
        description="The model to use if the one that answers refuses to learn from an exchange: a name or a path; "
        "empty for none. It is loaded at the first refusal and stays in memory beside the other.",
    )
    stand_in: Annotated[str, Force.NEXT_MESSAGE] = Field(
        default="",
        description="The model on this computer that answers when one on a server cannot: a name or a path; empty for "
        "none, and the message waits to be answered again.",
    )
    judge: Annotated[str, Force.AT_ONCE] = Field(
        default="",
        description="The model that learns from what was said and gives chats their titles: a name, a path or "
        "MODEL@SERVER; empty for the one that answers, which also does it where this one cannot be used.",
    )
    out_of_character: Annotated[str, Force.NEXT_MESSAGE] = Field(
        default="(( ))",
        pattern=r"^[^\s*]{1,10} [^\s*]{1,10}$",
        description="What stands around words that no character of a story hears: two marks with a space between them.",
    )
    hosts: Annotated[str, Force.AT_ONCE] = Field(
        default="",
        description="The hosts that references may be read from, with spaces between: each is added when you say yes. "
        "Take one out, and you are asked again. own:HOST is of this machine or of a private network.",
    )
    threads_from: Annotated[str, Force.AT_ONCE] = Field(
        default="https://public.api.bsky.app",
        pattern=r"^https?://[^\s/]+$",
        description="The service that shows the threads of posts (at://…): it is asked for those that you attach.",
    )
    mcp_remember: Annotated[Literal["review", "active", "off"], Force.NEXT_REQUEST] = Field(
        default="review",
        description='What happens when another program adds a memory (`clew mcp`): "review": it waits for your review; '
        '"active": it is used at once; "off": it is refused.',
    )
    offer_model: Annotated[bool, Force.AT_ONCE] = Field(
        default=True,
        description="After the first reply, offer a better model from the catalogue if this computer can run one.",
    )
    theme: Annotated[str, Force.AT_ONCE] = Field(
        default="dark", description='The theme: "dark", "light", or the name of another one (F10 lists them).'
    )
    bell_after_s: Annotated[float, Force.AT_ONCE] = Field(
        default=10,
        ge=0,
        description="Ring the terminal's bell after a reply that took longer than this many seconds; 0: never.",
    )
    sampling: Annotated[Sampling, Force.NOT_OWN] = Sampling()
    servers: dict[Annotated[str, AfterValidator(checked_server_name)], Server] = Field(default_factory=dict)

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


def as_given(values: Mapping[str, Any]) -> Settings:
    """Settings from all their values, as `model_dump` gives them, whatever the environment of this process says.

    Raises ValidationError.
    """
    return Settings(_env_prefix="NOT_THE_ENVIRONMENT_", **values)  # type: ignore[call-arg]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is to be known of one setting; `key` is its name in the file, `sampling.top_k` one in a table.

    `choices` are the texts of all it can be, empty where these are too many; `allowed` says in words what it can be,
    empty where that is any text.
    """

    key: str
    meaning: str
    default: Value
    choices: tuple[str, ...]
    allowed: str
    force: Force


def written(value: Value) -> str:
    """A value as people read and type it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else toml(value)


def _setting(key: str, field: FieldInfo, force: Force) -> Setting:
    kind = field.annotation
    if kind is bool:
        choices: tuple[str, ...] = ("on", "off")
    else:
        choices = get_args(kind) if get_origin(kind) is Literal else ()
    default = field.get_default(call_default_factory=True, validated_data={})
    default = RANDOM if default is None else default
    return Setting(key, field.description or "", default, choices, _allowed(field) if not choices else "", force)


def _allowed(field: FieldInfo) -> str:
    kinds = get_args(field.annotation) or (field.annotation,)
    if str in kinds:
        return ""
    words = "a whole number" if int in kinds else "a number"
    limits = {
        name: getattr(each, name) for each in field.metadata for name in ("ge", "gt", "le") if hasattr(each, name)
    }
    match limits:
        case {"ge": least, "le": most}:
            words += f" from {least} to {most}"
        case {"gt": above, "le": most}:
            words += f" above {above}, at most {most}"
        case {"ge": least}:
            words += f", at least {least}"
    return f"{words}, or {RANDOM}" if NoneType in kinds else words


def _settings() -> tuple[Setting, ...]:
    found: list[Setting] = []
    for name, field in Settings.model_fields.items():
        if name == "servers":  # `clew models` changes them
            continue
        force = next(mark for mark in field.metadata if isinstance(mark, Force))
        if field.annotation is Sampling:
            found += [_setting(f"{name}.{part}", its, force) for part, its in Sampling.model_fields.items()]
        else:
            found.append(_setting(name, field, force))
    return tuple(found)


SETTINGS = _settings()  # in the order of the file, and of the settings screen
CONFIG_TEXT = commented(HEAD, [(each.key, each.meaning, each.default) for each in SETTINGS]) + EXAMPLE


@dataclass(frozen=True, slots=True)
class SettingState:
    """A setting as it is: its value, and the variable or the line of the file (from 1) that sets it, if one does."""

    setting: Setting
    value: Value
    variable: str | None = None
    line: int | None = None


def load_settings(path: Path, *, model: str | None = None) -> Settings:
    """The settings of the file at `path`, under the environment and `model`.

    A missing file is made, with its comments, where that is possible; without one the defaults hold.
    Raises SettingsError, which names each wrong value with its line or its variable.
    """
    text = _read(path)
    settings = _validated(_values(path, text), path, text)
    return settings.model_copy(update={"model": model}) if model else settings


def setting_states(path: Path) -> list[SettingState]:
    """Every setting as the file at `path` and the environment have it. Raises SettingsError as `load_settings` does."""
    text = _read(path)
    settings = _validated(_values(path, text), path, text)
    found = []
    for setting in SETTINGS:
        keys = setting.key.split(".")
        found.append(SettingState(setting, value_of(settings, setting.key), _variable(keys), line_of(keys, text)))
    return found


def value_of(settings: Settings, key: str) -> Value:
    """The value of one setting."""
    found: Any = settings
    for name in key.split("."):
        found = getattr(found, name)
    value: Value = RANDOM if found is None else found
    return value


def settings_with(path: Path, key: str, value: Value | None) -> Settings:
    """The settings if `key` were set to `value` in the file at `path`, which stays as it is; None: to its default.

    `value` may be as a person types it. Raises SettingsError, which says what is wrong with it.
    """
    text = _read(path)
    values = _values(path, text)
    try:
        return Settings(**with_value(values, key, value))
    except ValidationError as error:
        its = [problem for problem in error.errors() if problem["loc"] in (tuple(key.split(".")), ())]
        raise SettingsError(_message(its[0]) if its else _explain(error, path, text)) from error
    except ValueError as error:
        raise SettingsError(f"{path} cannot be used: {error}. Fix it there; nothing was changed.") from error


def write_setting(path: Path, key: str, value: Value | None) -> None:
    """Set one `key` in the file at `path`, or put it back to its default (None); nothing else in the file changes.

    The file is replaced in one step. Raises SettingsError, and then it is as it was.
    """
    text = _read(path)
    _values(path, text)
    default = next(setting.default for setting in SETTINGS if setting.key == key)
    try:
        new = changed(text, key, value, default)
    except ValueError as error:
        raise SettingsError(f"{path} cannot be changed: {error}. Change it there; nothing was touched.") from error
    _replace(path.resolve(), new)  # where a link leads, so that it stays one


def write_server(path: Path, name: str, server: Server) -> None:
    """Set the server of that name in the file at `path`, new or in the place of what it was; nothing else changes.

    The file is replaced in one step. Raises SettingsError, and then it is as it was.
    """
    text = _read(path)
    servers = _values(path, text).get("servers")
    there = servers.get(name, {}) if isinstance(servers, dict) else {}
    wanted = server.model_dump(exclude_defaults=True)
    try:
        checked_server_name(name)
        if not there and (new := _with_table(text, f"servers.{name}", wanted)) is not None:
            text = new
        for key, value in wanted.items():
            text = changed(text, f"servers.{name}.{key}", value, "")
        for key in there:
            if key not in wanted:
                text = without(text, f"servers.{name}.{key}")
    except ValueError as error:
        raise SettingsError(f"{path} cannot be changed: {error}. Nothing was touched.") from error
    _replace(path.resolve(), text)


def remove_server(path: Path, name: str) -> None:
    """Take the server of that name out of the file at `path`; nothing else changes.

    The file is replaced in one step. Raises SettingsError, and then it is as it was; also where it is not in the file.
    """
    text = _read(path)
    servers = _values(path, text).get("servers")
    if not isinstance(servers, dict) or name not in servers:
        raise SettingsError(f"{path} has no server {name}; nothing was changed. `clew models list` shows the servers.")
    try:
        text = without(text, f"servers.{name}")
    except ValueError as error:
        raise SettingsError(f"{path} cannot be changed: {error}. Change it there; nothing was touched.") from error
    _replace(path.resolve(), text)


def _replace(path: Path, text: str) -> None:
    partial = path.with_suffix(".toml.part")
    try:
        if b"\r\n" in path.read_bytes():
            text = text.replace("\n", "\r\n")
        partial.write_text(text, encoding="utf-8", newline="")
        partial.chmod(0o600)
        partial.replace(path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror or error}. It is as it was.") from error


def _values(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}. Fix that line; nothing else was touched.") from error


def _validated(values: dict[str, Any], path: Path, text: str) -> Settings:
    from pydantic_settings import SettingsError as UnreadableVariable

    try:
        return Settings(**values)
    except UnreadableVariable as error:
        raise SettingsError(_explain_variable(error)) from error
    except ValidationError as error:
        raise SettingsError(_explain(error, path, text)) from error


def _read(path: Path) -> str:
    try:
        if not path.exists():
            try:
                path.write_text(_first_text(path), encoding="utf-8")
                path.chmod(0o600)
            except OSError:  # a home that can only be read has the defaults
                return CONFIG_TEXT
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be used: {error.strerror or error}. Nothing was changed.") from error


def _first_text(path: Path) -> str:
    """The settings that a new home begins with: the defaults, and the chat model that this machine runs best.

    A home that was there before, and names none, has the model that it began with.
    """
    from models.catalogue import DEFAULT_CHAT
    from models.fitting import first_choice

    from .home import models_of

    if _variable(["model"]) is not None:
        return CONFIG_TEXT
    first = first_choice(models_of(path.parent)).name
    return CONFIG_TEXT if first == DEFAULT_CHAT else changed(CONFIG_TEXT, "model", first, DEFAULT_CHAT)


def _explain(error: ValidationError, path: Path, text: str) -> str:
    lines = []
    for problem in error.errors():
        if problem["type"] == "default_factory_not_called":  # of one that follows what is wrong
            continue
        keys = [str(part) for part in problem["loc"] if part != "[key]"]
        message = _message(problem) + ("" if keys else _waters_from(path, text))
        lines.append(f"  {_where(keys, path, text)}{'.'.join(keys) or 'settings'}: {message}")
    return "Some settings are wrong; nothing was changed:\n" + "\n".join(lines) + f"\nFix {path} or the variable."


PLAINLY = {"Input should be": "Must be", "a valid integer": "a whole number", "a valid number": "a number"}


def _message(problem: ErrorDetails) -> str:
    if problem["type"] == "string_too_short":
        return "Must not be empty"
    said = problem["msg"].removeprefix("Value error, ").partition(", unable to")[0]
    for pydantics, ours in PLAINLY.items():
        said = said.replace(pydantics, ours)
    return said


def _explain_variable(error: Exception) -> str:
    """What is wrong where a variable for a whole table is no JSON; only the field's name is in the error."""
    named = re.search(r'field "(\w+)"', str(error))
    variable = f"CLEW_{named[1].upper()}" if named else "A CLEW_… variable"
    return (
        f'{variable} is wrong; nothing was changed: it must be a JSON object like {{"temperature": 0.7}}. '
        f"Fix or unset it; one value alone is set by {variable}__NAME, as in CLEW_SAMPLING__TEMPERATURE=0.7."
    )


def _waters_from(path: Path, text: str) -> str:
    """Where each of the three that have to be in order comes from."""
    places = [f"{_where([name], path, text).strip() or 'the default'} ({name})" for name in WATERS]
    return f", set by {', '.join(places)}"


def _where(keys: list[str], path: Path, text: str) -> str:
    """The place a value came from, as far as it can be told: its variable, or file and line."""
    if variable := _variable(keys):
        return f"{variable} "
    line = line_of(keys, text)
    return f"{path}:{line} " if line else ""


def _variable(keys: list[str]) -> str | None:
    """The environment variable that sets `keys`."""
    given = {name.upper(): value for name, value in os.environ.items()}  # they count in any case of letters
    for depth in range(len(keys), 0, -1):
        variable = "CLEW_" + "__".join(keys[:depth]).upper()
        if variable in given and all(key in given[variable] for key in keys[depth:]):
            return variable
    return None


def read_sampling(text: str, now: Sampling) -> Sampling:
    """The settings `now` with those named in `text` changed; pairs NAME=VALUE, between blanks or commas.

    Raises SettingsError, which names what is wrong; nothing is changed then.
    """
    changes: dict[str, str] = {}
    for pair in text.replace(",", " ").split():
        name, equals, value = pair.partition("=")
        if not equals or name not in Sampling.model_fields:
            known = ", ".join(Sampling.model_fields)
            raise SettingsError(f"“{pair}” is not a sampling setting. Write NAME=VALUE with one of: {known}.")
        changes[name] = value
    try:
        return Sampling.model_validate(now.model_dump() | changes)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(part) for part in problem["loc"])
        raise SettingsError(f"{name} cannot be {problem['input']!r}: {problem['msg']}. Nothing was changed.") from error


def write_sampling(settings: Sampling) -> str:
    """The settings as `read_sampling` reads them."""
    return " ".join(f"{name}={RANDOM if value is None else value}" for name, value in settings)
