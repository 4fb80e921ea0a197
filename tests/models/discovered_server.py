"""A model server on the loopback address that says what it is told to say: of each product what matters of its answers.

It is no model: a reply is always the same, and everything asked of it is kept.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Question:
    """One request: its path, its body (None for a GET) and what its Authorization says."""

    path: str
    body: Any
    authorization: str | None


@dataclass
class Discovered:
    """What is answered. `pages`: JSON or bytes by path; `failing`: statuses by path, which come first."""

    address: str = ""
    pages: dict[str, Any] = field(default_factory=dict)
    failing: dict[str, int] = field(default_factory=dict)
    key: str = ""  # demanded of every question, where there is one
    says: str = "Nine"
    usage: bool = True
    options: bool = True  # whether stream_options are taken
    cached: int | None = 40
    schema: bool = True
    calls: bool = True
    embeds: bool = True
    forgets: bool = False  # evaluates everything again
    asked: list[Question] = field(default_factory=list)
    _evaluated: list[int] = field(default_factory=list)

    def chat(self, body: Any) -> list[dict[str, Any]] | int:
        """The events of a reply, or a status that refuses it."""
        if body.get("stream_options") and not self.options:
            return 400
        if "response_format" in body and not self.schema:
            return 400
        text = '{"bird": "heron"}' if "response_format" in body else self.says
        delta: dict[str, Any] = {"content": text}
        if "tools" in body and self.calls:
            delta = {"content": None, "tool_calls": [{"index": 0, "function": {"name": "tide", "arguments": "{}"}}]}
        events: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}]
        if text:
            events.append({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if self.usage and body.get("stream_options"):
            usage: dict[str, Any] = {"prompt_tokens": 90, "completion_tokens": 1 if text else 0}
            if self.cached is not None:
                usage["prompt_tokens_details"] = {"cached_tokens": self.cached}
            events.append({"choices": [], "usage": usage})
        return events

    def posted(self, path: str, body: Any) -> Any:
        """What any other POST is answered; a status for what is not there."""
        match path.rpartition("/")[2]:
            case "embeddings" if self.embeds:
                return {"data": [{"embedding": [0.5, -1, 0.25]}]}
            case "tokenize" if "/props" in self.pages:
                return {"tokens": [len(each) for each in body["content"].split()]}
            case "completion" if "/props" in self.pages:
                prompt = body["prompt"]
                known = 0 if self.forgets or prompt[: len(self._evaluated)] != self._evaluated else len(self._evaluated)
                self._evaluated = prompt
                return {"content": "", "timings": {"prompt_n": len(prompt) - known, "cache_n": known}}
        return 404


def llama_server() -> Discovered:
    """What llama.cpp's own server tells of itself."""
    model = "/srv/models/Small-Chat.Q4_1.gguf"
    listed = {"id": model, "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, "size": 96_576_768}}
    props = {
        "default_generation_settings": {"n_ctx": 4096, "params": {}},
        "total_slots": 2,
        "model_path": model,
        "chat_template": "{{ messages }}",
        "build_info": "b6000-abc",
    }
    pages = {"/props": props, "/health": {"status": "ok"}, "/v1/models": {"data": [listed]}, "/slots": [{"id": 0}]}
    return Discovered(pages=pages)


def ollama() -> Discovered:
    """What Ollama tells; of the cache it says nothing."""
    names = ("nomic-embed-text:latest", "qwen3:8b")
    return Discovered(
        pages={
            "/api/version": {"version": "0.12.3"},
            "/api/tags": {"models": [{"name": name, "size": 5_200_000_000} for name in names]},
            "/v1/models": {"object": "list", "data": [{"id": name, "owned_by": "library"} for name in names]},
        },
        cached=None,
    )


def lm_studio() -> Discovered:
    """What LM Studio tells; a path that it does not have it answers with 200 and an error."""
    unexpected = {"error": "Unexpected endpoint or method. (GET /)"}
    model = {"id": "qwen2.5-7b", "type": "llm", "max_context_length": 32768, "loaded_context_length": 8192}
    pages: dict[str, Any] = {each: unexpected for each in ("/props", "/health", "/api/version")}
    pages |= {"/api/v0/models": {"data": [model]}, "/v1/models": {"data": [{"id": "qwen2.5-7b"}]}}
    return Discovered(pages=pages)


def listing(owner: str, **more: Any) -> Discovered:
    """One in OpenAI's manner, with one model that is owned by `owner`."""
    return Discovered(pages={"/v1/models": {"data": [{"id": "m/one", "owned_by": owner} | more]}})


@contextmanager
def discovered(server: Discovered) -> Iterator[Discovered]:
    """Have it listen, on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            server.asked.append(Question(self.path, body, self.headers.get("Authorization")))
            if server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
                self._send(401, {"error": {"message": f"wrong key: {self.headers.get('Authorization')}"}})
            elif status := server.failing.get(self.path):
                self._send(status, {"error": {"message": "not today"}}, {"Location": "http://elsewhere.invalid/"})
            elif body is None:
                page = server.pages.get(self.path, 404)
                self._send(page if isinstance(page, int) else 200, page)
            elif self.path.endswith("/chat/completions"):
                self._stream(server.chat(body))
            else:
                answer = server.posted(self.path, body)
                self._send(answer if isinstance(answer, int) else 200, answer)

        def _send(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(data))} | (headers or {})).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, events: list[dict[str, Any]] | int) -> None:
            if isinstance(events, int):
                self._send(events, {"error": {"message": "not supported"}})
                return
            lines = [f"data: {json.dumps(each)}\n\n" for each in events]
            self._send(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), {"Content-Type": "text/event-stream"})

        def log_message(self, format: str, *args: object) -> None:
            """Silence: the tests ask the server what was asked of it."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server.address = f"http://127.0.0.1:{listening.server_address[1]}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
