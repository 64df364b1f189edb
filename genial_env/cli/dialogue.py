"""A table shown to its people, who are asked for their decisions: line by line, in a terminal or through a pipe."""

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

from genial_env.analysis.review import make_judge
from genial_env.cli.common import in_words
from genial_env.cli.console import clear_screen
from genial_env.cli.typed import WORDS, best_by_points, read_decision, with_points
from genial_env.core.actions import Cell
from genial_env.core.rules import Rules
from genial_env.core.state import Phase
from genial_env.policies.judgement import NONE, Judge
from genial_env.records import SPECTATOR, events_for_seat
from genial_env.render.ansi import named_text, rack_text, wants_color
from genial_env.render.sentences import event_words, explain_ranks
from genial_env.table import Table

HELP = """\
RO D4 D5      lay the tile RO, its R on D4 and its O on D5; or by its slot, 2 D4 D5: its first half on D4
swap, keep    where the rack may be swapped: swap it, or keep it
decline       where a bonus placement may be given up (edition 2009): give it up
moves         the placements with the most points, as you would type them; moves 20: so many
hint          what the judge likes best, and what it expects of that
board, rack   show them again
quit          break the game off
A cell is the letter of its row and the number that stands on it. Small letters on the board are printed symbols."""

MOVES, HINTS = 8, 3
"""How many decisions "moves" and "hint" show."""

JUDGE = "value"
"""Who gives hints where nobody is named."""


class Left(Exception):
    """Somebody has typed quit."""


