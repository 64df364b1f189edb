"""One game as a seat knows it, which is where compiled code makes afterstates."""

from genial_env._compiled.handover import arrays
from genial_env._compiled.jit import helper
from genial_env._compiled.primitives import Arrays, copy, flat
from genial_env._compiled.rules import add_hidden_tiles, track_of
from genial_env._compiled.scratch import per_thread
from genial_env.core.kernel import undealt
from genial_env.core.rules import Rules
from genial_env.core.scalar import Facts, Games


@helper
def take_over(s: Games, t: Facts, g: int, seat: int, o: Games) -> None:
    """Make the one game what everybody knows of a game, and the rack of a seat, in place; the seat is its seat 0.

    The bag is the game's, as :func:`genial_env.policies.afterstates.states.make_states` makes it of a view.
    """
    copy(s.board[g], o.board[0])
    copy(flat(s.points[g]), flat(o.points))
    copy(s.open[g], o.open[0])
    for track in range(t.n_tracks):
        copy(s.scores[g, track_of(t, seat + track)], o.scores[0, track])
    copy(s.racks[g, seat], o.racks[0, 0])
    copy(s.bag[g], o.bag[0])
    o.symbols_touched[0], o.has_placed[0, 0] = s.symbols_touched[g], s.has_placed[g, seat]
    o.to_play[0], o.phase[0], o.pending_bonus[0] = 0, s.phase[g], s.pending_bonus[g]


@helper
def take_seat(s: Games, t: Facts, g: int, o: Games) -> None:
    """Make the one game what the seat to play knows of a game, in place: the bag holds all tiles that it cannot see."""
    seat = s.to_play[g]
    take_over(s, t, g, seat, o)
    add_hidden_tiles(s, t, g, seat, o.bag[0])


@per_thread
def two_games(rules: Rules) -> tuple[Arrays, Arrays]:
    """Return two games of this thread to play on."""
    return arrays(undealt(rules).copy()), arrays(undealt(rules).copy())
