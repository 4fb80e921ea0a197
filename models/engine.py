"""One thread that runs every model, one job at a time, the foreground's first.

Jobs are resumable: `run` returns False when it was interrupted, and is called again from where its KV cache stands.
What interrupts is the abort flag: raised when a foreground job arrives while a background one runs, or when the running
job is cancelled; it ends a decode within milliseconds. All models of the process share one engine, so that an
embedding never competes with a reply for the cores. A brief job, of some milliseconds, comes before all others, and
into a reply between two of its steps: nobody waits for the end of a reply to look something up. What a job raises is
for who waits for it; a bug of the engine itself ends the thread, and another goes on with what waits.
"""

import asyncio
import atexit
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from types import TracebackType
from typing import Any

from models.errors import EngineClosed
from models.native import AbortFlag


class Rank(IntEnum):
    """Whose turn it is first."""

    BRIEF = 0
    FOREGROUND = 1
    BACKGROUND = 2


class Job(ABC):
    """Something for the engine's thread to do; subclasses hold what must survive an interruption."""

    rank = Rank.BACKGROUND

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.cancelled = False

    @abstractmethod
    def run(self) -> bool:
        """Work until done (True) or interrupted (False); on the engine's thread."""

    @abstractmethod
    def fail(self, error: Exception) -> None:
        """The job will not be done; on any thread."""

    def release(self) -> None:  # noqa: B027 - most hold nothing
        """Free what it holds; called once, after the last `run`."""

    def tell(self, function: Callable[..., object], *args: object) -> None:
        """Call a function in the waiting event loop; if that is gone, so is the wish."""
        try:
            self.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            self.cancelled = True


class EngineTask(Job):
    """A job whose outcome is awaited."""

    def __init__(self) -> None:
        super().__init__()
        self.outcome: asyncio.Future[Any] = self.loop.create_future()

    def succeed(self, value: object) -> None:
        self.tell(self._settle, value, None)

    def fail(self, error: Exception) -> None:
        self.tell(self._settle, None, error)

    def _settle(self, value: object, error: Exception | None) -> None:
        if self.outcome.done():
            return
        if error is None:
            self.outcome.set_result(value)
        else:
            self.outcome.set_exception(error)


class EngineCall(EngineTask):
    """A plain function on the engine's thread, between two jobs."""

    def __init__(self, function: Callable[[], object], *, rank: Rank = Rank.FOREGROUND) -> None:
        super().__init__()
        self.rank = rank
        self._function = function

    def run(self) -> bool:
        self.succeed(self._function())
        return True


class _Handover:
    """Whatever a job raises goes to the one who waits for it; the thread goes on."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.failed = False

    def __enter__(self) -> "_Handover":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        if isinstance(error, Exception):
            self.failed = True
            self._job.fail(error)
            return True
        return False


class Engine:
    """The thread and its queues. `flag` belongs in every context that its jobs use."""

    def __init__(self) -> None:
        self.flag = AbortFlag()
        self._changed = threading.Condition()
        self._queues: tuple[deque[Job], ...] = tuple(deque() for _ in Rank)
        self._running: Job | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self._owned: list[Callable[[], None]] = []

    def own(self, free: Callable[[], None]) -> None:
        """`free` is called on the thread when the engine shuts down, unless `disown` came before."""
        with self._changed:
            self._owned.append(free)

    def disown(self, free: Callable[[], None]) -> None:
        with self._changed:
            self._owned.remove(free)

    def submit(self, job: Job) -> None:
        """Queue a job; a foreground or brief one interrupts the background. Raises EngineClosed."""
        with self._changed:
            if self._closed:
                raise EngineClosed
            self._queues[job.rank].append(job)
            if self._running is not None and job.rank < self._running.rank == Rank.BACKGROUND:
                self.flag.set(True)
            if self._thread is None:
                atexit.register(self.shutdown)
            if self._thread is None or not self._thread.is_alive():
                self._begin()
            self._changed.notify()

    def cancel(self, job: Job) -> None:
        """End a job as soon as can be: a running one sees `cancelled`, a waiting one is dropped."""
        with self._changed:
            job.cancelled = True
            if self._running is job:
                self.flag.set(True)
                return
            dropped = [queue for queue in self._queues if job in queue]
            for queue in dropped:
                queue.remove(job)
        if dropped:
            job.release()

    def stop_foreground(self) -> None:
        """Cancel the foreground jobs, but let them run to say how they ended."""
        with self._changed:
            for job in self._queues[Rank.FOREGROUND]:
                job.cancelled = True
            if self._running is not None and self._running.rank == Rank.FOREGROUND:
                self._running.cancelled = True
                self.flag.set(True)

    def between(self) -> None:
        """Run the brief jobs that wait; long foreground jobs call it between two steps, on the engine's thread."""
        briefs = self._queues[Rank.BRIEF]
        while briefs:
            with self._changed:
                if not briefs:
                    return
                job = briefs.popleft()
            with _Handover(job) as outcome:
                done = job.run()
            if outcome.failed or done or job.cancelled:
                job.release()
                continue
            with self._changed:  # whoever called is being stopped, and the flag is up
                briefs.appendleft(job)
            return

    def shutdown(self) -> None:
        """End the running job, free what is owned, end the thread. Idempotent; from any thread but its own."""
        with self._changed:
            self._closed = True
            if self._running is not None:
                self._running.cancelled = True
            self.flag.set(True)
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self.shutdown)

    def _begin(self) -> None:
        # A daemon, as the interpreter would wait for any other; `shutdown` at exit ends it in order.
        self._thread = threading.Thread(target=self._work, name="clew-llama", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        ended = False
        try:
            while (job := self._next()) is not None:
                with _Handover(job) as outcome:
                    done = job.run()
                self._settle(job, done=outcome.failed or done)
            ended = True
        finally:
            if not ended:
                self._go_on()
        for queue in self._queues:
            for job in queue:
                job.fail(EngineClosed())
                job.release()
        for free in self._owned:
            free()

    def _next(self) -> Job | None:
        with self._changed:
            while not self._closed and not any(self._queues):
                self._changed.wait()
            if self._closed:
                return None
            job = next(queue for queue in self._queues if queue).popleft()
            self._running = job
            self.flag.set(job.cancelled)
            return job

    def _go_on(self) -> None:
        """After a bug: whoever waits for the job it happened in is told, and another thread takes the others."""
        with self._changed:
            failed, self._running = self._running, None
            self._begin()
        if failed is not None:
            failed.fail(RuntimeError("The engine stopped because of a bug; it goes on. Try again."))

    def _settle(self, job: Job, *, done: bool) -> None:
        with self._changed:
            self._running = None
            done = done or job.cancelled
            if not done:
                self._queues[job.rank].appendleft(job)
        if done:
            job.release()


_SHARED: list[Engine] = []
_SHARED_LOCK = threading.Lock()


def shared_engine() -> Engine:
    """The engine of this process; it lives until the interpreter exits."""
    with _SHARED_LOCK:
        if not _SHARED:
            _SHARED.append(Engine())
        return _SHARED[0]
