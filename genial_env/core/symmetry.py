"""The symmetries of the game: 12 of the board, and every permutation of the colors.

The rules are equivariant: to play an action and then apply a symmetry is the same as to apply the symmetry and then
play the image of the action (with scripted draws; the seed of a game has no image). So a network may be built
equivariant, or be trained on augmented data: :func:`genial_env.encodings.augment`.

    s = random_symmetries(rules, games, rng)     # one for each game
    s.view(v), s.mask(v.mask()), s.actions(actions, v.rack)

The start symbols are mapped like the rest of the board. Boards with start symbols elsewhere than printed occur in no
game, although the rules work on them. ``keep_start_symbols=True`` restricts the choice to the symmetries that leave the
start symbols in place: one color permutation for each board symmetry.
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
from genial_env.core.specs import Holds, Spec
from genial_env.core.state import STATE_SPECS, State
from genial_env.core.tables import tables
from genial_env.core.views import VIEW_SPECS, View

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
    """Return the symmetries of the board that map the cells of the start symbols onto each other.

    Entry (s, n) is the image of cell n; number 0 is the identity. With six colors there are all 12; fewer colors have
    fewer start symbols.
    """
    everything = hexgrid.symmetries(rules.side)
    start_symbols = tables(rules).start_symbols
    kept = [image for image in everything if set(image[start_symbols].tolist()) == set(start_symbols.tolist())]
    return _read_only(np.array(kept, dtype=np.int64))


@lru_cache(maxsize=64)
def color_permutations(rules: Rules) -> Ints:  # [C!, C]
    """Return all permutations of the colors in lexical order, the identity first: (p, c) is the image of color c."""
    return _read_only(np.array(list(permutations(range(rules.colors))), dtype=np.int64))


@lru_cache(maxsize=64)
def start_symbol_permutations(rules: Rules) -> Ints:  # [S, C]
    """Return the color permutation for each board symmetry with which the start symbols stay in place."""
    moved = board_symmetries(rules)[:, tables(rules).start_symbols]  # [S, C]: the image of the cell of color c's symbol
    return _read_only((moved[:, :, None] == tables(rules).start_symbols).argmax(axis=2))


@dataclass(frozen=True, eq=False)
class Symmetry:
    """One symmetry for each of G games, or one for all of them (G = 1)."""

    rules: Rules
    board_number: Ints  # [G] into `board_symmetries`
    colors: Ints  # [G, C] the image of color c

    @property
    def cells(self) -> Ints:  # [G, N]
        """The image of each cell."""
        moved: Ints = board_symmetries(self.rules)[self.board_number]
        return moved

    @property
    def placements(self) -> Ints:  # [G, E]
        """The image of each oriented placement."""
        moved: Ints = _moved_placements(self.rules)[self.board_number]
        return moved

    @property
    def kinds(self) -> Ints:  # [G, M]
        """The image of each tile kind."""
        t = tables(self.rules)
        first, second = self.colors[:, t.kinds[:, 0]], self.colors[:, t.kinds[:, 1]]
        kinds: Ints = t.kind_of[first, second]
        return kinds

    @property
    def inverse(self) -> "Symmetry":
        """The inverse."""
        return replace(
            self,
            board_number=_inverse_numbers(self.rules)[self.board_number],
            colors=np.argsort(self.colors, axis=1),
        )

    def view(self, view: View) -> View:
        """Return the images of views [G]."""
        return View(self.rules, **{name: self._array(getattr(view, name), spec) for name, spec in VIEW_SPECS.items()})

    def state(self, state: State) -> State:
        """Return the images of games [G]. The draws to come are not mapped: script the images of the tiles."""
        return State(
            self.rules, **{name: self._array(getattr(state, name), spec) for name, spec in STATE_SPECS.items()}
        )

    def mask(self, mask: NDArray[Any]) -> NDArray[Any]:  # [G, A]
        """Return the images of masks over the actions, of any dtype."""
        t, image = tables(self.rules), mask.copy()
        tiles = mask[:, : t.swap_action].reshape(len(mask), self.rules.rack, t.n_placements)
        image[:, : t.swap_action] = _moved(tiles, self.placements, axis=2).reshape(len(mask), t.swap_action)
        return image

    def actions(self, actions: Ints, rack: NDArray[np.int8]) -> Ints:  # [G]
        """Return the images of actions.

        The first half of a tile is the lower color, so recoloring may exchange the halves. Then the image is on the
        reversed placement.

        Args:
            actions: [G].
            rack: [G, K] the rack that the actions refer to.
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

    def _array(self, array: NDArray[Any], spec: Spec) -> NDArray[Any]:
        """Return the image of a declared array: its numbers mapped, then its axes permuted."""
        image = self._numbers(array, spec.holds)
        permutations = {"N": self.cells, "C": self.colors, "E": self.placements, "M": self.kinds}
        for axis, letter in enumerate(spec.axes, start=1):
            if letter in permutations:
                image = _moved(image, permutations[letter], axis)
        return image

    def _numbers(self, numbers: NDArray[Any], holds: Holds) -> NDArray[Any]:
        """Return a copy of an array with each number replaced by the image of what it stands for."""
        if holds is Holds.COLORS:
            return self._look_up(self.colors, numbers)
        if holds is Holds.KINDS:
            return self._look_up(self.kinds, numbers)
        if holds is Holds.START_SYMBOLS:
            return self._start_symbols(numbers)
        if holds is Holds.PLACEMENTS:
            flags = bitsets.unpack(numbers, tables(self.rules).n_placements)
            return bitsets.pack(_moved(flags, self.placements))
        return numbers.copy()

    def _look_up(self, images: Ints, numbers: NDArray[Any]) -> NDArray[Any]:
        """Replace numbers [G, ...] by their images, of [G, n] or [1, n] for all games; -1 stays -1."""
        extended = np.append(images, np.full((len(images), 1), -1), axis=1)  # -1 is the index of the last entry
        games = np.zeros(1, dtype=np.int64) if len(images) == 1 else np.arange(len(numbers))
        found: NDArray[Any] = extended[games.reshape(-1, *[1] * (numbers.ndim - 1)), numbers]
        return found.astype(numbers.dtype)

    def _start_symbols(self, touched: NDArray[Any]) -> NDArray[Any]:
        """Return the images of sets of start symbols: the cell of symbol c goes to the cell of another symbol."""
        moved_symbols = start_symbol_permutations(self.rules)[self.board_number]  # [G, C]
        colors = np.arange(self.rules.colors, dtype=np.uint8)
        bits = _moved(touched[:, None] >> colors & 1, moved_symbols) << colors
        image: NDArray[np.uint8] = np.bitwise_or.reduce(bits, axis=1).astype(np.uint8)
        return image