class Dialogue:
    """Plays a table with its people.

    Args:
        table: the game, from now on.
        judge: who gives hints; left out, :data:`JUDGE` where it can play this game.
    """

    def __init__(self, table: Table, judge: Judge | None = None) -> None:
        self.table = table
        self._judge = judge
        self._is_live = sys.stdin.isatty() and sys.stdout.isatty()
        self._at_the_screen: int | None = None
        events = len(self._events())
        self._told = events
        self._last_looked = [events] * table.rules.players  # how many events there were after each seat's last decision
        self._commands: dict[str, Callable[[], None]] = {
            "moves": self._show_moves,
            "hint": self._show_hint,
            "board": self._show_board,
            "rack": self._show_rack,
            "help": lambda: print(HELP),
        }

    def run(self) -> None:
        """Play to the end.

        Raises:
            Left, EOFError, KeyboardInterrupt: where the game is broken off: by "quit", the input's end, or Ctrl-C.
            ValueError: of an agent that cannot go on.
        """
        self._begin()
        while not self.table.over:
            seat = self.table.to_play
            if self.table.waits:
                self.table.play(self._ask(seat))
                self._last_looked[seat] = len(self._events())
            else:
                self.table.advance()
            self._tell_news()
        self._tell_the_end()

    # Telling

    def _begin(self) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # noise is a line like any other that means nothing
        if self._is_live:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  for the arrow keys
        rules = self.table.rules
        seats = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(self._agents()))
        print(f"{seats}; {in_words(rules.to_dict())}; seed {self.table.seed}")
        print("type help for the commands")

    def _tell_news(self) -> None:
        """What has happened since it was last told: an agent's to everybody, a person's to whom is at the screen."""
        for event in self._events()[self._told :]:
            is_person = self.table.players[event[1]] is None
            self._say([event], seat=event[1] if is_person else SPECTATOR)
        self._told = len(self._events())

    def _tell_the_end(self) -> None:
        """The last position, how the game ended, who won and why."""
        table = self.table
        print(f"\n{named_text(table.state, color=wants_color(on=sys.stdout), last=self._laid_since(self._told - 1))}\n")
        print(f"the game is over: {table.record()['end']}")
        for sentence in explain_ranks(table.rules, table.state.scores[0], track_names(table.rules, self._agents())):
            print(sentence)

    def _show_board(self) -> None:
        since = self._last_looked[self.table.to_play]
        shown = named_text(self.table.state, color=wants_color(on=sys.stdout), last=self._laid_since(since))
        print(f"\n{shown}")
        self._show_rack()

    def _show_rack(self) -> None:
        print(rack_text(self.table.state, self.table.to_play, color=wants_color(on=sys.stdout)))

    def _laid_since(self, events: int) -> list[Cell]:
        """The cells of the tiles laid after so many events."""
        return [(q, r) for event in self._events()[events:] if event[0] == "place" for q, r in event[5:7]]

    def _events(self) -> list[list[Any]]:
        events: list[list[Any]] = self.table.record()["events"]
        return events

    def _agents(self) -> list[str]:
        agents: list[str] = self.table.record()["agents"]
        return agents

    # Asking

    def _ask(self, seat: int) -> int:
        """What the person on a seat decides."""
        self._hand_over(seat)
        self._show_board()
        while True:
            print(self._question(seat))
            words = input("> " if self._is_live else "").replace(",", " ").split()
            try:
                action = self._answer(words)
            except ValueError as error:
                print(error)
            else:
                if action is not None:
                    return action

    def _answer(self, words: list[str]) -> int | None:
        """The action that a line means; None for a command, which has been carried out.

        Raises:
            ValueError: for anything else, saying what was expected.
            Left: for "quit".
        """
        name = words[0].lower() if words else ""
        if name == "quit" and len(words) == 1:
            raise Left
        if name == "moves" and len(words) == 2:
            self._show_moves(_count(words[1]))
        elif name in self._commands and len(words) == 1:
            self._commands[name]()
        elif len(words) < 2 and name not in WORDS:
            known = ", ".join([*WORDS, *self._commands])
            raise ValueError(f"expected a move such as RO D4 D5, {known} or quit, not {' '.join(words)!r}")
        else:
            return read_decision(self.table.state, [name, *words[1:]])
        return None

    def _question(self, seat: int) -> str:
        state = self.table.state
        bag = f"{int(state.bag[0].sum())} tiles in the bag"
        if state.phase[0] == Phase.SWAP:
            return f"seat {seat}: the rack shows none of the lowest colors: swap or keep? ({bag})"
        if state.phase[0] == Phase.BONUS:
            or_decline = ", or decline" if self.table.rules.bonus_may_be_declined else ""
            return f"seat {seat}: lay a bonus tile{or_decline} ({int(state.pending_bonus[0])} owed, {bag})"
        return f"seat {seat}: lay a tile ({bag})"

    def _hand_over(self, seat: int) -> None:
        """Where several people share a terminal: hide the last one's rack, and tell the next what it has missed."""
        before, self._at_the_screen = self._at_the_screen, seat
        others = [other for other, player in enumerate(self.table.players) if player is None and other != seat]
        if not self._is_live or not others or before == seat:
            return
        if before is not None:
            clear_screen()
        names = " and ".join(f"seat {other}" for other in others)
        input(f"seat {seat}: press Enter when {names} {'looks' if len(others) == 1 else 'look'} away ")
        self._say(self._events()[self._last_looked[seat] :], seat)

    def _say(self, events: list[list[Any]], seat: int) -> None:
        """Some events, as far as a seat may know of them."""
        for event in events_for_seat(events, seat):
            print(event_words(self.table.rules, event))

    # Advice

    def _show_moves(self, most: int = MOVES) -> None:
        for action in best_by_points(self.table.view(self.table.to_play), most):
            print(with_points(self.table.state, action))

    def _show_hint(self) -> None:
        """What the judge likes best; each line begins with what one would type."""
        if self._judge is None:
            try:
                self._judge = make_judge(JUDGE, self.table.rules)
            except ValueError as error:
                raise ValueError(f"no hint: {error}") from error
        judged = self._judge.judge(self.table.view(self.table.to_play))
        is_solo = self.table.rules.tracks == 1
        what = "the lowest marker" if is_solo else "the rank, +1 first to -1 last"
        print(f"{self._judge.name} likes best, and expects of {what}:")
        best = zip(*(array[0, :HINTS].tolist() for array in (judged.actions, judged.utility, judged.win)), strict=True)
        for action, utility, win in best:
            if action != NONE:
                expected = f"{utility:.1f}" if is_solo else f"{utility:+.2f}, first with {win:.0%}"
                print(f"{with_points(self.table.state, action)}; {expected}")


def track_names(rules: Rules, agents: list[str]) -> list[str]:
    """What the tracks are called at the end of a game: "seat 0 (person)", "team 1 (denial + denial)"."""
    kind = "team" if rules.mode == "team" else "seat"
    return [f"{kind} {track} ({' + '.join(agents[track :: rules.tracks])})" for track in range(rules.tracks)]


def _count(word: str) -> int:
    """How many moves to show."""
    if not (word.isascii() and word.isdigit() and int(word) > 0):
        raise ValueError(f"moves takes a whole number above 0, not {word!r}")
    return int(word)
