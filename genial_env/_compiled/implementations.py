"""Compiled implementations of the functions of the kernel, views, planes and policies."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled import deciding, handover, observing
from genial_env._compiled import playing as entries
from genial_env._compiled.handover import arrays, facts, no_script, share
from genial_env._compiled.scratch import scratch
from genial_env.core import chance, kernel, views
from genial_env.core._kernel import board, dealing, legality, playing
from genial_env.core.arrays import Bits, Bitsets, Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View, view_layout
from genial_env.encodings import planes
from genial_env.encodings.planes import assemble, grid_index, plane_shapes
from genial_env.errors import IllegalAction
from genial_env.policies import decisions, playout, uniform
from genial_env.policies.base import Plan, PlannedPolicy, Policy
from genial_env.policies.uniform import RandomPolicy

# The kernel


@dealing.deal_racks.compiled
def deal_racks(threads: int, state: State, rows: Ints, seeds: Bits) -> None:
    """Compute it in compiled code."""
    state.key[rows] = chance.seat_keys(seeds, chance.Purpose.DRAWS, state.rules.players)
    game, script = (arrays(state), facts(state.rules), rows), no_script(state.rules)[0]
    share(threads, len(rows), lambda lo, hi: entries.deal_racks(*game, script, lo, hi))


@playing.apply_unchecked.compiled
def apply_unchecked(threads: int, state: State, rows: Ints, actions: Ints, script: Ints | None) -> int:
    """Compute it in compiled code."""
    scripts = no_script(state.rules) if script is None else np.ascontiguousarray(script)
    actions = np.ascontiguousarray(actions)
    game = arrays(state), facts(state.rules), rows, actions, scripts, script is not None
    if threads == 1 or len(rows) < 2 * handover.FEWEST:
        wrong: int = entries.play(*game, True, True, 0, len(rows))
        return wrong
    found = share(threads, len(rows), lambda lo, hi: entries.play(*game, True, False, lo, hi))
    wrong = min((place for place in found if place >= 0), default=-1)
    if wrong < 0:
        share(threads, len(rows), lambda lo, hi: entries.play(*game, False, True, lo, hi))
    return wrong


@legality.is_legal_unchecked.compiled
def is_legal_unchecked(threads: int, state: State, actions: Ints, rows: Ints) -> Bools:
    """Compute it in compiled code."""
    out = np.empty(len(rows), dtype=np.bool_)
    game = arrays(state), facts(state.rules), rows, np.ascontiguousarray(actions, dtype=np.int64), out
    share(threads, len(rows), lambda lo, hi: entries.are_legal(*game, lo, hi))
    return out


@legality.fill_masks.compiled
def fill_masks(threads: int, state: State, rows: Ints | None, mask: Bools) -> None:
    """Compute it in compiled code."""
    rows = np.arange(len(state)) if rows is None else rows
    game, out = (arrays(state), facts(state.rules)), mask.view(np.int8)
    share(threads, len(rows), lambda lo, hi: entries.fill_masks(*game, scratch(state.rules), rows, out, lo, hi))


@legality.placement_sets_unchecked.compiled
def placement_sets_unchecked(threads: int, state: State, rows: Ints) -> Bitsets:
    """Compute it in compiled code."""
    out = np.empty((len(rows), state.open.shape[1]), dtype=np.uint64)
    game = arrays(state), facts(state.rules), rows, out.view(np.int64)
    share(threads, len(rows), lambda lo, hi: entries.find_placement_sets(*game, lo, hi))
    return out


@board.recount_points_unchecked.compiled
def recount_points_unchecked(threads: int, rules: Rules, board: NDArray[Any]) -> NDArray[np.int8]:
    """Compute it in compiled code."""
    boards = np.ascontiguousarray(board, dtype=np.int64)
    out = np.zeros((*boards.shape, rules.colors), dtype=np.int8)
    share(threads, len(boards), lambda lo, hi: entries.count_points(facts(rules), boards, out, lo, hi))
    return out


# Views and planes


@views.view_unchecked.compiled
def view_unchecked(threads: int, state: State, rows: Ints, seat: Ints) -> View:
    """Compute it in compiled code."""
    rules, n = state.rules, len(rows)
    seat = seat.copy()
    layout = view_layout(rules)
    arrays_of_view = {name: np.zeros((n, *layout[name][0]), layout[name][1]) for name in observing.VIEW_ARRAYS}
    game, into = (arrays(state), facts(rules)), (rows, seat, tuple(arrays_of_view.values()))
    share(threads, n, lambda lo, hi: observing.fill_views(*game, scratch(rules), *into, lo, hi))
    return View(rules, seat, **arrays_of_view)


@views.fill_view_masks.compiled
def fill_view_masks(threads: int, view: View, mask: Bools) -> None:
    """Compute it in compiled code."""
    factors = facts(view.rules), view.slots, view.placements, view.may_swap, view.may_decline
    share(threads, len(view), lambda lo, hi: observing.fill_view_masks(*factors, mask.view(np.int8), lo, hi))


@planes.encode_planes.compiled
def encode_planes(threads: int, view: View) -> dict[str, NDArray[Any]]:
    """Compute it in compiled code."""
    rules, n, shapes = view.rules, len(view), plane_shapes(view.rules)
    computed = {name: np.zeros((n, *shapes[name]), np.uint8) for name in ("board", "rack", "to_play", "phase")}
    source = view.board, view.points, view.rack, view.to_play, view.phase
    board, *others = computed.values()
    out = flatten_grid(board), *others
    share(threads, n, lambda lo, hi: observing.encode_planes(facts(rules), grid_index(rules), source, out, lo, hi))
    return assemble(view, **computed)


def flatten_grid(board: NDArray[Any]) -> NDArray[Any]:
    """Return planes [..., H, H] as [..., H * H], the same memory."""
    return board.reshape(*board.shape[:-2], board.shape[-2] * board.shape[-1])


# Decisions


def _plan_of(policy: Policy, rules: Rules) -> Plan | None:
    return policy.plan(rules) if isinstance(policy, PlannedPolicy) else None


@decisions.decide.compiled
def decide(threads: int, policy: Policy, state: State, rows: Ints, random: Bits) -> Ints:
    """Compute it in compiled code; a policy without a plan is called."""
    plan = _plan_of(policy, state.rules)
    if plan is None:
        return decisions.decide.numpy(policy, state, rows, random)
    if random.shape != rows.shape:
        raise ValueError(f"random bits must be one for each of {len(rows)} games, not of shape {random.shape}")
    out = np.empty(len(rows), dtype=np.int64)
    game, wanted = (arrays(state), facts(state.rules)), (tuple(plan), rows, np.ascontiguousarray(random), out)
    share(threads, len(rows), lambda lo, hi: deciding.decide(*game, scratch(state.rules), *wanted, lo, hi))
    return out


@uniform.random_actions.compiled
def random_actions(threads: int, state: State, rows: Ints, random: Bits) -> Ints:
    """Compute it in compiled code."""
    return decide(threads, RandomPolicy(), state, rows, random)


@playout.play_out.compiled
def play_out(threads: int, state: State, roster: Sequence[Policy], keys: Bits) -> None:
    """Compute it in compiled code if all policies have a plan, else in numpy."""
    plans = [plan for plan in (_plan_of(policy, state.rules) for policy in roster) if plan is not None]
    if len(plans) < len(roster):
        playout.play_out.numpy(state, roster, keys)
        return
    stuck = np.empty(len(state), dtype=np.int64)
    values, weights = np.array([plan.marker_values for plan in plans]), np.array([plan.weights for plan in plans])
    game = arrays(state), facts(state.rules)
    how = values, weights, np.ascontiguousarray(keys), no_script(state.rules)[0], stuck
    found = share(
        threads, len(state), lambda lo, hi: deciding.play_out(*game, scratch(state.rules), *how, lo, hi), fewest=1
    )
    for row in found:
        if row >= 0:
            raise IllegalAction(kernel.why_illegal(state, row, int(stuck[row])))