def symmetries(rules: Rules, keep_start_symbols: bool = True) -> Symmetry:
    """Return all symmetries: each board symmetry with the color permutation that keeps the start symbols in place.

    Without `keep_start_symbols` each board symmetry comes with every color permutation: 12 x 720 with six colors.
    """
    boards = np.arange(len(board_symmetries(rules)))
    if keep_start_symbols:
        return Symmetry(rules, boards, start_symbol_permutations(rules))
    colors = color_permutations(rules)
    return Symmetry(rules, np.repeat(boards, len(colors)), np.tile(colors, (len(boards), 1)))


def random_symmetries(rules: Rules, games: int, rng: np.random.Generator, keep_start_symbols: bool = False) -> Symmetry:
    """Choose a symmetry for each game, all equally likely.

    Args:
        rules: the rules.
        games: G, how many.
        rng: the source of the random choices.
        keep_start_symbols: whether to use only symmetries that leave the start symbols in place.
    """
    boards = rng.integers(len(board_symmetries(rules)), size=games)
    if keep_start_symbols:
        return Symmetry(rules, boards, start_symbol_permutations(rules)[boards])
    colors = color_permutations(rules)
    return Symmetry(rules, boards, colors[rng.integers(len(colors), size=games)])


def _moved(values: NDArray[Any], to: Ints, axis: int = 1) -> NDArray[Any]:
    """Move entry i of an axis of [G, ...] to index ``to[g, i]``; `to` has G rows, or one row for all games."""
    source = np.argsort(to, axis=1)
    shape = [len(to)] + [1] * (values.ndim - 1)
    shape[axis] = to.shape[1]
    return np.take_along_axis(values, source.reshape(shape), axis=axis)


@lru_cache(maxsize=64)
def _moved_placements(rules: Rules) -> Ints:  # [S, E]
    """Return the image of each placement under each board symmetry."""
    t = tables(rules)
    first, second = (board_symmetries(rules)[:, t.placements[:, half]] for half in (0, 1))
    direction = (t.neighbours[first] == second[:, :, None]).argmax(axis=2)
    return _read_only(t.placement_of[first, direction])


@lru_cache(maxsize=64)
def _inverse_numbers(rules: Rules) -> Ints:  # [S]
    """Return the number of the inverse of each board symmetry."""
    moved = board_symmetries(rules)
    undone = np.argsort(moved, axis=1)
    return _read_only((undone[:, None, :] == moved[None]).all(axis=2).argmax(axis=1))


def _read_only(table: Ints) -> Ints:
    table.setflags(write=False)
    return table
