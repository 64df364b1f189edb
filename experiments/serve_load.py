"""How long do people wait for an agent's answer if many play on one server at once?

    pip install -e '.[dev,serve]'
    python -m experiments.serve_load

starts `genial serve` and lets many sessions play whole games against an agent, all at once. Each session lays a tile,
asks for the agent's decision, and waits until it is there, as the page does. Then it thinks for a random time with a
given mean. The answer time is that from asking for the decision until it is there. Clients and server share the
machine.

The answer: docs/measurements.md.
"""

import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import tyro

from genial_env._util.files import write_text
from genial_env._util.shutdown import handle_signals
from genial_env.arena.provenance import machine

WAIT_S = 10
"""The most seconds for which the server may hold an answer back."""


@dataclass
class Args:
    """The options of the command line."""

    sessions: int = 200
    """sessions that play at once"""
    agent: str = "greedy"
    """the agent against which they play"""
    decisions: int = 10
    """decisions of each person; a game that is over is followed by another"""
    think_s: float = 0.0
    """mean seconds for which a person thinks about a decision"""
    side: int | None = None
    """cells along an edge of the board; None: as printed"""
    seed: int = 0
    """seed of the games and thinking times"""
    out: Path | None = None
    """JSON file for the result"""


@dataclass
class Found:
    """What was measured."""

    answers_s: list[float] = field(default_factory=list)
    """the seconds until each agent's decision was there"""
    requests_s: list[float] = field(default_factory=list)
    """the seconds until each decision of a person was answered"""
    errors: Counter[str] = field(default_factory=Counter)
    """how often each error came"""


class Player:
    """A session that plays against the agent.

    Args:
        client: the connection, with cookies of its own.
        args: the options.
        number: the number of the session.
        found: where measurements are added.
    """

    def __init__(self, client: httpx.AsyncClient, args: Args, number: int, found: Found) -> None:
        self._client, self._args, self._number, self._found = client, args, number, found
        self._random = random.Random(args.seed * 1_000_003 + number)

    async def play(self) -> None:
        """Play until the person has made all decisions."""
        await self._post("/api/session", {})
        game: dict[str, Any] | None = None
        for _ in range(self._args.decisions):
            if self._args.think_s:
                await asyncio.sleep(self._random.expovariate(1 / self._args.think_s))
            if game is None or "end" in game:
                game = await self._begin()
            start = time.perf_counter()
            game = await self._post(f"/api/games/{game['id']}/play", {"turn": game["turn"], **_decide(game)})
            self._found.requests_s.append(time.perf_counter() - start)
            while not game["waits"] and "end" not in game:
                game = await self._advance(game)

    async def _begin(self) -> dict[str, Any]:
        rules = {"players": 2, "edition": "2025", "mode": "individual"}
        if self._args.side is not None:
            rules["side"] = self._args.side
        players, seed = [None, self._args.agent], self._random.randrange(2**32)
        return await self._post("/api/games", {"rules": rules, "players": players, "seed": seed})

    async def _advance(self, game: dict[str, Any]) -> dict[str, Any]:
        start, turn = time.perf_counter(), game["turn"]
        while game["turn"] == turn:
            game = await self._post(f"/api/games/{game['id']}/advance", {"turn": turn, "wait": WAIT_S})
        self._found.answers_s.append(time.perf_counter() - start)
        return game

    async def _post(self, path: str, sent: dict[str, Any]) -> dict[str, Any]:
        """Send a request, again if it fails; return the answer."""
        for _ in range(100):
            try:
                answer = await self._client.post(path, json=sent)
            except httpx.HTTPError as error:
                self._found.errors[type(error).__name__] += 1
                continue
            if answer.is_success:
                body: dict[str, Any] = answer.json()
                return body
            self._found.errors[f"{answer.status_code}: {answer.json().get('code')}"] += 1
            await asyncio.sleep(1)
        raise RuntimeError(f"{path} failed 100 times: {dict(self._found.errors)}")


def _decide(game: dict[str, Any]) -> dict[str, Any]:
    """Return the first legal decision."""
    if game["choice"]["swap"]:
        return {"word": "decline"}
    rack = game["position"]["racks"][game["seat"]]
    slot = next(slot for slot, tile in enumerate(rack) if tile)
    return {"slot": slot, "cells": game["choice"]["pairs"][0]}


async def measure(address: str, args: Args) -> Found:
    """Let all sessions play on a server at once; return what was measured."""
    found = Found()
    clients = [
        httpx.AsyncClient(base_url=address, headers={"origin": address}, timeout=300, trust_env=False, verify=False)
        for _ in range(args.sessions)
    ]
    try:
        await asyncio.gather(
            *(Player(client, args, number, found).play() for number, client in enumerate(clients)),
        )
    finally:
        for client in clients:
            await client.aclose()
    return found


def run_server(folder: str) -> tuple[subprocess.Popen[str], str]:
    """Start `genial serve` on a free port; return the process and its address."""
    command = [sys.executable, "-m", "genial_env", "serve", "--port", "0", "--data", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.readline()
    address = re.match(r"Play at (http://127\.0\.0\.1:\d+)/", said)
    if address is None:
        process.kill()
        raise RuntimeError(f"the server did not start: {said!r}")
    return process, address[1]


def main(args: Args) -> dict[str, Any]:
    """Measure, print the result, and return it."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        process, address = run_server(folder)
        try:
            found = asyncio.run(measure(address, args))
        finally:
            process.terminate()
            process.communicate()
    result = {
        "errors": dict(found.errors),
        "answers": len(found.answers_s),
        "answers_per_s": len(found.answers_s) / (time.perf_counter() - start),
        **_quantiles("answer", found.answers_s),
        **_quantiles("request", found.requests_s),
    }
    print(
        f"{args.sessions} sessions against {args.agent}: {result['answers']} answers, "
        f"{sum(found.errors.values())} errors; "
        f"answer: median {result['answer_median_s']:.2f} s, 99 of 100 within {result['answer_p99_s']:.2f} s; "
        f"a person's decision: median {result['request_median_s']:.2f} s, p99 {result['request_p99_s']:.2f} s"
    )
    if args.out is not None:
        settings = {name: value for name, value in asdict(args).items() if name != "out"}
        write_text(args.out, json.dumps({"settings": settings, "machine": machine(), **result}, indent=2) + "\n")
    return result


def _quantiles(name: str, seconds: list[float]) -> dict[str, float]:
    median, p99 = np.quantile(seconds, [0.5, 0.99]).tolist()
    return {f"{name}_median_s": median, f"{name}_p99_s": p99}


if __name__ == "__main__":
    with handle_signals("serve_load"):
        main(tyro.cli(Args))
