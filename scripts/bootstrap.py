"""Makes a clone ready to run: Python, compiler, environment, the llama.cpp wheel, dependencies and default models.

`make chat` and `make test` call it each time. A stamp of everything it depends on lets a second run pass at once,
without any network. It uses the standard library alone, and syntax that an older Python can read far enough to be told
its age. No address of any index is ever printed or kept: what pip says is shown only on failure, without addresses.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

OLDEST = (3, 11)
NATIVE = "llama-cpp-python"
ADDRESS = re.compile(r"\S*://\S+")
BUILD_SETTINGS = ("CMAKE_ARGS", "CMAKE_GENERATOR", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS")
LAST_LINES = 25


class SetupFailed(Exception):
    """What is missing or went wrong, and what to do about it; written for the person at the terminal."""


class Tool:
    """A program the build needs: how it may be called, and the package that brings it, by package manager."""

    def __init__(self, what: str, variable: str, names: tuple[str, ...], packages: dict[str, str]) -> None:
        self.what, self.variable, self.names, self.packages = what, variable, names, packages

    def works(self) -> bool:
        """Whether one of its names answers to --version (macOS has stubs that are there but do not)."""
        chosen = shlex.split(os.environ.get(self.variable, ""))[:1]
        return any(_answers(name) for name in (*chosen, *self.names) if shutil.which(name))


COMPILER = {"apt-get": "build-essential", "dnf": "gcc-c++", "pacman": "base-devel", "apk": "build-base"}
COMPILER.update({"zypper": "gcc-c++", "brew": "gcc"})
TOOLS = (
    Tool("a C compiler", "CC", ("cc", "gcc", "clang"), COMPILER),
    Tool("a C++ compiler", "CXX", ("c++", "g++", "clang++"), COMPILER),
    Tool("cmake", "CMAKE", ("cmake",), dict.fromkeys(COMPILER, "cmake")),
)
INSTALL = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "apk": "apk add",
    "zypper": "zypper install",
    "brew": "brew install",
}


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description="Make this clone ready to run.")
    options.add_argument("--project", type=Path, default=Path(__file__).resolve().parent.parent, help="the clone")
    options.add_argument("--no-models", action="store_true", help="do not fetch the default models")
    chosen = options.parse_args(arguments)
    try:
        if sys.version_info < OLDEST:
            return _with_newer_python()
        prepare(chosen.project.resolve(), models=not chosen.no_models)
    except SetupFailed as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Run it again: what is done stays done.", file=sys.stderr)
        return 130
    return 0


def prepare(project: Path, *, models: bool) -> None:
    """Do whatever is not done yet."""
    environment = project / ".venv"
    stamp = environment / "clew-setup.json"
    wanted = json.dumps(_state(project), indent=1, sort_keys=True)
    python = environment / "bin" / "python"
    if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
        wheel = _cached_wheel(project)
        if wheel is None:
            _require_tools()
        _make_environment(environment)
        stamp.unlink(missing_ok=True)
        _install(project, python, wheel or _build_wheel(project, python))
        stamp.write_text(wanted)
    if models and subprocess.run([str(environment / "bin" / "clew"), "models", "pull"], check=False).returncode:
        raise SetupFailed("The default models are not all there (see above). Run it again: what arrived is kept.")


def wheel_folder(project: Path) -> Path:
    """Where the wheel for this processor, Python, version and these build settings is kept."""
    parts = [pinned(project, NATIVE), sys.implementation.cache_tag or "", platform.machine(), *platform.libc_ver()]
    parts += [sys.platform, *_processor_features()]
    parts += [f"{name}={os.environ.get(name, '')}" for name in BUILD_SETTINGS]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return cache_folder() / "wheels" / key


def cache_folder() -> Path:
    """The user's cache folder for clew."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "clew"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clew"


def pinned(project: Path, name: str) -> str:
    """The version of a package in constraints.txt."""
    for line in (project / "constraints.txt").read_text().splitlines():
        package, _, version = line.partition("==")
        if re.sub(r"[-_.]+", "-", package).lower() == name:
            return version.strip()
    raise SetupFailed(f"constraints.txt names no version of {name}: this clone is not whole.")


def install_command(packages: list[str]) -> str:
    """How packages, named once per package manager, are installed on this system; "" if it has none we know."""
    for manager, verb in INSTALL.items():
        if shutil.which(manager):
            names = " ".join(sorted(set(packages), key=packages.index))
            return f"{verb} {names}" if manager == "brew" or os.geteuid() == 0 else f"sudo {verb} {names}"
    return ""


