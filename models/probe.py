"""Tries a model file in a process of its own first, because a damaged GGUF, or a build of llama.cpp that does not fit
this processor, can take down the process that loads it.

A trial loads the file, evaluates more tokens in one batch than the slow paths take (builds with AMX die at the first
batch of two), and samples one. If that crashes it is tried again without llama.cpp's extra buffers. What was found out
is remembered for the file (path, size, time of change) with this build on this processor, so that it costs only the
first start; another build or another processor is tried anew. Run as `python -m models.probe '{"path": …}'` this module
is the trial: exit 0 is good, exit 3 means that llama.cpp refused, which the caller will hear again with the reason.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

from models import machine
from models.errors import (
    CrashingBuild,
    CrashingModel,
    DamagedModel,
    LoadError,
    SlowModel,
    TooBigForMemory,
    UnloadableBuild,
)

REFUSED = 3
TIMEOUT_S = 300
TOKENS = 48  # in one batch
CONTEXT = 64
TEXT = "Hello, world! The quick brown fox jumps over the lazy dog. <|im_end|>"


@dataclass(frozen=True, slots=True)
class Trial:
    """How a file runs here: with llama.cpp's `extra_buffers` or only without; `fresh`: that was found out just now."""

    extra_buffers: bool
    fresh: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one process tries; `context` in tokens, for what fits on a GPU."""

    path: str
    embeds: bool
    context: int = CONTEXT
    gpu_layers: int = 0
    extra_buffers: bool = True


def check_apart(path: Path, *, memo: Path | None, embeds: bool, context: int = CONTEXT, gpu_layers: int = 0) -> Trial:
    """How `path` is to be loaded. Remembers in `memo` what ran.

    Raises DamagedModel, CrashingModel, CrashingBuild or TooBigForMemory if loading it would take the process down,
    and SlowModel.
    """
    known = read_memo(memo)
    key = str(path.resolve())
    status = path.stat()
    found = [status.st_size, status.st_mtime_ns, machine.identity()]
    match known.get(key):
        case [*same, bool(extra_buffers)] if same == found:
            return Trial(extra_buffers, fresh=False)
    code = 0
    for extra_buffers in (True, False):
        code = attempt(Attempt(key, embeds, context, gpu_layers, extra_buffers))
        if code in (0, REFUSED):
            if code == 0 and memo is not None:
                write_memo(memo, known | {key: [*found, extra_buffers]})
            return Trial(extra_buffers, fresh=True)
    runs = any(isinstance(entry, list) and found[2] in entry for entry in known.values())
    raise why_crashed(path, code, build_runs=runs)


def attempt(attempted: Attempt) -> int:
    """How a process ends that tries it: 0, REFUSED, or anything else for a crash. Raises SlowModel."""
    command = [sys.executable, "-P", "-m", "models.probe", json.dumps(asdict(attempted))]
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"GGML_NO_BACKTRACE": "1"},  # an assertion would call for a debugger
            timeout=TIMEOUT_S,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired as error:
        raise SlowModel(Path(attempted.path), TIMEOUT_S) from error


def why_crashed(path: Path, code: int, *, build_runs: bool) -> LoadError:
    """The error that a crash with `path` amounts to; `build_runs` says that this build has run another file."""
    from models.store import as_installed, installed_name

    if code == -signal.SIGKILL:  # nobody but the system, out of memory, ends a trial so
        from models.machine import available_memory

        return TooBigForMemory(path, path.stat().st_size, available_memory())
    unchanged = as_installed(path)
    if unchanged:
        return CrashingBuild(path, machine.rebuild_command())
    if unchanged is False:
        name = installed_name(path) or path.stem
        again = f"Download it again: `clew models rm {name}`, then `clew models pull {name}`."
        return DamagedModel(path, "it is not the file that was installed, and llama.cpp crashes with it", again=again)
    if build_runs:
        return DamagedModel(path, f"loading it crashes llama.cpp, code {code}")
    return CrashingModel(path, machine.rebuild_command())


def read_memo(memo: Path | None) -> dict[str, object]:
    """What was found out about models here, by their files and templates."""
    try:
        found = json.loads(memo.read_text()) if memo is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_memo(memo: Path, good: dict[str, object]) -> None:
    """Losing it costs a second at the next start, so a folder that cannot be written is no error."""
    draft = memo.with_name(f"{memo.name}.{os.getpid()}")
    try:
        memo.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(good))
        draft.replace(memo)
    except OSError:
        with suppress(OSError):
            draft.unlink()


def _load_and_run(attempted: Attempt) -> bool:
    """Everything that a damaged file or a wrong build could break: tensors, vocabulary, graph, a batch, sampling."""
    from models.fitting import offload
    from models.header import read_header
    from models.machine import Paces
    from models.native import AbortFlag, NativeContext, NativeModel, gpu_memory
    from models.protocols import SamplingParams
    from models.sampling import Sampler

    path = Path(attempted.path)
    placed = offload(read_header(path), context=attempted.context, wanted=attempted.gpu_layers, free=gpu_memory())
    model = NativeModel.load(path, gpu_layers=placed.layers, check=True, extra_buffers=attempted.extra_buffers)
    if model is None:
        return False
    context = NativeContext.make(model, AbortFlag(), size=CONTEXT, paces=Paces.of(1), embeddings=attempted.embeds)
    if context is None:
        return False
    tokens = list(islice(cycle(model.tokenize(TEXT, special=True)), TOKENS))
    model.marked_tokens()
    if attempted.embeds:
        return context.embed(tokens) is not None
    if context.extend(tokens):
        sampler = Sampler(model, SamplingParams(seed=1))
        context.extend([sampler.sample(context)])
    return True


def main(arguments: list[str]) -> int:
    try:
        return 0 if _load_and_run(Attempt(**json.loads(arguments[0]))) else REFUSED
    except UnloadableBuild:
        return REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
