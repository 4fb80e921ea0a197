"""A thread of posts as text: a line each, oldest first, from what a service that shows posts answers (AT Protocol).

The service says what there is now: what was deleted or blocked, and what only those see who are signed in, stands there
as a gap, without words. What it answers is not trusted to have any shape.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from agent.errors import Unreadable
from agent.references.address import DID, HANDLE
from agent.references.client import GOES_ON, NotGiven, WebClient
from graph.letters import paired

DEPTH = 100  # replies to replies, and parents
MOST_POSTS = 1000
LONGEST_QUOTE = 300  # characters of what a post quotes, or of what is said of a picture
LONGEST_HANDLE = 253  # characters, as of any host
INVALID = "handle.invalid"  # what a service says of one that leads nowhere
WITHHELD = ("!hide", "!no-unauthenticated", "!takedown")
SERVICE = "https://public.api.bsky.app"
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
DEFS = "app.bsky.feed.defs#"


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote: the id that stays, and the name that is shown, which is the id where there is no name that can be.

    These two are kept, so they are nothing else: no words that somebody put in their place.
    """

    did: str
    handle: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread: its words, who wrote them, how many posts there are; `cut` tells that there are more."""

    text: str
    title: str
    authors: tuple[Author, ...]
    posts: int
    cut: bool = False


@dataclass(slots=True)
class _Post:
    line: str
    at: datetime
    author: Author | None = None
    order: int = 0


@dataclass(slots=True)
class _Found:
    posts: list[_Post] = field(default_factory=list)
    cut: bool = False


async def read_thread(client: WebClient, address: str, *, service: str = SERVICE) -> Thread:
    """The thread that a post stands in, as it is now. Raises Unreadable."""
    asked = f"uri={quote(address, safe='')}&depth={DEPTH}&parentHeight={DEPTH}"
    url = f"{service}/xrpc/app.bsky.feed.getPostThread?{asked}"
    gone = f"That post is not there any more. {GOES_ON}"
    try:
        fetched = await client.get(url, accept="application/json")
    except NotGiven as error:
        raise Unreadable(gone) if error.status in (400, 404, 410) else error from error
    assert fetched is not None  # no version was known
    try:
        return await asyncio.to_thread(lambda: thread_of(json.loads(fetched.body)))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"What the service of that post answers is broken. {GOES_ON}") from error


def thread_of(told: Any) -> Thread:
    """A thread from the service's answer. Raises Unreadable."""
    root = _of(told, "thread")
    sort = str(root.get("$type", ""))
    if sort == f"{DEFS}blockedPost":
        raise Unreadable(f"That post was blocked by who wrote it, or by the service. {GOES_ON}")
    if sort == f"{DEFS}notFoundPost" or not _of(root, "post"):
        raise Unreadable(f"That post is not there any more. {GOES_ON}")
    found = _Found()
    parents = list(_parents(root))
    before = EARLIEST
    for node in reversed(parents):
        before = _add(found, node, before)
    _walk(found, root, before)
    posts = sorted(found.posts, key=lambda each: (each.at, each.order))
    authors = dict.fromkeys(each.author for each in posts if each.author is not None)
    oldest = next((each.author for each in posts if each.author is not None), None)
    title = f"A thread of @{oldest.handle}" if oldest is not None else "A thread"
    return Thread("\n".join(each.line for each in posts), title, tuple(authors), len(posts), found.cut)


