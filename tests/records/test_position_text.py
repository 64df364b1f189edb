"""Positions as text: exact both ways, and what is wrong with others."""

import random

import numpy as np
import pytest

from genial_env import Rules, State, view
from genial_env.core import kernel
from genial_env.core.minigames import MINI_GAMES
from genial_env.core.state import Phase
from genial_env.core.views import VIEW_SPECS
from genial_env.records import format_position, parse_position
from tests.positions import every_rules, near_stops, random_play, same

ALL = every_rules


def every_state(rules: Rules) -> list[State]:
    """Positions from the deal to the end, after swaps, in bonus turns."""
    steps = (0, 1, 5, 14, 40, 400)
    states = [random_play(rules, 1, seed, count) for seed, count in enumerate(steps)]
    close = near_stops(rules, 3, 7, 10)
    close = close.select(np.flatnonzero(close.phase != Phase.SWAP))  # its markers no longer allow a swap
    for live, _ in zip(kernel.live_games(close), range(5), strict=False):
        states.append(close.copy())
        kernel.apply(close, kernel.legal(close, live).argmax(axis=1), live)
    return [state.select(np.array([row])) for state in states for row in range(len(state))]


@ALL
def test_every_position_there_and_back(rules: Rules) -> None:
    for state in every_state(rules):
        text = format_position(state)
        assert same(parse_position(text), state)
        assert same(parse_position(text.replace(" ", "_")), state)
        assert format_position(parse_position(text)) == text


@ALL
def test_what_a_seat_sees_there_and_back(rules: Rules) -> None:
    for state in every_state(rules):
        for seat in range(rules.players):
            text = format_position(state, seat=seat)
            again = parse_position(text, seed=3)
            one, other = view(state, seat), view(again, seat)
            assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in VIEW_SPECS)
            assert format_position(again, seat=seat) == text
            assert "keys" not in text


def test_swaps_are_part_of_the_text() -> None:
    states = random_play(Rules(), 100, 0, 40)
    after = states.select(np.flatnonzero(states.swapped & ~states.over)[:1])
    assert " levels=" in format_position(after)
    assert " returned=" in format_position(after)
    assert same(parse_position(format_position(after)), after)


@pytest.mark.parametrize("name", MINI_GAMES)
def test_mini_games(name: str) -> None:
    game = MINI_GAMES[name]
    assert same(parse_position(format_position(game.deal(1))), game.deal(1))
    assert same(parse_position(format_position(game.start), strict=False), game.start)


def small() -> State:
    """A game on the smallest board, after some tiles."""
    return random_play(Rules(2, side=3, colors=3, rack=2), 1, 4, 3)


def test_no_more_than_asked_for() -> None:
    state = small()
    assert "keys" in format_position(state)
    assert "keys" not in format_position(state, draws=False)
    one, other = (parse_position(format_position(state, draws=False), seed=seed) for seed in (1, 2))
    assert not np.array_equal(one.key, other.key)
    assert np.array_equal(one.bag, state.bag)


@ALL
def test_the_rest_of_the_tiles_is_the_bag(rules: Rules) -> None:
    for count in (0, 3, 9, 30):
        state = random_play(rules, 1, count, count)
        if state.over[0]:
            continue
        fields = format_position(state, draws=False).split()
        found = parse_position(" ".join([*fields[:3], "*", *fields[4:]]))
        assert int(found.bag.sum()) == int(state.bag.sum())
        t = state.tables
        assert np.array_equal(found.bag[0] @ t.color_counts, state.bag[0] @ t.color_counts)


def changed(place: int, word: str) -> str:
    fields = format_position(small(), draws=False).split()
    fields[place] = word
    return " ".join(fields)


