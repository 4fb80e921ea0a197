"""Tries a model file in a process of its own first, because a damaged GGUF can abort the process that loads it.

What was found good is remembered by path, size and time of change, so that it costs only the first start. Run as
`python -m models.probe {chat|embed} FILE`, this module loads, evaluates one token and exits 0; exit 3 means that
llama.cpp refused, which the caller will hear again with the reason.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from models.errors import DamagedModel

REFUSED = 3
TIMEOUT_S = 300


def check_apart(path: Path, *, memo: Path | None, embeds: bool) -> None:
    """Raises DamagedModel if loading `path` would take the process down. Remembers good files in `memo`."""
    good = _read(memo)
    status = path.stat()
    key = str(path.resolve())
    print_of_file = [status.st_size, status.st_mtime_ns]
    if good.get(key) == print_of_file:
        return
    command = [sys.executable, "-P", "-m", "models.probe", "embed" if embeds else "chat", str(path.resolve())]
    try:
        code = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"GGML_NO_BACKTRACE": "1"},  # an assertion would call for a debugger
            timeout=TIMEOUT_S,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired as error:
        raise DamagedModel(path, "it takes forever to load") from error
    if code not in (0, REFUSED):
        raise DamagedModel(path, f"loading it crashes llama.cpp, code {code}")
    if code == 0 and memo is not None:
        _write(memo, good | {key: print_of_file})


def _read(memo: Path | None) -> dict[str, list[int]]:
    try:
        found = json.loads(memo.read_text()) if memo is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(memo: Path, good: dict[str, list[int]]) -> None:
    """Losing it costs a second at the next start, so a folder that cannot be written is no error."""
    draft = memo.with_name(f"{memo.name}.{os.getpid()}")
    try:
        memo.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(good))
        draft.replace(memo)
    except OSError:
        with suppress(OSError):
            draft.unlink()


def _load_and_run(path: Path, *, embeds: bool) -> bool:
    """Everything that a damaged file could break: tensors, vocabulary, graph, sampling."""
    from models.native import AbortFlag, NativeContext, NativeModel
    from models.pace import Paces
    from models.protocols import SamplingParams
    from models.sampling import Sampler

    model = NativeModel.load(path, gpu_layers=0, check=True)
    if model is None:
        return False
    context = NativeContext.make(model, AbortFlag(), size=64, paces=Paces.of(1), embeddings=embeds)
    if context is None:
        return False
    tokens = model.tokenize("Hello, world <|im_end|>", special=True)
    model.marked_tokens()
    if embeds:
        return context.embed(tokens[:32]) is not None
    if context.extend(tokens[:32]):
        sampler = Sampler(model, SamplingParams(seed=1))
        context.extend([sampler.sample(context)])
    return True


if __name__ == "__main__":
    sys.exit(0 if _load_and_run(Path(sys.argv[2]), embeds=sys.argv[1] == "embed") else REFUSED)
