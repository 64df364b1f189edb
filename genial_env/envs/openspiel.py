"""The game for OpenSpiel, as its Python game ``python_genial``; importing this module registers it.

    import pyspiel
    from genial_env.envs import openspiel

    game = pyspiel.load_game("python_genial(players=2,side=4,colors=3,rack=2)")

The parameters are those of :class:`~genial_env.core.rules.Rules`: ``players``, ``edition`` (a number), ``mode``,
``side``, ``colors``, ``rack``, ``tile_sets`` and ``one_bonus_a_tile``; 0 for side or rack means the standard size.

**Actions** are the package's action ids. **Chance nodes** draw one tile each. The outcome is the tile kind, and its
probability follows from the tiles left in the bag. First the racks are drawn seat by seat, later each refill slot by
slot. **Returns** are the rank utility: +1 for the first to -1 for the last; partners both get their team's. Solo: the
lowest marker divided by the end of the track, 0 to 1.

**Observations** show what a seat may know (:func:`genial_env.view`): the string is that of :func:`genial_env.describe`,
the tensor is the encoding "planes" scaled to 0..1. **Information states** also hold the history: all public events, and
the seat's own draws and actions in order, with the rack slots. Only the seat itself knows that it declined a swap. So
recall is perfect at a seat's own decisions; while it waits, it observes that another seat decides on a swap, and
forgets it. ``resample_from_infostate`` deals the hidden tiles anew (:func:`genial_env.determinize`), as IS-MCTS needs
it; the history of a resampled state remains that of the original.

OpenSpiel's C++ algorithms call back into Python for every step of a Python game, which is slow.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pyspiel

from genial_env.core import actions as words
from genial_env.core import kernel, ranking
from genial_env.core.determinization import determinize
from genial_env.core.engine import make_engine
from genial_env.core.ranking import rank_utility
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.tables import tables
from genial_env.envs._openspiel_events import (
    KEEP,
    PASS,
    PLACE,
    SHOW,
    SWAP,
    Event,
    encode_event,
    most_decisions,
    most_draws,
)
from genial_env.envs._openspiel_observer import GenialObserver
from genial_env.envs.arguments import check_arguments
from genial_env.errors import IllegalAction
from genial_env.render.ansi import board_text

__all__ = ["GenialGame", "GenialObserver", "GenialState", "start_at"]

_DEFAULTS: dict[str, Any] = {field.name: 0 if field.default is None else field.default for field in fields(Rules)} | {
    "edition": 2025
}
"""The parameters and their defaults. OpenSpiel knows no None: 0 stands for the standard size."""


def _game_type(rules: Rules | None = None) -> Any:
    """Return OpenSpiel's description of the game under some rules; None: the description that is registered."""
    solo = rules is not None and rules.players == 1
    utilities = pyspiel.GameType.Utility
    return pyspiel.GameType(
        short_name="python_genial",
        long_name="Genial",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utilities.GENERAL_SUM if solo else utilities.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=4,
        min_num_players=1,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=_DEFAULTS,
    )


class GenialGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel is untyped
    """The game under one set of rules.

    Args:
        params: the parameters by name, as OpenSpiel gives them; the others have their defaults.

    Raises:
        ValueError, TypeError: if they do not describe a game.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        check_arguments("python_genial", params or {}, list(_DEFAULTS))
        given = {**_DEFAULTS, **(params or {})}
        given |= {"edition": str(given["edition"]), "side": given["side"] or None, "rack": given["rack"] or None}
        self.rules = Rules(**given)
        t, solo = tables(self.rules), self.rules.players == 1
        info = pyspiel.GameInfo(
            num_distinct_actions=t.n_actions,
            max_chance_outcomes=t.n_kinds,
            num_players=self.rules.players,
            min_utility=0.0 if solo else -1.0,
            max_utility=1.0,
            utility_sum=None if solo else 0.0,
            max_game_length=most_decisions(self.rules),
        )
        super().__init__(_game_type(self.rules), info, params or {})
        self.start = kernel.undealt(self.rules)

    def new_initial_state(self) -> "GenialState":
        """Return the state before the first tile is drawn."""
        return GenialState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return an upper bound on the draws: the first racks, and a tile a placement or a rack a swap."""
        rules = self.rules
        return most_draws(rules) + (rules.players - 1) * rules.rack

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> "GenialObserver":
        """Return an observer for one type of observations."""
        return GenialObserver(self.rules, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)


