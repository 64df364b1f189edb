"""What a server takes on: work in fair queues, clients with deadlines, a process that ends at once."""

import asyncio
import json
import logging
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from genial_env import Rules, play
from genial_env._util.stopping import checkpoint
from genial_env.records import to_json_line
from genial_env.table import Table
from genial_env.web import _app as web_app
from genial_env.web import _record_requests as record_requests
from genial_env.web import make_app, server
from genial_env.web._request_checks import Refused
from genial_env.web._work_queue import Task, TaskCancelled, WorkQueue
from genial_env.web.limits import Limits
from tests.conftest import GUARD, posix
from tests.served import Browser, served

# Queues


class Gated:
    """A queue of one thread, in which a first task keeps the thread until the gate is opened."""

    def __init__(self, most: int = 100) -> None:
        self.queue = WorkQueue(1, most, "test")
        self.order: list[str] = []
        self._gate, begun = threading.Event(), threading.Event()

        def first(task: Task[None]) -> None:
            begun.set()
            assert self._gate.wait(60)

        self.first = self.queue.submit("gate", "gate", first)
        assert begun.wait(60)

    def add(self, owner: str, name: str, kind: str = "unknown") -> Task[None]:
        return self.queue.submit(owner, kind, lambda task: self.order.append(name))

    def open(self, *tasks: Task[Any]) -> None:
        self._gate.set()
        for task in tasks:
            asyncio.run(task.wait(60))


@pytest.fixture
def gated() -> Iterator[Gated]:
    made = Gated()
    yield made
    made.open()
    made.queue.close()


def test_owners_take_turns(gated: Gated) -> None:
    tasks = [gated.add("many", f"many {number}") for number in range(3)]
    tasks.append(gated.add("one", "one"))
    gated.open(*tasks)
    assert gated.order == ["many 0", "one", "many 1", "many 2"]


def test_short_tasks_are_not_kept_waiting_by_long_ones() -> None:
    done = threading.Event()
    queue = WorkQueue(1, 10, "test")
    for kind, seconds in (("long", 0.05), ("short", 0.0)):  # from which the queue knows what to expect
        asyncio.run(queue.submit("teacher", kind, lambda task, s=seconds: done.wait(s)).wait(60))
    order: list[str] = []
    gate = threading.Event()
    tasks = [queue.submit("gate", "gate", lambda task: gate.wait(60))]
    for owner, kind in (("a", "long"), ("b", "long"), ("c", "short")):
        tasks.append(queue.submit(owner, kind, lambda task, owner=owner: order.append(owner) is None))
    gate.set()
    for task in tasks:
        asyncio.run(task.wait(60))
    assert order == ["c", "a", "b"]


def test_a_dropped_task_is_not_begun(gated: Gated) -> None:
    dropped, other = gated.add("a", "dropped"), gated.add("a", "other")
    dropped.cancel()
    gated.first.cancel()  # in progress: it goes on, for nobody
    gated.open(other)
    assert gated.order == ["other"]
    for task in (dropped, gated.first):
        with pytest.raises(TaskCancelled):
            task.outcome()
        with pytest.raises(TaskCancelled):
            task.check_cancelled()


def test_a_cancelled_task_ends_at_its_next_checkpoint() -> None:
    """So the thread is free for others, without another in its place."""
    begun, queue = threading.Event(), WorkQueue(1, 10, "test")

    def judge(task: Any) -> None:
        while True:
            begun.set()
            checkpoint()

    task = queue.submit("a", "judge", judge)
    assert begun.wait(60)
    task.cancel()
    asyncio.run(queue.submit("b", "next", lambda task: None).wait(60))
    deadline = time.monotonic() + GUARD
    while queue.busy:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    queue.close()


def test_another_task_is_done_while_one_waits_for_the_disk() -> None:
    """A queue of one thread: the second task ends before the first, which stands aside."""
    saved, queue = threading.Event(), WorkQueue(1, 10, "test")

    def save(task: Any) -> None:
        with task.aside():
            assert saved.wait(GUARD)

    first = queue.submit("a", "save", save)
    asyncio.run(queue.submit("b", "next", lambda task: None).wait(60))
    assert not first.done
    saved.set()
    asyncio.run(first.wait(60))
    first.outcome()
    queue.close()


def test_a_queue_is_bounded() -> None:
    gated = Gated(most=2)
    tasks = [gated.add("a", "0"), gated.add("b", "1")]
    with pytest.raises(Refused, match="the server is busy"):
        gated.add("c", "2")
    tasks[0].cancel()
    tasks.append(gated.add("c", "3"))
    gated.open(*tasks)
    assert sorted(gated.order) == ["1", "3"]
    gated.queue.close()
    with pytest.raises(Refused, match="is ending"):
        gated.add("a", "4")


