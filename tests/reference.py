"""The reference implementation of Génial! (Ingenious): slow and plain, to be read beside the rules.

The tests compare the fast implementations with it. It is independent of them: it shares no code and takes no shortcuts.
It walks the board cell by cell, and finds the result of an action by playing it.

A cell is an axial pair (q, r) about the centre of the board: q grows to the right, r down and to the right.
A color is a number 0..5 in the order R G B O Y P. A tile is a pair of colors, the lower one first.
An action is one of
    ("place", slot, cell1, cell2)   place the tile of that rack slot, its first half on cell1, its second half on cell2
    ("swap",)                       set the rack aside and draw a new one, once all placements of the turn are made
    ("decline",)                    decline the swap, or (edition 2009) one bonus placement
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import product

Cell = tuple[int, int]
Tile = tuple[int, int]
Action = tuple[str] | tuple[str, int, Cell, Cell]

DIRECTIONS: list[Cell] = [(1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1)]
CORNERS: list[Cell] = [(0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)]  # of R G B O Y P: clockwise, red top left
DEFAULT_SIDE: dict[int, int] = {1: 6, 2: 6, 3: 7, 4: 8}  # by number of seats
TRACK_LENGTH = 18
EDITIONS: dict[str, list[str]] = {  # mode -> the editions whose sheet has it
    "individual": ["2004", "2009", "2025"],
    "team": ["2004", "2009"],
    "solo": ["2004", "2009"],
}
SEATS: dict[str, list[int]] = {"individual": [2, 3, 4], "team": [4], "solo": [1]}


def cells_of_board(side: int) -> list[Cell]:
    """Every cell of a hexagon with `side` cells along each edge."""
    span = range(-side + 1, side)
    return [(q, r) for r in span for q in span if max(abs(q), abs(r), abs(q + r)) < side]


def beside(cell: Cell, direction: Cell) -> Cell:
    """The cell one step away in a direction."""
    return (cell[0] + direction[0], cell[1] + direction[1])


@cache
def neighbours(cell: Cell) -> list[Cell]:
    """The six cells around a cell, whether or not they are in play."""
    return [beside(cell, direction) for direction in DIRECTIONS]


def start_symbol_cells(side: int, colors: int) -> dict[Cell, int]:
    """Where the symbols are: on the corners of the side-6 hexagon on every board; a smaller board has its own."""
    radius = min(side, 6) - 1
    return {(q * radius, r * radius): color for color, (q, r) in enumerate(CORNERS) if color < colors}


def full_bag(colors: int, tile_sets: int) -> Counter[Tile]:
    """All tiles of the game: every mixed pair six times, every double five times."""
    bag: Counter[Tile] = Counter()
    for first in range(colors):
        for second in range(first, colors):
            bag[first, second] = (5 if first == second else 6) * tile_sets
    return bag


@dataclass
class Draw:
    """A tile that was drawn, and whether everybody has seen it since."""

    tile: Tile
    shown: bool = False


class PlainGame:
    """One game. All attributes are plain and may be set by assignment, to arrange any position."""

    def __init__(
        self,
        racks: list[list[Tile]],
        *,
        players: int = 2,
        edition: str = "2025",
        mode: str = "individual",
        side: int | None = None,
        colors: int = 6,
        rack: int | None = None,
        tile_sets: int = 1,
        one_bonus_a_tile: bool = False,
    ) -> None:
        """`racks` are the tiles the seats start with; they are taken out of the bag.

        With `one_bonus_a_tile` two markers that arrive with one tile earn one bonus placement, not two.
        """
        if mode not in EDITIONS:
            raise ValueError(f"no mode {mode!r}: there are {', '.join(EDITIONS)}")
        if edition not in EDITIONS[mode]:
            raise ValueError(f"edition {edition!r} has no mode {mode!r}: editions {', '.join(EDITIONS[mode])} have it")
        if players not in SEATS[mode]:
            raise ValueError(f"mode {mode!r} is for {' or '.join(map(str, SEATS[mode]))} seats, not {players}")
        side = DEFAULT_SIDE[players] if side is None else side
        rack = (1 if mode == "solo" else 6) if rack is None else rack
        if not 3 <= side <= 10 or not 2 <= colors <= 6 or tile_sets < 1:
            raise ValueError("side must be 3 to 10, colors 2 to 6, tile_sets at least 1")
        rack_sizes = [1] if mode == "solo" else [2, 3, 4, 5, 6]
        if rack not in rack_sizes:
            raise ValueError(f"rack must be one of {rack_sizes} in mode {mode!r}, not {rack}")
        if one_bonus_a_tile and mode == "solo":
            raise ValueError("solo has no bonus placements")

        self.players = players
        self.edition = edition
        self.mode = mode
        self.colors = colors
        self.rack_size = rack
        self.one_bonus_a_tile = one_bonus_a_tile
        self.stops: list[int] = [TRACK_LENGTH] if mode == "individual" else [TRACK_LENGTH, 2 * TRACK_LENGTH]

        self.start_symbols: dict[Cell, int] = start_symbol_cells(side, colors)
        self.board: dict[Cell, int | None] = {cell: self.start_symbols.get(cell) for cell in cells_of_board(side)}
        self.tiled: set[Cell] = set()

        tracks = 2 if mode == "team" else players
        self.scores: list[list[int]] = [[0] * colors for _ in range(tracks)]

        assert len(racks) == players, f"{players} seats need as many racks, not {len(racks)}"
        assert all(len(tiles) == rack for tiles in racks), f"each rack must hold {rack} tile(s)"
        self.racks: list[list[Tile | None]] = [list(tiles) for tiles in racks]
        self.box: Counter[Tile] = full_bag(colors, tile_sets)
        self.bag: Counter[Tile] = self.box.copy()
        self.draws: list[Draw] = []  # every tile ever drawn
        self.history: list[Draw | Tile] = []  # in their order the draws, and the tiles put back into the bag
        self.holding: list[list[Draw | None]] = [[None] * rack for _ in racks]  # the draw that filled each slot
        for seat, tiles in enumerate(racks):
            self._draw(seat, tiles)

        self.has_placed: list[bool] = [False] * players
        self.to_play = 0
        self.phase = "place"
        self.pending_bonus = 0

    # What may be done

    def legal(self) -> set[Action]:
        """Every action open to the seat to move."""
        if self.phase == "over":
            return set()
        if self.phase == "swap":
            return {("swap",), ("decline",)}
        spots = self._spots()
        actions: set[Action] = {("place", slot, cell1, cell2) for slot in self._slots() for cell1, cell2 in spots}
        if self.phase == "bonus" and self.edition == "2009":
            actions.add(("decline",))
        return actions

    def may_place(self, slot: int, cell1: Cell, cell2: Cell) -> bool:
        """Whether this placement is among them; without listing the others, which takes most of a game's time."""
        return self.phase in ("place", "bonus") and slot in self._slots() and (cell1, cell2) in self._spots()

    def _slots(self) -> list[int]:
        """The rack slots of the seat to move that hold a tile."""
        return [slot for slot, tile in enumerate(self.racks[self.to_play]) if tile is not None]

    def _spots(self) -> set[tuple[Cell, Cell]]:
        """Where the seat to move may lay a tile, both ways round each."""
        spots = self._free_pairs()
        if self.has_placed[self.to_play]:
            return spots
        # A seat's first tile must lie next to a printed symbol that has no tile next to it yet.
        open_symbols = [
            symbol for symbol in self.start_symbols if not any(cell in self.tiled for cell in neighbours(symbol))
        ]
        next_to_open = {cell for symbol in open_symbols for cell in neighbours(symbol)}
        first_spots = {(cell1, cell2) for cell1, cell2 in spots if cell1 in next_to_open or cell2 in next_to_open}
        return first_spots or spots  # where no place is left that satisfies the rule, it lapses

    def _is_free(self, cell: Cell) -> bool:
        return cell in self.board and self.board[cell] is None

    def _free_pairs(self) -> set[tuple[Cell, Cell]]:
        """Every two adjacent free cells, both ways round."""
        free_cells = {cell for cell in self.board if self._is_free(cell)}
        return {(cell, other) for cell in free_cells for other in neighbours(cell) if other in free_cells}

    def _is_full(self) -> bool:
        """No tile fits any more."""
        return not any(self._is_free(cell) and any(map(self._is_free, neighbours(cell))) for cell in self.board)

    def swap_allowed(self) -> bool:
        """Whether no tile in the rack of the seat to move shows any of its lowest colors; empty racks never swap."""
        tiles = [tile for tile in self.racks[self.to_play] if tile is not None]
        if self.mode == "solo" or not tiles:
            return False
        markers = self.scores[self._track()]
        lowest_colors = [color for color in range(self.colors) if markers[color] == min(markers)]
        return not any(color in tile for tile in tiles for color in lowest_colors)

    # Scoring

    def points(self, slot: int, cell1: Cell, cell2: Cell) -> dict[int, int]:
        """What laying the tile of that slot there is worth, by color, before any marker stops."""
        tile = self.racks[self.to_play][slot]
        assert tile is not None, f"slot {slot} is empty"
        assert self._is_free(cell1), f"{cell1} is not free"
        assert self._is_free(cell2), f"{cell2} is not free"
        assert cell2 in neighbours(cell1), f"{cell1} and {cell2} are not adjacent"
        result: dict[int, int] = {}
        for color, cell, other_half in [(tile[0], cell1, cell2), (tile[1], cell2, cell1)]:
            for direction in DIRECTIONS:
                if beside(cell, direction) != other_half:
                    run = self._run(cell, direction, color)
                    if run > 0:
                        result[color] = result.get(color, 0) + run
        return result

    def _run(self, cell: Cell, direction: Cell, color: int) -> int:
        """How many cells of the color follow one another from a cell (itself not counted) in a direction."""
        length = 0
        cell = beside(cell, direction)
        while cell in self.board and self.board[cell] == color:
            length += 1
            cell = beside(cell, direction)
        return length

    def _track(self) -> int:
        """The track of the seat to move: its own, or its team's."""
        return self.to_play % 2 if self.mode == "team" else self.to_play

    def advance(self, points: dict[int, int]) -> int:
        """Move the markers of the seat to move; say how many bonus placements that earns.

        A marker stops at the next stop ahead of it; what is left of the points is lost. Arriving earns a bonus
        placement (not in solo); with one bonus a tile, one for all arrivals together. A marker at the last stop stays
        there and earns nothing.
        """
        markers = self.scores[self._track()]
        arrivals = 0
        for color, count in points.items():
            stops_ahead = [stop for stop in self.stops if stop > markers[color]]
            if not stops_ahead:
                continue
            markers[color] = min(markers[color] + count, stops_ahead[0])
            if markers[color] == stops_ahead[0]:
                arrivals += 1
        if self.mode == "solo":
            return 0
        if self.one_bonus_a_tile and arrivals > 1:
            return 1
        return arrivals

    # Playing

    def step(self, action: Action, draws: list[Tile]) -> None:
        """Play the action, and draw these tiles, in order, into the empty slots from the lowest up."""
        fine = self.may_place(*action[1:]) if action[0] == "place" else action in self.legal()
        assert fine, f"illegal in phase {self.phase!r}: {action}"
        seat = self.to_play
        set_aside = [tile for tile in self.racks[seat] if tile is not None] if action == ("swap",) else []
        turn_is_done = self._carry_out(action)
        needed = self.racks[seat].count(None) if turn_is_done else 0
        assert len(draws) == needed, f"{action} draws {needed} tile(s), not {len(draws)}"
        if turn_is_done:
            still_to_draw = list(draws)
            for slot in range(self.rack_size):
                if self.racks[seat][slot] is None:
                    self.racks[seat][slot] = still_to_draw.pop(0)
            self._draw(seat, draws)
            self.bag.update(set_aside)  # only now: swapped tiles cannot be drawn again at once
            self.history += set_aside
            self.to_play = (seat + 1) % self.players
            self.phase = "place"

    def _draw(self, seat: int, tiles: list[Tile]) -> None:
        """Take tiles out of the bag for the slots of a seat from which the last one was shown, the lowest first."""
        missing = Counter(tiles) - self.bag
        assert not missing, f"not in the bag: {dict(missing)}"
        self.bag -= Counter(tiles)
        still_to_draw = list(tiles)
        for slot, held in enumerate(self.holding[seat]):
            if still_to_draw and (held is None or held.shown):
                draw = Draw(still_to_draw.pop(0))
                self.holding[seat][slot] = draw
                self.draws.append(draw)
                self.history.append(draw)

    def _show(self, seat: int, slot: int) -> None:
        """Everybody sees which tile a slot held."""
        held = self.holding[seat][slot]
        if held is not None:
            held.shown = True

    # What a seat may conclude

    def hidden_slots(self, viewer: int) -> list[tuple[int, int]]:
        """The slots, by seat and number, that hold tiles which a seat cannot see."""
        return [
            (seat, slot)
            for seat in range(self.players)
            for slot, tile in enumerate(self.racks[seat])
            if seat != viewer and tile is not None
        ]

    def deals(self, viewer: int) -> dict[tuple[Tile, ...], int]:
        """Every way to fill the slots that a seat cannot see, and in how many histories it happens.

        Each tile of the box counts as one of its own, so each draw happens in as many ways as there are such tiles in
        the bag. The choices of the others tell nothing, except that a rack whose seat is deciding on a swap shows none
        of its lowest colors.
        """
        slots = self.hidden_slots(viewer)
        hidden = [self.holding[seat][slot] for seat, slot in slots]
        known = Counter(draw.tile for draw in hidden if draw is not None)
        unseen = {tile: self.bag[tile] + known[tile] for tile in self.box if self.bag[tile] + known[tile]}

        @cache
        def ways(tile: Tile, places: tuple[int, ...]) -> int:
            """In how many ways the draws of a tile happen if the hidden slots at these places hold it."""
            holding = {id(hidden[place]) for place in places}
            everywhere = {id(draw) for draw in hidden}
            count, number = self.box[tile], 1
            for event in self.history:
                if not isinstance(event, Draw):
                    count += event == tile
                elif (id(event) in holding) if id(event) in everywhere else event.tile == tile:
                    number *= count
                    count -= 1
                    if number == 0:
                        return 0
            return number

        found = {}
        for rack in product(unseen, repeat=len(slots)):
            if not Counter(rack) <= Counter(unseen):
                continue
            if self.phase == "swap" and viewer != self.to_play and not self._may_be_swapped(slots, rack):
                continue
            number = 1
            for tile in self.box:
                number *= ways(tile, tuple(place for place, held in enumerate(rack) if held == tile))
                if number == 0:
                    break
            if number:
                found[rack] = number
        return found

    def _may_be_swapped(self, slots: list[tuple[int, int]], rack: tuple[Tile, ...]) -> bool:
        """Whether the tiles in slots of the seat to move show none of its lowest colors."""
        markers = self.scores[self._track()]
        lowest = {color for color in range(self.colors) if markers[color] == min(markers)}
        held = [tile for (seat, _), tile in zip(slots, rack, strict=True) if seat == self.to_play]
        return not any(color in lowest for tile in held for color in tile)

    def _carry_out(self, action: Action) -> bool:
        """Play the action up to the drawing of tiles. True: the turn is done, and the seat now fills its rack."""
        if self.phase == "swap":
            if action == ("swap",):
                for slot in range(self.rack_size):
                    self._show(self.to_play, slot)
                self.racks[self.to_play] = [None] * self.rack_size
            return True

        if self.phase == "bonus":
            self.pending_bonus -= 1  # used now, or declined
        if action[0] == "place":
            _, slot, cell1, cell2 = action
            self.pending_bonus += self._place(slot, cell1, cell2)
            if self._all_markers_at_end() or self._is_full():
                self.pending_bonus = 0
                self.phase = "over"
                return False

        if all(tile is None for tile in self.racks[self.to_play]):
            self.pending_bonus = 0  # a bonus that cannot be made lapses
        if self.pending_bonus > 0:
            self.phase = "bonus"
            return False
        if self.swap_allowed():
            self.phase = "swap"
            return False
        return True

    def _place(self, slot: int, cell1: Cell, cell2: Cell) -> int:
        """Lay a tile and score it; say how many bonus placements it earns."""
        tile = self.racks[self.to_play][slot]
        assert tile is not None, f"slot {slot} is empty"
        points = self.points(slot, cell1, cell2)
        self._show(self.to_play, slot)
        self.racks[self.to_play][slot] = None
        self.board[cell1], self.board[cell2] = tile
        self.tiled |= {cell1, cell2}
        self.has_placed[self.to_play] = True
        return self.advance(points)

    # The end

    def _all_markers_at_end(self) -> bool:
        """Has a track all its markers at its last stop?"""
        return any(all(marker == self.stops[-1] for marker in markers) for markers in self.scores)

    def end(self) -> str:
        """How the game ended; with both at once it is the markers that count."""
        if self.phase != "over":
            return "unfinished"
        return "all markers at the end" if self._all_markers_at_end() else "board full"

    def ranks(self) -> list[int]:
        """The rank of each track: the higher lowest marker is first, then the second lowest counts, and so on.

        Tracks equal in all markers share a rank, and the next rank is left out: 1, 2, 2, 4. A track with all markers at
        the end comes first by the same comparison.
        """
        results = [sorted(markers) for markers in self.scores]
        return [1 + sum(other > result for other in results) for result in results]
