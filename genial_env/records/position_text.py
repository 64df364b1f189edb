"""Positions as a short text, both ways. docs/notation.md describes it.

    text = format_position(state)
    # "2rG3b/7/8/p8y/... RGBBYPOOGPRR/6 3,0,0,1,0,0/0,2,0,0,4,0 RR4RG5... 0 place"
    parse_position(text)                        # the same state

Six fields are separated by spaces: the board row by row, the racks, the markers, the tiles of the bag, the seat to
play, and its decision. After them come options, each with a name, for what is not as usual.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import chance, kernel
from genial_env.core.actions import cell_name, tile_name
from genial_env.core.arrays import Ints
from genial_env.core.determinization import complete, determinize
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.tables import Tables, tables
from genial_env.core.views import view
from genial_env.records import _position_fields as read
from genial_env.records._tilings import find_laid_tiles

__all__ = ["format_position", "parse_position"]

NO_TILES = "-"
"""A rack or a bag without tiles."""

NO_TILE = "--"
"""An empty slot in front of a tile."""


def format_position(state: State, row: int = 0, *, seat: int | None = None, draws: bool = True) -> str:
    """Return a position as text, from which :func:`parse_position` makes the same position.

    Args:
        state: the games.
        row: the index of the game.
        seat: the seat from whose view the position is written: of the other racks the text has the number of tiles
            only, and it names the unseen tiles instead of those in the bag; None: all racks are written.
        draws: whether the keys of the draws to come are written. Who has them can compute these draws. A text for a
            seat never has them.

    Raises:
        IndexError: if there is no such row.
        ValueError: if there is no such seat.
    """
    one = state.select(np.array([row]))
    rules, t = one.rules, one.tables
    hidden = [] if seat is None else [other for other in range(rules.players) if other != seat]
    bag, returned = one.bag[0], one.returned[0].copy()
    if seat is not None:
        seen = view(one, seat)
        bag = seen.unseen[0]
        returned[t.seats_from[seat]] = seen.returned[0]
    racks = [
        str(int((rack != EMPTY).sum())) if at in hidden else _format_rack(rules, rack)
        for at, rack in enumerate(one.racks[0])
    ]
    phase, pending = Phase(int(one.phase[0])), int(one.pending_bonus[0])
    fields = [
        _format_board(t, one.board[0]),
        "/".join(racks),
        "/".join(",".join(map(str, markers)) for markers in one.scores[0].tolist()),
        _format_counts(rules, bag),
        str(int(one.to_play[0])),
        phase.name.lower() + (f":{pending}" if pending else ""),
        *_format_rules(rules),
        *_format_history(one, returned),
    ]
    if draws and seat is None:
        fields.append(f"drawn={','.join(map(str, one.drawn[0].tolist()))}")
        fields.append(f"keys={','.join(f'{key:x}' for key in one.key[0].tolist())}")
    return " ".join(fields)


def parse_position(text: str, seed: int = 0, *, strict: bool = True) -> State:
    """Return the position of a text, a batch of one game.

    Args:
        text: the text; underscores may stand for its spaces, as in addresses.
        seed: decides what the text leaves open: the tiles of hidden racks, which are sampled from the unseen tiles, and
            the draws to come if the text has no keys. What the seat with the known rack sees does not depend on it.
        strict: whether the position must be one from which a game can go on: whole tiles, no more of a kind than the
            box holds, a tile for the seat to play, enough tiles in the bag.

    Raises:
        ValueError: if the text is not understood, or the position is impossible. The message says where, what was
            expected and what was found.
    """
    parsed = _Text(text)
    rules, t = parsed.rules, tables(parsed.rules)
    racks, hidden = parsed.racks(), [size is not None for size in parsed.sizes]
    if any(hidden) and hidden.count(False) != 1:
        raise ValueError(f"racks: expected the tiles of all racks or of one, found those of {hidden.count(False)}")
    board, bag = parsed.board(), parsed.bag()
    if bag is None:
        held = kernel.count_kinds(racks.reshape(1, -1), t.n_kinds)[0]
        rest = t.full_bag.astype(np.int64) - held
        read.check_counts(rules, "racks", held, t.full_bag)
        bag = rest - find_laid_tiles(rules, board, rest)
    phase, pending = parsed.phase()
    state = kernel.position(
        rules,
        board,
        scores=parsed.scores(),
        racks=racks,
        bag=bag,
        to_play=parsed.seat(),
        phase=int(phase),
        pending_bonus=pending,
        has_placed=parsed.has_placed(),
        seeds=seed,
        any_tiles=not strict,
    )
    parsed.fill_history(state)
    if strict:
        _check_playable(state, parsed.sizes)
    return _deal_hidden(state, parsed.sizes, seed) if any(hidden) else state


# Writing


def _format_board(t: Tables, board: NDArray[np.int8]) -> str:
    rows: list[str] = []
    for cells in read.rows_of(t):
        words = [_format_cell(t, cell, int(board[cell])) for cell in cells]
        rows.append(re.sub(r"\.+", lambda run: str(len(run[0])), "".join(words)))
    return "/".join(rows)


def _format_cell(t: Tables, cell: int, color: int) -> str:
    if color == FREE:
        return "."
    letter = COLOR_LETTERS[color]
    return letter.lower() if cell in t.start_symbols else letter


def _format_rack(rules: Rules, rack: Ints) -> str:
    tiles = [NO_TILE if kind == EMPTY else tile_name(rules, int(kind)) for kind in rack]
    while tiles and tiles[-1] == NO_TILE:
        tiles.pop()
    return "".join(tiles) or NO_TILES


def _format_counts(rules: Rules, counts: NDArray[Any]) -> str:
    """Return how many tiles there are of each kind: "RR3RG2"."""
    named = [f"{tile_name(rules, kind)}{count}" for kind, count in enumerate(counts.tolist()) if count]
    return "".join(named) or NO_TILES


def _format_rules(rules: Rules) -> list[str]:
    """Return the options of rules that are not the default ones. Seats and side are those of racks and board."""
    default = Rules(rules.players if rules.players > 1 else 2)
    usual = {rule: getattr(default, rule) for rule in read.RULE_OPTIONS.values()}
    if rules.mode == "solo":
        usual["rack"] = rules.rack
    found = {name: getattr(rules, rule) for name, rule in read.RULE_OPTIONS.items()}
    changed = {name: value for name, value in found.items() if value != usual[read.RULE_OPTIONS[name]]}
    return [f"{name}={value if name in read.WORDS else int(value)}" for name, value in changed.items()]


def _format_history(one: State, returned: NDArray[np.uint8]) -> list[str]:
    """Return the options of what has happened: first tiles, the number of decisions, and what swaps have shown."""
    rules = one.rules
    options = []
    first = np.flatnonzero(~one.has_placed[0]).tolist()
    if first:
        options.append(f"first={','.join(map(str, first))}")
    if one.decisions[0]:
        options.append(f"decisions={int(one.decisions[0])}")
    if one.swapped[0]:
        levels = {tile_name(rules, kind): row for kind, row in enumerate(one.levels[0].tolist()) if any(row)}
        words = [f"{name}{'.'.join(map(str, np.trim_zeros(row, 'b')))}" for name, row in levels.items()]
        options.append(f"levels={','.join(words) or NO_TILES}")
    words = []
    for seat, slots in enumerate(returned):
        groups: dict[str, str] = {}
        for slot in np.flatnonzero(slots.any(axis=1)).tolist():
            counts = _format_counts(rules, slots[slot])
            groups[counts] = groups.get(counts, "") + str(slot)
        words += [f"{seat}.{slots_text}{counts}" for counts, slots_text in groups.items()]
    return [*options, *([f"returned={','.join(words)}"] if words else [])]


# Reading


@dataclass
class _Text:
    """The fields of a text, and the rules that follow from them."""

    text: str

    def __post_init__(self) -> None:
        fields, self.options = read.split_fields(self.text)
        self._board, self._racks, self._scores, self._bag, self._seat, self._phase = fields
        self.rules = read.read_rules(self._board.count("/") + 1, self._racks.count("/") + 1, self.options)
        self._t = tables(self.rules)
        parts = self._racks.split("/")
        self.sizes: list[int | None] = [int(part) if re.fullmatch("[0-9]", part) else None for part in parts]
        for at, size in enumerate(self.sizes):
            if size is not None and size > self.rules.rack:
                raise ValueError(f"racks, seat {at}: expected at most {self.rules.rack} tiles, found {size}")

    def board(self) -> NDArray[np.int8]:
        """Return the color on each cell: [N]."""
        board = np.full(self._t.n_cells, FREE, dtype=np.int8)
        for letter, cells, word in zip(
            read.row_letters(self.rules), read.rows_of(self._t), self._board.split("/"), strict=True
        ):
            colors = read.read_row(word, len(cells), self.rules, f"board, row {letter}")
            board[cells] = [FREE if color is None else COLOR_LETTERS.index(color.upper()) for color in colors]
            for cell, color in zip(cells, colors, strict=True):
                self._check_symbol(cell, color)
        return board

    def _check_symbol(self, cell: int, found: str | None) -> None:
        """Check that printed symbols, and they alone, are small letters."""
        symbols = self._t.start_symbols.tolist()
        expected = COLOR_LETTERS[symbols.index(cell)].lower() if cell in symbols else None
        is_right = found == expected if expected else found is None or found.isupper()
        if not is_right:
            q, r = self._t.cells[cell].tolist()
            what = f"the printed symbol {expected!r}" if expected else "a capital letter, as no symbol is printed there"
            shown = "a free cell" if found is None else repr(found)
            raise ValueError(f"board, {cell_name(self.rules, (q, r))}: expected {what}, found {shown}")

    def racks(self) -> Ints:
        """Return the tile kinds in the racks, EMPTY in hidden ones: [P, K]."""
        racks = np.full((self.rules.players, self.rules.rack), EMPTY, dtype=np.int64)
        for seat, word in enumerate(self._racks.split("/")):
            if self.sizes[seat] is None:
                kinds = read.read_rack(word, self.rules, f"racks, seat {seat}")
                racks[seat, : len(kinds)] = kinds
        return racks

    def scores(self) -> Ints:
        """Return the markers: [T, C]."""
        rules, tracks = self.rules, self._scores.split("/")
        if len(tracks) != rules.tracks:
            raise ValueError(f"markers: expected those of {rules.tracks} tracks, found {len(tracks)}")
        named = zip(range(rules.tracks), tracks, strict=True)
        return np.array(
            [read.read_numbers(word, rules.colors, f"markers, track {at}", rules.top) for at, word in named]
        )

    def bag(self) -> Ints | None:
        """Return the tiles in the bag: [M]; with hidden racks all unseen tiles. None: those that are nowhere else."""
        return None if self._bag == "*" else read.read_counts(self._bag, self.rules, "bag", 255)

    def seat(self) -> int:
        """Return the seat to play."""
        return read.read_number(self._seat, "seat to play", self.rules.players - 1)

    def phase(self) -> tuple[Phase, int]:
        """Return the decision, and the bonus placements to be made."""
        word, _, pending = self._phase.partition(":")
        names = [phase.name.lower() for phase in Phase]
        if word not in names:
            raise ValueError(f"decision: expected one of {', '.join(names)}, found {read.quote(word)}")
        most = self.rules.players * self.rules.rack
        return Phase(names.index(word)), read.read_number(pending, "decision, bonus placements", most) if pending else 0

    def has_placed(self) -> NDArray[np.bool_]:
        """Return which seats have placed a tile: [P]."""
        placed = np.ones(self.rules.players, dtype=np.bool_)
        for word in filter(None, self.options.get("first", "").split(",")):
            placed[read.read_number(word, "first", self.rules.players - 1)] = False
        return placed

    def fill_history(self, state: State) -> None:
        """Fill in, in place, what the options say of draws, decisions and swaps."""
        rules, options = self.rules, self.options
        state.decisions[0] = read.read_number(options.get("decisions", "0"), "decisions", 2**31)
        state.drawn[0] = read.read_numbers(options["drawn"], rules.players, "drawn", 2**31) if "drawn" in options else 0
        if "keys" in options:
            state.key[0] = read.read_keys(options["keys"], rules.players)
        if "levels" in options:
            state.swapped[0] = True
            state.levels[0] = read.read_levels(options["levels"], rules)
        if "returned" in options:
            if not state.swapped[0]:
                raise ValueError("returned: expected it together with levels, found it alone")
            state.returned[0] = read.read_returned(options["returned"], rules)


def _check_playable(state: State, sizes: Sequence[int | None]) -> None:
    """Check that the game can go on.

    Raises:
        ValueError: if it cannot; the message says why.
    """
    rules, phase, seat = state.rules, Phase(int(state.phase[0])), int(state.to_play[0])
    pending = int(state.pending_bonus[0])
    if (phase == Phase.BONUS) != (pending > 0):
        expected = "at least one bonus placement" if phase == Phase.BONUS else "no bonus placement"
        raise ValueError(f"decision: expected {expected} to be made in the phase {phase.name.lower()}, found {pending}")
    if phase == Phase.OVER:
        return
    if (phase == Phase.BONUS and not rules.has_bonus) or (phase == Phase.SWAP and not rules.has_swap):
        raise ValueError(f"decision: mode {rules.mode} has no {phase.name.lower()}")
    held = [
        int((rack != EMPTY).sum()) if size is None else size for rack, size in zip(state.racks[0], sizes, strict=True)
    ]
    if held[seat] == 0:
        raise ValueError(f"racks, seat {seat}: expected a tile, as it is to play, found none")
    if phase == Phase.SWAP and sizes[seat] is None and not kernel.lacks_lowest(state)[0]:
        raise ValueError(f"decision: seat {seat} may not swap, as its rack shows one of its lowest colors")
    hidden = sum(size or 0 for size in sizes)
    placements = int((state.board[0] == FREE).sum()) // 2
    missing = rules.players * rules.rack - sum(held)
    needed = missing + placements - 1 + (rules.rack - 1 if rules.has_swap else 0)
    bag = int(state.bag[0].sum()) - hidden
    if bag < needed:
        raise ValueError(f"bag: expected at least {needed} tiles for the rest of the game, found {bag}")


def _deal_hidden(state: State, sizes: Sequence[int | None], seed: int) -> State:
    """Return the position with tiles in the hidden racks, sampled from the unseen tiles.

    Args:
        state: one game; its bag has all unseen tiles, and hidden racks are empty.
        sizes: how many tiles each hidden rack holds, None for the known one.
        seed: of the sample.
    """
    t, seat = state.tables, sizes.index(None)
    seats, tracks = t.seats_from[seat], t.tracks_from[seat]
    held = [
        int((rack != EMPTY).sum()) if size is None else size for rack, size in zip(state.racks[0], sizes, strict=True)
    ]
    seen = complete(
        state.rules,
        board=state.board,
        scores=state.scores[:, tracks],
        rack=state.racks[:, seat],
        unseen=state.bag,
        returned=state.returned[:, seats],
        levels=state.levels,
        rack_sizes=np.array([held])[:, seats],
        has_placed=state.has_placed[:, seats],
        to_play=(state.to_play - seat) % state.rules.players,
        phase=state.phase,
        pending_bonus=state.pending_bonus,
        seat=seat,
    )
    dealt = determinize(seen, chance.bits(chance.as_seeds(seed), 0))
    dealt.decisions[:] = state.decisions
    return dealt
