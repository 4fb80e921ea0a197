"""Makes a clone ready to run: Python, compiler, environment, the llama.cpp wheel, dependencies and default models.

`make chat` and `make test` call it each time. A stamp of everything it depends on lets a second run pass at once,
without any network. It uses the standard library alone, and syntax that an older Python can read far enough to be told
its age. No address of any index is ever printed or kept: what pip says is shown only on failure, without addresses.

The models come while llama.cpp is being built; Esc goes on without the one that is on its way, and with what is there.

A build of llama.cpp is kept only when it is proven: both default models have been run with it, in a process of their
own. One that crashes is noted, so that it is not built again, and a plainer one is built. What is kept lies in the
user's cache, by everything that it was built of, so that another processor or setting never gets it.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import hashlib
import json
import locale
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
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

OLDEST = (3, 11)
NATIVE = "llama-cpp-python"
ADDRESS = re.compile(r"\S*://\S+")
# What a build depends on beside CMAKE_ARGS.
BUILD_SETTINGS = ("CMAKE_GENERATOR", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CUDACXX", "CUDAARCHS", "HIPCXX")
BUILD_BYTES = 500 << 20  # what a build takes in the temporary folder: 326 MB were measured
WHEEL_BYTES = 100 << 20
OLDEST_CMAKE = (3, 21)
LAST_LINES = 25
# Three quarters of a build are parts of llama.cpp that its Python bindings do not use; this leaves them out.
LEAN = "set(LLAMA_BUILD_COMMON OFF)\n"
LEAN_ARGUMENTS = "-DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama.cpp_INCLUDE="
# How models.proof ends.
PROVEN, CRASHED, UNLOADABLE = 0, 10, 11
CRASH_NOTE = "crashed"
FIRST = "first"  # among models: those that a home begins with
PROGRESS = re.compile(r" of .*%|…\s*$")
CLEARED, ESCAPE = "\r\x1b[K", b"\x1b"


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
)
# The setting CLEW_GPU: what switches it on in llama.cpp, and the tool that it takes beside a compiler.
GPUS = {
    "none": ("", None),
    "cuda": ("GGML_CUDA", Tool("nvcc of the CUDA toolkit", "CUDACXX", ("nvcc",), {"apt-get": "nvidia-cuda-toolkit"})),
    "rocm": ("GGML_HIP", Tool("hipcc of ROCm", "HIPCXX", ("hipcc",), {"apt-get": "hipcc"})),
    "vulkan": ("GGML_VULKAN", Tool("glslc of the Vulkan SDK", "", ("glslc",), {"apt-get": "libvulkan-dev glslc"})),
    "metal": ("GGML_METAL", None),
}
# llama.cpp's switches for what an x86 processor can, with the flags that each takes; from the plain to the new.
AVX2 = {
    "SSE42": "sse4_2",
    "AVX": "avx",
    "F16C": "f16c",
    "FMA": "fma",
    "BMI2": "bmi2",
    "AVX2": "avx2",
}
AVX512 = {
    "AVX_VNNI": "avx_vnni",
    "AVX512": "avx512f avx512cd avx512vl avx512dq avx512bw",
    "AVX512_VBMI": "avx512f avx512vbmi",
    "AVX512_VNNI": "avx512f avx512_vnni",
    "AVX512_BF16": "avx512f avx512_bf16",
}
INSTALL = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "apk": "apk add",
    "zypper": "zypper install",
    "brew": "brew install",
}


class Level:
    """One way to build llama.cpp: `name` says which in a sentence, `arguments` are its CMAKE_ARGS."""

    def __init__(self, name: str, switches: dict[str, str]) -> None:
        """Whatever the user's own CMAKE_ARGS name stays as it is there."""
        theirs = os.environ.get("CMAKE_ARGS", "")
        named = set(re.findall(r"-D\s*(\w+)", theirs))
        ours = [f"-D{switch}={value}" for switch, value in switches.items() if switch not in named]
        self.name, self.arguments = name, " ".join([*ours, theirs]).strip()


def main(arguments: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description="Make this clone ready to run.")
    options.add_argument("--project", type=Path, default=Path(__file__).resolve().parent.parent, help="the clone")
    options.add_argument("--no-models", action="store_true", help="do not download any models")
    options.add_argument("--also", action="append", default=[], metavar="NAME", help="a model to download besides")
    options.add_argument("--rebuild", action="store_true", help="rebuild llama.cpp, ignoring the kept build")
    chosen = options.parse_args(arguments)
    try:
        if sys.version_info < OLDEST:
            return _with_newer_python()
        models = [] if chosen.no_models else [FIRST, *chosen.also]
        prepare(chosen.project.resolve(), models=models, rebuild=chosen.rebuild)
    except SetupFailed as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Run it again to continue: finished steps are kept.", file=sys.stderr)
        return 130
    return 0


