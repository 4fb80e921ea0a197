"""Everything that can go wrong with a model, one class per cause; each message says what happened and what to do.

ModelError                    base; a face shows its message as it is
├── LoadError                 this file cannot be used: the chat goes on, another model can be chosen
│   ├── ModelMissing          no such file, a folder, or not readable
│   ├── NotGguf               another kind of file, or an empty one
│   ├── TruncatedModel        a GGUF that ends too early
│   ├── DamagedModel          a GGUF that llama.cpp refuses, that takes the process down, or that was changed
│   ├── SlowModel             still loading when its trial was given up
│   ├── CrashingModel         it takes the process down: the file or the build may be at fault
│   ├── CrashingBuild         the file is right: this build of llama.cpp crashes on this processor
│   ├── UnloadableBuild       llama.cpp itself cannot be loaded
│   ├── UnknownArchitecture   a model newer than this llama.cpp, or of no kind it knows
│   ├── TooBigForMemory       it would not fit beside what runs
│   ├── NotAChatModel         an embedding model given for chatting
│   └── NotAnEmbedder         a chat model given for embedding
├── RunError                  a loaded model could not do it: the agent catches it
│   ├── ContextFull           the prompt is longer than the context
│   ├── StructuredOutputError no valid object came
│   ├── EngineClosed          the model was closed while, or before, it was asked
│   ├── DecodeFailed          llama.cpp gave up in the middle
│   └── ServerError           a model server did not do it
│       ├── AddressRefused    words may not be sent there: nothing was
│       ├── ServerUnreachable nobody answers at the address, or not as who it says it is
│       ├── ServerRefused     it does not want to: the key, the model, what was asked
│       ├── ServerBusy        it has too much to do; it may say how long
│       ├── ServerBroken      it failed, or answered what cannot be read
│       └── ServerLost        the connection ended, or nothing came for long, in the middle
└── FetchError                getting a model: `clew models` and the first run catch it
    ├── UnknownModel          neither in the catalogue nor a file
    ├── NotInstalled          in the catalogue, but not fetched yet
    ├── ChecksumMismatch      what arrived is not what was published
    ├── NoSpace               not enough disk for it
    └── FetchFailed           the network, the index or the hub did not deliver
"""

from pathlib import Path

GIB = 1 << 30
SAFE = "Your chats are safe."
CHOOSE = f"{SAFE} Choose another model with `clew models use NAME` or `--model PATH.gguf`."


class ModelError(Exception):
    """Base of all errors of this package; `str(error)` is written for people."""


class LoadError(ModelError):
    """A model file that cannot be used; catch it where a model is chosen, keep the model that runs."""

    def __init__(self, path: Path, what: str, *, then: str = CHOOSE) -> None:
        super().__init__(f"{what} {then}")
        self.path = path


class ModelMissing(LoadError):
    """No such file, a folder, or not readable; `why` says which."""

    def __init__(self, path: Path, why: str = "the file does not exist") -> None:
        super().__init__(path, f"Cannot read the model {path}: {why}.")


class NotGguf(LoadError):
    """Another kind of file, or an empty one."""

    def __init__(self, path: Path, found: str) -> None:
        super().__init__(path, f"{path.name} is not a GGUF model: it is {found}.")


class TruncatedModel(LoadError):
    """A GGUF that ends too early; sizes in bytes."""

    def __init__(self, path: Path, size: int, expected: int | None = None) -> None:
        of = f" of at least {expected:,}" if expected else ""
        super().__init__(path, f"{path.name} is cut off: {size:,}{of} bytes are there. Download it again.")


class DamagedModel(LoadError):
    """A GGUF that llama.cpp refuses, that would have taken the process down, or that is not what was installed."""

    def __init__(self, path: Path, why: str, *, again: str = "Download it again.") -> None:
        super().__init__(path, f"{path.name} is damaged and cannot be loaded ({why}). {again}")


class SlowModel(LoadError):
    """It was still loading when the trial of it was given up; `waited_s` in seconds."""

    def __init__(self, path: Path, waited_s: int) -> None:
        super().__init__(
            path,
            f"{path.name} did not load within {waited_s // 60} minutes; the disk or the computer may be busy. "
            "Try again.",
        )


class CrashingModel(LoadError):
    """It takes the process down, and the file or the build may be at fault; `rebuild` is a command."""

    def __init__(self, path: Path, rebuild: str) -> None:
        what = (
            f"llama.cpp crashes with {path.name}: the file may be damaged or made for another version, or "
            "this build of llama.cpp does not work on this processor. If other models crash too, rebuild it: "
            f"`{rebuild}`."
        )
        super().__init__(path, what)


class CrashingBuild(LoadError):
    """The file is the one that was installed, and llama.cpp crashes with it in every way; `rebuild` is a command."""

    def __init__(self, path: Path, rebuild: str) -> None:
        what = (
            f"This build of llama.cpp crashes on this processor; {path.name} is not the cause. Rebuild "
            f"llama.cpp (a few minutes): `{rebuild}`."
        )
        super().__init__(path, what, then=SAFE)