def test_what_goes_wrong_in_a_task_is_its_outcome_alone(caplog: pytest.LogCaptureFixture) -> None:
    queue = WorkQueue(1, 10, "test")
    failing: list[tuple[Callable[[Any], Any], type[Exception]]] = [
        (lambda task: 1 // 0, ZeroDivisionError),
        (lambda task: sys.exit(0), RuntimeError),
    ]
    for work, error in failing:
        task = queue.submit("a", "fails", work)
        asyncio.run(task.wait(60))
        with pytest.raises(error):
            task.outcome()
    assert [record.message for record in caplog.records] == ["fails failed"] * 2
    task = queue.submit("a", "works", lambda task: 7)
    asyncio.run(task.wait(60))
    assert task.outcome() == 7
    queue.close()


def test_waiting_has_its_time(gated: Gated) -> None:
    asyncio.run(gated.first.wait(0.001))
    assert not gated.first.done


# The table


def test_choosing_changes_nothing_and_playing_is_taken_back() -> None:
    table, other = (Table(Rules(2, side=4), ["denial", "greedy"], 3) for _ in range(2))
    for _ in range(5):
        before = table.to_dict(), table.record(), {name: a.copy() for name, a in table.state.arrays().items()}
        chosen = table.choose()
        assert (table.to_dict(), table.record()) == before[:2]
        assert table.advance(chosen) == other.advance() == chosen
        table.take_back()
        assert (table.to_dict(), table.record()) == before[:2]
        assert all((before[2][name] == array).all() for name, array in table.state.arrays().items())
        table.advance()
    while table.choose() is not None:
        table.advance()
    assert table.over
    fresh = Table(Rules(2), [None, None], 1)
    assert fresh.choose() is None
    with pytest.raises(ValueError, match="nothing was played"):
        fresh.take_back()


# Clients


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines and looks after them are short."""
    monkeypatch.setattr(server, "CHECK_S", 0.02)
    monkeypatch.setattr(server, "DEADLINES_S", dict.fromkeys(server.DEADLINES_S, 0.1))


def connected(address: str) -> socket.socket:
    host, _, port = address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=GUARD)


def sent_back(client: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    found = b""
    try:
        while part := client.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


HALVES = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half of the headers": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A",
    "half a request behind a whole one": b"GET /static/dom.js HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",
    "half a body": b"POST /api/rules HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
    b"Content-Length: 9\r\n\r\n{",
}


@pytest.mark.usefixtures("impatient")
def test_half_a_request_is_not_waited_for_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    with served(make_app()) as address:
        clients = {name: connected(address) for name in HALVES}
        for name, half in HALVES.items():
            clients[name].sendall(half)
        answers = {name: sent_back(client) for name, client in clients.items()}
        for client in clients.values():
            client.close()
    assert answers.pop("half a request behind a whole one").startswith(b"HTTP/1.1 200")
    assert set(answers.values()) == {b""}
    assert caplog.records == []


@posix
@pytest.mark.usefixtures("impatient")
def test_a_client_that_takes_nothing_is_not_waited_for() -> None:
    with served(make_app()) as address, connected(address) as client:
        client.setblocking(False)
        asked = b"GET /static/game.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2000
        while asked and select.select([], [client], [], 0.2)[1]:
            try:
                asked = asked[client.send(asked) :]
            except ConnectionError:
                break
        ended = select.poll()
        ended.register(client, 0)
        assert ended.poll(30_000)


def test_held_back_answers_have_no_deadline(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that waits for an agent is answered, after however many looks of its connection."""
    looks = threading.Semaphore(0)
    stage = server.Connection.stage

    def counted(self: server.Connection) -> str:
        found = stage(self)
        if found == "answer":
            looks.release()
        return found

    monkeypatch.setattr(server.Connection, "stage", counted)

    def choose(table: Table) -> int:
        for _ in range(20):  # more than the deadline's
            assert looks.acquire(timeout=GUARD)
        return int(table.view(table.to_play).mask()[0].argmax())

    monkeypatch.setattr(Table, "choose", choose)
    with served(make_app()) as address:
        browser = Browser(address)
        game = browser.new_game("greedy", None)
        answer = browser.post(f"/api/games/{game['id']}/advance", json={"turn": 0, "wait": 30})
        assert answer.json()["turn"] == 1


def test_too_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 2)
    with served(make_app()) as address:
        first, second = connected(address), connected(address)
        first.sendall(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert first.recv(12) == b"HTTP/1.1 404"
        second.sendall(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert second.recv(12) == b"HTTP/1.1 404"
        with connected(address) as third:
            assert sent_back(third).startswith(b"HTTP/1.1 503")
        first.close()
        answer = b"HTTP/1.1 503"
        while answer.startswith(b"HTTP/1.1 503"):  # until the server has noticed
            with connected(address) as again:
                again.sendall(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                answer = sent_back(again)
        assert answer.startswith(b"HTTP/1.1 404")
        second.close()


def head(browser: Browser, path: str, length: int) -> bytes:
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    origin = browser.address
    host = origin.removeprefix("http://")
    return (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nCookie: {cookies}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def a_line() -> str:
    records = play(["greedy", "random"], Rules(2, side=4), seed=4, record=True).records
    assert records is not None
    return to_json_line(records[0])


def test_clients_that_leave(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of what they send, of a wait, or of an answer: nothing is logged, what they took is free."""
    caplog.set_level(logging.INFO)
    begun, broke_off = threading.Event(), threading.Event()

    def review(record: Any, judge: str, tell: Callable[[int, int], None], **_: Any) -> Any:
        begun.set()
        try:
            while True:
                tell(1, 2)
                broke_off.wait(0.005)
        finally:
            broke_off.set()

    monkeypatch.setattr(record_requests, "review", review)
    line = a_line().encode()
    with served(make_app(limits=Limits(uploads=1))) as address:
        browser = Browser(address)
        game = browser.new_game("greedy", None)
        for path in ("/api/records", "/api/games", "/api/steps", f"/api/games/{game['id']}/advance"):
            with connected(address) as client:
                client.sendall(head(browser, path, 50) + b'{"turn"')
        with connected(address) as client:
            client.sendall(head(browser, "/api/review", len(line)) + line)
            assert client.recv(12) == b"HTTP/1.1 200"
            assert begun.wait(GUARD)  # a review that nobody has begun is dropped without a word
        assert broke_off.wait(GUARD)
        while (answer := browser.post("/api/records", content=line)).status_code == 503:  # until the server has noticed
            assert "files as it can" in answer.json()["error"]
        assert answer.status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.WARNING or record.exc_info] == []


def test_a_client_that_leaves_before_the_first_line_of_a_review(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has begun to listen, and the work breaks off all the same."""

    def review(record: Any, judge: str, tell: Callable[[int, int], None], **_: Any) -> Any:
        while True:
            tell(1, 2)

    async def left() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def sent(message: Any) -> None:
        await asyncio.Event().wait()  # for ever

    async def ask() -> bool:
        judging = record_requests.ReviewStream(queue, "somebody", json.loads(a_line()), "fast", "hidden")
        await web_app.ReviewAnswer(judging)({"type": "http", "asgi": {"spec_version": "2.0"}}, left, sent)
        return judging.task.done

    monkeypatch.setattr(record_requests, "review", review)
    queue = WorkQueue(1, 1, "clerk")
    assert asyncio.run(ask())
    queue.close()


def test_files_in_memory_are_limited() -> None:
    with served(make_app(limits=Limits(uploads=1))) as address:
        browser = Browser(address)
        line = a_line().encode()
        with connected(address) as client:
            expecting = b"\r\nExpect: 100-continue\r\n\r\n"
            client.sendall(head(browser, "/api/records", len(line)).replace(b"\r\n\r\n", expecting))
            assert client.recv(100).startswith(b"HTTP/1.1 100")  # the server reads it
            assert "files as it can" in browser.post("/api/records", content=line).json()["error"]
            client.sendall(line)
            assert client.recv(12) == b"HTTP/1.1 200"
        assert browser.post("/api/records", content=line).status_code == 200


# The process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@posix
def test_ctrl_c_while_agents_think(tmp_path: Path, number: signal.Signals) -> None:
    """It ends at once and says nothing, with everything written; another server is refused until then."""
    command = [sys.executable, "-m", "genial_env", "serve", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = re.match(r"Play at (http://127\.0\.0\.1:\d+)/", process.stdout.readline())
        assert address, process.stderr.read()
        browser = Browser(address[1])
        games = [browser.decide(browser.new_game(None, "ismcts", side=6, seed=seed)) for seed in range(4)]
        for game in games:
            answer = browser.post(f"/api/games/{game['id']}/advance", json={"turn": 1})
            assert answer.status_code == 200
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert f"{tmp_path}: Another process is writing there (process {process.pid} on " in second.stderr
        process.send_signal(number)
        assert (process.wait(60), process.stderr.read()) == (0, "")
    browser.close()
    written = [json.loads(path.read_text()) for path in tmp_path.glob("*/*.json")]
    assert [len(kept["table"]["actions"]) >= 1 for kept in written] == [True] * 4


HANGING = """
import sys, threading, time
from genial_env.cli.common import app
from genial_env.cli import web
from genial_env.web import _game_requests
_game_requests.list_games = lambda session: print("hangs", flush=True) or time.sleep(3600)
sys.argv = ["genial", "serve", "--port", "0", "--data", sys.argv[1]]
app()
"""


@posix
def test_one_ctrl_c_ends_a_server_with_a_thread_that_hangs(tmp_path: Path) -> None:
    """A thread cannot be ended; the process ends all the same, and says nothing."""
    command = [sys.executable, "-c", HANGING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = re.match(r"Play at (http://127\.0\.0\.1:\d+)/", process.stdout.readline())
        assert address, process.stderr.read()
        browser = Browser(address[1])
        game = browser.decide(browser.new_game(None, "greedy"))
        with connected(address[1]) as client:
            cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            client.sendall(f"GET /api/games HTTP/1.1\r\nHost: localhost\r\nCookie: {cookies}\r\n\r\n".encode())
            assert process.stdout.readline() == "hangs\n"
            for _ in range(2):  # the second changes nothing
                process.send_signal(signal.SIGINT)
            assert (process.wait(60), process.stderr.read()) == (0, "")
    browser.close()
    (written,) = tmp_path.glob("*/*.json")
    assert (written.stem, len(json.loads(written.read_text())["table"]["actions"])) == (game["id"], 1)