def prepare(project: Path, *, models: list[str], rebuild: bool = False) -> None:
    """Do whatever is not done yet; FIRST among the `models` are those that the home of whoever calls uses."""
    environment = project / ".venv"
    stamp = environment / "clew-setup.json"
    gpu = chosen_gpu(stamp)
    wanted = json.dumps(_state(project, gpu, models=bool(models)), indent=1, sort_keys=True)
    python = environment / "bin" / "python"
    levels = build_levels(gpu)
    if rebuild:
        stamp.unlink(missing_ok=True)
        for level in levels:
            shutil.rmtree(wheel_folder(project, level.arguments), ignore_errors=True)
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        with Coming(environment, models) as coming:
            coming.files()
        return
    untried = [level for level in levels if not (wheel_folder(project, level.arguments) / CRASH_NOTE).exists()]
    if not untried:
        raise SetupFailed(_all_crashed(gpu))
    if _kept_wheel(wheel_folder(project, untried[0].arguments)) is None:
        _require_tools(gpu)
        _require_space(project)
    _make_environment(environment)
    stamp.unlink(missing_ok=True)
    _install_dependencies(project, python)
    with Coming(environment, models) as coming:
        _install_proven(project, environment, levels, gpu, coming)
    stamp.write_text(wanted)


def chosen_gpu(stamp: Path) -> str:
    """The GPU to build for: CLEW_GPU, else the one of the last set-up, else none. Raises SetupFailed."""
    chosen = os.environ.get("CLEW_GPU", "").strip().lower()
    if not chosen:
        try:
            chosen = json.loads(stamp.read_text())["gpu"]
        except (OSError, ValueError, KeyError, TypeError):
            chosen = "none"
    if chosen not in GPUS:
        raise SetupFailed(f"There is no build of llama.cpp for GPU={chosen}. Choose from: {', '.join(GPUS)}.")
    if chosen == "metal" and sys.platform != "darwin":
        raise SetupFailed("Metal is available only on macOS. Here GPU can be cuda, rocm, vulkan or none.")
    return chosen


def build_levels(gpu: str) -> list[Level]:
    """The ways to build llama.cpp here, the best first, each plainer than the one before.

    A processor with AMX in a virtual machine begins with the second: llama.cpp 0.3.36 with AMX dies there at the first
    batch of two tokens (ggml-org/llama.cpp issue 20824). Elsewhere AMX may work, and is tried.
    """
    flags = set(_processor_features())
    switches = {GPUS[gpu][0]: "ON"} if GPUS[gpu][0] else {}
    levels = [Level("for this processor", {"GGML_NATIVE": "ON"} | switches)]
    if platform.machine() in ("x86_64", "AMD64") and "sse2" in flags:
        if "amx_tile" in flags:
            without = Level("without AMX", _x86({**AVX2, **AVX512}, flags) | switches)
            levels = [without] if "hypervisor" in flags else [*levels, without]
        levels.append(Level("with AVX2 at most", _x86(AVX2, flags) | switches))
        levels.append(Level("without AVX", _x86({}, flags) | switches))
    else:
        levels.append(Level("for any processor of its kind", {"GGML_NATIVE": "OFF"} | switches))
    return list({level.arguments: level for level in reversed(levels)}.values())[::-1]


def _x86(wanted: dict[str, str], flags: set[str]) -> dict[str, str]:
    """Every switch by name: on where it is wanted and the processor has what it takes."""
    on = {switch for switch, takes in wanted.items() if flags.issuperset(takes.split())}
    switches = [*AVX2, *AVX512, "AMX_TILE", "AMX_INT8", "AMX_BF16"]
    return {"GGML_NATIVE": "OFF"} | {f"GGML_{switch}": "ON" if switch in on else "OFF" for switch in switches}


def wheel_folder(project: Path, arguments: str) -> Path:
    """Where the wheel that was built with these CMAKE_ARGS is kept, for this processor, Python and version."""
    parts = [pinned(project, NATIVE), sys.implementation.cache_tag or "", platform.machine(), *platform.libc_ver()]
    parts += [sys.platform, *_processor_features(), arguments, *_build_settings()]
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
    raise SetupFailed(f"constraints.txt has no version of {name}: this clone is incomplete.")


