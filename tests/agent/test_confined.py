"""What reads the things that strangers send has nothing else in reach."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent import confined
from models.bare import KEPT, bare_environment

# Each is tried in a process that is confined; what it may not do raises PermissionError.
FILES = {
    "reads a file of the user": "open(sys.argv[1]).read()",
    "lists their home": "os.listdir(os.path.dirname(sys.argv[1]))",
    "reads a file of the system": "open('/etc/passwd').read()",
    "writes a file": "open(sys.argv[1] + '.new', 'w')",
    "removes one": "os.unlink(sys.argv[1])",
    "runs a program": "os.execv('/bin/true', ['true'])",
    "opens it to others": "os.chmod(sys.argv[1], 0o666)",
    "says that it is older": "os.utime(sys.argv[1], (0, 0))",
    "cuts it off": "os.truncate(sys.argv[1], 0)",
    "notes something on it": "os.setxattr(sys.argv[1], 'user.note', b'x')",
    "reads what another was given": "open(f'/proc/{os.getppid()}/environ').read()",
}
OTHERS = {
    "connects": "socket.socket()",
    "connects here": "socket.socket(socket.AF_UNIX)",
    "ends another process": "os.kill(os.getppid(), 0)",
    "ends a thread of it": "called(234, os.getppid(), os.getppid(), 0)",
    "has a handle of it": "os.pidfd_open(os.getppid())",
    "keeps something with the system": "called(250, 0, -3, 1)",
    "notes something on a file in a newer way": "called(463, -100, sys.argv[1].encode(), 0, b'user.note', None, 0)",
    "changes it in one that is newer yet": "called(469, -100, sys.argv[1].encode(), None, 0, 0)",
    "keeps what outlives it there": "called(64, 0, 1, 0o1600)",
    "begins a process": "os.fork() or os._exit(0)",
    "begins one in a newer way": "called(435, 0, 0)",
    "limits another": "resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))",
    "has another wait": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 0)",
    "keeps another from a core": "os.sched_setaffinity(os.getppid(), os.sched_getaffinity(0))",
}
TRY = """
import ctypes, json, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
from pathlib import Path
from agent.confined import LIBRARIES
from graph.console.sandbox import confine_reading
held = confine_reading([Path(each) for each in (sys.prefix, sys.base_prefix, *LIBRARIES)])
def called(number, *arguments):
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise PermissionError
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")
def tried(deed):
    try:
        eval(deed)
    except Exception as error:
        return type(error).__name__
    return "done"
kinds = zip(held, json.loads(sys.argv[2]))
print(json.dumps([{name: tried(deed) for name, deed in deeds.items()} if kept else {} for kept, deeds in kinds]))
"""


@pytest.mark.process
def test_it_reads_no_file_writes_none_connects_to_nobody_and_runs_nothing(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("Rumpelstiltskin")
    ended = subprocess.run(
        [sys.executable, "-c", TRY, mine, json.dumps([FILES, OTHERS])], capture_output=True, text=True, check=True
    )
    for deeds, found in zip((FILES, OTHERS), json.loads(ended.stdout), strict=True):
        assert found in (dict.fromkeys(deeds, "PermissionError"), {}), "or the system cannot keep it from that"
    assert mine.read_text() == "Rumpelstiltskin"


@pytest.mark.process
async def test_it_is_given_no_environment_and_ends_with_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "import os, sys, json; sys.stdin.read(); print(json.dumps(dict(os.environ)))"
    monkeypatch.setenv("OPENAI_API_KEY", "Rumpelstiltskin")
    monkeypatch.setattr(confined, "COMMAND", (sys.executable, "-c", said))
    for found in (await confined.read("page", b"x", {}), confined.read_here("page", b"x", {})):
        assert "Rumpelstiltskin" not in str(found)
        assert set(found) <= {*KEPT, "LC_CTYPE"}
    monkeypatch.setattr(confined, "COMMAND", (sys.executable, "-c", r"""print(r'{"texts": ["half \ud800", 1]}')"""))
    assert confined.read_here("pdf", b"x", {}) == {"texts": ["half \N{REPLACEMENT CHARACTER}", 1]}
    monkeypatch.setattr(confined, "COMMAND", (sys.executable, "-c", "import os; os.abort()"))
    with pytest.raises(confined.Broken):
        confined.read_here("page", b"x", {})


def test_the_folder_that_somebody_is_in_is_no_path_of_its_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/opt/libraries:::.:there")
    assert bare_environment()["PYTHONPATH"] == "/opt/libraries"
