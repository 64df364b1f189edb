"""The server of the Model Context Protocol, asked by the library's own client."""

import random
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.cli.test_cli import genial
from tests.paths import ROOT
from tests.text.chat_agent import answer

anyio = pytest.importorskip("anyio")
mcp = pytest.importorskip("mcp", reason="needs mcp: pip install -e '.[mcp]'")

SMALL = {"side": 3, "colors": 3, "rack": 2, "seed": 1}


def ask(server: Any, work: Callable[[Any], Awaitable[None]]) -> None:
    """Do something with a client of a server."""

    async def main() -> None:
        async with mcp.Client(server) as client:
            await work(client)

    anyio.run(main)


def make_server(**options: Any) -> Any:
    from genial_env.text.mcp_server import make_server

    return make_server(**options)


async def call(client: Any, tool: str, **arguments: Any) -> str:
    """The text of a tool's answer; an error's begins with "error: "."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    return f"error: {text}" if result.is_error else text


def test_a_whole_game() -> None:
    async def work(client: Any) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"new_game", "look", "legal_moves", "play"}
        assert "there is no game: call new_game first" in await call(client, "look")
        text, rng = await call(client, "new_game", seat=1, opponent="greedy", **SMALL), random.Random(0)
        assert text.startswith("You play Génial!")
        assert "You are seat 1." in text
        assert "seat 0 lays" in text
        assert "error: " in (refused := await call(client, "play", move="tea"))
        assert "legal now: one of the tiles" in refused
        while "The game is over" not in text:
            assert text.splitlines()[-1] == (await call(client, "look")).splitlines()[-1]
            text = await call(client, "play", move=answer(await call(client, "legal_moves"), rng))
            assert not text.startswith("error: ")
        assert "the game is over: call new_game" in await call(client, "play", move="swap")
        assert "The game is over" in await call(client, "look")

    ask(make_server(), work)


def test_what_a_client_may_not_do() -> None:
    async def work(client: Any) -> None:
        for opponent in ("engine:touch /tmp/x", "os:getcwd", "value(weights='/etc/passwd')"):
            assert "as the " in await call(client, "new_game", opponent=opponent, **SMALL)
        assert "the seats run from 0 to 1, not 2" in await call(client, "new_game", seat=2, **SMALL)
        assert "has no mode 'solo'" in await call(client, "new_game", mode="solo")
        assert "Seat 1 decides" not in await call(client, "new_game", **SMALL)

    ask(make_server(), work)


def test_hints_are_off_unless_asked_for() -> None:
    async def work(client: Any) -> None:
        await call(client, "new_game", opponent="random", seed=1)
        said = (await call(client, "hint")).splitlines()
        assert said[0] == "the best moves, with the expected rank, from +1 (first) to -1 (last):"
        text = await call(client, "play", move=said[1].split(":")[0])
        assert "Since your last decision" in text

    ask(make_server(hints=True), work)


def test_the_command_serves_over_its_pipes() -> None:
    command = mcp.StdioServerParameters(command=sys.executable, args=["-m", "genial_env", "mcp"], cwd=ROOT)

    async def main() -> None:
        async with mcp.stdio_client(command) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            result = await session.call_tool("new_game", SMALL)
            assert "You are seat 0." in result.content[0].text

    anyio.run(main)


def test_an_unknown_judge_is_refused() -> None:
    refused = genial("mcp", "--hints", "--judge", "nobody", status=2)
    assert "unknown agent 'nobody'" in refused.stderr
