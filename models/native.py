"""The thin layer over llama.cpp's C API: a loaded model, and a context that knows what is in its KV cache.

Nothing else touches a native handle. A context is used by one thread at a time (the engine's); every call into C
releases the GIL. What llama.cpp logs is kept in memory for the error messages of the load and never printed.
"""

import atexit
import ctypes
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from models import machine
from models.errors import DecodeFailed, EngineClosed, UnloadableBuild
from models.machine import Paces
from models.placing import common

CPU_BATCH = 128  # tokens; an abort throws away at most this much
GPU_BATCH_SECONDS = 0.05  # a GPU cannot be interrupted inside a batch
CPU_LAYER_SECONDS = 0.1  # ... a CPU can between two nodes, of which a layer has about ten
SMALLEST_BATCH = 8
EVEN_A_SHORT_ONE = 16  # tokens whose time a text takes on top of its own, roughly, when it is embedded
READING = 64  # tokens in a batch whose time per token can be compared with that of others
GPU_KINDS = (1, 2)  # ggml_backend_dev_type: a card; else, where there is none, a GPU that shares the memory
LoadProgress = Callable[[float], object]
_LOCK = threading.Lock()
_LOG = threading.local()
_KEEP: list[Any] = []  # what C points at for the life of the process


def library() -> Any:
    """The module of llama.cpp's C functions; imported, silenced and initialised once. Raises UnloadableBuild."""
    with _LOCK:
        try:
            import llama_cpp.llama_cpp as c
        except (ImportError, OSError, RuntimeError, AttributeError) as error:  # none, or not the bindings' own
            folder = machine.library_folder() or Path(sys.prefix)
            raise UnloadableBuild(folder, _first_line(error), machine.rebuild_command()) from error

        if not _KEEP:
            callback = c.llama_log_callback(_collect)
            silence = ctypes.cast(_libc().abs, c.llama_log_callback)
            _KEEP.extend((callback, silence))
            c.llama_log_set(callback, ctypes.c_void_p(0))
            c.llama_backend_init()
            # Destructors of the native libraries may log when Python is gone: from then on abs() swallows it.
            atexit.register(c.llama_log_set, silence, ctypes.c_void_p(0))
        return c


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def gpu_memory() -> list[int]:
    """Free bytes of each GPU that llama.cpp would use, as its back ends report them; none on a build without one."""
    ggml = library()._lib  # libllama depends on libggml-base, so that its symbols are found through it
    ggml.ggml_backend_dev_count.restype = ctypes.c_size_t
    ggml.ggml_backend_dev_get.restype = ctypes.c_void_p
    found: dict[int, list[int]] = {kind: [] for kind in GPU_KINDS}
    for index in range(ggml.ggml_backend_dev_count()):
        device = ctypes.c_void_p(ggml.ggml_backend_dev_get(ctypes.c_size_t(index)))
        kind = ggml.ggml_backend_dev_type(device)
        if kind in found:
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            ggml.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
            found[kind].append(free.value)
    return next((free for free in found.values() if free), [])


def _collect(level: int, text: bytes, _data: object) -> None:
    lines = getattr(_LOG, "lines", None)
    if lines is not None and len(lines) < 2000:
        lines.append(text.decode("utf-8", "replace"))


@contextmanager
def collecting() -> Iterator[list[str]]:
    """What llama.cpp logs on this thread meanwhile."""
    _LOG.lines = []
    try:
        yield _LOG.lines
    finally:
        _LOG.lines = None


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)


class AbortFlag:
    """Raised from any thread, it ends the decode that runs; llama.cpp asks it between the nodes of the graph.

    The question is answered by C's strlen over two bytes, 0 or 1, so that no node waits for the GIL.
    """

    def __init__(self) -> None:
        self._bytes = ctypes.create_string_buffer(2)

    def __bool__(self) -> bool:
        return self._bytes[0] != b"\0"

    def set(self, raised: bool) -> None:
        self._bytes[0] = b"\1" if raised else b"\0"

    def attach(self, context: Any) -> None:
        c = library()
        ask = ctypes.cast(_libc().strlen, c.ggml_abort_callback)
        c.llama_set_abort_callback(context, ask, ctypes.cast(self._bytes, ctypes.c_void_p))


