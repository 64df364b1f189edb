"""Who sits where in a game: people at the page of its owner, people who join by a link, and people who have left.

A link holds a secret that opens one seat, or a view of what is public. It works in every browser. A person who resigns,
or whose time is up, has left. The agent :data:`SUBSTITUTE` then plays the seat on, and a track that all its people have
left is ranked behind the others.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from genial_env._util.validators import STRING, finite_number, integer, json_object, list_of, optional
from genial_env.core import ranking
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules

SUBSTITUTE = "greedy"
"""The agent that plays on for a person who has left. It can play all rules."""

RESIGNED, OUT_OF_TIME = "resigned", "time"
"""Why a person has left."""

MAX_MAIN_S, MAX_MOVE_S = 24 * 3600, 3600
"""The longest times of a clock in seconds: for the whole game, and added for a turn."""


@dataclass(frozen=True)
class Viewer:
    """Somebody who looks at a game.

    Args:
        seats: the seats that this viewer plays; none for a spectator.
        is_host: whether the game belongs to the viewer's session.
        linked: the seat of the viewer's link, also if its person has left; None for the host and for spectators.
    """

    seats: tuple[int, ...]
    is_host: bool = False
    linked: int | None = None

    @property
    def role(self) -> str:
        """The word for the viewer: "host", "guest" for a seat that was joined by a link, or "spectator"."""
        if self.is_host:
            return "host"
        return "guest" if self.seats else "spectator"


@dataclass
class Clock:
    """The time of each person. It runs down in the person's turns, and grows by a number of seconds after each turn.

    Args:
        main_s: the seconds that each person has at the beginning.
        move_s: the seconds that are added when a person's turn is over.
        left: for each seat the seconds that were left when its turn began.
    """

    main_s: float
    move_s: float
    left: list[float]
    running: int | None = None
    """The seat whose time runs down; None if no time does."""
    since: float = 0.0
    """The time in seconds when it began to, on the clock `now`."""
    now: Callable[[], float] = time.monotonic

    def remaining(self, seat: int) -> float:
        """Return the seconds that a seat has left, at least 0."""
        used = self.now() - self.since if seat == self.running else 0.0
        return max(0.0, self.left[seat] - used)

    def switch(self, seat: int | None) -> None:
        """In place: from now on the time of another seat runs down; None for nobody's. Another call changes nothing."""
        if seat == self.running:
            return
        if self.running is not None:
            self.left[self.running] = self.remaining(self.running)
        self.running, self.since = seat, self.now()

    def end_turn(self, seat: int) -> None:
        """In place: stop the time of a seat whose turn is over, and add the seconds for a turn."""
        if self.running == seat:
            self.switch(None)
        self.left[seat] += self.move_s

    def to_dict(self) -> dict[str, Any]:
        """Return the clock as data for JSON."""
        left = [round(self.remaining(seat), 3) for seat in range(len(self.left))]
        return {"main_s": self.main_s, "move_s": self.move_s, "left": left}


@dataclass
class Offer:
    """A person's wish to take the last own decision back."""

    seat: int
    agreed: set[int] = field(default_factory=set)
    """The other people who agree."""


