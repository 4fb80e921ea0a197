"""llama.cpp's own server as xllamacpp carries it, in a process of its own: `python -m tests.models.llama_server MODEL`.

It says its address on a line, and ends with its standard input.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTEXT = 4096  # tokens of each slot


class Running(str):
    """The address of a server."""

    process: subprocess.Popen[str]

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(
    model: Path, *, slots: int = 2, threads: int = 1, states: Path | None = None, embedding: bool = False
) -> Iterator[Running]:
    """A server with a model, as long as this is open: its address. With `embedding` it makes vectors only."""
    command = [sys.executable, "-m", "tests.models.llama_server", str(model), str(slots), str(threads)]
    with subprocess.Popen(
        [*command, str(states or ""), *(["embedding"] if embedding else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = Running(server.stdout.readline().strip())
            assert address, "the server did not start"
            address.process = server
            yield address
        finally:
            server.stdin.close()
            server.wait()


def main(model: str, slots: str, threads: str, states: str = "", embedding: str = "") -> None:
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
    if embedding:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
