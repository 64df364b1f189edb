"""Game records: written by everything that plays, replayed and checked by anyone."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from genial_env import kernel
from genial_env.actions import tile_name
from genial_env.bitsets import Ints
from genial_env.chance import Bits
from genial_env.rules import COLOUR_LETTERS
from genial_env.state import EMPTY, End, Phase, State

FORMAT, VERSION = "genial-record", 1


class Recorder:
    """Keeps what happens in B games while they are played through it.

    The steps are kept as arrays and turned into events at the end, so that a batch is played at full speed.
    """

    def __init__(self, state: State, agents: Sequence[str], seeds: Bits | None = None) -> None:
        """Begin, before the first action.

        Args:
            state: the games, freshly dealt; the recorder plays on it.
            agents: one name a seat.
            seeds: [B] the games' seeds, where known.
        """
        self.state = state
        self._agents = list(agents)
        self._seeds = seeds
        self._deal = state.racks.copy()
        self._steps: list[dict[str, Any]] = []

    def apply(self, actions: Ints, rows: Ints | None = None, draws: Ints | None = None) -> None:
        """In place: play one action in each game, as :func:`genial_env.kernel.apply` does, and keep it."""
        state = self.state
        rows = np.arange(len(state)) if rows is None else rows
        seat = state.to_play[rows]
        step = {
            "row": rows,
            "seat": seat,
            "action": np.asarray(actions),
            "phase": state.phase[rows],
            "legal": kernel.legal_count(state, rows),
            "rack": kernel.own_racks(state, rows),
            "points": kernel.gained(state, np.asarray(actions), rows),
        }
        kernel.apply(state, actions, rows, draws)
        self._steps.append({**step, "rack_after": state.racks[rows, seat]})

    def records(self) -> list[dict[str, Any]]:
        """The games' records, as they stand now."""
        state = self.state
        events: list[list[list[Any]]] = [[] for _ in range(len(state))]
        for step in self._steps:
            for index, row in enumerate(step["row"].tolist()):
                events[row] += self._events({name: column[index] for name, column in step.items()})
        ranks = kernel.ranks(state.scores)
        return [
            {
                "format": FORMAT,
                "version": VERSION,
                "rules": state.rules.to_dict(),
                "seed": None if self._seeds is None else int(self._seeds[row]),
                "agents": self._agents,
                "deal": [self._tiles(rack) for rack in self._deal[row]],
                "events": events[row],
                "scores": state.scores[row].tolist(),
                "ranks": ranks[row].tolist(),
                "end": End(int(state.end[row])).words,
            }
            for row in range(len(state))
        ]

    def _events(self, step: dict[str, Any]) -> list[list[Any]]:
        """One action as events: what was done, then what was drawn."""
        t, rules = self.state.tables, self.state.rules
        head = [int(step["seat"]), int(step["legal"])]
        rack, after, action = step["rack"].copy(), step["rack_after"], int(step["action"])
        if action == t.swap_action and rules.has_swap:
            return [["swap", *head, self._tiles(rack), self._tiles(after)]]
        if action < t.swap_action:
            slot, placement = divmod(action, t.n_placements)
            cells = t.cells[t.placements[placement]].tolist()
            points = {COLOUR_LETTERS[color]: int(n) for color, n in enumerate(step["points"]) if n}
            done = ["place", *head, slot, tile_name(rules, rack[slot]), *cells, points]
            rack[slot] = EMPTY
        else:
            done = ["pass" if step["phase"] == Phase.BONUS else "keep", *head]
        drawn = self._tiles(after[rack == EMPTY])
        return [done, ["draw", head[0], drawn]] if drawn else [done]

    def _tiles(self, kinds: Ints) -> list[str]:
        """The names of the tiles, empty slots left out."""
        return [tile_name(self.state.rules, kind) for kind in kinds if kind != EMPTY]
