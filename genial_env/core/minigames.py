"""Mini games: late positions for two seats that are small enough for exact results.

    from genial_env.core import minigames

    game = minigames.MINI_GAMES["pairs"]
    state = game.deal(seeds=range(100))             # a State of 100 games; kernel, views and policies play it
    env = gymnasium.make("genial_env/GenialMini-v0", game="pairs")
    aec.reset(seed=1, options={"start": game.start})  # PettingZoo, made with **game.rules.to_dict()

A whole game on the smallest board is too large to solve. So a mini game begins at a position: most cells are covered,
the markers have moved, and the bag holds a few tiles of a few kinds. Chance deals the racks, and seat 0 is to play. All
six colors are in play, so that every agent can play it, networks included. The rules are those of the standard game,
bonus placements and swaps included.

`docs/exploitability.md` has their values in equilibrium, and the exploitability of the agents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import kernel
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, State
from genial_env.core.tables import tables

__all__ = ["MINI_GAMES", "MiniGame", "find_mini_game"]


@dataclass(frozen=True)
class MiniGame:
    """A game for two that begins at a late position."""

    name: str
    about: str
    """What is special about it, in a sentence."""
    rules: Rules
    board: str
    """[N] the letter of the color on each cell, a point where it is free."""
    scores: tuple[tuple[int, ...], tuple[int, ...]]
    """[T, C] the markers."""
    bag: dict[str, int]
    """The tiles of the bag, from which the racks are dealt, too: "RG" and how many."""

    @cached_property
    def start(self) -> State:
        """The game before any tile is drawn, a batch of one. Copy it before writing to it."""
        t = tables(self.rules)
        bag = np.zeros(t.n_kinds, dtype=np.int64)
        for tile, count in self.bag.items():
            bag[t.kind_of[COLOR_LETTERS.index(tile[0]), COLOR_LETTERS.index(tile[1])]] = count
        board = [COLOR_LETTERS.find(letter) for letter in self.board]
        return kernel.undealt_at(kernel.position(self.rules, board, scores=self.scores, racks=EMPTY, bag=bag))

    def deal(self, seeds: int | Sequence[int] | NDArray[Any]) -> State:
        """Deal one game for each seed.

        Raises:
            TypeError, ValueError: if the seeds are not integers from 0 to 2**64 - 1.
        """
        return kernel.deal_at(self.start, seeds)


def find_mini_game(name: str) -> MiniGame:
    """Return a mini game by its name.

    Raises:
        ValueError: if there is none; the message lists the names.
    """
    if name not in MINI_GAMES:
        raise ValueError(f"unknown mini game {name!r}: the mini games are {', '.join(MINI_GAMES)}")
    return MINI_GAMES[name]


MINI_GAMES = {
    game.name: game
    for game in (
        MiniGame(
            "pairs",
            "Three pairs of free cells, far from each other: three placements.",
            Rules(side=4, rack=2),
            board="RGRG.BBRG.R.BRRPGG.RPB.RBR..BGGGBYBBO",
            scores=((6, 5, 6, 10, 13, 12), (7, 7, 6, 10, 13, 12)),
            bag={"RR": 3, "RG": 3, "GG": 3, "GB": 3},
        ),
        MiniGame(
            "flower",
            "A connected region of seven cells: who places decides whether two or three placements are left.",
            Rules(side=3, rack=2),
            board="RPGRBP.PR..BR...Y.O",
            scores=((6, 7, 6, 11, 17, 17), (9, 6, 8, 11, 17, 17)),
            bag={"RG": 4, "RB": 4, "GB": 4},
        ),
        MiniGame(
            "bonus",
            "Markers two or three points from their end, which earn bonus placements.",
            Rules(side=4, rack=2),
            board="RBBG..GGPRPOGBGPG..BRBGPGBGRY..RGY.PO",
            scores=((8, 16, 7, 13, 17, 13), (9, 15, 9, 16, 17, 14)),
            bag={"RG": 3, "RB": 3, "GG": 3, "GB": 3},
        ),
        MiniGame(
            "doubles",
            "Four pairs of free cells and doubles only: four placements, two of each seat.",
            Rules(side=4, rack=2),
            board="R..GBYRRBBR.G.YPBBRB.BB.R.PB.R.OPYBGO",
            scores=((8, 8, 5, 18, 18, 18), (6, 8, 7, 18, 18, 18)),
            bag={"RR": 4, "GG": 4, "BB": 4},
        ),
    )
}
"""The mini games by name."""
