"""Play a game with people, line by line, in a terminal or through a pipe."""

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

from genial_env.analysis.judge import make_judge
from genial_env.cli.agent_errors import agent_errors
from genial_env.cli.common import format_rules
from genial_env.cli.console import Thinking, clear_screen, print_text
from genial_env.core import kernel
from genial_env.core.actions import Cell
from genial_env.core.rules import Rules
from genial_env.core.state import Phase
from genial_env.core.views import View
from genial_env.notation.moves import WORDS, format_with_points, list_best_by_points, read_decision
from genial_env.policies.base import NONE
from genial_env.policies.judgement import Judge
from genial_env.records import SPECTATOR, events_for_seat
from genial_env.render.ansi import named_text, rack_text, track_name, wants_color
from genial_env.render.sentences import describe_event, explain_ranks
from genial_env.table import Table

HELP = """\
RO D4 D5      lay the tile RO, its R on D4 and its O on D5; or by its slot, 2 D4 D5: its first half on D4
swap, keep    if the rack may be swapped: swap it, or keep it
decline       if a bonus placement may be declined: decline it
moves         list the placements with the most points, as you would type them; moves 20: list 20
hint          list the decisions that the judge thinks best, and what it expects of them
board, rack   show the board or the rack again
quit          end the game now
A cell is the letter of its row and the number that stands on it. Small letters on the board are printed symbols."""

MOVES, HINTS = 8, 3
"""How many decisions the commands "moves" and "hint" list."""

JUDGE = "normal"
"""The default judge of hints."""


class Quit(Exception):
    """A person has typed "quit"."""


