"""Documents read in from the chat, beside everything else: how far it has come, how it ended, and how it is stopped."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from tui import history_handlers
from tui.chat_view import NOT_YET, ChatView
from tui.text import by_ending, cut
from tui.widgets.dialogs import Reader
from tui.widgets.impact import ImpactChoice

if TYPE_CHECKING:
    from agent.ingesting.ingester import IngestReport

NO_PATH = "No path given. Name a file or folder, such as /ingest ~/notes"
WHILE_S = 600.0  # a line about what is under way stays until the next one


class Ingestion:
    """One reading at a time."""

    def __init__(self, view: ChatView) -> None:
        self._view = view
        self._reading: asyncio.Task[None] | None = None

    def begin(self, words: str) -> None:
        """Read a file or a folder in; Esc stops it."""
        if self._reading is not None and not self._reading.done():
            self._view.ui.say("Documents are already being added. Press Esc to stop.")
            return
        if not words.strip():
            self._view.ui.say(NO_PATH)
            return
        self._reading = asyncio.create_task(self._read_in(Path(words).expanduser()))

    def stop(self) -> bool:
        """Stop it; False if nothing is being read in."""
        if self._reading is None or self._reading.done():
            return False
        self._reading.cancel()
        return True

    async def _read_in(self, path: Path) -> None:
        view = self._view
        if view.chat is None or view.backstage is None:
            view.ui.say(NOT_YET)
            return
        view.ui.say(f"Reading {cut(str(path), 60)} … Esc to stop", for_s=WHILE_S)
        try:
            reading = view.chat.service.documents.ingest(path, project=await view.project())
            async for step in reading:
                self._came(step)
            report = await reading
        except asyncio.CancelledError:
            view.ui.say("Stopped. The files read so far are kept. Run the same command to continue.")
        except view.failures as error:
            view.ui.say(str(error), error=True)
        else:
            view.ui.say(_told(report))
            if report.skipped:
                view.ui.show(Reader("Skipped files", _skipped(report)))
            if report.missing:
                view.ui.begin(self._take_out(report.missing))

    async def _take_out(self, missing: list[str]) -> None:
        """Ask whether documents whose files are gone are to leave the memory."""
        view = self._view
        assert view.chat is not None
        service = view.chat.service
        gone, are, them, stay = f"{len(missing):,} files no longer exist", "They were", "them", "documents stay"
        if len(missing) == 1:
            gone, are, them, stay = "1 file no longer exists", "It was", "it", "document stays"
        title = f"{gone}. Remove {them} from the memory?"
        way = ImpactChoice("", lambda: service.plans.take_out(missing))
        taken = await history_handlers.agreed(view, title, way, yes="remove")
        kept = f"Nothing was changed. The {stay} in the memory."
        view.ui.say(kept if taken is None else f"{are} removed from the memory. /undo undoes this.")

    def _came(self, step: object) -> None:
        done, total, file = (getattr(step, name, 0) for name in ("done", "total", "file"))
        name = Path(str(file)).name
        self._view.ui.say(f"Reading {done:,} of {total:,}: {cut(name, 48)} · Esc to stop", for_s=WHILE_S)


def _told(report: "IngestReport") -> str:
    counts = [
        (len(report.added), "added"),
        (len(report.refreshed), "refreshed"),
        (len(report.unchanged), "unchanged"),
        (len(report.missing), "missing"),
        (len(report.skipped), "skipped"),
    ]
    words = ", ".join(f"{count:,} {what}" for count, what in counts if count) or "nothing to read"
    stopped = "Stopped. " if report.stopped else ""
    others = f" Unsupported: {by_ending(report.others)}." if report.others else ""
    guessed = f" Not all UTF-8, so some letters are guesses: {by_ending(report.guessed)}." if report.guessed else ""
    return f"{stopped}Documents: {words}.{others}{guessed} Press F4, then 5 to see them."


def _skipped(report: "IngestReport") -> str:
    return "\n".join(f"{path}: {why}" for path, why in report.skipped[:500])