def install_command(packages: list[str]) -> str:
    """How packages, named once per package manager, are installed on this system; "" if it has none we know."""
    for manager, verb in INSTALL.items():
        if shutil.which(manager):
            names = " ".join(sorted(set(packages), key=packages.index))
            return f"{verb} {names}" if manager == "brew" or os.geteuid() == 0 else f"sudo {verb} {names}"
    return ""


def _state(project: Path, gpu: str, *, models: bool) -> dict[str, object]:
    """Everything that makes the environment what it is."""
    contents = {name: (project / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")}
    state: dict[str, object] = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    state.update(project=str(project), python=sys.version, gpu=gpu, proven_with_models=models)
    state.update(processor=_processor_features(), build=[os.environ.get("CMAKE_ARGS", ""), *_build_settings()])
    state["bootstrap"] = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return state


def _with_newer_python() -> int:
    for minor in range(20, OLDEST[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer and _answers(newer):
            return subprocess.call([newer, __file__, *sys.argv[1:]])
    raise SetupFailed(
        f"clew needs Python {OLDEST[0]}.{OLDEST[1]} or newer; this is {platform.python_version()}, and no newer "
        "version was found. Install one, or give the path to one: make chat PYTHON=/path/to/python3"
    )


def _build_settings() -> list[str]:
    return [f"{name}={os.environ.get(name, '')}" for name in BUILD_SETTINGS]


def _require_tools(gpu: str) -> None:
    special = GPUS[gpu][1]
    missing = [tool for tool in (*TOOLS, *([special] if special else [])) if not tool.works()]
    if not missing:
        return
    manager = next((name for name in INSTALL if shutil.which(name)), "")
    packages = [tool.packages.get(manager, "") for tool in missing]
    command = install_command(packages) if all(packages) else ""
    what = " and ".join(tool.what for tool in missing)
    how = (
        f"Install it with:\n\n    {command}\n\nthen run this again." if command else "Install it, then run this again."
    )
    raise SetupFailed(f"llama.cpp is built once for this processor, but {what} could not be found. {how}")


def _require_space(project: Path) -> None:
    """Raises SetupFailed before a build that would run out of room."""
    temporary, kept = Path(tempfile.gettempdir()), wheel_folder(project, "").parent
    kept.mkdir(parents=True, exist_ok=True)
    for folder, needed, name in ((temporary, BUILD_BYTES, "TMPDIR"), (kept, WHEEL_BYTES, "XDG_CACHE_HOME")):
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise SetupFailed(
                f"Building llama.cpp takes about {needed >> 20} MB in {folder}, and {free >> 20} MB are free there. "
                f"Nothing was changed. Free some space, or choose another folder: {name}=/path/with/room make chat"
            )


def _old_cmake() -> str:
    """What to know of a cmake that is missing or too old for llama.cpp, as a sentence; "" for one that will do.

    The build fetches a newer one for itself alone, unless CMAKE_EXECUTABLE names the one to take: then SetupFailed.
    """
    named = os.environ.get("CMAKE_EXECUTABLE", "")
    found = [_version(_output([name, "--version"])) for name in ([named] if named else ["cmake3", "cmake"])]
    best, oldest = max(found), ".".join(map(str, OLDEST_CMAKE))
    if best >= OLDEST_CMAKE:
        return ""
    here = f"cmake {'.'.join(map(str, best))} is too old" if best else "cmake is not installed"
    if named:
        raise SetupFailed(
            f"{named}, set as CMAKE_EXECUTABLE, is not cmake {oldest} or newer, which llama.cpp needs. Nothing "
            "was changed. Set another, or unset it to download one for the build."
        )
    return f"{here}: llama.cpp needs {oldest} or newer, so one is downloaded for this build only."


def _version(text: str) -> tuple[int, ...]:
    found = re.search(r"version (\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else ()


def _make_environment(environment: Path) -> None:
    python = environment / "bin" / "python"
    version = "import sys; print(sys.version)"
    if python.exists() and _output([str(python), "-c", version]) == sys.version:
        return
    _step("Creating the environment in .venv", [sys.executable, "-m", "venv", "--clear", str(environment)])


def _install_proven(project: Path, environment: Path, levels: list[Level], gpu: str, coming: Coming) -> None:
    """Install the first build of llama.cpp that proves to run. Raises SetupFailed."""
    python = environment / "bin" / "python"
    crashed: list[Level] = []
    for level in levels:
        folder = wheel_folder(project, level.arguments)
        if (folder / CRASH_NOTE).exists():
            continue
        with _wheel(project, python, folder, level, gpu, again=bool(crashed)) as wheel:
            pip = [str(python), "-m", "pip", "install", "-c", str(project / "constraints.txt")]
            # By force, as pip takes a wheel of the same version for the one that is there; then what it needs.
            _step("Installing llama.cpp", [*pip, "--force-reinstall", "--no-deps", str(wheel)])
            _step("Installing what it needs", [*pip, str(wheel)])
            outcome = _prove(environment, coming.files())
            kept = folder / wheel.name
            if outcome == UNLOADABLE and wheel == kept:
                _say("The kept build of llama.cpp can no longer be loaded. It is discarded and rebuilt.")
                kept.unlink()
                return _install_proven(project, environment, levels, gpu, coming)
            if outcome == PROVEN:
                os.replace(wheel, kept)
                if crashed:
                    _say(
                        f"The build {crashed[0].name} crashed when it was tested. A more compatible one "
                        f"({level.name}) works and is kept."
                    )
                return None
            if outcome == UNLOADABLE:
                raise SetupFailed("llama.cpp was built, but cannot be loaded (see above). The build was discarded.")
        (folder / CRASH_NOTE).touch()
        crashed.append(level)
    raise SetupFailed(_all_crashed(gpu))


def _all_crashed(gpu: str) -> str:
    other = "without the GPU (GPU=none), or " if gpu != "none" else ""
    return (
        "Every build of llama.cpp crashed when it was tested, even the most compatible one, so none was kept. "
        f"Your chats are safe. Try {other}with another compiler: CC=clang CXX=clang++ make rebuild-llama"
    )


def _kept_wheel(folder: Path) -> Path | None:
    """The wheel that is kept there; one that is damaged is thrown away."""
    for wheel in sorted(folder.glob("*.whl")):
        try:
            with zipfile.ZipFile(wheel) as archive:
                if archive.testzip() is None:
                    return wheel
        except (OSError, zipfile.BadZipFile, zlib.error):
            pass
        _say("The kept build of llama.cpp is damaged. It is discarded and rebuilt.")
        wheel.unlink()
    return None


@contextlib.contextmanager
def _wheel(project: Path, python: Path, folder: Path, level: Level, gpu: str, *, again: bool) -> Iterator[Path]:
    """The wheel that is kept, or one that is built beside it, and is gone afterwards unless it was moved there.

    So two at once, or a kill, never leave half a wheel, or one that nothing proves.
    """
    kept = _kept_wheel(folder)
    if kept is not None:
        yield kept
        return
    _require_tools(gpu)
    _require_space(project)
    if newer := _old_cmake():
        _say(newer)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1)} | _rocm(gpu) | dict(os.environ)
    long = "about three minutes" if gpu == "none" else f"with {gpu}, which takes long"
    title = f"{'That one crashed: building' if again else 'Building'} llama.cpp {level.name} (once; {long})"
    with tempfile.TemporaryDirectory(dir=folder) as building:
        lean = Path(building) / "lean.cmake"
        lean.write_text(LEAN)
        environment["CMAKE_ARGS"] = f"{LEAN_ARGUMENTS}{shlex.quote(str(lean))} {level.arguments}"
        # pip's own cache would give back a wheel that was built with other settings.
        command = [str(python), "-m", "pip", "wheel", "--no-cache-dir", "--no-deps", "--no-binary", NATIVE]
        command += ["--only-binary", "cmake,ninja", "-w", building, f"{NATIVE}=={pinned(project, NATIVE)}"]
        _step(title, command, environment)
        yield next(Path(building).glob("*.whl"))


def _rocm(gpu: str) -> dict[str, str]:
    """Where ROCm's compiler lies, as llama.cpp wants to be told."""
    if gpu != "rocm":
        return {}
    return {"HIPCXX": _output(["hipconfig", "-l"]) + "/clang", "HIP_PATH": _output(["hipconfig", "-R"])}


def _install_dependencies(project: Path, python: Path) -> None:
    """All but llama.cpp, with the dev tools, and the project as a plain path: hooks would slow every start."""
    import tomllib

    told = tomllib.loads((project / "pyproject.toml").read_text())
    wanted = [*told["project"].get("dependencies", []), *told.get("dependency-groups", {}).get("dev", [])]
    wanted = [each for each in wanted if not each.startswith(NATIVE)]
    pip = [str(python), "-m", "pip", "install"]
    if wanted:
        _step("Installing the dependencies", [*pip, "-c", str(project / "constraints.txt"), *wanted])
    # Where the locale is not installed, or is C, setuptools could write no path that has more than ASCII.
    plain = codecs.lookup(locale.getencoding()).name == "ascii"
    environment = os.environ | {"LC_ALL": "C.UTF-8"} if plain else dict(os.environ)
    editable = ["--no-deps", "--config-settings", "editable_mode=compat", "-e", str(project)]
    _step("Installing clew", [*pip, *editable], environment)
    for path in python.parents[1].glob("lib/python*/site-packages/__editable__*.pth"):
        path.write_text(os.path.relpath(project, path.parent) + "\n")  # which every locale can read


class Coming:
    """The models on their way while something else is done; on leaving, what still is on its way is let go of."""

    def __init__(self, environment: Path, names: list[str]) -> None:
        """Nothing is begun for no names; what is there already is only looked for."""
        self._clew = str(environment / "bin" / "clew")
        self._lines: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._found: list[str] | None = None if names else []
        if names:
            command = [self._clew, "models", "pull", *(name for name in names if name != FIRST), "--first"]
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
            self._reader.start()

    def __enter__(self) -> Coming:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def files(self) -> list[str]:
        """The files of the models, once they are there; of those that are there already, where they do not come.

        Raises SetupFailed where no chat model is there.
        """
        if self._found is None and self._process is not None:
            stopped = _wait_for(self._process, self._lines)
            self._reader.join()
            told = self._process.stdout.read() if self._process.stdout is not None else ""
            if stopped:
                _say("Stopped. What has come of it is kept.")
            self._found = told.splitlines()
            if self._process.returncode:
                self._found = self._here()
        return self._found or []

    def _here(self) -> list[str]:
        """The smallest chat model that is there, which proves a build. Raises SetupFailed where there is none."""
        listed = subprocess.run(
            [self._clew, "models", "list", "--json"], stdout=subprocess.PIPE, text=True, check=False
        )
        models = json.loads(listed.stdout or "[]")
        there = [each for each in models if each.get("path") and each["kind"] == "chat"]
        if not there:
            raise SetupFailed("No chat model is there (see above). Run it again: partial downloads are kept.")
        return [min(there, key=lambda each: each["size"])["path"]]

    def _read(self, process: subprocess.Popen[str]) -> None:
        """Hear how far it is; what is told of more than that is shown at once."""
        for line in process.stderr or ():
            self._lines.append(line.rstrip())
            if not PROGRESS.search(line):
                _say(f"{CLEARED if sys.stderr.isatty() else ''}{line.rstrip()}")


def _wait_for(process: subprocess.Popen[str], lines: list[str]) -> bool:
    """Wait until a process ends, showing the last of its lines; whether it was stopped with Esc."""
    with _keys() as pressed:
        shown = ""
        while process.poll() is None:
            if pressed(1.0):
                process.terminate()
                process.wait()
                return True
            if sys.stderr.isatty() and lines and lines[-1] != shown:
                shown = lines[-1]
                print(f"{CLEARED}{shown} · Esc goes on without it", end="", file=sys.stderr, flush=True)
        if shown:
            print(CLEARED, end="", file=sys.stderr, flush=True)
    return False


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], bool]]:
    """Gives a function that waits some seconds, and says whether Esc was pressed meanwhile."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield lambda seconds: bool(time.sleep(seconds))
        return
    import select
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)

    def pressed(seconds: float) -> bool:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return bool(ready) and os.read(sys.stdin.fileno(), 32) == ESCAPE

    try:
        tty.setcbreak(sys.stdin)
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _prove(environment: Path, files: list[str]) -> int:
    """PROVEN, CRASHED or UNLOADABLE: what became of a process that ran the models with the llama.cpp that is installed.

    Raises SetupFailed if a model is at fault.
    """
    command = [str(environment / "bin" / "python"), "-P", "-m", "models.proof", *files]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode < 0 or ended.returncode == CRASHED:
        return CRASHED
    if ended.returncode not in (PROVEN, UNLOADABLE):
        raise SetupFailed(f"llama.cpp could not be tested with the default models.\n\n{_last(ended.stdout)}")
    if ended.returncode == UNLOADABLE:
        _say(_last(ended.stdout))
    return ended.returncode


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
        why = "Nothing else was changed. Fix it and run it again."
        if "No space left on device" in ended.stdout:
            why = (
                f"The disk is full. Free some space, or set a folder other than {tempfile.gettempdir()} with "
                "TMPDIR=/path."
            )
        raise SetupFailed(f"{title}: this failed.\n\n{_last(ended.stdout)}\n\n{why}")


def _last(text: str) -> str:
    """The end of what a command printed, without addresses."""
    return "\n".join(ADDRESS.sub("…", line) for line in text.splitlines()[-LAST_LINES:])


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


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
