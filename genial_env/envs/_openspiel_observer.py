"""Observations of the OpenSpiel game: tensors and texts."""

from typing import Any, Protocol

import numpy as np
import pyspiel
from numpy.typing import NDArray

from genial_env.core import actions
from genial_env.core.engine import Engine
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.tables import tables
from genial_env.encodings.planes import Planes
from genial_env.envs._openspiel_events import (
    EVENT_NAMES,
    KEEP,
    Event,
    events_known_to,
    most_draws,
    most_events,
)
from genial_env.render.ansi import board_text, describe


class ObservedState(Protocol):
    """What an observer reads of an OpenSpiel state."""

    engine: Engine
    events: bytes
    own_draws: tuple[bytes, ...]
    slots_to_draw: bytes

    @property
    def position(self) -> State:
        """The game."""


class GenialObserver:
    """Makes observations: a tensor, its named parts, and a text.

    ``player`` (P,) one-hot; of the encoding "planes", each divided by its maximum: publicly ``board``, ``markers``,
    ``returned`` and ``levels`` (not in solo), ``rack_sizes``, ``has_placed``, ``to_play``, ``phase``,
    ``pending_bonus``; privately ``rack`` and ``unseen``, or with all players' information ``racks`` (P, K, 2, C), the
    own first. With perfect recall also ``events`` (D, 5), the oldest first, one row for each event: seat + 1, kind of
    event, tile kind + 1, placement + 1 and slot + 1 (own events only), each divided by its maximum. Privately these are
    the own events. With perfect recall also, privately, ``draws`` (L,): (tile kind + 1) / M of each tile drawn.

    Args:
        rules: the rules.
        iig_obs_type: which information is observed, and whether with perfect recall.
        params: must be empty.

    Raises:
        ValueError: if there are parameters.
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

    def set_from(self, state: ObservedState, player: int) -> None:
        """In place: write what the player observes into `tensor`, and so into `dict`."""
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        view = state.engine.view(player)
        arrays, fields = self._planes.encode(view), self._planes.fields(self._rules)
        for name in self.dict.keys() & arrays.keys():
            self.dict[name][:] = arrays[name][0] / np.float32(fields[name].high)
        if "racks" in self.dict:
            for other in range(self._rules.players):
                rack = state.engine.view(int(tables(self._rules).seats_from[player, other]))
                self.dict["racks"][other] = self._planes.encode(rack)["rack"][0]
        if "events" in self.dict:
            events, t = self._known_events(state, player), tables(self._rules)
            limits = (self._rules.players, KEEP, t.n_kinds, t.n_placements, self._rules.rack)
            if events:
                self.dict["events"][: len(events)] = np.add(events, (1, 0, 1, 1, 1)) / limits
        if "draws" in self.dict:
            draws = np.frombuffer(state.own_draws[player], dtype=np.uint8)
            self.dict["draws"][: len(draws)] = (draws + 1.0) / tables(self._rules).n_kinds

    def string_from(self, state: ObservedState, player: int) -> str:
        """Return what the player observes, as text."""
        view = state.engine.view(player)
        parts = []
        if self._recall:
            parts += [self._event_text(event) for event in self._known_events(state, player)]
            if self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
                parts.append(f"seat {player} drew {self._tile_names(state.own_draws[player])}")
                parts.append(f"and holds {self._tile_names(view.rack[0])}")
            phase = Phase(int(view.phase[0])).name.lower()
            parts.append(
                f"{len(state.slots_to_draw)} tiles are to be drawn"
                if state.slots_to_draw
                else f"seat {state.engine.to_play}: {phase}, {view.pending_bonus[0]} owed"
            )
            return "\n".join(parts)
        if self._public and self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return describe(view)
        if self._public:
            parts.append(board_text(_without_racks(state.position), color=False))
        if self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            parts.append(f"rack {player}  {self._tile_names(view.rack[0])}")
        if self._private == pyspiel.PrivateInfoType.ALL_PLAYERS:
            racks = state.position.racks[0]
            parts += [f"rack {seat}  {self._tile_names(rack)}" for seat, rack in enumerate(racks)]
        return "\n".join(parts)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each named part."""
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
            shapes |= {"events": (most_events(rules), 5)}
        if self._recall and self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            shapes |= {"draws": (most_draws(rules),)}
        return shapes

    def _known_events(self, state: ObservedState, player: int) -> list[Event]:
        """Return the events that belong to the observation, the oldest first."""
        is_private = self._private == pyspiel.PrivateInfoType.SINGLE_PLAYER
        events = events_known_to(state.events, player if is_private else None)
        if self._public:
            return events
        return [event for event in events if is_private and event.seat == player]

    def _event_text(self, event: Event) -> str:
        seat, what, kind, placement, slot = event
        text = f"seat {seat} {EVENT_NAMES[what]}"
        if kind >= 0:
            text += f" {actions.tile_name(self._rules, kind)}"
        if slot >= 0:
            text += f" of slot {slot}"
        if placement >= 0:
            t = tables(self._rules)
            cells = t.cells[t.placements[placement]].tolist()
            text += " on " + " ".join(str(tuple(cell)) for cell in cells)
        return text

    def _tile_names(self, kinds: Any) -> str:
        return " ".join("--" if kind == EMPTY else actions.tile_name(self._rules, int(kind)) for kind in kinds)


def _without_racks(state: State) -> State:
    """Return a copy of the game with empty racks."""
    hidden = state.copy()
    hidden.racks[:] = EMPTY
    return hidden
