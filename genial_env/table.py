"""One game with people and agents at it, a decision at a time; who shows it and asks the people is not its business.

table = Table(Rules(), [None, "value"], seed=1)
while not table.over:
    if table.waits:
        table.play(ask(table.view(table.to_play)))
    else:
        table.advance()
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.chance import as_seeds
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View, view
from genial_env.policies.base import Policy
from genial_env.policies.decisions import act, choice_keys
from genial_env.policies.registry import make_known_policy, make_policy, prepare
from genial_env.records import Recorder

PERSON = "person"
"""What records call people, and what users write for them."""

KEYS = ("rules", "players", "seed", "actions")
"""What :meth:`Table.saved` gives."""

_THE_GAME = np.zeros(1, dtype=np.int64)


class Table:
    """A game, played by people and agents.

    It goes by its seed, whoever is at it: with an agent on every seat it is the game of that seed that
    :func:`genial_env.play` plays.

    Args:
        rules: of the game.
        players: one a seat: None for a person, else an agent as :func:`genial_env.policies.registry.make_policy` reads
            it; what it needs for the game it reads now (:func:`genial_env.policies.registry.prepare`).
        seed: of the deal, the draws and the agents' luck, 0 to 2**64 - 1; below 2**53 for readers that know no larger
            whole numbers.
        from_data: whether the players come from a file or a request: then only agents as
            :func:`genial_env.policies.registry.make_known_policy` reads them may play.

    Raises:
        ValueError: for a number of players that is not the number of seats, a seed out of its range, an agent that
            there is not, or one that cannot play these rules, saying why.
        TypeError: for a seed that is no whole number.
    """

    def __init__(self, rules: Rules, players: Sequence[str | None], seed: int, *, from_data: bool = False) -> None:
        if len(players) != rules.players:
            raise ValueError(f"{rules.players} seats need {rules.players} players, not {len(players)}")
        seeds = as_seeds([seed])
        self.rules, self.players, self.seed = rules, tuple(players), int(seeds[0])
        self._keys = choice_keys(seeds, rules.players)
        make = make_known_policy if from_data else make_policy
        self._agents = [
            None if player is None else _ready(make, player, seat, rules) for seat, player in enumerate(players)
        ]
        self._begin()

    def _begin(self) -> None:
        """In place: deal."""
        seeds = as_seeds([self.seed])
        names = [PERSON if agent is None else agent.name for agent in self._agents]
        self._recorder = Recorder(kernel.deal(self.rules, seeds), names, seeds)
        self._actions: list[int] = []

    @property
    def state(self) -> State:
        """The game as it stands, a batch of one: all that nobody alone may know. Not to be changed."""
        return self._recorder.state

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state.over[0])

    @property
    def to_play(self) -> int:
        """The seat whose decision it is; after the end, whose it last was."""
        return int(self.state.to_play[0])

    @property
    def waits(self) -> bool:
        """Whether the next decision is a person's."""
        return not self.over and self.players[self.to_play] is None

    def view(self, seat: int) -> View:
        """What a seat may know, a batch of one.

        Raises:
            ValueError: for a seat that there is not.
        """
        return view(self.state, seat)

    def play(self, action: int) -> None:
        """In place: a person's decision.

        Args:
            action: an action id (docs/actions.md).

        Raises:
            IllegalAction: for one that the rules do not allow now, saying why, and nothing has changed.
            ValueError: where it is an agent's turn.
        """
        agent = self._agents[self.to_play]
        if agent is not None and not self.over:
            raise ValueError(f"seat {self.to_play} is an agent's ({agent.name}): let it decide by advance()")
        self._apply(action)

    def choose(self) -> int | None:
        """Let the agent whose turn it is choose. Nothing changes: the game can be looked at meanwhile.

        Returns:
            An action id, legal or not; None where a person is next or the game is over.
        """
        agent = self._agents[self.to_play]
        if agent is None or self.over:
            return None
        everywhere = np.zeros((1, self.rules.players), dtype=np.int64)
        return int(act([agent], everywhere, self.state.copy(), self._keys, _THE_GAME)[0])

    def advance(self, action: int | None = None) -> int | None:
        """In place: a single decision of an agent.

        Args:
            action: what :meth:`choose` gave; None to let the agent choose now.

        Returns:
            The action id that it played; None, and nothing has changed, where a person is next or the game is over.

        Raises:
            IllegalAction: when the agent plays what it may not.
        """
        if self._agents[self.to_play] is None or self.over:
            return None
        action = self.choose() if action is None else action
        assert action is not None
        self._apply(action)
        return action

    def take_back(self) -> None:
        """In place: undo the last action; the others are played again, and no agent is asked anything.

        Raises:
            ValueError: where nothing was played.
        """
        if not self._actions:
            raise ValueError("nothing was played that could be taken back")
        actions = self._actions[:-1]
        self._begin()
        for action in actions:
            self._apply(action)

    def record(self) -> dict[str, Any]:
        """The game record so far (docs/records.md); people are called "person" in it."""
        return self._recorder.records()[0]

    def saved(self) -> dict[str, Any]:
        """All that it takes to go on later, fit for JSON: the rules, the players (null for a person), the seed, and the
        action ids played.
        """
        return dict(zip(KEYS, (self.rules.to_dict(), list(self.players), self.seed, list(self._actions)), strict=True))

    @classmethod
    def restored(cls, saved: Any, players: Sequence[str | None] | None = None) -> "Table":
        """The table that :meth:`saved` described; the actions are played again, and no agent is asked anything.

        Args:
            saved: what may come from anybody: its players are read by
                :func:`genial_env.policies.registry.make_known_policy`.
            players: who plays instead of those saved, named by the user: any agents.

        Raises:
            ValueError: for something else, or a game that cannot be played, saying what is wrong.
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

    def _apply(self, action: int) -> None:
        self._recorder.apply(_one_action(action))
        self._actions.append(int(action))


def seats_from(words: Sequence[str]) -> list[str | None]:
    """Players as a :class:`Table` takes them, from what users write: "person" is a person, all else an agent."""
    return [None if word == PERSON else word for word in words]


def _ready(make: Callable[[str], Policy], words: str, seat: int, rules: Rules) -> Policy:
    """An agent that can play these rules."""
    try:
        agent = make(words)
        prepare(agent, rules)
    except (ValueError, TypeError) as error:
        raise ValueError(f"seat {seat}: {error}") from error
    return agent


def _one_action(action: Any) -> Ints:
    """[1]: an action id.

    Raises:
        ValueError: for something that is no whole number of 64 bits.
    """
    try:
        number = as_integer(action, "an action", -(2**63), 2**63 - 1)
    except (TypeError, ValueError) as error:
        raise ValueError(f"an action must be an action id, a whole number, not {action!r}") from error
    return np.array([number], dtype=np.int64)


def _check_saved(saved: Any) -> None:
    """That what was saved has the form of it; whether it can be played shows in playing it."""
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
