"""The symmetries of the game: 12 of the board, and every permutation of the colors.

Whatever is turned, mirrored or recolored, the rules stay the same: playing and then turning is turning and then playing
(with the draws scripted; the luck of a game is not turned). So a network may be built to treat images alike, or be
trained on them: :func:`genial_env.encodings.augment`.

    s = random_symmetries(rules, games, rng)     # one for each game
    s.view(v), s.mask(v.mask()), s.actions(actions, v.rack)

The printed symbols go where the board goes and are recolored with everything else. A board whose printed symbols are
not where they are printed occurs in no game, though the rules do not mind; ``keep_printed=True`` takes the symmetries
that leave them in place, one color permutation for each board symmetry.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import bitsets, hexgrid
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.core.views import View

__all__ = [
    "Symmetry",
    "board_symmetries",
    "color_permutations",
    "random_symmetries",
    "start_symbol_permutations",
    "symmetries",
]


@lru_cache(maxsize=64)
def board_symmetries(rules: Rules) -> Ints:  # [S, N]
    """The symmetries of the board that map the cells of the printed symbols onto each other: entry (s, n) is the cell
    where n goes. Number 0 changes nothing. All 12 with six colors; fewer colors have fewer printed symbols.
    """
    everything = hexgrid.symmetries(rules.side)
    start_symbols = tables(rules).start_symbols
    kept = [image for image in everything if set(image[start_symbols].tolist()) == set(start_symbols.tolist())]
    return _read_only(np.array(kept, dtype=np.int64))


@lru_cache(maxsize=64)
def color_permutations(rules: Rules) -> Ints:  # [C!, C]
    """All permutations of the colors in lexical order, no change first: entry (p, c) is what color c becomes."""
    return _read_only(np.array(list(permutations(range(rules.colors))), dtype=np.int64))


@lru_cache(maxsize=64)
def start_symbol_permutations(rules: Rules) -> Ints:  # [S, C]
    """The color permutation that goes with each board symmetry so that the printed symbols stay as they are."""
    moved = board_symmetries(rules)[:, tables(rules).start_symbols]  # [S, C]: where color c's symbol goes
    return _read_only((moved[:, :, None] == tables(rules).start_symbols).argmax(axis=2))


@dataclass(frozen=True, eq=False)
class Symmetry:
    """One symmetry for each of G games, or one for all of them (G = 1)."""

    rules: Rules
    board_number: Ints  # [G] into `board_symmetries`
    colors: Ints  # [G, C] what color c becomes

    @property
    def cells(self) -> Ints:  # [G, N]
        """Where each cell goes."""
        moved: Ints = board_symmetries(self.rules)[self.board_number]
        return moved

    @property
    def placements(self) -> Ints:  # [G, E]
        """Where each oriented placement goes."""
        moved: Ints = _moved_placements(self.rules)[self.board_number]
        return moved

    @property
    def kinds(self) -> Ints:  # [G, M]
        """What each tile kind becomes."""
        t = tables(self.rules)
        first, second = self.colors[:, t.kinds[:, 0]], self.colors[:, t.kinds[:, 1]]
        kinds: Ints = t.kind_of[first, second]
        return kinds

    @property
    def inverse(self) -> "Symmetry":
        """What undoes it."""
        return replace(
            self,
            board_number=_inverse_numbers(self.rules)[self.board_number],
            colors=np.argsort(self.colors, axis=1),
        )

    def view(self, view: View) -> View:
        """The image of views [G]."""
        return replace(
            view,
            board=self._board(view.board),
            points=self._points(view.points),
            scores=self._by_color(view.scores),
            rack=self._tiles(view.rack),
            unseen=self._by_kind(view.unseen),
            returned=self._by_kind(view.returned),
            levels=_moved(view.levels, self.kinds),
            placements=_moved(view.placements, self.placements),
            **{name: getattr(view, name).copy() for name in _UNMOVED},
        )

    def state(self, state: State) -> State:
        """The image of games [G]. What is drawn next is not: scripted draws take the images of the tiles."""
        t = state.tables
        corners = start_symbol_permutations(self.rules)[self.board_number]  # [G, C]: symbol c's cell goes to symbol c'
        bits = state.symbols_touched[:, None] >> np.arange(self.rules.colors, dtype=np.uint8) & 1
        symbols_touched = _moved(bits, corners) << np.arange(self.rules.colors, dtype=np.uint8)
        return replace(
            state.copy(),
            board=self._board(state.board),
            points=self._points(state.points),
            open=bitsets.pack(_moved(bitsets.unpack(state.open, t.n_placements), self.placements)),
            symbols_touched=np.bitwise_or.reduce(symbols_touched, axis=1).astype(np.uint8),
            scores=self._by_color(state.scores),
            racks=self._tiles(state.racks),
            bag=self._by_kind(state.bag),
            returned=self._by_kind(state.returned),
            levels=_moved(state.levels, self.kinds),
        )

    def mask(self, mask: NDArray[Any]) -> NDArray[Any]:  # [G, A]
        """The image of masks over the actions, of any dtype."""
        t, image = tables(self.rules), mask.copy()
        tiles = mask[:, : t.swap_action].reshape(len(mask), self.rules.rack, t.n_placements)
        image[:, : t.swap_action] = _moved(tiles, self.placements, axis=2).reshape(len(mask), t.swap_action)
        return image

    def actions(self, actions: Ints, rack: NDArray[np.int8]) -> Ints:  # [G]
        """The image of actions, which depends on the tiles of the rack [G, K] that they are for: a tile's halves are
        named lower color first, so that recoloring may turn it over.
        """
        t = tables(self.rules)
        placing = t.is_placing(actions)
        slot, placement = t.split_action(np.where(placing, actions, 0))
        games, one_for_all = np.arange(len(actions)), len(self.board_number) == 1
        which = np.zeros_like(games) if one_for_all else games
        halves = t.kinds.take(rack[games, slot], axis=0)
        is_reversed = self.colors[which, halves[:, 0]] > self.colors[which, halves[:, 1]]
        image = self.placements[which, placement]
        image = np.where(is_reversed, t.reversed_placement[image], image)
        return np.where(placing, t.join_action(slot, image), actions)

    def _board(self, board: NDArray[np.int8]) -> NDArray[np.int8]:
        recolored = np.append(self.colors, np.full((len(self.colors), 1), -1), axis=1)  # -1, free, is the last entry
        games = np.zeros(1, dtype=np.int64) if len(self.colors) == 1 else np.arange(len(board))
        return _moved(recolored[games[:, None], board].astype(np.int8), self.cells)

    def _points(self, points: NDArray[np.int8]) -> NDArray[np.int8]:
        return _moved(_moved(points, self.cells), self.colors, axis=2)

    def _by_color(self, values: NDArray[Any]) -> NDArray[Any]:
        return _moved(values, self.colors, axis=values.ndim - 1)

    def _by_kind(self, values: NDArray[Any]) -> NDArray[Any]:
        return _moved(values, self.kinds, axis=values.ndim - 1)

    def _tiles(self, kinds: NDArray[np.int8]) -> NDArray[np.int8]:
        images = np.append(self.kinds, np.full((len(self.colors), 1), -1), axis=1)
        games = np.zeros(1, dtype=np.int64) if len(self.colors) == 1 else np.arange(len(kinds))
        return images[games.reshape(-1, *[1] * (kinds.ndim - 1)), kinds].astype(np.int8)


_UNMOVED = ("seat", "rack_sizes", "has_placed", "to_play", "phase", "pending_bonus", "slots", "may_swap", "may_decline")


def symmetries(rules: Rules, keep_start_symbols: bool = True) -> Symmetry:
    """All of them, one after the other: the board symmetries each with the color permutation that keeps the printed
    symbols; without `keep_start_symbols` each with every permutation (12 x 720 with six colors).
    """
    boards = np.arange(len(board_symmetries(rules)))
    if keep_start_symbols:
        return Symmetry(rules, boards, start_symbol_permutations(rules))
    colors = color_permutations(rules)
    return Symmetry(rules, np.repeat(boards, len(colors)), np.tile(colors, (len(boards), 1)))


def random_symmetries(rules: Rules, games: int, rng: np.random.Generator, keep_start_symbols: bool = False) -> Symmetry:
    """One for each of so many games, all equally likely.

    Args:
        rules: the rules.
        games: G.
        rng: where the choices come from.
        keep_start_symbols: whether the printed symbols stay as they are.
    """
    boards = rng.integers(len(board_symmetries(rules)), size=games)
    if keep_start_symbols:
        return Symmetry(rules, boards, start_symbol_permutations(rules)[boards])
    colors = color_permutations(rules)
    return Symmetry(rules, boards, colors[rng.integers(len(colors), size=games)])


def _moved(values: NDArray[Any], to: Ints, axis: int = 1) -> NDArray[Any]:
    """Entry i of an axis of [G, ...] goes to ``to[g, i]``; `to` has G rows, or one for all games."""
    source = np.argsort(to, axis=1)
    shape = [len(to)] + [1] * (values.ndim - 1)
    shape[axis] = to.shape[1]
    return np.take_along_axis(values, source.reshape(shape), axis=axis)


@lru_cache(maxsize=64)
def _moved_placements(rules: Rules) -> Ints:  # [S, E]
    """Where each placement goes under each board symmetry."""
    t = tables(rules)
    first, second = (board_symmetries(rules)[:, t.placements[:, half]] for half in (0, 1))
    direction = (t.neighbours[first] == second[:, :, None]).argmax(axis=2)
    return _read_only(t.placement_of[first, direction])


@lru_cache(maxsize=64)
def _inverse_numbers(rules: Rules) -> Ints:  # [S]
    """The number of the board symmetry that undoes each."""
    moved = board_symmetries(rules)
    undone = np.argsort(moved, axis=1)
    return _read_only((undone[:, None, :] == moved[None]).all(axis=2).argmax(axis=1))


def _read_only(table: Ints) -> Ints:
    table.setflags(write=False)
    return table
