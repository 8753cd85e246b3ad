"""A model server on loopback that does what a script says: for contract and flow tests, and for benchmarks.

    with serving(lambda request: [say("Two words."), finish(), usage(), done()]) as server: ... server.url, server.asked
    python -m benchmarks.model_server --port 0 --script FILE --journal FILE     (its URL is the first line it prints)

A play is what happens to one request, a list of steps, each an object with its verb as first key: see `_Stage.STEPS`.
FILE: {"latency": [median, sigma], "rules": [{"contains": TEXT, "structured": true, "times": 1, "play": [...]}]}.
Without a play a summary is told, and to a structured request the smallest answer that its schema allows.
"""

import argparse
import asyncio
import json
import random
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

Step = dict[str, Any]
Play = list[Step]

SUMMARY = (
    "The customer looked at the scanner that stands at the gate and finds it slow. They like the new one, but its "
    "price is above what was planned for this year. The seller sends a revised quote by Friday, the customer asks "
    "the finance team, and both talk again next week."
)
_MODEL = "scripted-model"


def say(text: str, *, pieces: int | None = None, seconds: float = 0.0) -> Step:
    """Its text in so many pieces (None: a piece for each four characters), evenly over `seconds`."""
    return {"say": text, "pieces": pieces, "seconds": seconds}


def finish(reason: str | None = "stop") -> Step:
    """How it ended."""
    return {"finish": reason}


def usage(**counts: Any) -> Step:
    """What it took: as told, else a token for each four characters of the request and for each piece."""
    return {"usage": counts}


def done() -> Step:
    """The end of the stream."""
    return {"done": True}


def whole(text: str, *, pieces: int | None = None, seconds: float = 0.0) -> Play:
    """A good answer."""
    return [say(text, pieces=pieces, seconds=seconds), finish(), usage(), done()]


def reply(status: int, body: Any = None, headers: dict[str, str] | None = None) -> Step:
    """No stream but one body, JSON where it is not text."""
    return {"reply": status, "body": body, "headers": headers or {}}


@dataclass
class Asked:
    """One request as it came, and what was sent for it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    began: float
    #: output tokens that were sent, by this server's count
    pieces: int = 0
    text: str = ""
    #: whole | cut (by the script) | left (by the client); empty while it is under way
    ended: str = ""
    seconds: float = 0.0
    #: requests under way when this one came, itself included
    at_once: int = 0
    #: which connection it came by, numbered from 1
    connection: int = 0

    @property
    def words(self) -> str:
        """All that it says to the model."""
        return "\n".join(message["content"] for message in self.body.get("messages", ()))

    @property
    def is_structured(self) -> bool:
        """Whether an answer by a schema is asked for."""
        return "response_format" in self.body


def answer(asked: Asked, seconds: float = 0.0) -> Play:
    """The good answer to any request, half of the seconds before it begins."""
    form = asked.body.get("response_format") or {}
    schema = form.get("schema") or form.get("json_schema", {}).get("schema")
    text = json.dumps(_smallest(schema)) if schema else "{}" if form else SUMMARY
    return [{"wait": seconds / 2}, *whole(text, seconds=seconds / 2)]


def _smallest(schema: dict[str, Any]) -> Any:
    """The smallest value that a schema of the strict portable subset allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kinds = [option["type"] for option in schema["anyOf"]] if "anyOf" in schema else [schema["type"]]
    if "null" in (kinds := kinds[0] if isinstance(kinds[0], list) else kinds):
        return None
    if kinds[0] == "object":
        return {name: _smallest(part) for name, part in schema.get("properties", {}).items()}
    return {"array": [], "string": "text", "integer": 0, "number": 0, "boolean": False}[kinds[0]]


