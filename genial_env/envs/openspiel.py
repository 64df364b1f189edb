"""The game for OpenSpiel, as its Python game ``python_genial``; importing this module registers it.

    import pyspiel
    from genial_env.envs import openspiel

    game = pyspiel.load_game("python_genial(players=2,side=4,colors=3,rack=2)")

Parameters are those of :class:`~genial_env.core.rules.Rules`: ``players``, ``edition`` (a number), ``mode``, ``side``,
``colors``, ``rack``, ``tile_sets``; 0 for side or rack means as printed.

**Actions** are the package's action ids. **Chance nodes** draw one tile each, the kind being the outcome, with the
probability of what is left in the bag: the opening racks seat by seat, then every refill, slot by slot. **Returns** are
the final rank's zero-sum utility, +1 first to -1 last, in teams both partners' their team's; solo the lowest marker
over the end of the track, 0 to 1.

**What a player knows.** Observations are what :func:`genial_env.view` shows: the string is
:func:`genial_env.describe`'s, the tensor the encoding "planes" scaled to 0..1. Information states recall everything
besides: all public events, and the own draws and actions in order, with the rack slots. That a swap was offered and
declined is recalled only by the seat that declined it; so recall is perfect where a seat decides, while a seat that
waits sees another decide on a swap and forgets it. ``resample_from_infostate`` deals what is hidden anew
(:func:`genial_env.determinize`), as IS-MCTS needs it; the history of a resampled state is still that of the original.

Python games are slow for OpenSpiel's C++ algorithms, which call back into Python for every step.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from genial_env.core import actions as words
from genial_env.core import kernel, ranking
from genial_env.core.determinization import determinize
from genial_env.core.engine import make_engine
from genial_env.core.ranking import rank_utility
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.tables import tables
from genial_env.encodings.planes import Planes
from genial_env.envs.arguments import check_arguments
from genial_env.errors import IllegalAction
from genial_env.render.ansi import board_text, describe

PLACE, PASS, SWAP, SHOW, KEEP = range(1, 6)
"""Events: a tile laid; a bonus placement given up; a rack swapped; one of its tiles; a swap declined."""

_EVENT_NAMES = ("", "lays", "passes", "swaps", "shows", "keeps")
_EVENT_SIZE = 6  # bytes: seat, event, kind, placement (two), slot

_Row = tuple[int, int, int, int, int]
"""An event: seat, event, kind, placement, rack slot, -1 for none."""

_NOBODY = -1

_DEFAULTS: dict[str, Any] = {
    "players": 2,
    "edition": 2025,
    "mode": "individual",
    "side": 0,
    "colors": 6,
    "rack": 0,
    "tile_sets": 1,
}


def _game_type(rules: Rules | None = None) -> Any:
    """What kind of game it is; without rules as it is registered."""
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
        params: by name, as OpenSpiel gives them; what is left out is as in the standard game for two.

    Raises:
        ValueError, TypeError: for parameters that cannot be played.
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
        """Before the first tile is drawn."""
        return GenialState(self)

    def max_chance_nodes_in_history(self) -> int:
        """No game draws more tiles: the opening racks, then a tile for every placement or a rack for every swap."""
        rules = self.rules
        return _most_draws(rules) + (rules.players - 1) * rules.rack

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> "GenialObserver":
        """What makes observations of one kind."""
        return GenialObserver(self.rules, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)


def start_at(position: State) -> GenialGame:
    """Make a game that begins late: with a position's board, markers and seat to play, and racks that chance deals.

    Tabular algorithms (CFR, best responses) can walk such a game where few cells are left and racks are small. The
    racks of the position do not matter: their tiles lie in the bag at the start. OpenSpiel serializes a game by its
    parameters only, so a game that was loaded again begins with the empty board.

    Args:
        position: one game, in which a seat is to place its first tile of a turn.

    Raises:
        ValueError: for more games than one, a game that is over, or a seat in the middle of its turn.
    """
    if len(position) != 1:
        raise ValueError(f"a game begins at one position, not {len(position)}")
    if position.phase[0] != Phase.PLACE:
        raise ValueError(f"a game begins where a turn begins, not in phase {Phase(int(position.phase[0])).name}")
    rules, start = position.rules, kernel.undealt(position.rules).copy()
    for name in ("board", "points", "open", "symbols_touched", "scores", "has_placed", "to_play"):
        getattr(start, name)[:] = getattr(position, name)
    held = kernel.count_kinds(position.racks.reshape(1, -1), position.tables.n_kinds)
    start.bag[:] = position.bag + held.astype(np.uint8)
    params = {name: getattr(rules, name) for name in _DEFAULTS} | {"edition": int(rules.edition)}
    game = GenialGame(params)
    game.start = start
    return game


class GenialState(pyspiel.State):  # type: ignore[misc]  # pyspiel is untyped
    """One position: of a decision, of a draw, or the end."""

    def __init__(self, game: GenialGame) -> None:
        super().__init__(game)
        rules = game.rules
        self._engine = make_engine(game.start.copy())
        # What is to be drawn next, as slots of [P * K], the next one first; and the tiles that cannot be drawn yet.
        self._to_draw = bytes(range(rules.players * rules.rack))
        self._aside = bytes(tables(rules).n_kinds)
        # What has happened, in immutable form, so that a clone shares it.
        self._events = b""
        self._own_draws = (b"",) * rules.players
        self._drawn_as = bytes(
            rules.players * rules.rack
        )  # for each slot the number of its tile among its seat's draws

    @property
    def position(self) -> State:
        """The kernel's state, a batch of one game, not to be written to. Slots that are drawn for are empty."""
        return self._engine.state

    # What OpenSpiel calls

    def current_player(self) -> int:
        """The seat to decide, chance, or nobody."""
        if self._engine.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self._to_draw else self._engine.to_play

    def _legal_actions(self, player: int) -> list[int]:
        actions: list[int] = np.flatnonzero(kernel.legal(self.position)[0]).tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The kinds that can be drawn now, each with its probability."""
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
        """Whether the game is over."""
        return self._engine.over

    def returns(self) -> list[float]:
        """Of each seat; all 0 before the end."""
        rules = self.position.rules
        if not self._engine.over:
            return [0.0] * rules.players
        scores = self.position.scores[0]
        if rules.tracks == 1:
            return [float(scores.min()) / rules.top]
        utility = rank_utility(ranking.ranks(scores))
        return [float(utility[seat % rules.tracks]) for seat in range(rules.players)]

    def __str__(self) -> str:
        return board_text(self.position, color=False)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "GenialState":
        """A state that the player may think possible, all alike likely, with what it knows unchanged.

        Args:
            player: the seat.
            sampler: gives numbers from 0 to 1, such as ``pyspiel.UniformProbabilitySampler``.

        Raises:
            ValueError: while tiles are being drawn.
        """
        if self._to_draw:
            raise ValueError("states are resampled where a player decides, not where tiles are drawn")
        rng = np.random.default_rng(int(sampler() * 2**53))
        possible = determinize(self._engine.view(player), rng)
        possible.decisions[:] = self.position.decisions
        other: GenialState = self.clone()
        other._engine = make_engine(possible)
        other._own_draws, other._drawn_as = self._draws_in(possible, player)
        return other

    # Decisions and draws

    def _decide(self, action: int) -> None:
        """In place: play an action, and take back what the kernel drew, for chance to draw it.

        Raises:
            IllegalAction: and nothing has changed.
        """
        state, rules, t = self.position, self.position.rules, self.position.tables
        seat, phase = self._engine.to_play, int(state.phase[0])
        rack = state.racks[0, seat].copy()
        if not self._engine.play(action):
            raise IllegalAction(kernel.why_illegal(state, 0, action))
        self._events += self._events_of(action, seat, rack.tolist(), phase)
        if action < t.swap_action:
            rack[action // t.n_placements] = EMPTY
        elif action == t.swap_action:
            self._aside = self._counts([kind for kind in rack.tolist() if kind != EMPTY])
            rack[:] = EMPTY
        drawn = np.flatnonzero((rack == EMPTY) & (state.racks[0, seat] != EMPTY))
        for slot in drawn:
            state.bag[0, state.racks[0, seat, slot]] += 1
            state.racks[0, seat, slot] = EMPTY
        self._to_draw = bytes((seat * rules.rack + drawn).tolist())

    def _draw(self, kind: int) -> None:
        """In place: a tile for the next slot.

        Raises:
            IllegalAction: for a kind of which none can be drawn; nothing has changed.
        """
        left = self._drawable()
        if not 0 <= kind < len(left) or not left[kind]:
            raise IllegalAction(f"no tile of kind {kind} can be drawn: of each kind there are {left}")
        state, slot = self.position, self._to_draw[0]
        seat = slot // state.rules.rack
        state.racks.reshape(-1)[slot] = kind
        state.bag[0, kind] -= 1
        numbers = bytearray(self._drawn_as)
        numbers[slot] = len(self._own_draws[seat])
        self._drawn_as = bytes(numbers)
        draws = list(self._own_draws)
        draws[seat] += bytes([kind])
        self._own_draws = tuple(draws)
        self._to_draw = self._to_draw[1:]
        if not self._to_draw:
            self._aside = bytes(len(self._aside))

    def _drawable(self) -> list[int]:
        """How many tiles of each kind can be drawn now: a swapped rack goes back only when the new one is drawn."""
        return [int(count) - aside for count, aside in zip(self.position.bag[0], self._aside, strict=True)]

    def _counts(self, kinds: list[int]) -> bytes:
        counts = bytearray(self.position.tables.n_kinds)
        for kind in kinds:
            counts[kind] += 1
        return bytes(counts)

    def _events_of(self, action: int, seat: int, rack: list[int], phase: int) -> bytes:
        """What is to be told of an action, the rack and the phase being those before it (see :func:`_seen_by`)."""
        t = self.position.tables
        if action < t.swap_action:
            slot, placement = divmod(action, t.n_placements)
            return _event(seat, PLACE, rack[slot], placement, slot)
        if action == t.swap_action:
            shown = [kind for kind in rack if kind != EMPTY]
            return _event(seat, SWAP) + b"".join(_event(seat, SHOW, kind) for kind in shown)
        return _event(seat, PASS if phase == Phase.BONUS else KEEP)

    def _draws_in(self, possible: State, player: int) -> tuple[tuple[bytes, ...], bytes]:
        """What every seat would have drawn, and which of it stands in which slot, if the racks were these."""
        state, rules = self.position, self.position.rules
        own_draws, drawn_as = [bytearray(draws) for draws in self._own_draws], bytearray(self._drawn_as)
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


class GenialObserver:
    """Observations as tensor, as named parts of it, and as text.

    ``player`` (P,) one-hot; of the encoding "planes", each divided by its maximum: publicly ``board``, ``markers``,
    ``returned`` and ``levels`` (not in solo), ``rack_sizes``, ``has_placed``, ``to_play``, ``phase``,
    ``pending_bonus``; privately ``rack`` and ``unseen``, or with all players' information ``racks`` (P, K, 2, C), the
    own first. With perfect recall also ``events`` (D, 5), a row an event (seat + 1, event, kind + 1, placement + 1,
    slot + 1, each divided by its maximum; of other seats' events no slot), the oldest first, privately the own ones;
    and privately ``draws`` (L,), the kinds drawn in order, (kind + 1) / M.

    Args:
        rules: the rules.
        iig_obs_type: which information, and whether with perfect recall.
        params: none are known.

    Raises:
        ValueError: for parameters.
    """

    def __init__(self, rules: Rules, iig_obs_type: Any, params: dict[str, Any] | None) -> None:
        if params:
            raise ValueError(f"observers take no parameters, not {params}")
        self._rules, self._planes = rules, Planes()
        self._public = bool(iig_obs_type.public_info)
        self._private = iig_obs_type.private_info
        self._recall = bool(iig_obs_type.perfect_recall)
        shapes = self._shapes()
        self.tensor: NDArray[np.float32] = np.zeros(sum(int(np.prod(s)) for s in shapes.values()), dtype=np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {}
        end = 0
        for name, shape in shapes.items():
            start, end = end, end + int(np.prod(shape))
            self.dict[name] = self.tensor[start:end].reshape(shape)

    def set_from(self, state: GenialState, player: int) -> None:
        """In place: fill `tensor`, and with it `dict`, by what the player observes."""
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        seen = state._engine.view(player)
        arrays, fields = self._planes.encode(seen), self._planes.fields(self._rules)
        for name in self.dict.keys() & arrays.keys():
            self.dict[name][:] = arrays[name][0] / np.float32(fields[name].high)
        if "racks" in self.dict:
            for other in range(self._rules.players):
                rack = state._engine.view((player + other) % self._rules.players)
                self.dict["racks"][other] = self._planes.encode(rack)["rack"][0]
        if "events" in self.dict:
            rows, t = self._rows(state, player), tables(self._rules)
            limits = (self._rules.players, KEEP, t.n_kinds, t.n_placements, self._rules.rack)
            if rows:
                self.dict["events"][: len(rows)] = np.add(rows, (1, 0, 1, 1, 1)) / limits
        if "draws" in self.dict:
            draws = np.frombuffer(state._own_draws[player], dtype=np.uint8)
            self.dict["draws"][: len(draws)] = (draws + 1.0) / tables(self._rules).n_kinds

    def string_from(self, state: GenialState, player: int) -> str:
        """What the player observes, as text."""
        seen = state._engine.view(player)
        parts = []
        if self._recall:
            parts += [self._event_text(row) for row in self._rows(state, player)]
            if self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
                parts.append(f"seat {player} drew {self._tile_names(state._own_draws[player])}")
                parts.append(f"and holds {self._tile_names(seen.rack[0])}")
            phase = Phase(int(seen.phase[0])).name.lower()
            parts.append(
                f"{len(state._to_draw)} tiles are to be drawn"
                if state._to_draw
                else f"seat {state._engine.to_play}: {phase}, {seen.pending_bonus[0]} owed"
            )
            return "\n".join(parts)
        if self._public and self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return describe(seen)
        if self._public:
            parts.append(board_text(_without_racks(state.position), color=False))
        if self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            parts.append(f"rack {player}  {self._tile_names(seen.rack[0])}")
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            racks = state.position.racks[0]
            parts += [f"rack {seat}  {self._tile_names(rack)}" for seat, rack in enumerate(racks)]
        return "\n".join(parts)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        rules, fields = self._rules, self._planes.fields(self._rules)
        shapes: dict[str, tuple[int, ...]] = {"player": (rules.players,)}
        private = ("rack", "unseen")
        if self._public:
            shapes |= {name: field.shape for name, field in fields.items() if name not in private}
        if self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            shapes |= {name: fields[name].shape for name in private}
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            shapes |= {"racks": (rules.players, *fields["rack"].shape)}
        if self._recall and (self._public or self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER):
            shapes |= {"events": (_most_events(rules), 5)}
        if self._recall and self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            shapes |= {"draws": (_most_draws(rules),)}
        return shapes

    def _rows(self, state: GenialState, player: int) -> list[_Row]:
        """The events to be told, the oldest first."""
        is_private = self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER
        rows = _seen_by(state._events, player if is_private else _NOBODY)
        if self._public:
            return rows
        return [row for row in rows if is_private and row[0] == player]

    def _event_text(self, row: _Row) -> str:
        seat, what, kind, placement, slot = row
        text = f"seat {seat} {_EVENT_NAMES[what]}"
        if kind >= 0:
            text += f" {words.tile_name(self._rules, kind)}"
        if slot >= 0:
            text += f" of slot {slot}"
        if placement >= 0:
            t = tables(self._rules)
            cells = t.cells[t.placements[placement]].tolist()
            text += " on " + " ".join(str(tuple(cell)) for cell in cells)
        return text

    def _tile_names(self, kinds: Any) -> str:
        return " ".join("--" if kind == EMPTY else words.tile_name(self._rules, int(kind)) for kind in kinds)


def most_decisions(rules: Rules) -> int:
    """No game has more: a placement and a decision on a swap for half the free cells, and every bonus declined."""
    swaps = rules.most_placements if rules.has_swap else 0
    bonuses = rules.tracks * rules.colors * len(rules.stops) if rules.bonus_may_be_declined else 0
    return rules.most_placements + swaps + bonuses


def _most_events(rules: Rules) -> int:
    """As many decisions, every swap with a row for each tile shown."""
    shown = rules.most_placements * rules.rack if rules.has_swap else 0
    return most_decisions(rules) + shown


def _most_draws(rules: Rules) -> int:
    """Of one seat: the opening rack, and a tile for every placement or a rack for every swap."""
    return rules.rack + rules.most_placements * (rules.rack if rules.has_swap else 1)


def _event(seat: int, what: int, kind: int = -1, placement: int = -1, slot: int = -1) -> bytes:
    return bytes([seat, what, kind + 1, *(placement + 1).to_bytes(2, "big"), slot + 1])


@lru_cache(maxsize=4096)
def _rows(events: bytes) -> tuple[_Row, ...]:
    """Events as rows."""
    parts = (events[at : at + _EVENT_SIZE] for at in range(0, len(events), _EVENT_SIZE))
    return tuple((p[0], p[1], p[2] - 1, int.from_bytes(p[3:5], "big") - 1, p[5] - 1) for p in parts)


def _seen_by(events: bytes, player: int) -> list[_Row]:
    """What a seat is told of the events (-1: what everybody is). Nobody else learns which slot a tile came from, nor
    that a swap was offered and declined.
    """
    told = []
    for row in _rows(events):
        if row[0] == player:
            told.append(row)
        elif row[1] != KEEP:
            told.append((*row[:4], -1))
    return told


def _without_racks(state: State) -> State:
    """The same game with nothing in the racks."""
    hidden = state.copy()
    hidden.racks[:] = EMPTY
    return hidden


if "python_genial" not in pyspiel.registered_names():
    pyspiel.register_game(_game_type(), GenialGame)