def start_at(position: State) -> GenialGame:
    """Make a game that begins at a late position: with its board, its markers and its seat to play.

    Tabular algorithms (CFR, best responses) can walk such a game if few cells are free and racks are small. The racks
    of the position are ignored: their tiles go back into the bag, and chance deals all racks. OpenSpiel serializes a
    game by its parameters only, so a deserialized game begins with the empty board.

    Args:
        position: a batch of one game, at the beginning of a turn.

    Raises:
        ValueError: if it is not one game, or the game is over, or a seat is in the middle of its turn.
    """
    start, rules = kernel.undealt_at(position), position.rules
    params = {name: getattr(rules, name) for name in _DEFAULTS} | {"edition": int(rules.edition)}
    game = GenialGame(params)
    game.start = start
    return game


class GenialState(pyspiel.State):  # type: ignore[misc]  # pyspiel is untyped
    """A decision of a seat, a draw of a tile, or the end."""

    def __init__(self, game: GenialGame) -> None:
        super().__init__(game)
        rules = game.rules
        self.engine = make_engine(game.start.copy())
        # The slots to draw for, as indices of [P * K], the next one first; and the tiles that cannot be drawn yet.
        self.slots_to_draw = bytes(range(rules.players * rules.rack))
        self._aside = bytes(tables(rules).n_kinds)
        # The history as immutable values, which clones share.
        self.events = b""
        self.own_draws = (b"",) * rules.players
        # For each slot, as which draw of its seat its tile was drawn.
        self._drawn_as = bytes(rules.players * rules.rack)

    @property
    def position(self) -> State:
        """The state of the game, a batch of one, not to be written to. Slots that are still drawn for are empty."""
        return self.engine.state

    # The interface of pyspiel.State

    def current_player(self) -> int:
        """Return the seat to decide, or OpenSpiel's number for chance or the end."""
        if self.engine.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.slots_to_draw else self.engine.to_play

    def _legal_actions(self, player: int) -> list[int]:
        actions: list[int] = np.flatnonzero(kernel.legal(self.position)[0]).tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the tile kinds that can be drawn now, each with its probability."""
        left = self._drawable()
        total = sum(left)
        return [(kind, count / total) for kind, count in enumerate(left) if count]

    def _apply_action(self, action: int) -> None:
        if self.is_chance_node():
            self._draw(action)
        else:
            self._decide(action)

    def _action_to_string(self, player: int, action: int) -> str:
        rules = self.position.rules
        if player == pyspiel.PlayerId.CHANCE:
            return words.tile_name(rules, action)
        return words.describe(rules, action)

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.engine.over

    def returns(self) -> list[float]:
        """Return the result of each seat; 0 before the end."""
        rules = self.position.rules
        if not self.engine.over:
            return [0.0] * rules.players
        scores = self.position.scores[0]
        if rules.tracks == 1:
            return [float(scores.min()) / rules.top]
        utility = rank_utility(ranking.ranks(scores))
        return [float(utility[rules.track_of(seat)]) for seat in range(rules.players)]

    def __str__(self) -> str:
        return board_text(self.position, color=False)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "GenialState":
        """Sample a state that agrees with everything that the player knows.

        Args:
            player: the seat.
            sampler: returns numbers from 0 to 1, such as ``pyspiel.UniformProbabilitySampler``.

        Raises:
            ValueError: while tiles are being drawn.
        """
        if self.slots_to_draw:
            raise ValueError("states are resampled where a player decides, not where tiles are drawn")
        rng = np.random.default_rng(int(sampler() * 2**53))
        possible = determinize(self.engine.view(player), rng)
        possible.decisions[:] = self.position.decisions
        other: GenialState = self.clone()
        other.engine = make_engine(possible)
        other.own_draws, other._drawn_as = self._draws_in(possible, player)
        return other

    # Decisions and draws

    def _decide(self, action: int) -> None:
        """In place: play an action. The tiles that it draws are put back, because chance nodes draw them.

        Raises:
            IllegalAction: if it is illegal; then nothing has changed.
        """
        state, rules, t = self.position, self.position.rules, self.position.tables
        seat, phase = self.engine.to_play, int(state.phase[0])
        rack = state.racks[0, seat].copy()
        if not self.engine.play(action):
            raise IllegalAction(kernel.why_illegal(state, 0, action))
        self.events += self._events_of(action, seat, rack.tolist(), phase)
        if t.is_placing(action):
            rack[t.split_action(action)[0]] = EMPTY
        elif action == t.swap_action:
            self._aside = self._counts([kind for kind in rack.tolist() if kind != EMPTY])
            rack[:] = EMPTY
        drawn = np.flatnonzero((rack == EMPTY) & (state.racks[0, seat] != EMPTY))
        for slot in drawn:
            state.bag[0, state.racks[0, seat, slot]] += 1
            state.racks[0, seat, slot] = EMPTY
        self.slots_to_draw = bytes((seat * rules.rack + drawn).tolist())

    def _draw(self, kind: int) -> None:
        """In place: draw a tile for the next slot.

        Raises:
            IllegalAction: if no tile of this kind can be drawn; then nothing has changed.
        """
        left = self._drawable()
        if not 0 <= kind < len(left) or not left[kind]:
            raise IllegalAction(f"no tile of kind {kind} can be drawn: of each kind there are {left}")
        state, slot = self.position, self.slots_to_draw[0]
        seat = slot // state.rules.rack
        state.racks.reshape(-1)[slot] = kind
        state.bag[0, kind] -= 1
        numbers = bytearray(self._drawn_as)
        numbers[slot] = len(self.own_draws[seat])
        self._drawn_as = bytes(numbers)
        draws = list(self.own_draws)
        draws[seat] += bytes([kind])
        self.own_draws = tuple(draws)
        self.slots_to_draw = self.slots_to_draw[1:]
        if not self.slots_to_draw:
            self._aside = bytes(len(self._aside))

    def _drawable(self) -> list[int]:
        """Return how many tiles of each kind can be drawn now. A swapped rack goes back after the new one is drawn."""
        return [int(count) - aside for count, aside in zip(self.position.bag[0], self._aside, strict=True)]

    def _counts(self, kinds: list[int]) -> bytes:
        """Return how often each tile kind occurs."""
        counts = bytearray(self.position.tables.n_kinds)
        for kind in kinds:
            counts[kind] += 1
        return bytes(counts)

    def _events_of(self, action: int, seat: int, rack: list[int], phase: int) -> bytes:
        """Return the events of an action; `rack` and `phase` are those before it."""
        t = self.position.tables
        if t.is_placing(action):
            slot, placement = t.split_action(action)
            return encode_event(Event(seat, PLACE, rack[slot], placement, slot))
        if action == t.swap_action:
            shown = [Event(seat, SHOW, kind) for kind in rack if kind != EMPTY]
            return b"".join(map(encode_event, [Event(seat, SWAP), *shown]))
        return encode_event(Event(seat, PASS if phase == Phase.BONUS else KEEP))

    def _draws_in(self, possible: State, player: int) -> tuple[tuple[bytes, ...], bytes]:
        """Return `own_draws` and `_drawn_as` as they would be if the racks were those of another state."""
        state, rules = self.position, self.position.rules
        own_draws, drawn_as = [bytearray(draws) for draws in self.own_draws], bytearray(self._drawn_as)
        ages = state.returned[0].sum(axis=2, dtype=np.int64)  # determinized racks have the longest filled first
        for seat in range(rules.players):
            if seat == player:
                continue
            held = [slot for slot in range(rules.rack) if state.racks[0, seat, slot] != EMPTY]
            held.sort(key=lambda slot, seat=seat: -ages[seat, slot])  # type: ignore[misc]
            for place, slot in enumerate(held):
                number = self._drawn_as[seat * rules.rack + slot]
                own_draws[seat][number] = int(possible.racks[0, seat, place])
                drawn_as[seat * rules.rack + place] = number
        return tuple(bytes(draws) for draws in own_draws), bytes(drawn_as)


if "python_genial" not in pyspiel.registered_names():
    pyspiel.register_game(_game_type(), GenialGame)