class UnloadableBuild(LoadError):
    """llama.cpp itself cannot be loaded: a system library is missing, or it is damaged; `rebuild` is a command."""

    def __init__(self, folder: Path, why: str, rebuild: str) -> None:
        what = f"llama.cpp cannot be loaded ({why}). Rebuild it (a few minutes): `{rebuild}`."
        super().__init__(folder, what, then=SAFE)


class UnknownArchitecture(LoadError):
    """A model newer than this llama.cpp, or of no kind it knows."""

    def __init__(self, path: Path, architecture: str) -> None:
        what = f"{path.name} has the architecture {architecture!r}, which this version of llama.cpp does not support."
        super().__init__(path, what)
        self.architecture = architecture


class TooBigForMemory(LoadError):
    """It would not fit beside what runs; `needed` and `available` in bytes."""

    def __init__(self, path: Path, needed: int, available: int) -> None:
        what = (
            f"{path.name} needs about {needed / GIB:.1f} GiB of memory and {available / GIB:.1f} GiB are free. "
            "A smaller model, or a smaller `context` in the settings, may fit."
        )
        super().__init__(path, what)
        self.needed = needed
        self.available = available


class NotAChatModel(LoadError):
    """An embedding model given for chatting."""

    def __init__(self, path: Path, architecture: str) -> None:
        super().__init__(path, f"{path.name} ({architecture}) is an embedding model and cannot chat.")


class NotAnEmbedder(LoadError):
    """A chat model given for embedding."""

    def __init__(self, path: Path, architecture: str) -> None:
        super().__init__(path, f"{path.name} ({architecture}) is not an embedding model: its vectors would be useless.")


class RunError(ModelError):
    """A loaded model could not do what was asked; the agent catches it and tells it as a failed reply."""


class ContextFull(RunError):
    """The prompt is longer than the context; both in tokens."""

    def __init__(self, tokens: int, context: int) -> None:
        super().__init__(f"The prompt has {tokens:,} tokens and the model's context holds {context:,}.")
        self.tokens = tokens
        self.context = context


class StructuredOutputError(RunError):
    """No valid object came; `text` is what did."""

    def __init__(self, why: str, text: str = "") -> None:
        super().__init__(f"The model gave an invalid answer: {why}.")
        self.text = text


class EngineClosed(RunError):
    """The model was closed while, or before, it was asked."""

    def __init__(self) -> None:
        super().__init__("The model has been closed.")


class DecodeFailed(RunError):
    """llama.cpp gave up in the middle; `code` is what llama_decode returned."""

    def __init__(self, code: int) -> None:
        super().__init__(f"llama.cpp failed (code {code}). Your chats are safe. Try again.")
        self.code = code


class ServerError(RunError):
    """A model server did not do what it was asked; `server` is its name in the settings."""

    def __init__(self, server: str, what: str, then: str = "Your chats are safe. Try again.") -> None:
        super().__init__(f"The server {server}: {what}. {then}")
        self.server = server
        self.evaluated = 0  # tokens of a prompt, before it failed
        self.said = ""  # by the server itself, as one line of text; "" where it said nothing


class AddressRefused(ServerError):
    """Words may not be sent to this address: nothing was. `wants_key`: with a key they might be."""

    def __init__(self, server: str, what: str, then: str, *, wants_key: bool = False) -> None:
        super().__init__(server, what, then)
        self.wants_key = wants_key


class ServerUnreachable(ServerError):
    """Nobody answers at the address, or not as who it says it is."""


class ServerRefused(ServerError):
    """It does not want to, and will not the next time; `status` is of HTTP."""

    def __init__(self, server: str, what: str, then: str, status: int) -> None:
        super().__init__(server, what, then)
        self.status = status


class ServerBusy(ServerError):
    """It has too much to do; `after_s` is how long it wants to be left alone, None where it does not say."""

    def __init__(self, server: str, what: str, after_s: float | None) -> None:
        again = "Try again" if after_s is None else f"Try again in {after_s:.0f} s"
        super().__init__(server, what, f"Your chats are safe. {again}, or choose another model (/model).")
        self.after_s = after_s


class ServerBroken(ServerError):
    """It failed, or answered what cannot be read."""


class ServerLost(ServerError):
    """The connection ended, or nothing came for long, in the middle of an answer."""


class FetchError(ModelError):
    """Getting a model failed; nothing installed was changed."""


class UnknownModel(FetchError):
    """Neither in the catalogue nor a file."""


class NotInstalled(FetchError):
    """In the catalogue, but not fetched yet."""


class ChecksumMismatch(FetchError):
    """What arrived is not what was published; it was thrown away."""


class NoSpace(FetchError):
    """Not enough disk for it."""


class FetchFailed(FetchError):
    """The network, the index or the hub did not deliver."""
