"""One game played by text, in a loop of two functions, as in TextArena.

For example::

    game = TextGame(seed=1)
    done = False
    while not done:
        seat, text = game.observe()
        done, info = game.step(answer(seat, text))
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env.arena.games import forfeited_ranks
from genial_env.core import ranking
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.errors import IllegalAction
from genial_env.render.ansi import track_name
from genial_env.render.sentences import explain_ranks
from genial_env.table import Table
from genial_env.text.observation import describe_legal, describe_observation, describe_rules
from genial_env.text.parsing import UnreadableAction, parse_action

__all__ = ["TextGame"]


class TextGame:
    """A game whose seats are played by text, by agents, or both.

    The seed determines the deal, all draws and the agents' random bits.

    Args:
        rules: the rules; None for the standard game for two.
        players: one for each seat: None for a seat that is played by text, or an agent as
            :func:`genial_env.policies.registry.make_policy` reads it; None if all seats are played by text.
        seed: a whole number from 0 to 2**64 - 1.
        attempts: how many answers in a row may be unreadable or illegal, the last of which forfeits the game; None for
            no limit.

    Raises:
        ValueError: if the number of players is not the number of seats, no seat is played by text, or an agent cannot
            play.
        TypeError: if the seed or the number of attempts is not a whole number.
    """

    def __init__(
        self,
        rules: Rules | None = None,
        players: Sequence[str | None] | None = None,
        seed: int = 0,
        attempts: int | None = 3,
    ) -> None:
        rules = Rules() if rules is None else rules
        seated = [None] * rules.players if players is None else list(players)
        if None not in seated:
            raise ValueError("at least one seat must be played by text: None among the players")
        self._begin(Table(rules, seated, seed), attempts)

    @classmethod
    def at(cls, table: Table, attempts: int | None = 3) -> "TextGame":
        """Play on at a table by text.

        Args:
            table: a game. Its people are the seats that are played by text.
            attempts: see the class.
        """
        game = cls.__new__(cls)
        game._begin(table, attempts)
        return game

    def _begin(self, table: Table, attempts: int | None) -> None:
        """In place: let agents play until a seat that is played by text decides."""
        self.table = table
        self.attempts = None if attempts is None else as_integer(attempts, "attempts", 1)
        self.forfeit: int | None = None
        self._seen_events = [0] * table.rules.players  # by seat: the number of events after its last decision
        self._has_read = [False] * table.rules.players  # by seat: whether it has read the rules
        self._failed = 0
        self._let_agents_play()

    @property
    def done(self) -> bool:
        """Whether the game has ended, or was forfeited."""
        return self.table.over or self.forfeit is not None

    def observe(self) -> tuple[int, str]:
        """Return the seat to play, and what it may know as text; at its first decision with the rules.

        After the end, the seat that decided last and the result.
        """
        seat = self.table.to_play
        if self.done:
            return seat, self.describe_result()
        events = self.table.events()[self._seen_events[seat] :]
        text = describe_observation(self._view(), events)
        if not self._has_read[seat]:
            self._has_read[seat] = True
            text = f"{describe_rules(self.table.rules)}\n\n{text}"
        return seat, text

    def legal_moves(self) -> str:
        """Return all legal moves of the seat to play as text."""
        return describe_legal(self._view())

    def step(self, text: str) -> tuple[bool, dict[str, Any]]:
        """In place: play the move in a text, and then the moves of agents.

        A text without a legal move changes nothing, and the same seat is asked again, unless it has no attempt left:
        then it forfeits the game.

        Args:
            text: the answer of the seat to play (:func:`genial_env.text.parse_action`).

        Returns:
            Whether the game has ended, and an info: `seat`; `action`, the id of what was played, or None; `message`,
            why nothing was played, or ""; after the end also `scores` and `ranks`, one a track, and `forfeit`, the seat
            that forfeited the game, or None.

        Raises:
            ValueError: if the game has ended.
        """
        if self.done:
            raise ValueError("the game is over")
        seat, action, message = self.table.to_play, None, ""
        try:
            action = parse_action(self._view(), text)
        except (UnreadableAction, IllegalAction) as error:
            message = str(error)
            self._failed += 1
            if self._failed == self.attempts:
                self.forfeit = seat
        else:
            self._failed = 0
            self.table.play(action)
            self._seen_events[seat] = len(self.table.events())
            self._let_agents_play()
        info: dict[str, Any] = {"seat": seat, "action": action, "message": message}
        if self.done:
            info |= {"scores": self.table.state.scores[0].tolist(), "ranks": self.ranks(), "forfeit": self.forfeit}
        return self.done, info

    def ranks(self) -> list[int]:
        """Return the ranks of the tracks, 1 = best. After a forfeit its track is last, and the others share rank 1."""
        if self.forfeit is not None:
            return forfeited_ranks(self.table.rules, self.forfeit)
        return [int(rank) for rank in ranking.ranks(self.table.state.scores)[0]]

    def describe_result(self) -> str:
        """Return how the game ended as text."""
        rules = self.table.rules
        if self.forfeit is not None:
            return f"The game is over: seat {self.forfeit} has forfeited it."
        names = [track_name(rules, track) for track in range(rules.tracks)]
        sentences = explain_ranks(rules, np.asarray(self.table.state.scores[0]), names)
        return "\n".join([f"The game is over: {self.table.record()['end']}.", *sentences])

    def _view(self) -> View:
        return self.table.view(self.table.to_play)

    def _let_agents_play(self) -> None:
        while not self.table.over and not self.table.waits:
            self.table.advance()
