"""The set-up makes a small stand-in for a clone ready through a local index, once, and fails in words."""

import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import bootstrap
from tests.marking import NOT_HERE
from tests.models.servers import Site, serving

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
NATIVE = "llama_cpp_python"

# A build backend that needs nothing: it makes a wheel of one module, and notes what it was built with. The proof of the
# stand-in clone imports that module, which does what CRASH_IF or FAIL_IF say of the arguments it was built with.
BACKEND = '''
import locale, os, pathlib, zipfile
NAME = {name!r}
def _build(folder, config_settings=None, metadata_directory=None):
    if NAME == "llama_cpp_python":
        with open(os.environ["BUILDS"], "a") as file:
            file.write(os.environ["CMAKE_ARGS"] + "\\n")
        if os.environ.get("BREAK_BUILD"):
            raise RuntimeError("no such header, see http://user:secret@index.example/simple")
    wheel = f"{{NAME}}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, wheel), "w") as archive:
        about = f"{{NAME}}-1.0.dist-info/"
        archive.writestr(about + "METADATA", f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: 1.0\\n")
        archive.writestr(about + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(about + "RECORD", "")
        if NAME == "llama_cpp_python":
            archive.writestr("llama_stand_in.py", MODULE.format(arguments=os.environ["CMAKE_ARGS"]))
        else:
            here = os.getcwd().encode(locale.getencoding())  # as setuptools does it
            archive.writestr("__editable__.clew_stand_in-1.0.pth", here)
            archive.writestr("models/__init__.py", "")
            archive.writestr("models/proof.py", "import llama_stand_in")
    return wheel
build_wheel = build_editable = _build
MODULE = """
import os, signal, sys
arguments = {{arguments!r}}
if os.environ.get("CRASH_IF", "never") in arguments:
    os.kill(os.getpid(), signal.SIGSEGV)
if os.environ.get("FAIL_IF", "never") in arguments:
    print("libsomething.so: cannot open shared object file")
    sys.exit(11)
"""
'''
PYPROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "{name}"
version = "1.0"
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name, text in _files(NATIVE).items():
                about = tarfile.TarInfo(f"{NATIVE}-1.0/{name}")
                about.size = len(text)
                archive.addfile(about, io.BytesIO(text.encode()))
        site.files[f"/files/{NATIVE}-1.0.tar.gz"] = packed.getvalue()
        site.pages["/simple/llama-cpp-python/"] = f'<a href="/files/{NATIVE}-1.0.tar.gz">{NATIVE}-1.0.tar.gz</a>'
        yield site


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A small clone in which nothing was made yet."""
    project = tmp_path / "a cløne"
    project.mkdir()
    for name, text in _files("clew_stand_in").items():
        (project / name).write_text(text)
    (project / "constraints.txt").write_text("llama_cpp_python==1.0\n")
    return project


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment: copying it takes a tenth of making one."""
    made = tmp_path_factory.mktemp("environment") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", made], check=True)
    return made


@pytest.fixture
def project(bare: Path, environment: Path) -> Path:
    """A small clone with a fresh environment, in which nothing is installed."""
    shutil.copytree(environment, bare / ".venv", symlinks=True)
    return bare


def _files(name: str) -> dict[str, str]:
    texts = {"backend.py": BACKEND.format(name=name), "pyproject.toml": PYPROJECT.format(name=name)}
    return texts | {"PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"}


def set_up(project: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    ours = ("XDG_CACHE_HOME", "CMAKE_ARGS", "CLEW_GPU")
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PIP_") and key not in ours}
    home = {"HOME": str(project.parent), "BUILDS": str(project.parent / "builds")}
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "bootstrap.py", "--project", project, "--no-models", *arguments],
        env=clean | home | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def builds(project: Path) -> list[str]:
    """The CMAKE_ARGS of each build there was, after those that are the same in all."""
    lines = (project.parent / "builds").read_text().splitlines()
    assert all(line.startswith(bootstrap.LEAN_ARGUMENTS) for line in lines)
    return [line.partition("lean.cmake ")[2] for line in lines]


def best(gpu: str = "none") -> str:
    """What `builds` tells of the build that is tried first, which depends on the processor."""
    return bootstrap.build_levels(gpu)[0].arguments