class NativeModel:
    """Weights and vocabulary of one GGUF. Handles die with `free`."""

    def __init__(self, handle: Any, *, gpu: bool) -> None:
        c = library()
        self.handle = handle
        self.gpu = gpu
        self.vocab = c.llama_model_get_vocab(handle)
        self.vocab_size: int = c.llama_vocab_n_tokens(self.vocab)
        self.train_context: int = c.llama_model_n_ctx_train(handle)
        self.layers: int = max(1, c.llama_model_n_layer(handle))
        self.dimension: int = c.llama_model_n_embd(handle)
        self._pieces: dict[int, bytes] = {}
        self._in_use = threading.Lock()  # other threads tokenise while the engine's may free

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        gpu_layers: int,
        check: bool = False,
        extra_buffers: bool = True,
        progress: LoadProgress = lambda share: None,
    ) -> "NativeModel | None":
        """None if llama.cpp refused; what it said is in `collecting`. `check` validates every tensor's data.

        `progress` is told, on this thread, which share of it is loaded, in whole hundredths. Without `extra_buffers`
        weights stay as they are in the file: slower, but without the code (AMX, repacking) that crashes on some
        processors.
        """
        c = library()
        gpu = bool(c.llama_supports_gpu_offload()) and gpu_layers != 0
        params = c.llama_model_default_params()
        params.n_gpu_layers = gpu_layers if gpu else 0
        params.check_tensors = check
        params.use_extra_bufts = extra_buffers
        told = -1

        def tell(share: float, _data: object) -> bool:
            nonlocal told
            if int(100 * share) > told:
                told = int(100 * share)
                progress(told / 100)
            return True

        params.progress_callback = watching = c.llama_progress_callback(tell)
        handle = c.llama_model_load_from_file(str(path).encode(), params)
        del watching  # which had to live until now
        return cls(handle, gpu=gpu) if handle else None

    def tokenize(self, text: str, *, special: bool, whole: bool = False) -> list[int]:
        """Token ids of `text`; with `special`, control tokens written in it are taken as such; with `whole`, those
        that the model wants around a text (BOS, CLS, SEP) are added."""
        data = text.encode("utf-8", "replace")
        if not data and not whole:
            return []
        room = len(data) + 16
        with self._in_use:
            self._check_open()
            count, tokens = self._tokenize(data, room, whole, special)
            if count < 0:
                count, tokens = self._tokenize(data, -count, whole, special)
        return list(tokens[:count])

    def _tokenize(self, data: bytes, room: int, whole: bool, special: bool) -> tuple[int, Any]:
        tokens = (ctypes.c_int32 * room)()
        return library().llama_tokenize(self.vocab, data, len(data), tokens, room, whole, special), tokens

    def _check_open(self) -> None:
        if not self.handle:
            raise EngineClosed

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for, control tokens written out."""
        found = self._pieces.get(token)
        if found is None:
            with self._in_use:
                self._check_open()
                found = self._pieces[token] = self._piece(token, 128)
        return found

    def _piece(self, token: int, room: int) -> bytes:
        buffer = ctypes.create_string_buffer(room)
        count: int = library().llama_token_to_piece(self.vocab, token, buffer, room, 0, True)
        return self._piece(token, -count) if count < 0 else buffer.raw[:count]

    def is_control(self, token: int) -> bool:
        return bool(library().llama_vocab_is_control(self.vocab, token))

    def is_end(self, token: int) -> bool:
        return bool(library().llama_vocab_is_eog(self.vocab, token))

    def marked_tokens(self) -> dict[int, str]:
        """All control and user-defined tokens, with how they are written."""
        c = library()
        mask = c.LLAMA_TOKEN_ATTR_CONTROL | c.LLAMA_TOKEN_ATTR_USER_DEFINED
        attributes, vocab = c.llama_vocab_get_attr, self.vocab
        found = [token for token in range(self.vocab_size) if attributes(vocab, token) & mask]
        return {token: self.piece(token).decode("utf-8", "replace") for token in found}

    def free(self) -> None:
        with self._in_use:
            if self.handle:
                library().llama_model_free(self.handle)
                self.handle = None


class NativeContext:
    """One KV cache over a model, and the token ids that are in it."""

    def __init__(self, model: NativeModel, handle: Any, flag: AbortFlag, *, size: int, paces: Paces) -> None:
        c = library()
        self._paces = paces
        self._threads = paces.writing.most
        self.model = model
        self.handle = handle
        self.size = size
        self.tokens: list[int] = []
        self.read = 0  # of these: those behind were sampled
        self._flag = flag
        self._memory = c.llama_get_memory(handle)
        self._batch = CPU_BATCH
        self._limit = GPU_BATCH_SECONDS if model.gpu else CPU_LAYER_SECONDS * model.layers
        self._array = (ctypes.c_int32 * max(CPU_BATCH, size))()
        self._one = c.llama_batch_get_one(self._array, 1)
        self._decode: Callable[[Any, Any], int] = c.llama_decode
        flag.attach(handle)

    @classmethod
    def make(
        cls, model: NativeModel, flag: AbortFlag, *, size: int, paces: Paces, embeddings: bool = False
    ) -> "NativeContext | None":
        """A context of `size` tokens; None if llama.cpp could not allocate it."""
        c = library()
        params = c.llama_context_default_params()
        params.n_ctx = size
        params.n_batch = params.n_ubatch = size if embeddings else CPU_BATCH
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = paces.writing.most
        params.embeddings = embeddings
        params.swa_full = True  # a sliding window that was moved on cannot be cut back to a common prefix
        params.no_perf = True
        handle = c.llama_init_from_model(model.handle, params)
        return cls(model, handle, flag, size=size, paces=paces) if handle else None

    def keep_common(self, prompt: Sequence[int]) -> int:
        """Cut the KV cache back to what `prompt` shares, but for its last token; returns how many tokens stay."""
        return self._cut(self.common(prompt))

    def common(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt`, but for its last, the KV cache begins with."""
        return common(self.tokens, prompt)

    def keep_shared(self, tokens: Sequence[int]) -> int:
        """`keep_common` with the last of `tokens` too: for what is not to be evaluated now."""
        return self._cut(self.common([*tokens, -1]))

    def state_size(self) -> int:
        """Bytes that `copy_state` writes."""
        size: int = library().llama_state_seq_get_size(self.handle, 0)
        return size

    def copy_state(self, into: Any) -> bool:
        """Copy the KV cache into uint8[state_size()]; False if it did not fit."""
        size = into.nbytes
        return bool(library().llama_state_seq_get_data(self.handle, _bytes(into), size, 0) == size)

    def set_state(self, data: Any, tokens: Sequence[int]) -> bool:
        """Replace the KV cache by one that was copied when it held `tokens`; if False it is empty now.

        `data`: uint8[n]. Its beginning is checked by llama.cpp, its inside is not.
        """
        self.tokens.clear()
        self.read = 0
        taken = library().llama_state_seq_set_data(self.handle, _bytes(data), data.nbytes, 0)
        if taken == 0 or taken != data.nbytes:
            library().llama_memory_clear(self._memory, False)
            return False
        self.tokens.extend(tokens)
        self.read = len(tokens)
        return True

    def _cut(self, length: int) -> int:
        if length < len(self.tokens) and not library().llama_memory_seq_rm(self._memory, 0, length, -1):
            # A recurrent model has no past to return to.
            library().llama_memory_clear(self._memory, True)
            length = 0
        del self.tokens[length:]
        self.read = min(self.read, length)
        return length

    def extend(self, tokens: Sequence[int], *, between: Callable[[], None] = lambda: None) -> bool:
        """Evaluate `tokens` after those that are there; False if the flag was raised (some may be done).

        `between` is called between two batches.

        Raises DecodeFailed.
        """
        at = 0
        while at < len(tokens):
            if self._flag:
                return False
            part = tokens[at : at + self._batch]
            pace = self._paces.reading if len(part) >= READING else self._paces.writing
            self._use(pace.threads)
            start = perf_counter()
            code = self._run(part)
            if code:
                return self._broken(code)
            self.tokens.extend(part)
            self.read = len(self.tokens)
            at += len(part)
            seconds = perf_counter() - start
            self._pace(len(part), seconds)
            if pace is self._paces.reading:
                pace.took(seconds / len(part))
            between()
        return True

    def extend_one(self, token: int) -> bool:
        """`extend` for the one token sampled last, with as little Python as can be."""
        self._array[0] = token
        pace = self._paces.writing
        if pace.threads != self._threads:
            self._use(pace.threads)
        start = perf_counter()
        code = self._decode(self.handle, self._one)
        if code:
            return self._broken(code)
        pace.took(perf_counter() - start)
        self.tokens.append(token)
        return True

    def _use(self, threads: int) -> None:
        if threads != self._threads:
            library().llama_set_n_threads(self.handle, threads, threads)
            self._threads = threads

    def embed(self, tokens: Sequence[int]) -> Any:
        """The pooled vector of one text as float32[dimension], not yet of length 1; None if the flag was raised.

        For a context made with `embeddings`; at most `size` tokens. Raises DecodeFailed.
        """
        import numpy as np

        c = library()
        if self._memory:
            c.llama_memory_clear(self._memory, True)
        pace = self._paces.writing
        self._use(pace.threads)
        start = perf_counter()
        code = self._run(tokens)
        if code == 2 or (self._flag and code):
            return None
        pace.took((perf_counter() - start) / (len(tokens) + EVEN_A_SHORT_ONE))
        vector = c.llama_get_embeddings_seq(self.handle, 0)
        if code or not vector:
            raise DecodeFailed(code)
        return np.ctypeslib.as_array(vector, (self.model.dimension,)).copy()

    def _run(self, part: Sequence[int]) -> int:
        self._array[: len(part)] = list(part)
        return self._decode(self.handle, library().llama_batch_get_one(self._array, len(part)))

    def _broken(self, code: int) -> bool:
        """After an abort (2) the batch's cells are dropped, so that cache and list agree."""
        done = len(self.tokens)
        if not library().llama_memory_seq_rm(self._memory, 0, done, -1):
            library().llama_memory_clear(self._memory, True)
            self.tokens.clear()
        self.read = min(self.read, len(self.tokens))
        if code != 2:
            raise DecodeFailed(code)
        return False

    def _pace(self, count: int, seconds: float) -> None:
        """Keep a batch short enough that whoever waits for it waits well below 100 ms."""
        if seconds > self._limit and count > SMALLEST_BATCH:
            self._batch = max(SMALLEST_BATCH, count // 2)
        elif seconds < self._limit / 3 and count == self._batch:
            self._batch = min(CPU_BATCH, self._batch * 2)

    def free(self) -> None:
        if self.handle:
            library().llama_free(self.handle)
            self.handle = None


def _bytes(array: Any) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