@dataclass
class Seating:
    """Who sits where.

    Args:
        links: for each seat the secret of its link, None for a seat without a link; empty if no seat has one.
        spectators: the secret of the link for spectators; None if there is none.
        joined: the seats whose link was used.
        left: the seats whose person has left, with the reason.
        former: the names of those who played a seat before the agent that plays it now, by seat.
        clock: the clock; None for a game without one.
    """

    links: tuple[str | None, ...] = ()
    spectators: str | None = None
    joined: set[int] = field(default_factory=set)
    left: dict[int, str] = field(default_factory=dict)
    former: dict[int, list[str]] = field(default_factory=dict)
    clock: Clock | None = None
    offer: Offer | None = None
    """The wish to take a decision back that waits for an answer; it is not saved."""
    renewed: int = 0
    """How many links were made since the game was begun or read; it is not saved."""

    @property
    def is_shared(self) -> bool:
        """Whether a seat has a link."""
        return any(self.links)

    @classmethod
    def with_links(cls, by_link: Sequence[bool], clock: Clock | None) -> "Seating":
        """Return the seating of a new game, with new secrets for the seats that are played by a link."""
        if not any(by_link):
            return cls(clock=clock)
        links = tuple(_new_secret() if each else None for each in by_link)
        return cls(links, _new_secret(), clock=clock)

    def renew_link(self, seat: int | None) -> None:
        """In place: make a new link; the old one opens nothing any more.

        Args:
            seat: a seat that has a link; None for the link of spectators, which every game may have.
        """
        if seat is None:
            self.spectators = _new_secret()
        else:
            self.links = tuple(_new_secret() if at == seat else link for at, link in enumerate(self.links))
        self.renewed += 1

    def own_seats(self, players: Sequence[str | None]) -> tuple[int, ...]:
        """Return the seats of people at the owner's page.

        Args:
            players: one for each seat: None for a person, or the name of an agent.
        """
        return tuple(seat for seat in self.people(players) if not self.is_by_link(seat))

    def people(self, players: Sequence[str | None]) -> list[int]:
        """Return the seats of people who have not left."""
        return [seat for seat, player in enumerate(players) if player is None and seat not in self.left]

    def find_viewer(self, secret: str, players: Sequence[str | None]) -> Viewer | None:
        """Return who has the link with this secret, None if there is no such link, in constant time."""
        found: Viewer | None = None
        people = self.people(players)
        for seat, link in [*enumerate(self.links), (None, self.spectators)]:
            if link is not None and hmac.compare_digest(link.encode(), secret.encode("utf-8", "surrogateescape")):
                found = Viewer((seat,) if seat in people else (), linked=seat)
        return found

    def is_by_link(self, seat: int) -> bool:
        """Return whether a seat is played by a link."""
        return bool(self.links) and self.links[seat] is not None

    def is_at(self, viewer: Viewer, players: Sequence[str | None]) -> bool:
        """Return whether a viewer is all the people of a game, or was until they left."""
        people = [seat for seat, player in enumerate(players) if player is None]
        if viewer.is_host:
            return not any(map(self.is_by_link, people))
        return people == [viewer.linked]

    def absent(self, players: Sequence[str | None]) -> list[int]:
        """Return the seats whose link was not used yet."""
        return [seat for seat in self.people(players) if self.is_by_link(seat) and seat not in self.joined]

    def lost_tracks(self, rules: Rules, players: Sequence[str | None]) -> list[bool]:
        """Return for each track whether all of its people have left."""
        people = self.people(players)
        return [
            any(seat in self.left for seat in rules.seats_of(track))
            and not any(seat in people for seat in rules.seats_of(track))
            for track in range(rules.tracks)
        ]

    def is_decided(self, rules: Rules, players: Sequence[str | None]) -> bool:
        """Return whether so many people have left that nobody is left to play against."""
        lost = self.lost_tracks(rules, players)
        return any(lost) and len(lost) - sum(lost) <= 1

    def rank(self, rules: Rules, players: Sequence[str | None], scores: Ints) -> list[int]:
        """Return the ranks of tracks with these scores [T, C]: tracks whose people have left are behind all others."""
        lost = self.lost_tracks(rules, players)
        ranks = [0] * len(lost)
        for group in (False, True):
            tracks = [track for track, is_lost in enumerate(lost) if is_lost == group]
            before = len(lost) - len(tracks) if group else 0
            if tracks:
                for track, rank in zip(tracks, ranking.ranks(scores[tracks]).tolist(), strict=True):
                    ranks[track] = before + rank
        return ranks

    def fingerprint(self) -> tuple[Any, ...]:
        """Return something that changes whenever what the viewers see of the seating changes."""
        running = None if self.clock is None else self.clock.running
        offer = None if self.offer is None else (self.offer.seat, *sorted(self.offer.agreed))
        return (
            self.renewed,
            len(self.joined),
            len(self.left),
            running,
            offer,
            tuple(sorted((at, len(of)) for at, of in self.former.items())),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the seating as data for JSON; what is as usual is left out."""
        data: dict[str, Any] = {}
        if self.is_shared:
            data |= {"links": list(self.links), "joined": sorted(self.joined)}
        if self.spectators is not None:
            data["spectators"] = self.spectators
        if self.left:
            data["left"] = {str(seat): reason for seat, reason in sorted(self.left.items())}
        if self.former:
            data["former"] = {str(seat): list(names) for seat, names in sorted(self.former.items())}
        if self.clock is not None:
            data["clock"] = self.clock.to_dict()
        return data

    @classmethod
    def from_dict(cls, saved: Any, rules: Rules) -> "Seating":
        """Return the seating that :meth:`to_dict` described. No time runs.

        Raises:
            ValueError: if the data do not describe the seating of a game with these rules.
        """
        seats = rules.players
        checked = _validator(seats)(saved, "seating")
        clock = checked.get("clock")
        return cls(
            links=tuple(checked.get("links", ())),
            spectators=checked.get("spectators"),
            joined=set(checked.get("joined", ())),
            left={int(seat): reason for seat, reason in checked.get("left", {}).items()},
            former={int(seat): names for seat, names in checked.get("former", {}).items()},
            clock=None if clock is None else Clock(clock["main_s"], clock["move_s"], clock["left"]),
        )


def _new_secret() -> str:
    return secrets.token_urlsafe(16)


def _validator(seats: int) -> Callable[[Any, str], dict[str, Any]]:
    seconds = finite_number(0)
    keys = {
        "links": list_of(optional(STRING), seats),
        "spectators": optional(STRING),
        "joined": list_of(integer(0, seats - 1)),
        "left": json_object(optional_keys=dict.fromkeys(map(str, range(seats)), _reason)),
        "former": json_object(optional_keys=dict.fromkeys(map(str, range(seats)), list_of(STRING))),
        "clock": json_object(main_s=seconds, move_s=seconds, left=list_of(seconds, seats)),
    }
    checked: Callable[[Any, str], dict[str, Any]] = json_object(optional_keys=keys)
    return checked


def _reason(value: Any, where: str) -> str:
    if value not in (RESIGNED, OUT_OF_TIME):
        raise ValueError(f"{where}: expected {RESIGNED!r} or {OUT_OF_TIME!r}, found {value!r}")
    reason: str = value
    return reason
