"""A server of the Model Context Protocol with which a language model plays a game (extra mcp).

The client names the rules and the opponents. Its words are data: it can name the agents of the package only, and so
neither start programs nor import code.
"""

import secrets
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from genial_env._util.version import __version__
from genial_env.analysis.judge import make_judge
from genial_env.core.rules import Rules
from genial_env.notation.moves import format_with_points
from genial_env.policies.base import NONE
from genial_env.table import Table
from genial_env.text.game import TextGame

__all__ = ["make_server"]

INSTRUCTIONS = """Play the board game Génial! (Ingenious) against agents. Begin with new_game. Then call play with a
move in each of your turns; the answer shows the position after the moves of the others. look shows the position again,
legal_moves lists what may be played."""

HINTS = 3
"""How many moves a hint names."""

_READS = ToolAnnotations(read_only_hint=True)


class _Session:
    """The game of a client.

    Args:
        judge: the judge of hints, as :func:`genial_env.analysis.judge.make_judge` reads it.
    """

    def __init__(self, judge: str) -> None:
        self._judge = judge
        self._game: TextGame | None = None

    @property
    def game(self) -> TextGame:
        if self._game is None:
            raise ToolError("there is no game: call new_game first")
        return self._game

    def new_game(
        self,
        players: Annotated[int, Field(description="Number of seats, 1 to 4.")] = 2,
        edition: Annotated[str, Field(description="Edition of the rules: 2004, 2009 or 2025.")] = "2025",
        mode: Annotated[str, Field(description="individual, team (4 seats) or solo (1 seat).")] = "individual",
        seat: Annotated[int, Field(description="Your seat; seat 0 begins.")] = 0,
        opponent: Annotated[
            str, Field(description="Agent on the other seats, such as greedy, denial, value.")
        ] = "denial",
        side: Annotated[int | None, Field(description="Cells along an edge of the board; default: as printed.")] = None,
        colors: Annotated[int, Field(description="Colors in play, 2 to 6.")] = 6,
        rack: Annotated[int | None, Field(description="Tiles on a rack; default: as printed.")] = None,
        seed: Annotated[int | None, Field(description="Seed of the game; default: drawn at random.")] = None,
    ) -> str:
        """Begin a new game, and show its rules and the first position. A game in progress is given up."""
        try:
            rules = Rules.from_dict(
                {"players": players, "edition": edition, "mode": mode, "side": side, "colors": colors, "rack": rack}
            )
            if not 0 <= seat < rules.players:
                raise ValueError(f"the seats run from 0 to {rules.players - 1}, not {seat}")
            seated = [None if at == seat else opponent for at in range(rules.players)]
            table = Table(rules, seated, secrets.randbits(53) if seed is None else seed, from_data=True)
            self._game = TextGame.at(table, attempts=None)
        except (ValueError, TypeError) as error:
            raise ToolError(str(error)) from error
        return self._game.observe()[1]

    def look(self) -> str:
        """Show the position as you may know it, or the result."""
        return self.game.observe()[1]

    def legal_moves(self) -> str:
        """List all legal moves: the tiles, and the pairs of cells on which each of them may lie, either way round."""
        return self.game.legal_moves()

    def play(
        self,
        move: Annotated[str, Field(description='A tile and two cells, such as "RO D4 D5"; swap, keep or decline.')],
    ) -> str:
        """Play a move and show the next position in which you decide, or the result."""
        if self.game.done:
            raise ToolError("the game is over: call new_game for another one")
        _, info = self.game.step(move)
        if info["action"] is None:
            raise ToolError(info["message"])
        return self.game.observe()[1]

    def hint(self) -> str:
        """List the moves that a strong agent thinks best now."""
        table = self.game.table
        if table.over:
            raise ToolError("the game is over")
        view = table.view(table.to_play)
        try:
            judged = make_judge(self._judge, table.rules).judge(view)
        except ValueError as error:
            raise ToolError(f"no hint: {error}") from error
        best = zip(judged.actions[0, :HINTS].tolist(), judged.utility[0, :HINTS].tolist(), strict=True)
        lines = [
            f"{format_with_points(view, action)}; expected {utility:+.2f}" for action, utility in best if action != NONE
        ]
        what = "lowest marker" if table.rules.tracks == 1 else "rank, from +1 (first) to -1 (last)"
        return "\n".join([f"the best moves, with the expected {what}:", *lines])


def make_server(*, hints: bool = False, judge: str = "fast") -> MCPServer:
    """Return a server with the tools new_game, look, legal_moves and play, for one client and one game at a time.

    ``make_server().run()`` serves over standard input and output.

    Args:
        hints: whether there is also the tool hint.
        judge: the judge of hints, as :func:`genial_env.analysis.judge.make_judge` reads it.
    """
    session = _Session(judge)
    server = MCPServer("genial", title="Génial!", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    server.tool()(session.new_game)
    server.tool()(session.play)
    server.tool(annotations=_READS)(session.look)
    server.tool(annotations=_READS)(session.legal_moves)
    if hints:
        server.tool(annotations=_READS)(session.hint)
    return server
