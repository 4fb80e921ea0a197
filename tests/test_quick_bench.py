"""The quick benchmarks: what counts as worse, and that what cannot be measured or compared is said in words."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench import quick
from bench.quick import CannotCompare, Change, Failed, Runs, Wanted, change, changes, spread, told_against, told_alone

MS = Wanted("startup.clew_paint_ms")
RATE = Wanted("append.appends_per_s", higher=True)


def filled(name: str, **rounds: list[dict[str, float] | None]) -> Runs:
    """A tree whose benchmarks printed these, round by round; those that are not named never ran."""
    side = Runs(Path("/nowhere"), name)
    side.rounds |= {benchmark: [*each] for benchmark, each in rounds.items()}
    return side


def test_worse_is_what_changed_to_the_bad_side_by_more_than_its_noise_and_a_count_by_one_more() -> None:
    count = Wanted("startup.modules_at_paint", count=True)
    for wanted, before, now, verdict in (
        (MS, [100, 101, 102], [120, 121, 122], "worse"),
        (MS, [120, 121, 122], [100, 101, 102], "better"),
        (MS, [100, 100, 100], [102, 102, 102], ""),  # less than LEAST_NOISE
        (MS, [100, 140, 100], [120, 121, 122], ""),  # as wide as that on one side
        (MS, [100, 101, 102], [120, 121, 160], ""),  # or on the other
        (RATE, [100, 101, 102], [80, 81, 82], "worse"),
        (RATE, [80, 81, 82], [100, 101, 102], "better"),
        (count, [500, 500], [501, 501], "worse"),
        (count, [500, 500], [500, 500], ""),
    ):
        assert change(wanted, before, now).verdict == verdict, (wanted, before, now)


def test_a_machine_that_slows_down_meets_both_sides() -> None:
    drifting = change(MS, [100, 200, 400], [100, 200, 400])
    assert (drifting.worse_by, drifting.verdict) == (0.0, "")
    assert change(MS, [100, 200, 400], [110, 220, 440]).worse_by == pytest.approx(0.1)


def test_only_rounds_that_have_a_figure_on_both_sides_are_compared() -> None:
    before = filled("then", startup=[{"clew_paint_ms": 100.0}, None, {"clew_paint_ms": 100.0}, {"clew_paint_ms": 0.0}])
    now = filled("now", startup=[{"clew_paint_ms": 130.0}, {"clew_paint_ms": 1.0}, {"clew_paint_ms": 130.0}, {}])
    (found,) = changes(before, now)
    assert (found.name, found.before, found.now, found.verdict) == ("startup.clew_paint_ms", 100.0, 130.0, "worse")
    once = filled("now", startup=[{"clew_paint_ms": 130.0}])
    assert changes(filled("then", startup=[{"clew_paint_ms": 100.0}]), once) == [], "one round has no spread"


def test_what_is_told_names_what_got_worse_and_by_how_much() -> None:
    lines = [*told_against([change(MS, [100, 101, 102], [150, 151, 152]), change(RATE, [10, 10], [10, 10])], "HEAD~5")]
    assert lines[1].endswith("worse")
    assert "+49.5%" in lines[1]
    assert lines[-1] == "Worse than at HEAD~5 by more than its noise: startup.clew_paint_ms (50 %)."
    unchanged = Change("a", 1.0, 1.0, 0.0, 0.0, 0.03)
    assert [*told_against([unchanged], "x")][-1].endswith("noise: nothing.")


def test_a_tree_alone_is_told_with_its_spread_which_is_how_far_the_runs_lie_apart() -> None:
    side = filled("this tree", append=[{"append_p50_ms": 4.0}, {"append_p50_ms": 5.0}, {"append_p50_ms": 9.0}])
    (line,) = told_alone(side)
    assert line.split() == ["append.append_p50_ms", "5", "(4", "–", "9)"]
    assert spread([100.0, 110.0, 90.0]) == pytest.approx(0.2)
    assert spread([5.0]) == 0.0


@pytest.mark.process
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit('There is no memory for a second context.')", "There is no memory for a second context."),
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("print('no json')", "it printed no figures"),
        ("print([1])", "it printed no figures"),
        ("import os; os.abort()", "it ended with -6"),
    ],
)
def test_a_benchmark_that_fails_says_why_in_a_line_and_is_not_run_again(tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").touch()
    (tmp_path / "bench" / "startup.py").write_text(code)
    side = Runs(tmp_path, "then")
    startup = quick.BENCHMARKS[0]
    with pytest.raises(Failed, match=f"^{said.replace('(', '.')}$"):
        quick.run(startup, tmp_path, tmp_path)
    side.run(startup, tmp_path)
    (tmp_path / "bench" / "startup.py").write_text("print('{\"clew_paint_ms\": 1}')")
    side.run(startup, tmp_path)
    assert side.rounds["startup"] == [None, None]
    assert side.failed == {"startup": said}


@pytest.mark.process
def test_the_tree_that_is_named_is_the_one_measured(tmp_path: Path) -> None:
    ruler, tree = tmp_path / "ruler", tmp_path / "tree"
    (ruler / "bench").mkdir(parents=True)
    (ruler / "bench" / "__init__.py").touch()
    (ruler / "bench" / "startup.py").write_text('import tui; print(\'{"from": "%s"}\' % tui.__file__)')
    (tree / "tui").mkdir(parents=True)
    (tree / "tui" / "__init__.py").touch()
    assert quick.run(quick.BENCHMARKS[0], tree, ruler) == {"from": str(tree / "tui" / "__init__.py")}


def repository(folder: Path) -> Path:
    """A small repository with one commit."""
    commands = (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"])
    (folder / "file").write_text("as it was")
    for command in commands:
        identity = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
        subprocess.run(["git", "-C", str(folder), *identity, *command], check=True)
    return folder


@pytest.mark.process
def test_another_commit_is_laid_out_and_taken_away_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path)
    monkeypatch.setattr(quick, "ROOT", root)
    assert quick.uncommitted() == ""
    (root / "file").write_text("as it is")
    assert "not committed" in quick.uncommitted()
    with quick.laid_out("HEAD", tmp_path) as tree:
        assert (tree / "file").read_text() == "as it was"
    assert not tree.exists()
    assert quick.git("worktree", "list").count("\n") == 0


@pytest.mark.process
def test_a_missing_commit_and_a_folder_with_no_clone_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    with pytest.raises(CannotCompare, match="is no clone"), quick.laid_out("HEAD", tmp_path):
        pass
    repository(tmp_path)
    for commit in ("nowhere", "--help", ""):
        with pytest.raises(CannotCompare, match="There is no commit"), quick.laid_out(commit, tmp_path):
            pass
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotCompare, match="git cannot be run"), quick.laid_out("HEAD", tmp_path):
        pass


def test_rounds_that_do_not_fit_are_left_out_but_never_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    class NodeWording(Runs):
        def run(self, benchmark: quick.Benchmark, ruler: Path) -> None:
            order.append(self.name)

    monkeypatch.setattr(quick, "BENCHMARKS", quick.BENCHMARKS[:1])
    sides = [NodeWording(Path("/a"), "then"), NodeWording(Path("/b"), "now")]
    assert quick.measure(sides, Path("/"), rounds=5, within_s=-1.0) == 2
    assert order == ["then", "now", "now", "then"]
    assert quick.measure(sides, Path("/"), rounds=3, within_s=1e9) == 3


@pytest.mark.process
@pytest.mark.parametrize("benchmark", quick.BENCHMARKS, ids=lambda each: each.name)
def test_every_benchmark_of_it_is_there_and_takes_its_arguments(benchmark: quick.Benchmark) -> None:
    command = [sys.executable, "-m", f"bench.{benchmark.name}", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=quick.ROOT)
    assert all(each in told.stdout for each in benchmark.arguments if each.startswith("--"))
