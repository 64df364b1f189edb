"""Streams of game seeds, one for each environment of a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from genial_env.core import chance
from genial_env.core.arrays import Bits, Ints
from genial_env.envs.arguments import as_plain_seed
from genial_env.envs.game import draw_game_seed
from genial_env.envs.saved import check_saved

__all__ = ["SeedStreams", "refuse_start"]


class SeedStreams:
    """A stream of game seeds for each of B environments, seeded as Gymnasium seeds a single environment.

    Args:
        n_games: B.
    """

    def __init__(self, n_games: int) -> None:
        self._generators: list[np.random.Generator | None] = [None] * n_games
        self.seeds = [-1] * n_games
        """The seed that each stream was started from; -1 if it has not been started."""

    def restart(self, seeds: Mapping[int, int | None]) -> None:
        """In place: restart the streams of some rows, each from its seed; None: from a random seed.

        Raises:
            gymnasium.error.Error: if a seed is not valid; then nothing has changed.
        """
        started = {row: seeding.np_random(as_plain_seed(seed)) for row, seed in seeds.items()}
        for row, (generator, seed) in started.items():
            self._generators[row], self.seeds[row] = generator, seed

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """The generators of all streams. Those that have not been started are started now."""
        return tuple(self.generator(row) for row in range(len(self._generators)))

    def check_saved(self, other: Any, what: str) -> None:
        """Check that a saved value is as many such streams.

        Raises:
            TypeError, ValueError: if it is not.
        """
        if not isinstance(other, SeedStreams):
            raise TypeError(f"{what} must be SeedStreams, not {type(other).__name__}")
        check_saved(vars(other), dict.fromkeys(vars(self)), what)
        for value in vars(other).values():
            if not isinstance(value, list) or len(value) != len(self.seeds):
                raise ValueError(f"{what} must have {len(self.seeds)} streams, not {value!r}")

    def draw(self, rows: Ints, options: Sequence[dict[str, Any] | None] | None = None) -> Bits:
        """In place: draw the seed of the next game in each row.

        Args:
            rows: [G].
            options: [G] the reset options of each row, which may give the game seed; None: no options.

        Returns:
            The seeds, [G].

        Raises:
            TypeError, ValueError: if a game seed is not valid, or for the option "start".
        """
        each = [None] * len(rows) if options is None else options
        for given in each:
            refuse_start(given)
        drawn = [draw_game_seed(self.generator(row), given) for row, given in zip(rows.tolist(), each, strict=True)]
        return chance.as_seeds(drawn)

    def generator(self, row: int) -> np.random.Generator:
        """Return the generator of a row, started now if it has not been started."""
        if self._generators[row] is None:
            self.restart({row: None})
        found = self._generators[row]
        assert found is not None
        return found


def refuse_start(options: Any) -> None:
    """Check that the reset options of a game among many have no "start". Other options are not checked here.

    Raises:
        ValueError: if they have one that is not None.
    """
    start = options.get("start") if isinstance(options, Mapping) else None
    if start is not None:
        raise ValueError(
            f"where many games are stepped in one batch, options have no 'start', here {type(start).__name__}: single "
            "environments take it (gym.make, or gym.make_vec with vectorization_mode='sync')"
        )
