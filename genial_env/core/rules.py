"""The rules of one game as data: players, edition, mode, and what research and tournaments vary.

Three printed rule sheets exist, named by their year. They differ in two flags only (:data:`EDITIONS`). Code that
depends on the rules reads properties of :class:`Rules`, never the name of an edition.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_flag, as_integer

__all__ = [
    "COLOR_LETTERS",
    "DOUBLE_COPIES",
    "EDITIONS",
    "MIXED_COPIES",
    "PLAYERS_BY_MODE",
    "SIDE_BY_PLAYERS",
    "SIZE_LIMITS",
    "TRACK_END",
    "Edition",
    "Rules",
]

Seats = TypeVar("Seats", int, NDArray[np.int64])

COLOR_LETTERS = "RGBOYP"
"""Red, green, blue, orange, yellow, purple: the color order everywhere, and the letters of notation."""

TRACK_END = 18
"""The end of a track, where markers stop; on the double track they stop here and at twice this value."""

MIXED_COPIES, DOUBLE_COPIES = 6, 5
"""How many tiles of each mixed kind and of each double kind a box has."""


@dataclass(frozen=True)
class Edition:
    """The flags of one rule sheet."""

    bonus_may_be_declined: bool
    modes: tuple[str, ...]


EDITIONS = {
    "2004": Edition(bonus_may_be_declined=False, modes=("individual", "team", "solo")),
    "2009": Edition(bonus_may_be_declined=True, modes=("individual", "team", "solo")),
    "2025": Edition(bonus_may_be_declined=False, modes=("individual",)),
}
"""The editions by name."""

PLAYERS_BY_MODE = {"individual": (2, 3, 4), "team": (4,), "solo": (1,)}
"""The numbers of seats that each mode allows."""

SIDE_BY_PLAYERS = {1: 6, 2: 6, 3: 7, 4: 8}
"""The side of the printed board for each number of seats."""

SIZE_LIMITS = {"side": (3, 10), "colors": (2, 6), "rack": (2, 6), "tile_sets": (1, 12)}
"""The least and the greatest value of each size that research varies; in solo a rack always holds one tile."""


@dataclass(frozen=True)
class Rules:
    """One game's rules. The defaults are the standard game; `None` means "as printed".

    Args:
        players: seats, 1 to 4.
        edition: ``"2004"``, ``"2009"`` or ``"2025"``.
        mode: ``"individual"`` (2 to 4 players), ``"team"`` (4, seats 0 and 2 against 1 and 3) or ``"solo"`` (1).
        side: cells along one edge of the board, 3 to 10; as printed 6 for 1 or 2 players, 7 for 3, 8 for 4.
        colors: colors in play, 2 to 6, the first so many of R G B O Y P. Tiles of other colors leave the bag; their
            start symbols become ordinary free cells.
        rack: tiles that a seat holds, 2 to 6; as printed 6; in solo always 1.
        tile_sets: how many boxes of tiles the bag holds, 1 to 12; a large board or few colors need more than one.
        one_bonus_a_tile: whether a tile earns at most one bonus placement, as at the Mind Sports Olympiad. Otherwise it
            earns one for each marker that it brings to a stop, as printed. Not in solo, which has no bonus placements.

    Raises:
        ValueError: if a value or a combination cannot be played; the message says what can.
        TypeError: if a value has the wrong type.
    """

    players: int = 2
    edition: str = "2025"
    mode: str = "individual"
    side: int = None  # type: ignore[assignment]  # filled in below, so that readers always see a number
    colors: int = 6
    rack: int = None  # type: ignore[assignment]
    tile_sets: int = 1
    one_bonus_a_tile: bool = False

    def __post_init__(self) -> None:
        self._check_choices()
        if self.side is None:
            object.__setattr__(self, "side", SIDE_BY_PLAYERS[self.players])
        if self.rack is None:
            object.__setattr__(self, "rack", 1 if self.mode == "solo" else 6)
        self._check_sizes()
        self._check_bonus()
        object.__setattr__(self, "_hash", hash(_values(self)))

    def __hash__(self) -> int:
        """Return the hash, which is computed once because every look-up of tables needs it."""
        return self._hash  # type: ignore[attr-defined, no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the values only, because hashes differ between processes."""
        return Rules, _values(self)

    # What follows from the edition and the mode.

    @property
    def tracks(self) -> int:
        """T, the number of sets of markers: one for each seat, in team mode one for each team."""
        return 2 if self.mode == "team" else self.players

    @property
    def stops(self) -> tuple[int, ...]:
        """The values at which a marker stops: (18,), on the double track (18, 36)."""
        return (TRACK_END,) if self.mode == "individual" else (TRACK_END, 2 * TRACK_END)

    @property
    def top(self) -> int:
        """The end of the track: 18, on the double track 36."""
        return self.stops[-1]

    def track_of(self, seat: Seats) -> Seats:
        """Return the track of each seat: its own, in team mode its team's, which seats 0 and 2, 1 and 3 share.

        Args:
            seat: one seat, or an array of seats of any shape.
        """
        return seat % self.tracks

    def seats_of(self, track: int) -> tuple[int, ...]:
        """Return the seats that play for a track: one, in team mode the two of the team, in order."""
        return tuple(seat for seat in range(self.players) if self.track_of(seat) == track)

    @property
    def has_bonus(self) -> bool:
        """Whether a marker that arrives at a stop earns a bonus placement (not in solo)."""
        return self.mode != "solo"

    @property
    def bonuses_a_tile(self) -> int:
        """The most bonus placements that one tile earns: 2, with `one_bonus_a_tile` 1, in solo 0."""
        return int(self.has_bonus) * (1 if self.one_bonus_a_tile else 2)

    @property
    def has_swap(self) -> bool:
        """Whether a rack that shows none of the lowest colors may be swapped (not in solo)."""
        return self.mode != "solo"

    @property
    def bonus_may_be_declined(self) -> bool:
        """Whether a bonus placement may be declined (edition 2009 only)."""
        return self.has_bonus and EDITIONS[self.edition].bonus_may_be_declined

    @property
    def start_symbol_radius(self) -> int:
        """The distance of the start symbols from the centre: 5, on a smaller board that of its corners."""
        return min(self.side, 6) - 1

    @property
    def tiles(self) -> int:
        """The number of tiles in the full bag."""
        mixed = self.colors * (self.colors - 1) // 2
        return self.tile_sets * (MIXED_COPIES * mixed + DOUBLE_COPIES * self.colors)

    @property
    def most_placements(self) -> int:
        """The greatest number of placements in a game: half of the cells that are free at the start."""
        return (3 * self.side * (self.side - 1) + 1 - self.colors) // 2

    def to_dict(self) -> dict[str, Any]:
        """Return players, edition, mode, and every other value that differs from the printed rules."""
        default = Rules(self.players, self.edition, self.mode)
        always = {"players", "edition", "mode"}
        names = [f.name for f in fields(self)]
        return {n: getattr(self, n) for n in names if n in always or getattr(self, n) != getattr(default, n)}

    @classmethod
    def from_dict(cls, words: dict[str, Any]) -> "Rules":
        """Return the rules of a dict such as :meth:`to_dict` returns.

        Raises:
            ValueError: if it is no dict, has a key that is no rule, or a value that cannot be played.
        """
        if not isinstance(words, Mapping):
            raise ValueError(f"rules must be an object with the keys {', '.join(f.name for f in fields(cls))}")
        known = [f.name for f in fields(cls)]
        for word in words:
            if word not in known:
                raise ValueError(f"unknown rule {word!r}: the rules are {', '.join(known)}")
        try:
            return cls(**words)
        except TypeError as error:
            raise ValueError(str(error)) from error

    # Checks; the most basic mistake is reported first.

    def _check_choices(self) -> None:
        if self.edition not in EDITIONS:
            raise ValueError(f"unknown edition {self.edition!r}: the editions are {_listed(EDITIONS)}")
        if self.mode not in PLAYERS_BY_MODE:
            raise ValueError(f"unknown mode {self.mode!r}: the modes are {_listed(PLAYERS_BY_MODE)}")
        if self.mode not in EDITIONS[self.edition].modes:
            having = [name for name, edition in EDITIONS.items() if self.mode in edition.modes]
            raise ValueError(f"edition {self.edition!r} has no mode {self.mode!r}: {_listed(having)} have it")
        self._set_integer("players", 1, 4)
        if self.players not in PLAYERS_BY_MODE[self.mode]:
            fitting = [name for name, counts in PLAYERS_BY_MODE.items() if self.players in counts]
            raise ValueError(
                f"mode {self.mode!r} is for {_listed(PLAYERS_BY_MODE[self.mode])} players, not {self.players}: "
                f"for {self.players} take mode {_listed(fitting)}"
            )

    def _check_sizes(self) -> None:
        for name in ("side", "colors", "tile_sets"):
            self._set_integer(name, *SIZE_LIMITS[name])
        if self.mode == "solo":
            self._set_integer("rack", 1, 1, called="rack (in solo)")
        else:
            self._set_integer("rack", *SIZE_LIMITS["rack"])
        needed = self._tiles_needed()
        if needed > self.tiles:
            raise ValueError(
                f"the bag could run out: side {self.side}, {self.players} players and racks of {self.rack} may need "
                f"{needed} tiles, {self.colors} colors and tile_sets={self.tile_sets} make {self.tiles}: "
                f"take a smaller side or rack, or more colors or tile_sets"
            )

    def _check_bonus(self) -> None:
        object.__setattr__(self, "one_bonus_a_tile", as_flag(self.one_bonus_a_tile, "one_bonus_a_tile"))
        if self.one_bonus_a_tile and not self.has_bonus:
            raise ValueError("one_bonus_a_tile must be False in solo, which has no bonus placements")

    def _set_integer(self, name: str, low: int, high: int, called: str | None = None) -> None:
        """Check a field and store it as a Python int, which JSON can represent."""
        object.__setattr__(self, name, as_integer(getattr(self, name), called or name, low, high))

    def _tiles_needed(self) -> int:
        """Return the greatest number of tiles out of the bag at once, so that every draw finds one.

        The worst case is a swap when all placements but one have been made: the other racks are full, the rack without
        the tile just placed is set aside, and a whole rack is drawn before it goes back.
        """
        if not self.has_swap:
            return self.most_placements
        return (self.most_placements - 1) + (self.players - 1) * self.rack + (self.rack - 1) + self.rack


def _values(rules: Rules) -> tuple[Any, ...]:
    return tuple(getattr(rules, f.name) for f in fields(rules))


def _listed(names: Any) -> str:
    """Join names as in a sentence: 'a', 'b' or 'c'."""
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