def _state(project: Path) -> dict[str, str]:
    """Everything that makes the environment what it is."""
    contents = {name: (project / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")}
    state = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    state.update(project=str(project), python=sys.version, wheel=wheel_folder(project).name)
    state["bootstrap"] = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return state


def _with_newer_python() -> int:
    for minor in range(20, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer and _answers(newer):
            return subprocess.call([newer, __file__, *sys.argv[1:]])
    raise SetupFailed(
        f"clew needs Python {OLDEST[0]}.{OLDEST[1]} or newer; this is {platform.python_version()}, and no newer one "
        "was found. Install one, or name one that is elsewhere: make chat PYTHON=/path/to/python3"
    )


def _require_tools() -> None:
    missing = [tool for tool in TOOLS if not tool.works()]
    if not missing:
        return
    manager = next((name for name in INSTALL if shutil.which(name)), "")
    command = install_command([tool.packages[manager] for tool in missing]) if manager else ""
    what = " and ".join(tool.what for tool in missing)
    how = (
        f"Install it with:\n\n    {command}\n\nthen run this again." if command else "Install it, then run this again."
    )
    raise SetupFailed(f"llama.cpp is built for this processor, once, and that needs {what}, not found here. {how}")


def _make_environment(environment: Path) -> None:
    python = environment / "bin" / "python"
    version = "import sys; print(sys.version)"
    if python.exists() and _output([str(python), "-c", version]) == sys.version:
        return
    _step("Making the environment in .venv", [sys.executable, "-m", "venv", "--clear", str(environment)])


def _cached_wheel(project: Path) -> Path | None:
    return next(iter(sorted(wheel_folder(project).glob("*.whl"))), None)


def _build_wheel(project: Path, python: Path) -> Path:
    """Build beside the cache, move in when whole: two at once, or a kill, never leave half a wheel."""
    folder = wheel_folder(project)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1)} | dict(os.environ)
    with tempfile.TemporaryDirectory(dir=folder) as building:
        requirement = f"{NATIVE}=={pinned(project, NATIVE)}"
        command = [str(python), "-m", "pip", "wheel", "--no-deps", "--no-binary", NATIVE, "-w", building, requirement]
        _step("Building llama.cpp for this processor (once; about five minutes)", command, environment)
        built = next(Path(building).glob("*.whl"))
        os.replace(built, folder / built.name)
    return folder / built.name


def _install(project: Path, python: Path, wheel: Path) -> None:
    """The dependencies, the dev tools, and the project as a plain path: import hooks would slow every start."""
    import tomllib

    groups = tomllib.loads((project / "pyproject.toml").read_text()).get("dependency-groups", {})
    command = [str(python), "-m", "pip", "install", "-c", str(project / "constraints.txt")]
    command += ["--config-settings", "editable_mode=compat", str(wheel), *groups.get("dev", []), "-e", str(project)]
    _step("Installing the dependencies", command)


def _step(title: str, command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command quietly under a title with the time it takes; on failure its last lines, without addresses."""
    done = threading.Event()
    ticker = threading.Thread(target=_tick, args=(title, done), daemon=True)
    ticker.start()
    try:
        ended = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    finally:
        done.set()
        ticker.join()
    if ended.returncode:
        last = "\n".join(ADDRESS.sub("…", line) for line in ended.stdout.splitlines()[-LAST_LINES:])
        raise SetupFailed(f"{title}: this failed.\n\n{last}\n\nNothing else was changed; mend it and run it again.")


def _tick(title: str, done: threading.Event) -> None:
    start = time.monotonic()
    live = sys.stderr.isatty()
    print(f"{title} …", end="" if live else "\n", file=sys.stderr, flush=True)
    while not done.wait(1 if live else 60):
        seconds = f"{time.monotonic() - start:.0f} s"
        print(
            f"\r{title} … {seconds}" if live else f"  {seconds}", end="" if live else "\n", file=sys.stderr, flush=True
        )
    if live:
        print(file=sys.stderr)


def _processor_features() -> list[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return [_output(["sysctl", "-n", "machdep.cpu.brand_string"]) or platform.processor()]
    named = (line.partition(":") for line in lines)
    flags = next((value for name, _, value in named if name.strip() in ("flags", "Features")), "")
    return sorted(flags.split())


def _answers(program: str) -> bool:
    return bool(_output([program, "--version"]))


def _output(command: list[str]) -> str:
    """What a command prints, stripped; "" if it fails or is not there."""
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""


if __name__ == "__main__":
    raise SystemExit(main())
