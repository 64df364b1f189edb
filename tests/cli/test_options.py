"""Groups of options that commands share."""

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from genial_env import Rules
from genial_env.arena.isolation import Isolation
from genial_env.cli import app
from genial_env.cli.agent_processes import make_isolation
from genial_env.cli.common import UserError
from genial_env.cli.options import gathers, make_match_rules, make_rules
from genial_env.engines.process import LIMITS_MEMORY

RULES = {"players", "edition", "mode", "side", "colors", "rack", "tile_sets", "one_bonus_a_tile"}
ISOLATION = {"isolate", "move_time", "game_time", "memory_limit"}
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]

found: list[tuple[str, Rules, Isolation, int]] = []
"""What the command of the tests was called with."""
tried = typer.Typer()


@tried.command()
@gathers(rules=make_rules, isolation=make_isolation)
def try_options(
    *,
    name: Annotated[str, typer.Argument(help="A name.")],
    seed: Annotated[int, typer.Option(help="A seed.")] = 0,
    rules: Rules,
    isolation: Isolation,
) -> None:
    """Remember the options."""
    found.append((name, rules, isolation, seed))


def run(*words: str) -> tuple[str, Rules, Isolation, int]:
    """What the command gets."""
    done = CliRunner().invoke(tried, [*words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return found.pop()


def test_a_command_gets_what_is_made_of_its_options() -> None:
    assert run("x") == ("x", Rules(), Isolation(), 0)
    words = "--side 4 --players 3 x --colors 5 --rack 2 --tile-sets 2 --one-bonus-a-tile --no-isolate --move-time 0"
    rules = Rules(3, side=4, colors=5, rack=2, tile_sets=2, one_bonus_a_tile=True)
    assert run(*words.split(), "--seed", "3") == ("x", rules, Isolation(on=False, move_time_s=None), 3)
    assert run("x", "--players", "4", "--edition", "2009", "--mode", "team")[1] == Rules(4, "2009", "team")


@pytest.mark.skipif(not LIMITS_MEMORY, reason="only Linux limits the memory of a process")
def test_a_limit_of_memory() -> None:
    assert run("x", "--memory-limit", "512")[2] == Isolation(memory_mib=512)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--players", "9"], "players must be"),
        (["--memory-limit", "-1"], "memory-limit must be 0 to"),
        (["--game-time", "nan"], "--game-time must be 0 to"),
    ],
)
def test_mistakes(words: list[str], told: str) -> None:
    with pytest.raises(UserError, match=told):
        run("x", *words)


@pytest.mark.parametrize("name", ["simulate", "play", "tournament", "rate", "match", "exploit"])
def test_commands_have_the_same_options(name: str) -> None:
    """A match has two players, or two teams."""
    parameters = {each.name: each for each in COMMANDS[name].params}
    assert parameters.keys() >= RULES - ({"players"} if name == "match" else set())
    assert parameters.keys() >= ISOLATION or name in ("simulate", "play")
    assert all(each.help for each in parameters.values() if each.name in RULES | ISOLATION)


def test_a_match_in_teams_has_four_seats() -> None:
    assert make_match_rules() == Rules()
    assert make_match_rules("2009", "team") == Rules(4, "2009", "team")
