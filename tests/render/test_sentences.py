"""Games in sentences: cells by name, events, actions, and why a game was won."""

import numpy as np
import pytest

from genial_env import Rules
from genial_env.core import kernel
from genial_env.core.actions import Place, cell_name, cell_named, encode
from genial_env.core.state import Phase
from genial_env.core.tables import tables
from genial_env.records import SPECTATOR, events_for_seat
from genial_env.render.sentences import describe_action, describe_event, explain_ranks, points_by_color
from tests.positions import board_with, every_rules

RULES = Rules()
SOLO, TEAM = Rules(1, "2004", "solo"), Rules(4, "2009", "team")


@every_rules
def test_cells_by_name(rules: Rules) -> None:
    cells = [tuple(cell) for cell in tables(rules).cells.tolist()]
    names = [cell_name(rules, cell) for cell in cells]
    assert names[:2] == ["A1", "A2"]
    assert len(set(names)) == len(cells)
    assert [cell_named(rules, name) for name in names] == cells
    assert [cell_named(rules, f" {name.lower()} ") for name in names] == cells
    rows = {name[0] for name in names}
    assert len(rows) == 2 * rules.side - 1


def test_names_of_the_standard_board() -> None:
    for name, cell in [
        ("A1", (0, -5)),
        ("A6", (5, -5)),
        ("F1", (-5, 0)),
        ("F11", (5, 0)),
        ("K1", (-5, 5)),
        ("G2", (-4, 1)),
    ]:
        assert cell_name(RULES, cell) == name  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("L1", "a cell is a row's letter, A to K, and its place in it from the left, not 'L1'"),
        ("4D", "a cell is a row's letter, A to K"),
        ("", "a cell is a row's letter, A to K"),
        ("A0", "the cells of row A are A1 to A6, not 'A0'"),
        ("a7", "the cells of row A are A1 to A6, not 'a7'"),
        ("F12", "the cells of row F are F1 to F11, not 'F12'"),
    ],
)
def test_names_that_no_cell_has(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cell_named(RULES, name)
    with pytest.raises(ValueError, match=r"cell \(6, 0\) is not on a board of side 6"):
        cell_name(RULES, (6, 0))


def test_events() -> None:
    for event, told, told_to_the_other in [
        (["place", 0, 9, 2, "RO", [0, -4], [1, -4], {"R": 2, "O": 1}], "seat 0 lays RO on B2 B3, points: R2 O1", None),
        (["place", 1, 9, 2, "RO", [0, -4], [1, -4], {}], "seat 1 lays RO on B2 B3, points: none", None),
        (["draw", 1, ["BP"]], "seat 1 draws BP", "seat 1 draws 1 tile"),
        (["draw", 1, ["BP", "GG"]], "seat 1 draws BP GG", "seat 1 draws 2 tiles"),
        (["swap", 1, 2, ["RR"], ["BP", "GG"]], "seat 1 swaps RR for BP GG", "seat 1 swaps RR for 2 tiles"),
        (["pass", 1, 5], "seat 1 gives up a bonus placement", None),
        (["keep", 1, 2], "seat 1 keeps its rack", NOTHING),
    ]:
        assert describe_event(RULES, event) == told
        for seat in (0, 1, SPECTATOR):
            heard = [describe_event(RULES, each) for each in events_for_seat([event], seat)]
            to_the_others = [] if told_to_the_other == NOTHING else [told_to_the_other or told]
            assert heard == ([told] if seat == event[1] else to_the_others)


NOTHING = ""


def test_actions() -> None:
    rules = Rules(2, "2009")
    board = board_with(rules, {(0, 0): 0, (1, 0): 0, (2, -1): 3, (3, -2): 4})
    state = kernel.position(rules, board, racks=[[3] * 6, [4] * 6])  # RO in every slot
    action = encode(rules, Place(1, (2, 0), (3, -1)))
    assert describe_action(state, action) == "RO on F8 E8, points: R2 O1"
    assert points_by_color(state, action) == {"R": 2, "O": 1}
    elsewhere = encode(rules, Place(0, (-3, 0), (-3, 1)))
    assert describe_action(state, elsewhere) == "RO on F3 G3, points: none"
    t = state.tables
    assert (describe_action(state, t.swap_action), describe_action(state, t.decline_action)) == (
        "swap the rack",
        "keep the rack",
    )
    state.phase[:] = Phase.BONUS
    assert describe_action(state, t.decline_action) == "give up the bonus placement"


def markers(*lowest: int) -> list[int]:
    """Six markers that begin like this, in an order that means nothing."""
    return [*reversed([*lowest, *[15] * (6 - len(lowest))])]


@pytest.mark.parametrize(
    ("mine", "other", "told"),
    [
        ([9], [7], "lowest 9 against 7: A wins"),
        ([7, 9], [7, 8], "A and B both have 7 lowest; second lowest 9 against 8: A wins"),
        ([7, 8, 12], [7, 8, 11], "A and B both have 7 and 8 lowest; third lowest 12 against 11: A wins"),
        (
            [7, 8, 9, 9, 9, 18],
            [7, 8, 9, 9, 9, 17],
            "A and B both have 7, 8, 9, 9 and 9 lowest; sixth lowest 18 against 17: A wins",
        ),
    ],
)
def test_why_a_game_was_won(mine: list[int], other: list[int], told: str) -> None:
    scores = [markers(*mine), markers(*other)]
    assert explain_ranks(RULES, scores, ["A", "B"]) == [told]
    assert explain_ranks(TEAM, scores[::-1], ["B", "A"]) == [told]


def test_ties_and_more_than_two() -> None:
    same = "A and B have the same markers, 7, 9, 15, 15, 15 and 15: they share their rank"
    assert explain_ranks(RULES, [markers(7, 9)] * 2, ["A", "B"]) == [same]
    told = explain_ranks(Rules(4), [markers(3), markers(7, 9), markers(7, 9), markers(9)], ["D", "A", "B", "C"])
    assert told == ["lowest 9 against 7: C comes before A", same, "lowest 7 against 3: B comes before D"]


def test_all_markers_at_the_end() -> None:
    told = explain_ranks(RULES, [markers(3), [18] * 6], ["A", "B"])
    assert told == ["all markers of B stand at 18", "lowest 18 against 3: B wins"]


def test_solo() -> None:
    told = explain_ranks(SOLO, np.array([markers(13, 14)]), ["you"])
    assert told == ["you: 13 lowest; from there up 14, 15, 15, 15 and 15"]


def test_a_name_a_track() -> None:
    with pytest.raises(ValueError, match="2 tracks need as many names and markers, not 3 and 2"):
        explain_ranks(RULES, [markers(3), markers(4)], ["A", "B", "C"])
