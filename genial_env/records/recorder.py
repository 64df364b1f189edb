"""Recording of games while they are played."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from genial_env.core import kernel, ranking
from genial_env.core.actions import tile_name
from genial_env.core.arrays import Bits, Ints
from genial_env.core.engine import PythonEngine
from genial_env.core.rules import COLOR_LETTERS
from genial_env.core.state import EMPTY, End, Phase, State
from genial_env.records.format import FORMAT, VERSION, Event, Record

__all__ = ["Recorder"]


class Recorder:
    """A recorder of B games that are played through it.

    Steps are kept as arrays. :meth:`records` converts them to events, so recording hardly slows a batch down.

    Args:
        state: The games, before their first action. The recorder plays on this state.
        agents: One name for each seat.
        seeds: [B] The games' seeds; None if they are unknown.
    """

    def __init__(self, state: State, agents: Sequence[str], seeds: Bits | None = None) -> None:
        self.state = state
        self._agents = list(agents)
        self._seeds = seeds
        self._deal = state.racks.copy()
        self._steps: list[dict[str, Any]] = []
        self._told: list[list[tuple[int, list[Event]]]] = []  # the events of the first steps, once they were asked for

    def apply(self, actions: Ints, rows: Ints | None = None, draws: Ints | None = None) -> None:
        """In place: play one action in each game and record it. The arguments are those of ``kernel.apply``.

        Raises:
            IllegalAction: If an action is illegal. Nothing is played or recorded then.
        """
        state = self.state
        rows = np.arange(len(state)) if rows is None else rows
        actions = kernel.as_actions(actions, len(rows))
        seat = state.to_play[rows]
        step = {
            "row": rows,
            "seat": seat,
            "action": actions,
            "phase": state.phase[rows],
            "legal": kernel.legal_count(state, rows),
            "rack": kernel.own_racks(state, rows),
            "points": kernel.gained(state, actions, rows),
        }
        alone = len(state) == len(rows) == 1 and draws is None
        if not alone or not self.engine.play(int(actions[0])):  # of an illegal action the kernel says why
            kernel.apply(state, actions, rows, draws)
        self._steps.append({**step, "rack_after": state.racks[rows, seat]})

    @cached_property
    def engine(self) -> PythonEngine:
        """The engine of a batch of one game, for which the kernel takes eight times as long."""
        return PythonEngine(self.state)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "engine"}  # it writes to this state

    def copy(self) -> "Recorder":
        """Return a recorder of the same games; actions played through one do not change the other."""
        other = copy(self)
        other.state, other._steps, other._told = self.state.copy(), list(self._steps), list(self._told)
        return other

    def events(self) -> list[list[Event]]:
        """Return the events of each game so far. The events are not to be changed: others get the same ones."""
        events: list[list[Event]] = [[] for _ in range(len(self.state))]
        for step in self._steps[len(self._told) :]:
            rows = step["row"].tolist()
            columns = [{name: column[index] for name, column in step.items()} for index in range(len(rows))]
            self._told.append([(row, self._tell(each)) for row, each in zip(rows, columns, strict=True)])
        for told in self._told:
            for row, found in told:
                events[row] += found
        return events

    def records(self) -> list[Record]:
        """Return one record for each game, up to its current position."""
        state, events = self.state, self.events()
        ranks = ranking.ranks(state.scores)
        return [
            Record(
                format=FORMAT,
                version=VERSION,
                rules=state.rules.to_dict(),
                seed=None if self._seeds is None else int(self._seeds[row]),
                agents=list(self._agents),
                deal=[self._tiles(rack) for rack in self._deal[row]],
                events=[_copy_event(event) for event in events[row]],
                scores=state.scores[row].tolist(),
                ranks=ranks[row].tolist(),
                end=End(int(state.end[row])).words,
            )
            for row in range(len(state))
        ]

    def _tell(self, step: dict[str, Any]) -> list[Event]:
        """Return the events of one step of one game: the action, then the draw if there was one."""
        t, rules = self.state.tables, self.state.rules
        head = [int(step["seat"]), int(step["legal"])]
        rack, after, action = step["rack"].copy(), step["rack_after"], int(step["action"])
        if action == t.swap_action and rules.has_swap:
            return [["swap", *head, self._tiles(rack), self._tiles(after)]]
        if t.is_placing(action):
            slot, placement = t.split_action(action)
            cells = t.cells[t.placements[placement]].tolist()
            points = {COLOR_LETTERS[color]: int(n) for color, n in enumerate(step["points"]) if n}
            event = ["place", *head, slot, tile_name(rules, rack[slot]), *cells, points]
            rack[slot] = EMPTY
        else:
            event = ["pass" if step["phase"] == Phase.BONUS else "keep", *head]
        drawn = self._tiles(after[rack == EMPTY])
        return [event, ["draw", head[0], drawn]] if drawn else [event]

    def _tiles(self, kinds: Ints) -> list[str]:
        """Return the names of the tiles in a rack; empty slots are omitted."""
        return [tile_name(self.state.rules, kind) for kind in kinds if kind != EMPTY]


def _copy_event(event: Event) -> Event:
    """Return a copy that shares nothing that can be changed: an event has lists and dictionaries of plain values."""
    return [value.copy() if isinstance(value, list | dict) else value for value in event]
