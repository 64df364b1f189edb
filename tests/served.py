"""A server for tests in a thread of this process, and a client that behaves like a browser."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import httpx
import pytest

from genial_env.core.arrays import Ints
from genial_env.core.views import View
from genial_env.policies.roster import ROSTER
from genial_env.web import _game_requests as game_requests
from genial_env.web.server import create_server
from tests.conftest import GUARD

WAIT_S = 10
"""The most seconds for which an answer may be held back for an agent."""

SMALL = {"players": 2, "edition": "2025", "mode": "individual", "side": 4}


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application in the block; yield its address."""
    server, sock = create_server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        while Browser.opened:
            Browser.opened.pop().close()
        server.should_exit = True
        thread.join(GUARD)
        assert not thread.is_alive()


class Slow:
    """An agent that thinks until the event `may_end` is set."""

    name = "slow"
    going, may_end = threading.Semaphore(0), threading.Event()

    def __call__(self, view: View, random: Any) -> Ints:
        self.going.release()
        self.may_end.wait(GUARD)
        return view.mask().argmax(axis=1)

    @classmethod
    @contextmanager
    def known(cls, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Add the agent to the named agents in the block; then let it end."""
        monkeypatch.setitem(ROSTER, cls.name, cls)
        monkeypatch.setattr(cls, "going", threading.Semaphore(0))
        monkeypatch.setattr(cls, "may_end", threading.Event())
        game_requests.list_agents.cache_clear()
        try:
            yield
        finally:
            cls.may_end.set()
            game_requests.list_agents.cache_clear()


class Browser(httpx.Client):
    """A client with its own cookies that sends the origin of its requests, as a browser does."""

    opened: ClassVar[list["Browser"]] = []
    """All browsers; they are closed when a server ends."""

    def __init__(self, address: str, *, begin: bool = True) -> None:
        super().__init__(base_url=address, headers={"origin": address}, timeout=GUARD, verify=False, trust_env=False)
        self.opened.append(self)
        self.address = address
        if begin:
            assert self.post("/api/session", json={}).status_code == 200

    def window(self, address: str | None = None) -> "Browser":
        """Return another window of the same browser, perhaps at another address of the server."""
        other = Browser(address or self.address, begin=False)
        other.cookies.update(dict(self.cookies))
        return other

    def new_game(self, *players: str | None, seed: int = 1, **changed: Any) -> dict[str, Any]:
        """Begin a game on a small board, or with other rules."""
        rules = {**SMALL, "players": len(players), **changed}
        return self._took(self.post("/api/games", json={"rules": rules, "players": players, "seed": seed}))

    def do(self, game: dict[str, Any], what: str, **sent: Any) -> dict[str, Any]:
        """Play or advance, waiting for the agent."""
        if what == "advance":
            sent["wait"] = WAIT_S
        found = self._took(self.post(f"/api/games/{game['id']}/{what}", json={"turn": game["turn"], **sent}))
        return self.do(game, what, **sent) if "thinking" in found and found["turn"] == game["turn"] else found

    def hint(self, game: dict[str, Any], **asked: Any) -> httpx.Response:
        """Ask for a hint until it is there or refused."""
        answer = self.get(f"/api/games/{game['id']}/hint", params={"wait": WAIT_S, **asked})
        return self.hint(game, **asked) if "thinking" in answer.json() else answer

    def seen_by(self, game: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return the game as a seat sees it."""
        return self._took(self.get(f"/api/games/{game['id']}", params={"seat": seat}))

    def decide(self, game: dict[str, Any], seat: int | None = None) -> dict[str, Any]:
        """Play the first legal decision of the person to play; of several people, the one on a seat."""
        game = game if seat is None else self.seen_by(game, seat)
        seat, choice = game["position"]["to_play"], game["choice"]
        if choice["swap"]:
            return self.do(game, "play", word="swap", seat=seat)
        slot = next(slot for slot, tile in enumerate(game["position"]["racks"][seat]) if tile)
        return self.do(game, "play", slot=slot, cells=choice["pairs"][0], seat=seat)

    @staticmethod
    def _took(answer: httpx.Response) -> dict[str, Any]:
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found
