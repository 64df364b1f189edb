"""What people and language models write, and what they are told if it is no legal move."""

from functools import cache

import numpy as np
import pytest

from genial_env import Rules
from genial_env.core import kernel
from genial_env.core.actions import Place, decode
from genial_env.core.state import Phase, State
from genial_env.core.views import View, view
from genial_env.errors import IllegalAction
from genial_env.notation.moves import format_decision
from genial_env.text import UnreadableAction, parse_action
from tests.notation.test_moves import deciding
from tests.positions import EVERYDAY, random_actions, random_play


@cache
def middle() -> View:
    """A position of the standard game in which RO, GG and BY can be laid on D4 D5."""
    state: State = random_play(Rules(), 1, seed=1, steps=0)
    state.racks[0, 0] = [state.tables.kind_of[a, b] for a, b in ((0, 3), (1, 1), (2, 4), (5, 5), (0, 1), (4, 5))]
    state.has_placed[:] = True
    return view(state)


def placed(view: View, action: int) -> str:
    return format_decision(view, action)


@pytest.mark.parametrize(
    "text",
    [
        "RO D4 D5",
        "ro d4 d5",
        "OR D5 D4",
        "or d5 d4",
        "R-O D4-D5",
        "R/O on D4, D5",
        "red-orange D4 D5",
        "orange/red at d5 and d4",
        "red on D4, orange on D5",
        "Red at (0, -2), orange at (1, -2)",
        "D4=R, D5=O",
        "D4: red; D5: orange.",
        "R D4 O D5",
        "slot 0 on D4 and D5",
        "I place tile 0 on D4 D5.",
        "D4 D5 RO",
        "I could go for GG D6 D7, or swap, but by placing RO on D4 and D5 I get more.",
        "First GG D6 D7 came to my mind. My move: **RO D4 D5**\nNo need to pass.",
        "Rather not GG D6 D7. [RO D4 D5] It is better than GG D6 D7.",
        '```json\n{"move": "RO D4 D5", "why": "GG D6 D7 is worse"}\n```',
        'Thinking about GG D6 D7 ... {"type": "place", "tile": "RO", "cells": ["D4", "D5"]}',
        "Place the red-orange tile so that the red half lies on D4 and the orange half on D5",
        "RO D4 D5: 7 points (R4 O3)",
    ],
)
def test_forms_of_a_placement(text: str) -> None:
    assert placed(middle(), parse_action(middle(), text)) == "RO D4 D5"


def test_action_ids() -> None:
    action = parse_action(middle(), "RO D4 D5")
    assert parse_action(middle(), f" {action} ") == parse_action(middle(), f'{{"action": {action}}}') == action
    assert isinstance(decode(Rules(), action), Place)
    with pytest.raises(IllegalAction, match="action 2880 is not legal; legal now"):
        parse_action(middle(), "2880")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "RR D4 D5",
            r"RR D4 D5 is not legal: the rack holds RO GG BY PP RG YP, not RR; legal now: one of the tiles RO",
        ),
        ("RO D4 D6", "a tile lies on two neighbouring cells, not on D4 and D6"),
        ("RO A1 A2", "A1 is not free"),
        ("RO Z1 A2", "a cell is a row's letter, A to K"),
        ("RO (9, 9) D4", r"a cell is a row's letter, A to K, .* not '\(9, 9\)'"),
        ("slot 7 D4 D5", "the slots that hold a tile are 0, 1, 2, 3, 4, 5, not 7"),
        ("swap", "swap is not legal: no swap now: lay a tile"),
        ("I pass", "keep is not legal: no keep now: lay a tile"),
        ('{"type": "place", "tile": "RR", "cells": ["D4", "D5"]}', "the rack does not hold RR"),
    ],
)
def test_illegal_moves(text: str, message: str) -> None:
    with pytest.raises(IllegalAction, match=message):
        parse_action(middle(), text)


@pytest.mark.parametrize(
    "text", ["", "I resign", "go for it or not", "D4 D5", "{}", "[]", "{[}", "RO", "\ud800", "9" * 30]
)
def test_unreadable_moves(text: str) -> None:
    with pytest.raises(UnreadableAction, match=r"no move is found in .*; legal now: one of the tiles RO, GG, BY"):
        parse_action(middle(), text)


def test_swaps_and_bonus_placements() -> None:
    seen = deciding(Phase.SWAP, "2025")
    t = seen.tables
    for text in ("swap", "I'd rather SWAP than keep it... [swap]", "Exchange my rack!", "RO D4 D5 later; now swap"):
        assert parse_action(seen, text) == t.swap_action
    for text in ("keep", "I decline.", "pass"):
        assert parse_action(seen, text) == t.decline_action
    with pytest.raises(IllegalAction, match="no tile is laid now: swap or keep; legal now: swap, keep"):
        parse_action(seen, "RO D4 D5")
    bonus = deciding(Phase.BONUS, "2009")
    assert parse_action(bonus, "I pass") == t.decline_action
    with pytest.raises(IllegalAction, match=r"no swap now: lay a bonus tile; legal now: .*, or decline"):
        parse_action(bonus, "swap")


@pytest.mark.parametrize("rules", EVERYDAY, ids=str)
def test_whatever_is_written_is_read_back(rules: Rules) -> None:
    rng = np.random.default_rng(0)
    state = random_play(rules, 6, seed=3, steps=8)
    for row in np.flatnonzero(~state.over).tolist():
        action = int(random_actions(state, np.array([row]), rng)[0])
        seen = view(state, rows=np.array([row]))
        again = parse_action(seen, f"Let me think. I play {format_decision(seen, action)}!")
        assert format_decision(seen, again) == format_decision(seen, action)
        assert kernel.is_legal(state, np.array([again]), np.array([row]))[0]
