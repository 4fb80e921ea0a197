"""Threads as text: oldest first, with what was deleted, blocked or withheld as gaps; whatever the service answers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import Unreadable
from agent.references.client import WebClient
from agent.references.threads import DEPTH, MOST_POSTS, Author, Thread, read_thread, thread_of
from tests.agent.references.web import Web
from tests.examples import examples

DEFS = "app.bsky.feed.defs#"
ADA, BOB = ("did:plc:ada", "ada.example"), ("did:plc:bob", "bob.example")


def post(text: str, who: tuple[str, str] = ADA, at: str = "2026-03-04T10:00:00.000Z", **more: Any) -> dict[str, Any]:
    """A node of a thread, as the service tells it; `parent` and `replies` are of the node, the rest of the post."""
    node: dict[str, Any] = {name: more.pop(name) for name in ("parent", "replies") if name in more}
    author = {"did": who[0], "handle": who[1], "labels": more.pop("author_labels", [])}
    record = {"text": text, "createdAt": at}
    return {"$type": f"{DEFS}threadViewPost", "post": {"author": author, "record": record, **more}, **node}


def gone(sort: str) -> dict[str, Any]:
    return {"$type": f"{DEFS}{sort}", "uri": "at://x"}


def quoting(sort: str) -> dict[str, Any]:
    return {"$type": "app.bsky.embed.record#view", "record": {"$type": f"app.bsky.embed.record#{sort}"}}


def lines(root: Any) -> list[str]:
    return thread_of({"thread": root}).text.splitlines()


def test_a_thread_is_a_line_a_post_oldest_first() -> None:
    late = post("Third", at="2026-03-04T12:00:00Z")
    early = post(
        "Second\nin two lines", BOB, "2026-03-04T13:00:00+02:00", replies=[post("Fourth", at="2026-03-05T00:00:00Z")]
    )
    thread = thread_of(
        {"thread": post("First", parent=post("Before", BOB, "2026-03-01T09:00:00Z"), replies=[late, early])}
    )
    assert thread.text.splitlines() == [
        "@bob.example: Before [2026-03-01 09:00]",
        "@ada.example: First [2026-03-04 10:00]",
        "@bob.example: Second in two lines [2026-03-04 11:00]",
        "@ada.example: Third [2026-03-04 12:00]",
        "@ada.example: Fourth [2026-03-05 00:00]",
    ]
    assert thread.authors == (Author(*BOB), Author(*ADA))
    assert (thread.title, thread.posts, thread.cut) == ("A thread of @bob.example", 5, False)


def test_no_post_stands_before_the_one_it_answers_whatever_time_it_claims() -> None:
    root = post("Question", at="2026-03-04T10:00:00Z", replies=[post("Answer", BOB, "1999-01-01T00:00:00Z")])
    assert [line.partition(" [")[0] for line in lines(root)] == ["@ada.example: Question", "@bob.example: Answer"]


def test_what_is_not_shown_is_a_gap_without_words() -> None:
    root = post(
        "First",
        parent=gone("notFoundPost"),
        replies=[
            gone("blockedPost"),
            post("secret", BOB, author_labels=[{"val": "!no-unauthenticated"}]),
            post("secret", BOB, labels=[{"val": "!hide"}]),
            post("shown again", BOB, labels=[{"val": "!hide", "neg": True}]),
        ],
    )
    told = "\n".join(lines(root))
    assert told.startswith("(deleted)\n@ada.example: First")
    assert "(blocked)" in told
    assert told.count("(shown only to who is signed in)") == 2
    assert "secret" not in told
    assert "shown again" in told


@pytest.mark.parametrize(
    ("embed", "told"),
    [
        (
            {"$type": "app.bsky.embed.images#view", "images": [{"alt": "A limpet"}, {"alt": ""}]},
            "[picture: A limpet] [a picture]",
        ),
        ({"$type": "app.bsky.embed.video#view", "alt": "Waves"}, "[film: Waves]"),
        (
            {"$type": "app.bsky.embed.external#view", "external": {"title": "Tides", "uri": "https://tide.example/"}},
            "[link · Tides · https://tide.example/]",
        ),
        (
            {
                "$type": "app.bsky.embed.recordWithMedia#view",
                "media": {"$type": "app.bsky.embed.images#view", "images": [{"alt": "x"}]},
                "record": {
                    "record": {
                        "$type": "app.bsky.embed.record#viewRecord",
                        "author": {"did": BOB[0], "handle": BOB[1]},
                        "value": {"text": "Ebb"},
                    }
                },
            },
            "[quotes @bob.example: Ebb] [picture: x]",
        ),
        (quoting("viewNotFound"), "[quotes a post that is deleted]"),
        (quoting("viewBlocked"), "[quotes a post that is blocked]"),
        (quoting("viewDetached"), "[quotes a post that is taken out]"),
    ],
)
def test_what_stands_beside_the_words_is_told(embed: dict[str, Any], told: str) -> None:
    assert lines(post("Look", embed=embed)) == [f"@ada.example: Look {told} [2026-03-04 10:00]"]


def test_a_deep_thread_is_cut_and_says_so() -> None:
    node = post("The last")
    for number in range(150):
        node = post(f"Post {number}", replies=[node], replyCount=1)
    thread = thread_of({"thread": node})
    assert (thread.posts, thread.cut) == (DEPTH + 1, True)
    wide = thread_of({"thread": post("First", replies=[post(f"{n}") for n in range(MOST_POSTS + 5)])})
    assert (wide.posts, wide.cut) == (MOST_POSTS, True)
    parents: dict[str, Any] = {}
    for number in range(150):
        parents = post(f"Parent {number}", parent=parents)
    assert thread_of({"thread": post("Here", parent=parents)}).posts == DEPTH + 1


NAMES = ["$type", "post", "record", "author", "replies", "parent", "embed", "labels", "did", "text", "createdAt"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=20,
)


@examples(100)
@given(JSON)
def test_no_answer_breaks_it(told: Any) -> None:
    try:
        thread = thread_of({"thread": told})
    except Unreadable:
        return
    assert thread.posts == len(thread.text.splitlines())


@pytest.mark.parametrize(("sort", "why"), [("notFoundPost", "not there any more"), ("blockedPost", "was blocked")])
def test_a_post_that_is_gone_is_told(sort: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        thread_of({"thread": gone(sort)})


async def asked(web: Web) -> Thread:
    client = WebClient(lambda host, own, port: True)
    try:
        return await read_thread(client, "at://ada.example/app.bsky.feed.post/3k", service=web.url(""))
    finally:
        await client.close()


async def test_a_thread_is_asked_for_and_its_edits_and_deletions_are_honoured(web: Web) -> None:
    path = "/xrpc/app.bsky.feed.getPostThread"
    web.put_json(path, {"thread": post("Frist", replies=[post("Oh", BOB)])})
    assert "Frist" in (await asked(web)).text
    assert web.asked[0].path == (
        f"{path}?uri=at%3A%2F%2Fada.example%2Fapp.bsky.feed.post%2F3k&depth=100&parentHeight=100"
    )
    web.put_json(path, {"thread": post("First", replies=[gone("notFoundPost")])})
    now = (await asked(web)).text
    assert "First" in now
    assert "Oh" not in now
    web.put_json(path, {"error": "NotFound"}, status=400)
    with pytest.raises(Unreadable, match="not there any more"):
        await asked(web)
    web.put_json(path, {"error": "RateLimit"}, status=429)
    with pytest.raises(Unreadable, match="is busy"):
        await asked(web)
    for body in ("{", json.dumps(["thread"]), "[" * 100_000):
        web.put(path, body, "application/json")
        with pytest.raises(Unreadable):
            await asked(web)


def test_half_a_letter_is_replaced_not_passed_on() -> None:
    (line,) = lines(post("half \ud83d of it"))
    line.encode()
    assert "half \ufffd of it" in line
