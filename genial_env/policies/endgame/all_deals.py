"""Value the last placements over all deals of the hidden tiles."""

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from genial_env._util.stopping import checkpoint
from genial_env.core import kernel
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.determinization import determinize
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.views import View
from genial_env.policies.endgame._exchange import Exchange
from genial_env.policies.endgame._knowledge import Knowledge
from genial_env.policies.endgame._matching import most_placements_left
from genial_env.policies.endgame._outcomes import find_ends, list_distinct_actions
from genial_env.policies.endgame._positions import decline_useless_swaps
from genial_env.policies.endgame._solution import Solution, check_unfinished, extend_to_all_actions
from genial_env.policies.endgame.known_racks import solve

__all__ = ["exact_action", "exact_solutions", "value_over_all_deals"]


def value_over_all_deals(view: View) -> tuple[Ints, Floats]:
    """Compute the exact value of every legal action over all deals of the tiles that the seat to play does not see.

    All deals of the unseen tiles to the others' racks count with their true probabilities. The others then play
    perfectly, and know all racks as they are at the decision. That is more than they may know, so a value is a lower
    bound of what the mover gets on average. With at most two placements left it is the value of perfect play, because
    the opponent's reply is the last.

    A reply that ends the game depends only on the best tile kind of its rack. The probability that a rack holds one of
    some kinds is counted, without enumerating racks, which takes milliseconds.

    With two seats, a turn may end with two placements left: if there were three, at a swap decision, or in 2009 if a
    bonus is declined. Then the mover itself places the last tile, and its draws count. The opponent's hands are
    enumerated; it replies as is best on average over the mover's draws, which it does not know; and the mover places
    its best tile. This takes tenths of a second for each way to end the turn.

    Solo nothing is hidden, and the result is that of :func:`~genial_env.policies.endgame.known_racks.solve`. What swaps
    have shown about the rack of a single opponent is used. With several opponents it is refused.

    Args:
        view: one game, seen by the seat to play.

    Returns:
        The legal actions [n], ascending, and their values [n].

    Raises:
        ValueError: if there is not exactly one game, it is over, it is another seat's turn, too many placements are
            left, or swaps have shown something about several hidden racks that matter.
    """
    _check_view(view)
    state = determinize(view, np.zeros(1, dtype=np.uint64))
    if view.rules.tracks == 1:
        solution = solve(state)
        return solution.actions, solution.values
    _check_few_left(state)
    _, actions, values = _Deals(view).action_values(state)
    solution = extend_to_all_actions(state, 0, state, 0, actions, values)
    return solution.actions, solution.values


def exact_action(view: View) -> int | None:
    """Return the best action of the seat to play if at most two placements are left, else None.

    It takes milliseconds. The result is also None in a swap decision, if a bonus may be declined, and if swaps have
    shown something about several hidden racks.

    Args:
        view: one game, seen by the seat to play.
    """
    solution = exact_solutions(view).get(0)
    return None if solution is None else solution.first_best


def exact_solutions(view: View, *, patient: bool = False) -> dict[int, Solution]:
    """Return the values of all legal actions in those of G games in which :func:`exact_action` has an answer.

    Args:
        view: G games, seen by the seats to play.
        patient: whether to solve also what may take seconds: all games of several seats for which
            :func:`value_over_all_deals` has an answer. With three placements left its values are lower bounds.
    """
    solutions = {}
    most = 3 if patient and view.rules.players == 2 else 2
    likely = _are_few_open(view, most) if patient else _are_few_open(view, most) & _are_soon_solved(view)
    for game in np.flatnonzero(likely).tolist():
        alone = view.select(np.array([game]))
        if most_placements_left(determinize(alone, np.zeros(1, dtype=np.uint64)))[0] <= most:
            with suppress(ValueError):  # too many are left, or swaps have shown something about several racks
                solutions[game] = Solution(*value_over_all_deals(alone))
    return solutions


def _are_few_open(view: View, most: int) -> Bools:
    """Return whether there are so few placements that at most `most` tiles may be left to place: [G].

    If so, all placements share a cell with one of so many pairs of neighbors, which have 11 pairs each, in two
    directions.
    """
    few: Bools = view.placements.sum(axis=1) <= most * 2 * 11
    return few


def _are_soon_solved(view: View) -> Bools:
    """Return whether the mover cannot draw before the last placement: [G]."""
    soon: Bools = (view.phase != Phase.SWAP) & ~view.may_decline
    return soon