class Dialogue:
    """Plays a game with its people.

    Args:
        table: the game.
        judge: the judge for hints; None for :data:`JUDGE`, if it can judge this game.
    """

    def __init__(self, table: Table, judge: Judge | None = None) -> None:
        self.table = table
        self._judge = judge
        self._is_live = sys.stdin.isatty() and sys.stdout.isatty()
        self._at_the_screen: int | None = None
        events = len(self.table.events())
        self._shown = events
        self._seen_events = [events] * table.rules.players  # by seat: the number of events after its last decision
        self._commands: dict[str, Callable[[], None]] = {
            "moves": self._show_moves,
            "hint": self._show_hint,
            "board": self._show_board,
            "rack": self._show_rack,
            "help": lambda: print_text(HELP, indent=14),
        }

    def run(self) -> None:
        """Play to the end.

        Raises:
            Quit: if a person types "quit".
            EOFError: if the input ends.
            KeyboardInterrupt: after Ctrl-C.
            AgentError: if an agent of the user fails.
            ValueError: if another agent fails.
        """
        self._begin()
        while not self.table.over:
            seat = self.table.to_play
            if self.table.waits:
                self.table.play(self._ask(seat))
                self._seen_events[seat] = len(self.table.events())
            else:
                thinking = Thinking(f"seat {seat} ({self._agents()[seat]}) thinks", shown=self._is_live)
                with agent_errors(self.table.players[seat] or ""), thinking:
                    self.table.advance()
            self._show_news()
        self._show_end()

    # Showing

    def _begin(self) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # bytes that are not text become a line that is not understood
        if self._is_live:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  for the arrow keys
        rules = self.table.rules
        seats = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(self._agents()))
        print_text(f"{seats}; {format_rules(rules.to_dict())}; seed {self.table.seed}")
        print("type help for the commands")

    def _show_news(self) -> None:
        """Show the new events: an agent's as everybody sees them, a person's as this person sees them."""
        for event in self.table.events()[self._shown :]:
            is_person = self.table.players[event[1]] is None
            self._print_events([event], seat=event[1] if is_person else SPECTATOR)
        self._shown = len(self.table.events())

    def _show_end(self) -> None:
        """Show the last position, how the game ended, and who won and why."""
        table = self.table
        print(
            f"\n{named_text(table.state, color=wants_color(on=sys.stdout), last=self._laid_since(self._shown - 1))}\n"
        )
        print(f"the game is over: {table.record()['end']}")
        for sentence in explain_ranks(table.rules, table.state.scores[0], name_tracks(table.rules, self._agents())):
            print_text(sentence)

    def _show_board(self) -> None:
        since = self._seen_events[self.table.to_play]
        shown = named_text(self.table.state, color=wants_color(on=sys.stdout), last=self._laid_since(since))
        print(f"\n{shown}")
        self._show_rack()

    def _show_rack(self) -> None:
        print(rack_text(self.table.state, self.table.to_play, color=wants_color(on=sys.stdout)))

    def _laid_since(self, events: int) -> list[Cell]:
        """Return the cells of the tiles laid after the first `events` events."""
        return [(q, r) for event in self.table.events()[events:] if event[0] == "place" for q, r in event[5:7]]

    def _agents(self) -> list[str]:
        agents: list[str] = self.table.record()["agents"]
        return agents

    # Asking

    def _ask(self, seat: int) -> int:
        """Ask a person until there is a decision, and return the action."""
        self._hand_over(seat)
        self._show_board()
        while True:
            print_text(self._question(seat))
            words = self._read_line().replace(",", " ").split()
            try:
                action = self._answer(words)
            except ValueError as error:
                print_text(str(error))
            else:
                if action is not None:
                    return action

    def _read_line(self) -> str:
        """Read a line that a person or a program types.

        Raises:
            EOFError: if the input ends.
        """
        if self._is_live:
            return input("> ")
        sys.stdout.flush()
        line = sys.stdin.readline()  # input() would drop an exception that a signal raises while it flushes
        if not line:
            raise EOFError
        return line

    def _answer(self, words: list[str]) -> int | None:
        """Carry out a command, or return the action that a line describes.

        Returns:
            The action; None if it was a command.

        Raises:
            ValueError: if the line is not understood; the message says what is expected.
            Quit: if it is "quit".
        """
        name = words[0].lower() if words else ""
        if name == "quit" and len(words) == 1:
            raise Quit
        if name == "moves" and len(words) == 2:
            self._show_moves(_count(words[1]))
        elif name in self._commands and len(words) == 1:
            self._commands[name]()
        elif len(words) < 2 and name not in WORDS:
            known = ", ".join([*WORDS, *self._commands])
            raise ValueError(f"expected a move such as RO D4 D5, {known} or quit, not {' '.join(words)!r}")
        else:
            return read_decision(self._own_view(), [name, *words[1:]])
        return None

    def _question(self, seat: int) -> str:
        state = self.table.state
        bag = f"{int(state.bag[0].sum())} tiles in the bag"
        if state.phase[0] == Phase.SWAP:
            return f"seat {seat}: the rack shows none of the lowest colors: swap or keep? ({bag})"
        if state.phase[0] == Phase.BONUS:
            or_decline = ", or decline" if kernel.may_decline(state)[0] else ""
            return f"seat {seat}: lay a bonus tile{or_decline} ({int(state.pending_bonus[0])} pending, {bag})"
        return f"seat {seat}: lay a tile ({bag})"

    def _hand_over(self, seat: int) -> None:
        """If several people share a terminal: hide the last rack, and show the next person what has happened.

        Raises:
            Quit: if the next person types "quit".
        """
        before, self._at_the_screen = self._at_the_screen, seat
        others = [other for other, player in enumerate(self.table.players) if player is None and other != seat]
        if not self._is_live or not others or before == seat:
            return
        if before is not None:
            clear_screen()
        names = " and ".join(f"seat {other}" for other in others)
        typed = input(f"seat {seat}: press Enter when {names} {'looks' if len(others) == 1 else 'look'} away ")
        if typed.strip().lower() == "quit":
            raise Quit
        self._print_events(self.table.events()[self._seen_events[seat] :], seat)

    def _print_events(self, events: list[list[Any]], seat: int) -> None:
        """Print events as far as a seat may know them."""
        for event in events_for_seat(events, seat):
            print_text(describe_event(self.table.rules, event))

    # Advice

    def _own_view(self) -> View:
        """Return what the seat to play knows."""
        return self.table.view(self.table.to_play)

    def _show_moves(self, most: int = MOVES) -> None:
        view = self._own_view()
        for action in list_best_by_points(view, most):
            print_text(format_with_points(view, action), indent=2)

    def _show_hint(self) -> None:
        """List the decisions that the judge thinks best; each line begins with what one would type."""
        if self._judge is None:
            try:
                self._judge = make_judge(JUDGE, self.table.rules)
            except ValueError as error:
                raise ValueError(f"no hint: {error}") from error
        view = self._own_view()
        judged = self._judge.judge(view)
        is_solo = self.table.rules.tracks == 1
        what = "the lowest marker" if is_solo else "the rank, +1 first to -1 last"
        print_text(f"the judge ({self._judge.name}) thinks best, and expects for {what}:")
        best = zip(*(array[0, :HINTS].tolist() for array in (judged.actions, judged.utility, judged.win)), strict=True)
        for action, utility, win in best:
            if action != NONE:
                expected = f"{utility:.1f}" if is_solo else f"{utility:+.2f}, first with {win:.0%}"
                print_text(f"{format_with_points(view, action)}; {expected}", indent=2)


def name_tracks(rules: Rules, agents: list[str]) -> list[str]:
    """Return the names of the tracks: "seat 0 (person)", "team 1 (denial + denial)"."""
    names = [" + ".join(agents[seat] for seat in rules.seats_of(track)) for track in range(rules.tracks)]
    return [f"{track_name(rules, track)} ({agents})" for track, agents in enumerate(names)]


def _count(word: str) -> int:
    """Return the number of moves to list."""
    if not (word.isascii() and word.isdigit() and int(word) > 0):
        raise ValueError(f"moves takes a whole number above 0, not {word!r}")
    return int(word)