def without_tiles(rules: Rules, *options: str) -> list[str]:
    """The fields of a dealt game, and options."""
    return [*format_position(kernel.deal(rules, 5), draws=False).split(), *options]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "",
            "expected the fields board, racks, markers, bag, seat to play, decision, separated .*, found no text",
        ),
        ("3/4/5/4/3 RR/RG", "found no field 'markers'"),
        ("x" * 30_000, "at most 20000 characters, found 30000"),
        (changed(0, "3/4/5/4"), "board: expected an odd number of rows from 5 to 19, found 4"),
        (changed(0, "2R2/4/5/4/3"), "board, row A: expected 3 cells, found 5"),
        (changed(0, "Z2/4/5/4/3"), "board, row A: expected letters of RGB and numbers of free cells, found 'Z'"),
        (changed(0, "3/4/5/4/3"), "board, A1: expected the printed symbol 'r', found a free cell"),
        (changed(1, "RR/RRRGBB"), "racks, seat 1: expected at most 2 tiles, found 3"),
        (changed(1, "RR/RX"), "racks, seat 1: a tile is two of the letters RGB, not 'RX'"),
        (changed(1, "2/2"), "racks: expected the tiles of all racks or of one, found those of 0"),
        (changed(1, "RR/3"), "racks, seat 1: expected at most 2 tiles, found 3"),
        (changed(2, "1,2,3"), "markers: expected those of 2 tracks, found 1"),
        (changed(2, "1,2,3/4,5"), "markers, track 1: expected 3 numbers, found 2"),
        (changed(2, "1,2,3/4,5,19"), "markers, track 1: expected a whole number from 0 to 18, found '19'"),
        (changed(3, "RR"), "bag: expected tiles and their numbers such as RR3RG2, or -, found 'RR'"),
        (changed(3, "RR2RR2"), "bag: expected the tile RR once, found it twice"),
        (changed(3, "RR99"), "racks and bag of game 0: there are 5 tiles RR, not"),
        (changed(3, "-"), "bag: expected at least [0-9]+ tiles for the rest of the game, found 0"),
        (changed(4, "2"), "seat to play: expected a whole number from 0 to 1, found '2'"),
        (changed(5, "think"), "decision: expected one of place, bonus, swap, over, found 'think'"),
        (changed(5, "bonus"), "decision: expected at least one bonus placement to be made in the phase bonus, found 0"),
        (changed(5, "place:1"), "decision: expected no bonus placement to be made in the phase place, found 1"),
        (changed(5, "over"), "phase of game 0: it cannot be over"),
        (changed(6, "edition=1999"), "unknown edition '1999'"),
        (changed(6, "sides=4"), "expected options such as edition=2009, of .*, found 'sides=4'"),
        (changed(6, "rack=4") + " rack=4", "rack: expected the option once, found it twice"),
        (" ".join(without_tiles(Rules(), "returned=0.0RG1")), "returned: expected it together with levels"),
        (" ".join(without_tiles(Rules(), "levels=RG")), "levels: expected a tile and numbers such as RG3.2"),
        (" ".join(without_tiles(Rules(), "keys=1")), "keys: expected 2 numbers of up to 16 digits"),
    ],
)
def test_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_position(text)


def test_a_rack_that_may_not_be_swapped() -> None:
    state = kernel.deal(Rules(), 1)
    fields = format_position(state, draws=False).split()
    fields[5] = "swap"
    with pytest.raises(ValueError, match="seat 0 may not swap, as its rack shows one of its lowest colors"):
        parse_position(" ".join(fields))


def test_cells_that_no_tiles_cover() -> None:
    state = kernel.deal(Rules(), 1)
    fields = format_position(state, draws=False).split()
    rows = fields[0].split("/")
    rows[2], rows[3], rows[4] = "3R4", "4RR3", "4R5"
    fields[0], fields[3] = "/".join(rows), "*"
    with pytest.raises(ValueError, match="no tiles of the box cover all cells: none is left for"):
        parse_position(" ".join(fields))


def test_any_text_is_read_or_refused() -> None:
    """Texts with some characters changed are positions that can be played, or ValueErrors."""
    rng = random.Random(0)
    texts = [format_position(each, draws=False) for each in every_state(Rules(2, side=3, colors=3, rack=2))]
    texts += [format_position(each, seat=0) for each in every_state(Rules(3, side=4))]
    read = 0
    for _ in range(400):
        text = list(rng.choice(texts))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 2)] = rng.choice("0123456789RGBOYPrgb/,.=-* _:XQ")
        try:
            state = parse_position("".join(text), seed=1)
        except ValueError:
            continue
        read += 1
        for live in kernel.live_games(state):
            kernel.apply(state, kernel.legal(state, live).argmax(axis=1), live)
        assert state.phase[0] == Phase.OVER
    assert read