def _check_view(view: View) -> None:
    """Check that there is one view, of an unfinished game, of the seat to play."""
    if len(view) != 1:
        raise ValueError(f"there must be one view, not {len(view)}")
    check_unfinished(view.phase == Phase.OVER)
    if view.to_play[0] != 0:
        raise ValueError("the view must be that of the seat to play")


def _check_few_left(state: State) -> None:
    """Check that the next seat places the last tile after the mover's turn; with two seats, the last but one."""
    left = int(most_placements_left(state)[0])
    must_place = not bool(kernel.may_decline(state)[0])
    most = (2 if state.rules.players == 2 else 1) + must_place
    if left > most:
        raise ValueError(f"there must be at most {most} placements left, not {left}")


class _Deals:
    """The values of a view's actions over all deals.

    It expands the mover's own placements, and then counts the replies of the next seat.

    Args:
        view: one game, seen by the seat to play.
    """

    def __init__(self, view: View) -> None:
        self.known = Knowledge(view)

    def action_values(self, state: State) -> tuple[Ints, Ints, Floats]:
        """Return the mover's distinct actions: games [n], ascending, action ids [n] and values [n]."""
        checkpoint()
        rows, actions = list_distinct_actions(state)
        ends, utilities = find_ends(state, rows, actions)
        values = utilities[:, self.known.track]
        going = np.flatnonzero(~ends)
        children = state.select(rows[going])
        kernel.apply(children, actions[going])
        held = _remaining_rack(state, rows[going], actions[going])
        for phase, evaluate in (
            (Phase.BONUS, self._value_of_best),
            (Phase.SWAP, self._value_of_swap_decision),
            (Phase.PLACE, self._value_after_turn),
        ):
            some = np.flatnonzero(children.phase == phase)
            if some.size:
                values[going[some]] = evaluate(children.select(some), held[some])
        return rows, actions, values

    def _value_of_best(self, state: State, held: NDArray[np.int8]) -> Floats:
        """Return the values [G] of games in which the mover plays on."""
        rows, _, values = self.action_values(state)
        best: Floats = np.maximum.reduceat(values, np.searchsorted(rows, np.arange(len(state))))
        return best

    def _value_of_swap_decision(self, state: State, held: NDArray[np.int8]) -> Floats:
        """Return the values [G] of games in which the mover may swap; it declines if it could not place a new tile."""
        matters = most_placements_left(state) >= state.rules.players
        values = np.empty(len(state))
        for some, evaluate in ((matters, self._value_of_best), (~matters, self._value_after_turn)):
            if some.any():
                values[some] = evaluate(decline_useless_swaps(state.select(some)), held[some])
        return values

    def _value_after_turn(self, state: State, held: NDArray[np.int8]) -> Floats:
        """Return the values [G] of games in which the next seat is to play."""
        self.known.check_deals()
        values = np.empty(len(state))
        left = most_placements_left(state)
        last = np.flatnonzero(left == 1)
        if last.size:
            values[last] = self._value_of_last_reply(state.select(last))
        for game in np.flatnonzero(left == 2).tolist():
            values[game] = Exchange(self.known, state.select(np.array([game])), held[game]).value()
        return values

    def _value_of_last_reply(self, state: State) -> Floats:
        """Return the values [G] of games in which the next seat places the last tile."""
        replies = self.known.value_last_tile(state, self.known.next_seat)
        values = np.empty(len(state))
        for game in range(len(state)):
            checkpoint()
            values[game] = self._mean_of_best(replies[game])
        return values

    def _mean_of_best(self, utilities: Floats) -> float:
        """Return the mover's mean utility if the next seat places the best tile for itself of a hidden hand.

        Args:
            utilities: [M, T] by the kind of that tile.
        """
        theirs, own = utilities[:, self.known.rules.track_of(self.known.next_seat)], utilities[:, self.known.track]
        order = np.lexsort((own, -theirs))
        none_so_far = self.known.opponent.none_probabilities(order)
        return float((none_so_far[:-1] - none_so_far[1:]) @ own[order])


def _remaining_rack(state: State, rows: Ints, actions: Ints) -> NDArray[np.int8]:
    """Return the racks [n, K] after actions [n], before anything is drawn."""
    t = state.tables
    held = kernel.own_racks(state, rows)
    placing = np.flatnonzero(t.is_placing(actions))
    slot, _ = t.split_action(actions[placing])
    held[placing, slot] = EMPTY
    held[actions == t.swap_action] = EMPTY
    return held
