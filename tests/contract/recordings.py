"""Every recording of the contract, by the name of its file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contract.chat import keys, settings, settings_file, slash_commands
from tests.contract.command_line import commands, exit_codes
from tests.contract.programs import json_keys, mcp, schema
from tests.contract.rendering import rendering
from tests.contract.stored import events, exported, logs

PLAIN: dict[str, Callable[[], Any]] = {
    "commands.json": commands,
    "exit_codes.json": exit_codes,
    "slash_commands.json": slash_commands,
    "keys.json": keys,
    "settings.json": settings,
    "config.toml": settings_file,
    "mcp.json": mcp,
    "events.json": events,
    "logs.json": logs,
    "python.json": exported,
}
# Made of the prepared home, unpacked into a folder of its own.
OF_HOME: dict[str, Callable[[Path], Any]] = {
    "home.txt": rendering,
    "json_keys.json": json_keys,
    "schema.json": schema,
}