class Script:
    """The play of each request, as a script file says. Latencies come from its seed, in the order of requests."""

    def __init__(self, script: dict[str, Any]) -> None:
        self._rules: list[dict[str, Any]] = [dict(rule) for rule in script.get("rules", ())]
        self._median, self._sigma = script.get("latency", (0.0, 0.0))
        self._random = random.Random(script.get("seed", 0))  # noqa: S311 - a latency is no secret

    def __call__(self, asked: Asked) -> Play:
        """The first rule's that fits and is not used up, else a good answer."""
        for rule in self._rules:
            if self._fits(rule, asked):
                rule["times"] = rule.get("times", float("inf")) - 1
                return rule["play"]
        spread = self._random.lognormvariate(0.0, self._sigma) if self._sigma else 1.0
        return answer(asked, self._median * spread)

    def _fits(self, rule: dict[str, Any], asked: Asked) -> bool:
        return (
            rule.get("times", 1) > 0
            and rule.get("structured", asked.is_structured) == asked.is_structured
            and rule.get("contains", "") in asked.words
        )


class ModelServer:
    """Serves on a loopback port; `asked` has each request in the order of their coming."""

    def __init__(self, play: Callable[[Asked], Play] = answer, journal: Path | None = None) -> None:
        self.asked: list[Asked] = []
        self.url = ""
        self._play = play
        self._journal = journal
        self._under_way = 0
        self._connections: set[asyncio.Task[None]] = set()
        self._accepted = 0

    @property
    def connections(self) -> int:
        """How many clients are connected now."""
        return len(self._connections)

    async def run(self, port: int, ready: Callable[[], None]) -> None:
        """Serve until cancelled."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", port, limit=2**20, backlog=1_024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready()
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            for task in self._connections:
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio runs this as a task
        self._connections.add(task)
        self._accepted += 1
        number = self._accepted
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._serve(number, reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        self._under_way += 1
        asked = Asked(head[0].split(" ")[1], headers, body, time.time(), at_once=self._under_way, connection=number)
        self.asked.append(asked)
        stage = _Stage(asked, reader, writer)
        began = time.monotonic()
        try:
            asked.ended = await stage.perform(self._play(asked))
        except (ConnectionError, asyncio.CancelledError):
            asked.ended = "left"
            raise
        finally:
            self._under_way -= 1
            asked.seconds = time.monotonic() - began
            self._write(asked)
        return asked.ended == "whole" and headers.get("connection", "").lower() != "close"

    def _write(self, asked: Asked) -> None:
        if self._journal is not None:
            with self._journal.open("a") as journal:
                journal.write(json.dumps(asdict(asked)) + "\n")


@dataclass
class _Stage:
    """Where the play of one request is performed."""

    asked: Asked
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    has_head: bool = False
    is_plain: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{random.getrandbits(48):x}")

    async def perform(self, play: Play) -> str:
        for step in play:
            verb = next(iter(step))
            ended = await self.STEPS[verb](self, step)
            if ended:
                return ended
        if self.has_head:
            self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()
        return "cut" if self.is_plain else "whole"

    async def wait(self, step: Step) -> None:
        """{"wait": seconds}"""
        await asyncio.sleep(step["wait"])

    async def reply(self, step: Step) -> None:
        """{"reply": status, "body": text or JSON, "headers": {...}}"""
        body = step.get("body")
        kind = "text/plain" if isinstance(body, str) else "application/json"
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else b""
        headers = {"content-type": kind, "content-length": str(len(content))} | step.get("headers", {})
        self._head(step["reply"], headers)
        self.writer.write(content)

    async def head(self, step: Step) -> None:
        """{"head": status, "headers": {...}}: the head of a stream, which else comes by itself"""
        self._head(
            step["head"], {"content-type": "text/event-stream", "transfer-encoding": "chunked"} | step["headers"]
        )
        self.has_head = True

    async def say(self, step: Step) -> None:
        """{"say": text, "pieces": number, "seconds": over how long}"""
        text = step["say"]
        size = -(-len(text) // step["pieces"]) if step.get("pieces") else 4
        for start in range(0, len(text), size):
            if step.get("seconds"):
                await asyncio.sleep(step["seconds"] * size / len(text))
            self.asked.pieces += 1
            self.asked.text += text[start : start + size]
            await self._chunk([{"index": 0, "delta": {"content": text[start : start + size]}, "finish_reason": None}])

    async def finish(self, step: Step) -> None:
        """{"finish": reason}"""
        await self._chunk([{"index": 0, "delta": {}, "finish_reason": step["finish"]}])

    async def usage(self, step: Step) -> None:
        """{"usage": {...}}"""
        counted = {"prompt_tokens": len(self.asked.words) // 4, "completion_tokens": self.asked.pieces}
        await self._chunk([], usage=step["usage"] or counted)

    async def chunk(self, step: Step) -> None:
        """{"chunk": any JSON}: as it is"""
        await self.data({"data": json.dumps(step["chunk"])})

    async def data(self, step: Step) -> None:
        """{"data": text, "event": name}: an event, whatever its text is"""
        event = f"event: {step['event']}\n" if "event" in step else ""
        await self._send(f"{event}data: {step['data']}\n\n".encode())

    async def done(self, _step: Step) -> None:
        """{"done": true}"""
        await self._send(b"data: [DONE]\n\n")

    async def raw(self, step: Step) -> None:
        """{"raw": text, "every": seconds}: bytes of the connection, one by one"""
        self.is_plain = True
        for byte in step["raw"].encode():
            self.writer.write(bytes([byte]))
            await self.writer.drain()
            await asyncio.sleep(step.get("every", 0.0))

    async def drip(self, step: Step) -> None:
        """{"drip": text, "every": seconds}: of the stream's bytes, one by one"""
        for byte in step["drip"].encode():
            await self._send(bytes([byte]))
            await asyncio.sleep(step["every"])

    async def cut(self, _step: Step) -> str:
        """{"cut": true}: the connection ends in the midst of it"""
        await self.writer.drain()
        return "cut"

    async def reset(self, _step: Step) -> str:
        """{"reset": true}: and what was not sent yet is lost"""
        await self.writer.drain()
        self.writer.transport.abort()
        return "cut"

    async def stall(self, _step: Step) -> str:
        """{"stall": true}: nothing more until the client leaves"""
        await self.writer.drain()
        await self.reader.read(1)
        return "left"

    #: The verbs.
    STEPS: ClassVar[dict[str, Callable[..., Awaitable[str | None]]]] = {
        step.__name__: step
        for step in (wait, reply, head, say, finish, usage, chunk, data, done, raw, drip, cut, reset, stall)
    }

    def _head(self, status: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} -", *(f"{name}: {value}" for name, value in headers.items())]
        self.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def _chunk(self, choices: list[Any], **more: Any) -> None:
        common = {"id": self.id, "object": "chat.completion.chunk", "created": 0, "model": _MODEL}
        await self.chunk({"chunk": common | {"choices": choices} | more})

    async def _send(self, content: bytes) -> None:
        if not self.has_head:
            await self.head({"head": 200, "headers": {"x-request-id": f"req-{self.id}"}})
        self.writer.write(b"%x\r\n%b\r\n" % (len(content), content))
        await self.writer.drain()


@contextmanager
def serving(play: Callable[[Asked], Play] = answer, journal: Path | None = None) -> Iterator[ModelServer]:
    """A server in a thread of this process, until the block ends."""
    server, ready, loop = ModelServer(play, journal), threading.Event(), asyncio.new_event_loop()
    running = loop.create_task(server.run(0, ready.set))

    def serve() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(running)
        loop.close()

    thread = threading.Thread(target=serve, name="model-server")
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(running.cancel)
        thread.join()


def main() -> None:
    """Serve until killed."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.model_server")
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--script", type=Path)
    options.add_argument("--journal", type=Path)
    given = options.parse_args()
    script = Script(json.loads(given.script.read_text()) if given.script else {})
    server = ModelServer(script, given.journal)
    with suppress(KeyboardInterrupt):
        asyncio.run(server.run(given.port, lambda: print(server.url, flush=True)))


if __name__ == "__main__":
    main()
