"""llama.cpp's own server as xllamacpp carries it, in a process of its own: `python -m tests.models.llama_server MODEL`.

It says its address on a line, and ends with its standard input.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTEXT = 4096  # tokens of each slot


@contextmanager
def serving(model: Path, *, slots: int = 2, threads: int = 1, states: Path | None = None) -> Iterator[str]:
    """A server with a model, as long as this is open: its address."""
    command = [sys.executable, "-m", "tests.models.llama_server", str(model), str(slots), str(threads)]
    with subprocess.Popen(
        [*command, *([str(states)] if states else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address, "the server did not start"
            yield address
        finally:
            server.stdin.close()
            server.wait()


def main(model: str, slots: str, threads: str, states: str = "") -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.port = 0
    params.n_parallel = int(slots)
    params.n_ctx = CONTEXT * int(slots)
    params.kv_unified = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.endpoint_slots = True
    if states:
        params.slot_save_path = f"{states}/"
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
