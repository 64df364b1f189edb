"""Groups of options that several commands share, and of which a value is made: the rules of a game."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from genial_env.cli.common import UserError
from genial_env.core.rules import EDITIONS, SIZE_LIMITS, Rules

__all__ = ["gathers", "make_match_rules", "make_rules"]


def gathers(**makers: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command groups of options, and the command the value of each group.

    Args:
        makers: by the name of a parameter of the command, the function that makes its value. In the signature that
            Typer reads, the parameters of this function stand in the place of the parameter.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        groups = {name: inspect.signature(maker).parameters for name, maker in makers.items()}
        parameters: list[inspect.Parameter] = []
        for name, parameter in signature.parameters.items():
            parameters += groups[name].values() if name in groups else [parameter]

        @wraps(command)
        def run(**options: Any) -> None:
            made = {
                name: makers[name](**{option: options.pop(option) for option in group})
                for name, group in groups.items()
            }
            command(**options, **made)

        # Typer reads both. Keywords may have any order of those with and those without a default.
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _range(size: str) -> str:
    low, high = SIZE_LIMITS[size]
    return f"{low} to {high}"


def _editions_with(mode: str) -> str:
    return ", ".join(name for name, edition in EDITIONS.items() if mode in edition.modes)


Players = Annotated[int, typer.Option(help="Number of seats, 1 to 4.")]
Edition = Annotated[str, typer.Option(help=f"Edition of the rules: {', '.join(EDITIONS)}.")]
Mode = Annotated[
    str,
    typer.Option(
        help=f"individual, team (4 seats; edition {_editions_with('team')}) or solo (1 seat; edition "
        f"{_editions_with('solo')})."
    ),
]
Side = Annotated[int | None, typer.Option(help=f"Variant: cells along an edge of the board, {_range('side')}.")]
Colors = Annotated[int, typer.Option(help=f"Variant: colors in play, {_range('colors')}.")]
RackSize = Annotated[int | None, typer.Option("--rack", help=f"Variant: tiles on a rack, {_range('rack')}.")]
TileSets = Annotated[int, typer.Option(help=f"Variant: boxes of tiles in the bag, {_range('tile_sets')}.")]
OneBonus = Annotated[
    bool,
    typer.Option(
        "--one-bonus-a-tile", help="Variant: two markers that arrive at a stop with one tile earn one bonus placement."
    ),
]


def make_rules(
    players: Players = 2,
    edition: Edition = "2025",
    mode: Mode = "individual",
    side: Side = None,
    colors: Colors = 6,
    rack: RackSize = None,
    tile_sets: TileSets = 1,
    one_bonus_a_tile: OneBonus = False,
) -> Rules:
    """Return the rules of the options.

    Raises:
        UserError: if they cannot be played.
    """
    sizes: dict[str, Any] = {"side": side, "colors": colors, "rack": rack, "tile_sets": tile_sets}
    try:
        return Rules(players, edition, mode, **sizes, one_bonus_a_tile=one_bonus_a_tile)
    except ValueError as error:
        raise UserError(str(error)) from error


def make_match_rules(
    edition: Edition = "2025",
    mode: Mode = "individual",
    side: Side = None,
    colors: Colors = 6,
    rack: RackSize = None,
    tile_sets: TileSets = 1,
    one_bonus_a_tile: OneBonus = False,
) -> Rules:
    """Return the rules of the options for a match between two: four seats in teams, else two.

    Raises:
        UserError: if they cannot be played.
    """
    return make_rules(4 if mode == "team" else 2, edition, mode, side, colors, rack, tile_sets, one_bonus_a_tile)
