"""One game of people and agents, played one decision at a time. Showing it and asking people is left to the caller.

For example::

    table = Table(Rules(), [None, "value"], seed=1)
    while not table.over:
        if table.waits:
            table.play(ask(table.view(table.to_play)))
        else:
            table.advance()
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.chance import as_seeds
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.policies.base import Policy
from genial_env.policies.decisions import act, choice_keys
from genial_env.policies.registry import make_known_policy, make_policy, prepare
from genial_env.records import Event, Recorder

__all__ = ["KEYS", "PERSON", "Table", "parse_players"]

PERSON = "person"
"""The name of a person in records, and in what users write."""

KEYS = ("rules", "players", "seed", "actions")
"""The keys of :meth:`Table.to_dict`."""

_ROW = np.zeros(1, dtype=np.int64)
"""The row indices of a batch of one game."""


class Table:
    """A game of people and agents.

    The seed determines the deal, all draws and the agents' random bits. With an agent on every seat, it is the same
    game as that of :func:`genial_env.play`.

    Args:
        rules: the rules.
        players: one for each seat: None for a person, or an agent as :func:`genial_env.policies.registry.make_policy`
            reads it. Agents load what they need now (:func:`genial_env.policies.registry.prepare`).
        seed: a whole number from 0 to 2**64 - 1; below 2**53 if readers of the saved table know no larger whole
            numbers.
        from_data: whether the players come from a file or a request. Then only the agents that
            :func:`genial_env.policies.registry.make_known_policy` reads may play.

    Raises:
        ValueError: if the number of players is not the number of seats, the seed is out of range, or an agent does not
            exist or cannot play these rules.
        TypeError: if the seed is not a whole number.
    """

    def __init__(self, rules: Rules, players: Sequence[str | None], seed: int, *, from_data: bool = False) -> None:
        if len(players) != rules.players:
            raise ValueError(f"{rules.players} seats need {rules.players} players, not {len(players)}")
        seeds = as_seeds([seed])
        self.rules, self.players, self.seed = rules, tuple(players), int(seeds[0])
        self._keys = choice_keys(seeds, rules.players)
        self._agents = [_make_agent(player, seat, rules, from_data) for seat, player in enumerate(players)]
        self._begin()

    def _begin(self) -> None:
        """In place: deal the game."""
        seeds = as_seeds([self.seed])
        self._recorder = Recorder(kernel.deal(self.rules, seeds), self._names(), seeds)
        self._actions: list[int] = []

    @property
    def state(self) -> State:
        """The state of the game, a batch of one, not to be written to. No player may know all of it."""
        return self._recorder.state

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state.over[0])

    @property
    def to_play(self) -> int:
        """The seat to play; after the end, the seat that played last."""
        return int(self.state.to_play[0])

    @property
    def waits(self) -> bool:
        """Whether the table waits for the decision of a person."""
        return not self.over and self.players[self.to_play] is None

    @property
    def actions(self) -> tuple[int, ...]:
        """The actions that were played, from the first one on."""
        return tuple(self._actions)

    def view(self, seat: int) -> View:
        """Return what a seat may know, a batch of one.

        Raises:
            ValueError: if the seat is out of range.
        """
        if not 0 <= seat < self.rules.players:
            raise ValueError(f"seats run from 0 to {self.rules.players - 1}, not {seat}")
        return self._recorder.engine.view(seat)

    def play(self, action: int) -> None:
        """In place: play the decision of a person.

        Args:
            action: an action id (docs/actions.md).

        Raises:
            IllegalAction: if the action is illegal; then nothing has changed.
            ValueError: if it is an agent's turn.
        """
        agent = self._agents[self.to_play]
        if agent is not None and not self.over:
            raise ValueError(f"seat {self.to_play} is an agent's ({agent.name}): let it decide by advance()")
        self._apply(action)

    def choose(self) -> int | None:
        """Let the agent to play choose an action. The game does not change, and may be read meanwhile.

        Returns:
            An action id, not checked for legality; None if a person is to play or the game is over.
        """
        agent = self._agents[self.to_play]
        if agent is None or self.over:
            return None
        assignment = np.zeros((1, self.rules.players), dtype=np.int64)  # this agent on every seat: one seat plays
        return int(act([agent], assignment, self.state.copy(), self._keys, _ROW)[0])

    def advance(self, action: int | None = None) -> int | None:
        """In place: play one decision of an agent.

        Args:
            action: what :meth:`choose` returned; None: the agent chooses now.

        Returns:
            The action id that it played; None if a person is to play or the game is over, and nothing has changed.

        Raises:
            IllegalAction: if the agent's action is illegal; then nothing has changed.
        """
        if self._agents[self.to_play] is None or self.over:
            return None
        action = self.choose() if action is None else action
        assert action is not None
        self._apply(action)
        return action

    def take_back(self, count: int = 1) -> None:
        """In place: undo the last actions. The actions before them are played again, and no agent is called.

        Args:
            count: how many actions, at least 1.

        Raises:
            ValueError: if fewer have been played.
        """
        if not self._actions:
            raise ValueError("nothing was played that could be taken back")
        if not 1 <= count <= len(self._actions):
            raise ValueError(f"expected to take back 1 to {len(self._actions)} actions, not {count}")
        actions = self._actions[:-count]
        self._begin()
        for action in actions:
            self._apply(action)

    def replace(self, seat: int, player: str | None, *, from_data: bool = False) -> None:
        """In place: give a seat to another player, who plays on from here.

        Args:
            seat: the seat, from 0.
            player: None for a person, or an agent as for the constructor. The same agent is made anew.
            from_data: as for the constructor.

        Raises:
            ValueError: if the seat is out of range, or the agent does not exist or cannot play these rules. Nothing has
                changed then.
        """
        if not 0 <= seat < self.rules.players:
            raise ValueError(f"seat {seat}: expected one from 0 to {self.rules.players - 1}")
        self._agents[seat] = _make_agent(player, seat, self.rules, from_data)
        self.players = (*self.players[:seat], player, *self.players[seat + 1 :])

    def copy(self) -> "Table":
        """Return a table of the same game, with the same agents; decisions on one do not change the other."""
        other = copy(self)
        other._agents, other._actions = list(self._agents), list(self._actions)
        other._recorder = self._recorder.copy()
        return other

    def movers(self) -> list[int]:
        """Return the seat of each action, from the first one on."""
        return [event[1] for event in self.events() if event[0] != "draw"]

    def events(self) -> list[Event]:
        """Return the events of the record so far (docs/records.md), not to be changed: others get the same ones."""
        return self._recorder.events()[0]

    def record(self) -> dict[str, Any]:
        """Return the game record so far (docs/records.md). People are called "person" in it."""
        return {**self._recorder.records()[0], "agents": self._names()}

    def to_dict(self) -> dict[str, Any]:
        """Return the table as data for JSON: the rules, the players (None for a person), the seed, and the actions."""
        return dict(zip(KEYS, (self.rules.to_dict(), list(self.players), self.seed, list(self._actions)), strict=True))

    @classmethod
    def from_dict(cls, saved: Any, players: Sequence[str | None] | None = None) -> "Table":
        """Return the table that :meth:`to_dict` described. The actions are played again, and no agent is called.

        Args:
            saved: untrusted data. Its players are read by :func:`genial_env.policies.registry.make_known_policy`.
            players: players named by the user, which replace those of the data; None: the players of the data.

        Raises:
            ValueError: if the data do not describe a table, or its game cannot be played.
        """
        _check_saved(saved)
        try:
            rules, seed = Rules.from_dict(saved["rules"]), saved["seed"]
            from_data = players is None
            table = cls(rules, saved["players"] if players is None else players, seed, from_data=from_data)
        except TypeError as error:
            raise ValueError(str(error)) from error
        for number, action in enumerate(saved["actions"]):
            try:
                table._apply(action)
            except ValueError as error:
                raise ValueError(f"actions: number {number} cannot be played: {error}") from error
        return table

    def _names(self) -> list[str]:
        return [PERSON if agent is None else agent.name for agent in self._agents]

    def _apply(self, action: int) -> None:
        self._recorder.apply(_one_action(action))
        self._actions.append(int(action))


def parse_players(words: Sequence[str]) -> list[str | None]:
    """Return the players that a :class:`Table` takes: "person" stands for a person, any other word for an agent."""
    return [None if word == PERSON else word for word in words]


def _make_agent(player: str | None, seat: int, rules: Rules, from_data: bool) -> Policy | None:
    """Return an agent that is ready to play under these rules, None for a person.

    Raises:
        ValueError: if there is no such agent, or it cannot play under these rules.
    """
    if player is None:
        return None
    make: Callable[[str], Policy] = make_known_policy if from_data else make_policy
    try:
        agent = make(player)
        prepare(agent, rules)
    except (ValueError, TypeError) as error:
        raise ValueError(f"seat {seat}: {error}") from error
    return agent


def _one_action(action: Any) -> Ints:
    """Return an action id as an array [1].

    Raises:
        ValueError: if it is not a whole number of 64 bits.
    """
    try:
        number = as_integer(action, "an action", -(2**63), 2**63 - 1)
    except (TypeError, ValueError) as error:
        raise ValueError(f"an action must be an action id, a whole number, not {action!r}") from error
    return np.array([number], dtype=np.int64)


def _check_saved(saved: Any) -> None:
    """Check the keys and types of a saved table. Whether its game can be played shows when it is played.

    Raises:
        ValueError: if they are wrong.
    """
    if not isinstance(saved, Mapping) or set(saved) != set(KEYS):
        found = ", ".join(map(str, saved)) if isinstance(saved, Mapping) else repr(saved)
        raise ValueError(f"a saved table has the keys {', '.join(KEYS)}, not {found}")
    if not isinstance(saved["rules"], Mapping):
        raise ValueError(f"rules: expected an object, not {saved['rules']!r}")
    players, actions = saved["players"], saved["actions"]
    if not isinstance(players, list) or not all(player is None or isinstance(player, str) for player in players):
        raise ValueError(f"players: expected a list with an agent, or null for a person, a seat, not {players!r}")
    if not isinstance(actions, list):
        raise ValueError(f"actions: expected a list of action ids, not {actions!r}")