def _parents(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a post answers, the nearest first."""
    node = _of(root, "parent")
    for _ in range(DEPTH):
        if not node:
            return
        yield node
        node = _of(node, "parent")


def _walk(found: _Found, root: Mapping[str, Any], before: datetime) -> None:
    """A post and all that answers it."""
    waiting = [(root, before, 0)]
    while waiting:
        node, before, depth = waiting.pop()
        if len(found.posts) >= MOST_POSTS:
            found.cut = True
            return
        at = _add(found, node, before)
        replies = node.get("replies")
        replies = [each for each in replies if isinstance(each, dict)] if isinstance(replies, list) else []
        if depth >= DEPTH:
            found.cut |= bool(replies) or _number(_of(node, "post").get("replyCount")) > 0
            continue
        waiting += [(each, at, depth + 1) for each in reversed(replies)]


def _add(found: _Found, node: Mapping[str, Any], before: datetime) -> datetime:
    """A post of the thread, never before the one it answers, whatever time it claims; when it stands there."""
    post = _of(node, "post")
    sort = str(node.get("$type", ""))
    if not post:
        gap = "(blocked)" if sort == f"{DEFS}blockedPost" else "(deleted)"
        found.posts.append(_Post(gap, before, order=len(found.posts)))
        return before
    author, record = _author(post), _of(post, "record")
    said = _time(record.get("createdAt")) or _time(post.get("indexedAt"))
    at = max(before, said or before)
    shown = f" [{said:%Y-%m-%d %H:%M}]" if said is not None else ""
    who = f"@{author.handle}" if author is not None else "@somebody"
    words = "(shown only to who is signed in)" if _is_withheld(post) else _words(post, record)
    found.posts.append(_Post(f"{who}: {words}{shown}", at, author, len(found.posts)))
    return at


def _words(post: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    text = _line(record.get("text"))
    parts = [text, *(f"[{each}]" for each in _beside(_of(post, "embed")))]
    return " ".join(part for part in parts if part) or "(no words)"


def _beside(embed: Mapping[str, Any]) -> Iterator[str]:
    """What a post shows besides its words: quotes, pictures by what is said of them, links."""
    sort = str(embed.get("$type", ""))
    if sort == "app.bsky.embed.recordWithMedia#view":
        yield from _quoted(_of(_of(embed, "record"), "record"))
        yield from _beside(_of(embed, "media"))
    elif sort == "app.bsky.embed.record#view":
        yield from _quoted(_of(embed, "record"))
    elif sort == "app.bsky.embed.images#view":
        images = embed.get("images")
        for image in images if isinstance(images, list) else []:
            alt = _short(image.get("alt")) if isinstance(image, dict) else ""
            yield f"picture: {alt}" if alt else "a picture"
    elif sort == "app.bsky.embed.video#view":
        alt = _short(embed.get("alt"))
        yield f"film: {alt}" if alt else "a film"
    elif sort == "app.bsky.embed.external#view":
        link = _of(embed, "external")
        yield " · ".join(["link", *(part for part in (_short(link.get("title")), _short(link.get("uri"))) if part)])


def _quoted(record: Mapping[str, Any]) -> Iterator[str]:
    sort = str(record.get("$type", ""))
    if sort == "app.bsky.embed.record#viewRecord":
        author = _author(record)
        words = "" if _is_withheld(record) else _short(_of(record, "value").get("text"))
        yield f"quotes @{author.handle if author is not None else 'somebody'}: {words}"
    elif sort.startswith("app.bsky.embed.record#view"):
        gone = {"viewBlocked": "blocked", "viewDetached": "taken out"}.get(sort.partition("#")[2], "deleted")
        yield f"quotes a post that is {gone}"


def _author(post: Mapping[str, Any]) -> Author | None:
    about = _of(post, "author")
    did, handle = _line(about.get("did")), _line(about.get("handle")).casefold()
    if DID.fullmatch(did) is None:
        return None
    is_one = len(handle) <= LONGEST_HANDLE and HANDLE.fullmatch(handle) is not None and handle != INVALID
    return Author(did, handle if is_one else did)


def _is_withheld(post: Mapping[str, Any]) -> bool:
    """Whether who wrote it, or the service, shows it not to everybody."""
    labels = [*_labels(post), *_labels(_of(post, "author"))]
    return any(_of(label).get("val") in WITHHELD and not _of(label).get("neg") for label in labels)


def _labels(of: Mapping[str, Any]) -> list[Any]:
    labels = of.get("labels")
    return labels if isinstance(labels, list) else []


def _of(value: Any, name: str | None = None) -> Mapping[str, Any]:
    """An object, or the one under a name of it; empty where it is none."""
    found = value.get(name) if name is not None and isinstance(value, dict) else value if name is None else None
    return found if isinstance(found, dict) else {}


def _time(said: Any) -> datetime | None:
    if not isinstance(said, str):
        return None
    try:
        at = datetime.fromisoformat(said[:40])
        return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _number(said: Any) -> int:
    return said if isinstance(said, int) else 0


def _line(text: Any) -> str:
    return " ".join(paired(text).split()) if isinstance(text, str) else ""


def _short(text: Any) -> str:
    line = _line(text)
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + "…"