def kept(project: Path) -> list[Path]:
    return sorted((project.parent / ".cache" / "clew" / "wheels").glob("*/*.whl"))


def forget(project: Path) -> None:
    """Let the next set-up find the environment as one that is not ready."""
    (project / ".venv" / "clew-setup.json").unlink()


def test_a_clone_is_made_ready_once_and_found_so_without_a_network(site: Site, bare: Path, environment: Path) -> None:
    project = bare
    first = set_up(project, site.environment | {"LC_ALL": "xx_XX.UTF-8"})  # which no machine has
    assert first.returncode == 0, first.stderr
    assert (project / ".venv" / "bin" / "python").exists()
    assert "Building llama.cpp" in first.stderr
    requests = len(site.offsets)

    nowhere = site.environment | {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    second = set_up(project, nowhere)
    assert (second.returncode, second.stderr, len(site.offsets)) == (0, "", requests)

    shutil.rmtree(project / ".venv")
    shutil.copytree(environment, project / ".venv", symlinks=True)
    (project / "constraints.txt").write_text("llama_cpp_python==1.0\nother==2.0\n")
    again = set_up(project, nowhere)
    assert again.returncode == 0, again.stderr
    assert "Installing" in again.stderr
    assert "Building" not in again.stderr
    assert len(builds(project)) == 1


def test_a_build_that_fails_crashes_or_does_not_load_is_not_kept_but_a_plainer_one(site: Site, project: Path) -> None:
    failed = set_up(project, site.environment | {"BREAK_BUILD": "1"})
    assert failed.returncode == 1
    assert "no such header" in failed.stderr
    assert "secret" not in failed.stderr
    assert "127.0.0.1" not in failed.stderr
    assert not list(project.parent.rglob("clew-setup.json"))
    assert not list((project.parent / ".cache").rglob("*.whl"))

    crash = site.environment | {"CRASH_IF": best()}
    crashed = set_up(project, crash)
    assert crashed.returncode == 0, crashed.stderr
    name = bootstrap.build_levels("none")[0].name
    assert f"The build {name} crashed when it was tested. A more compatible" in crashed.stderr
    _, finest, plainer = builds(project)
    assert finest == best()
    assert plainer.startswith("-DGGML_NATIVE=OFF")
    assert len(kept(project)) == 1

    forget(project)
    again = set_up(project, crash)
    assert again.returncode == 0, again.stderr
    assert len(builds(project)) == 3

    rebuilt = set_up(project, site.environment, "--rebuild")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert builds(project)[3:] == [best()]

    forget(project)
    unloadable = set_up(project, site.environment | {"FAIL_IF": best()})
    assert unloadable.returncode == 1, "the new one cannot be loaded either, and no plainer one could"
    assert "It is discarded and rebuilt" in unloadable.stderr
    assert "libsomething.so: cannot open" in unloadable.stderr
    assert builds(project)[4:] == [best()]
    assert not kept(project)


def test_missing_tools_are_named_with_how_to_install_them_before_anything_else(bare: Path, tmp_path: Path) -> None:
    missing = set_up(bare, {"PATH": tools(tmp_path, "apt-get", "sudo"), "CC": "", "CXX": ""})
    assert missing.returncode == 1
    assert "a C compiler and a C++ compiler could not be found" in missing.stderr
    assert "apt-get install build-essential\n" in missing.stderr
    assert not (bare / ".venv").exists()


@dataclass
class Pip:
    """Stands for pip where the builds are not the point: makes wheels of nothing, and tells with which arguments.

    `outcome` is what becomes of trying each of them, and `tried` how often that was.
    """

    outcome: int = bootstrap.PROVEN
    tried: int = 0
    installed: int = 0
    built: list[str] = field(default_factory=list)

    def step(self, title: str, command: list[str], environment: dict[str, str] | None = None) -> None:
        if "wheel" in command and environment is not None:
            self.built.append(environment["CMAKE_ARGS"].partition("lean.cmake ")[2])
            with zipfile.ZipFile(Path(command[command.index("-w") + 1]) / f"{NATIVE}-1.0-py3-none-any.whl", "w"):
                pass
        self.installed += title == "Installing clew"

    def prove(self, environment: Path, files: list[str]) -> int:
        self.tried += 1
        return self.outcome


@pytest.fixture
def pip(bare: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    """For `bootstrap.prepare` in this process, on the clone, which has an environment."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare.parent / ".cache"))
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    (bare / ".venv" / "bin").mkdir(parents=True)
    (bare / ".venv" / "bin" / "python").symlink_to(sys.executable)
    found = Pip()
    monkeypatch.setattr(bootstrap, "_step", found.step)
    monkeypatch.setattr(bootstrap, "_prove", found.prove)
    return found


def test_the_users_own_arguments_stay_in_every_build(bare: Path, pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "-DGGML_CCACHE=OFF -DGGML_NATIVE=ON"
    monkeypatch.setenv("CMAKE_ARGS", own)
    pip.outcome = bootstrap.CRASHED
    with pytest.raises(bootstrap.SetupFailed, match=r"(?s)Every build of llama\.cpp crashed.*make rebuild-llama"):
        bootstrap.prepare(bare, models=[])
    tried = list(pip.built)
    assert tried
    assert len(set(tried)) == len(tried)  # no build twice
    assert all(arguments.endswith(own) and arguments.count("GGML_NATIVE") == 1 for arguments in tried)
    assert not kept(bare)
    assert not list(bare.parent.rglob("clew-setup.json"))
    with pytest.raises(bootstrap.SetupFailed, match=r"Every build of llama\.cpp crashed"):
        bootstrap.prepare(bare, models=[])
    assert pip.built == tried


def test_a_kept_wheel_that_is_damaged_is_built_anew(bare: Path, pip: Pip, capsys: pytest.CaptureFixture[str]) -> None:
    bootstrap.prepare(bare, models=[])
    (wheel,) = kept(bare)
    whole = wheel.read_bytes()
    for damaged in (b"not a wheel at all", whole[: len(whole) // 2]):
        forget(bare)
        wheel.write_bytes(damaged)
        bootstrap.prepare(bare, models=[])
        assert "It is discarded and rebuilt" in capsys.readouterr().err
        assert zipfile.is_zipfile(wheel)
    assert pip.built == [best()] * 3


def test_a_gpu_is_built_for_and_stays(bare: Path, pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(tmp_path, "glslc")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def chosen(gpu: str) -> tuple[int, int]:
        """How often it was built and installed since, with this GPU."""
        monkeypatch.setenv("CLEW_GPU", gpu)
        built, installed = len(pip.built), pip.installed
        bootstrap.prepare(bare, models=[])
        return len(pip.built) - built, pip.installed - installed

    assert chosen("") == (1, 1)
    assert chosen("Vulkan") == (1, 1)
    assert pip.built == [best(), best("vulkan")]
    assert chosen("") == (0, 0)
    assert chosen("none") == (0, 1)


def test_another_processor_gets_a_build_of_its_own(bare: Path, pip: Pip, monkeypatch: pytest.MonkeyPatch) -> None:
    bootstrap.prepare(bare, models=[])
    here = bootstrap._processor_features()
    monkeypatch.setattr(bootstrap, "_processor_features", lambda: [*here, "new"])
    bootstrap.prepare(bare, models=[])
    assert len(pip.built) == len(kept(bare)) == pip.tried == 2
    monkeypatch.setattr(bootstrap, "_processor_features", lambda: here)
    for _ in range(2):
        bootstrap.prepare(bare, models=[])
    assert pip.tried == 3  # back on the first machine: proven again, not built again
    assert len(pip.built) == 2


def tools(folder: Path, *names: str) -> str:
    """The folder of some programs that are there in name, and answer to that."""
    (folder / "bin").mkdir()
    for name in names:
        (folder / "bin" / name).write_text(f"#!/bin/sh\necho {name} 1\n")
        (folder / "bin" / name).chmod(0o755)
    return str(folder / "bin")


def test_a_gpu_that_has_no_build_is_told_at_once(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", tools(tmp_path, "cc", "c++"))
    monkeypatch.setattr(sys, "platform", "linux")
    for gpu, told in (
        ("cuda", "nvcc of the CUDA toolkit could not be found"),
        ("voodoo", "no build of llama.cpp for GPU=voodoo. Choose from: none, cuda, rocm, vulkan, metal"),
        ("metal", "only on macOS"),
    ):
        monkeypatch.setenv("CLEW_GPU", gpu)
        with pytest.raises(bootstrap.SetupFailed, match=told):
            bootstrap.prepare(bare, models=[])
    assert not (bare / ".venv").exists()


def test_a_temporary_folder_without_room_is_told(bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=300 << 20))
    with pytest.raises(bootstrap.SetupFailed, match=r"and 300 MB are free there.*TMPDIR=/path/with/room make chat"):
        bootstrap.prepare(bare, models=[])
    assert not (bare / ".venv").exists()


def test_a_cmake_that_is_too_old_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cmake = Path(tools(tmp_path, "cmake")) / "cmake"
    monkeypatch.setenv("PATH", str(cmake.parent))
    monkeypatch.delenv("CMAKE_EXECUTABLE", raising=False)
    needed = "llama.cpp needs 3.21 or newer, so one is downloaded"
    for answer, told in (
        ("cmake version 3.25.1", ""),
        ("cmake version 3.18.4", f"cmake 3.18 is too old: {needed}"),
        ("no such program", f"cmake is not installed: {needed}"),
    ):
        cmake.write_text(f"#!/bin/sh\necho '{answer}'\n")
        assert bootstrap._old_cmake().startswith(told)
        assert bool(bootstrap._old_cmake()) == bool(told)
    monkeypatch.setenv("CMAKE_EXECUTABLE", str(cmake))
    with pytest.raises(bootstrap.SetupFailed, match=r"is not cmake 3\.21 or newer"):
        bootstrap._old_cmake()


AVX2 = ["sse2", "sse4_2", "avx", "f16c", "fma", "bmi2", "avx2"]
AVX512 = [*AVX2, "avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw", "avx512_vnni"]


def test_the_builds_that_are_tried_are_each_plainer_than_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    all_there = ["for this processor", "with AVX2 at most", "without AVX"]
    for machine, flags, names in (
        ("x86_64", ["sse2"], all_there[:2]),
        ("x86_64", AVX2, all_there),
        ("x86_64", AVX512, all_there),
        ("x86_64", [*AVX512, "amx_tile"], ["for this processor", "without AMX", "with AVX2 at most", "without AVX"]),
        ("x86_64", [*AVX512, "amx_tile", "hypervisor"], ["without AMX", "with AVX2 at most", "without AVX"]),
        ("aarch64", ["asimd", "sve"], ["for this processor", "for any processor of its kind"]),
    ):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        monkeypatch.setattr(bootstrap, "_processor_features", lambda flags=flags: flags)
        switches = {level.name: set(level.arguments.split()) for level in bootstrap.build_levels("none")}
        assert list(switches) == names
        if "without AMX" in switches:
            assert {"-DGGML_AVX512=ON", "-DGGML_AVX512_VNNI=ON", "-DGGML_AVX512_BF16=OFF"} <= switches["without AMX"]
            assert {"-DGGML_AMX_TILE=OFF", "-DGGML_AMX_INT8=OFF"} <= switches["without AMX"]
        if "with AVX2 at most" in switches:
            assert "-DGGML_AVX512=OFF" in switches["with AVX2 at most"]
            assert ({"-DGGML_AVX2=ON", "-DGGML_FMA=ON"} <= switches["with AVX2 at most"]) == ("avx2" in flags)
        if "without AVX" in switches:
            assert not [switch for switch in switches["without AVX"] if switch.endswith("=ON")]
        assert all("-DGGML_CUDA=ON" in level.arguments for level in bootstrap.build_levels("cuda"))


def test_the_wheel_is_kept_by_what_it_depends_on(bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plain = bootstrap.wheel_folder(bare, "")
    assert plain == bootstrap.wheel_folder(bare, "")
    assert plain.parent == tmp_path / "cache" / "clew" / "wheels"
    folders = {plain, bootstrap.wheel_folder(bare, "-DGGML_CUDA=ON")}
    monkeypatch.setenv("CC", "some-other-compiler")
    folders.add(bootstrap.wheel_folder(bare, ""))
    monkeypatch.delenv("CC")
    monkeypatch.setattr(bootstrap, "_processor_features", lambda: ["of", "another", "machine"])
    folders.add(bootstrap.wheel_folder(bare, ""))
    (bare / "constraints.txt").write_text("llama-cpp-python==1.1\n")
    folders.add(bootstrap.wheel_folder(bare, ""))
    assert len(folders) == 5


def test_an_older_python_without_a_newer_one_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    with pytest.raises(bootstrap.SetupFailed, match=r"needs Python 3\.11 or newer.*make chat PYTHON="):
        bootstrap._with_newer_python()
    assert bootstrap.main(["--no-models"]) == 1


def test_every_dependency_has_one_plain_version() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    names = [line.partition("==")[0].lower().replace("_", "-") for line in lines]
    assert len(set(names)) == len(names)
    assert {"llama-cpp-python", "textual", "kuzu", "pytest", "mypy", "ruff"} <= set(names)
    assert not [line for line in lines if line.count("==") != 1 or "/" in line or "@" in line or " " in line]


def committed() -> list[str]:
    """The names of the files in this repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.split("\0")


def test_the_package_has_every_file_of_the_code() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    packages, data = set(built["packages"]), built["package-data"]
    code = [Path(name) for name in committed() if name.startswith(("agent/", "graph/", "models/", "tui/"))]
    assert {".".join(path.parent.parts) for path in code if path.suffix == ".py"} == packages
    assert not [path for path in code if path.suffix == ".py" and not (ROOT / path.parent / "__init__.py").exists()]
    other = [path for path in code if path.suffix != ".py"]
    assert other
    for path in other:
        globs = (*data.get("*", []), *data.get(".".join(path.parent.parts), []))
        assert any(path.match(glob) for glob in globs), path


def test_plain_make_explains_itself_and_sets_up_nothing(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    told = subprocess.run(["make", "-C", tmp_path], capture_output=True, text=True, check=True).stdout
    assert all(f"make {target}" in told for target in ("chat", "test", "setup", "clean"))
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


def test_no_committed_file_holds_the_address_of_an_index() -> None:
    hosts = [".".join(words).encode() for words in (("pypi", "org/simple"), ("files", "pythonhosted", "org"))]
    texts = {name: (ROOT / name).read_bytes() for name in committed() if (ROOT / name).is_file()}
    assert "constraints.txt" in texts
    assert not [name for name, text in texts.items() if any(host in text for host in hosts)]


@pytest.mark.parametrize(
    ("outcome", "summary", "passes"),
    [
        ("echo '66 passed in 9.23s'", "66 passed, 0 failed, 0 skipped", True),
        ("echo '2 failed, 64 passed in 9.23s'; exit 1", "64 passed, 2 failed, 0 skipped", False),
        ("echo '== 60 passed, 1 error in 88.1s (0:01:28) =='; exit 1", "60 passed, 1 failed, 0 skipped", False),
        ("echo 'E501 Line too long'; exit 1", "pytest was not reached", False),
        (
            f"echo '{NOT_HERE}a: not tested.'; echo '5 passed, 2 skipped in 9.2s'",
            f"{NOT_HERE}a: not tested.\n5 passed, 0 failed, 2 skipped",
            True,
        ),
        ("echo '6 passed in 9.23s'\n\nsoak:\n\t@echo '3 passed in 4.1s'", "9 passed, 0 failed, 0 skipped", True),
        (
            "echo '6 passed in 9.23s'\n\nsoak:\n\t@echo '1 failed in 4.1s'; exit 1",
            "6 passed, 1 failed, 0 skipped",
            False,
        ),
    ],
)
def test_ci_ends_with_a_summary_of_all_and_a_verdict(tmp_path: Path, outcome: str, summary: str, passes: bool) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    nothing = "" if "soak:" in outcome else "\n\nsoak:\n\t@true"
    (tmp_path / "Makefile").write_text(f"test:\n\t@{outcome}{nothing}\n")
    ended = subprocess.run([tmp_path / ".ci" / "run"], cwd="/", capture_output=True, text=True, check=False)
    assert ended.stdout.endswith(f"\n\n{summary}\n")
    assert (ended.returncode == 0) == passes
