"""Proves a build of llama.cpp before it is kept: `python -m models.proof FILE…`, for the set-up.

Each model is tried as models.probe does, but as a chat will run it, without a second, plainer way. Without any FILE the
library is only loaded. The exit code says who is at fault; what went wrong is on stderr.
"""

import sys
from pathlib import Path

from models.errors import CrashingBuild, LoadError, UnloadableBuild
from models.header import read_header
from models.loading import load_model
from models.native import library
from models.probe import REFUSED, Attempt, attempt, why_crashed
from models.store import as_installed, note_installed

PROVEN, MODEL_AT_FAULT, CRASHED, UNLOADABLE = 0, 1, 10, 11


def prove(path: Path) -> None:
    """Raises CrashingBuild, another LoadError for the file, or UnloadableBuild."""
    header = read_header(path)
    code = attempt(Attempt(str(path), header.embeds, gpu_layers=-1))
    if code == REFUSED:
        load_model(path, embeds=header.embeds, context=512, gpu_layers=-1, memo=None)  # says why
    elif code:
        raise why_crashed(path, code, build_runs=False)
    elif as_installed(path) is None:
        note_installed(path)  # it ran: should it crash with another build, that one will be at fault


def main(files: list[str]) -> int:
    try:
        library()
        for file in files:
            prove(Path(file))
    except UnloadableBuild as error:
        print(error, file=sys.stderr)
        return UNLOADABLE
    except CrashingBuild as error:
        print(error, file=sys.stderr)
        return CRASHED
    except LoadError as error:
        print(error, file=sys.stderr)
        return MODEL_AT_FAULT
    return PROVEN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
