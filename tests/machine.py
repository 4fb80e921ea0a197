"""What the tests let through of the machine they run on: nothing that would make one of them end otherwise.

What a terminal, a desktop or a shell says of itself in the environment is taken away, and the home is one of the run's
own, with a space and an umlaut in its name. Locale and time zone stay, and the tests have to hold under any: `make
soak` runs them under others, as other users, on other Pythons, on fewer cores, with other fonts.
"""

import faulthandler
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from platformdirs import user_data_path

KEPT = ("PATH", "LANG", "LOCPATH", "TZ", "TMPDIR", "VIRTUAL_ENV", "GLIBC_TUNABLES")
KEPT_FAMILIES = (
    *("LC_", "LD_", "DYLD_", "OPENBLAS_", "MALLOC_"),
    *("CLOCK_AHEAD_S", "PYTHON", "PYTEST_", "TEXTUAL_SNAPSHOT_", "COV", "HYPOTHESIS", "CLEW_TEST_"),
)
HOME = "somebody\N{RIGHT SINGLE QUOTATION MARK}s höme"
STUCK = 3  # times what a test may take: whoever is not back from native code by then never will be


def models_here() -> Path:
    """Where the developer's own models are, for this process and the workers that it starts."""
    here = os.environ.get("CLEW_TEST_MODELS") or os.environ.get("CLEW_MODELS")
    if not here:
        here = str(Path(os.environ.get("CLEW_HOME") or user_data_path("clew")) / "models")
    os.environ["CLEW_TEST_MODELS"] = here
    return Path(here)


def bare_environment() -> None:
    """Take away what the machine says of itself, for this process and all that it starts."""
    for name in [name for name in os.environ if name not in KEPT and not name.startswith(KEPT_FAMILIES)]:
        del os.environ[name]
    os.environ["TERM"] = "xterm-256color"
    os.environ["CLEW_FIRST"] = "small"  # whatever models lie here


def own_home(folder: Path) -> None:
    """Let `~` be a new folder in `folder`."""
    home = folder / HOME
    home.mkdir()
    os.environ["HOME"] = str(home)


def usual_umask() -> None:
    """Files are made as for most people, whatever the test before has set."""
    os.umask(0o022)


def log_tail(home: Path, most: int = 25) -> str:
    """The last events of a home's log, a line each; "" where there is none."""
    log = home / "memory" / "log.sqlite"
    if not log.is_file():
        return ""
    try:
        with closing(sqlite3.connect(f"{log.as_uri()}?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT seq, kind, text, structure FROM events ORDER BY seq DESC LIMIT ?", (most,))
            return "\n".join(f"{seq} {kind} {(text or structure)[:100]!r}" for seq, kind, text, structure in rows)
    except sqlite3.Error as error:
        return f"it cannot be read: {error}"


@contextmanager
def never_stuck(stderr: int, limit_s: float) -> Iterator[None]:
    """End this process, with the stacks of its threads on `stderr`, where the limit of a test cannot end the test."""
    faulthandler.dump_traceback_later(STUCK * limit_s, exit=True, file=stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
