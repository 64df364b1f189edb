"""Options of training runs as YAML files."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agents.ppo.trainer import Args as PPOArgs
from agents.runs.config import CONFIG, parse_options, read_config, write_config
from agents.runs.run import Run
from agents.value.learner import Args as ValueArgs
from genial_env import Rules
from genial_env.policies.value_net import Widths
from genial_env.policies.weight_files import find_shipped


class Sizes(NamedTuple):
    first: int
    second: int = 2


@dataclass
class Args:
    seed: int = 3
    rate: float = 0.5
    name: str | None = None
    opponents: tuple[str, ...] = ("greedy",)
    sizes: Sizes = field(default_factory=lambda: Sizes(1))
    out: Path = Path("somewhere")


CHANGED = Args(4, 1e-3, "yes", ("a", "b(c=1)"), Sizes(5, 6), Path("else/where"))


@pytest.mark.parametrize(
    "options",
    [
        Args(),
        CHANGED,
        PPOArgs(),
        replace(PPOArgs(), start_from=Path("a.safetensors"), scripted=("denial", "greedy")),
        ValueArgs(),
        replace(ValueArgs(), widths=Widths(1, 2, 3, 4, 5), colors=4),
    ],
    ids=lambda options: type(options).__module__,
)
def test_options_come_back(options: Any, tmp_path: Path) -> None:
    write_config(tmp_path / CONFIG, options)
    assert read_config(tmp_path / CONFIG, type(options)) == options


def test_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    write_config(tmp_path / CONFIG, CHANGED)
    for words in (["--config", str(tmp_path / CONFIG), "--seed", "9"], ["--seed=9", f"--config={tmp_path / CONFIG}"]):
        assert parse_options(Args, words) == replace(CHANGED, seed=9)
    assert parse_options(Args, ["--sizes.first", "7"]) == Args(sizes=Sizes(7))
    assert parse_options(Args, []) == Args()


def test_what_a_file_does_not_have_keeps_its_default(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("rate: 1e-3\nopponents: [greedy, denial]\nsizes: {first: 8}\n")
    assert read_config(path, Args) == Args(rate=1e-3, opponents=("greedy", "denial"), sizes=Sizes(8))
    path.write_text("")
    assert read_config(path, Args) == Args()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed: 3", 'expected the options seed, rate, name, opponents, sizes, out, found "speed"'),
        ("seed: many", 'seed: Input should be a valid integer.*, found "many"'),
        ("- seed", r'expected options such as seed: value, found \["seed"\]'),
        ("a: [", "expected YAML, found something unreadable"),
        ("sizes: {second: 1}", "sizes.first: Field required"),
        ("!!python/object/apply:os.getcwd []", "expected YAML, found something unreadable"),
    ],
)
def test_wrong_files(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_config(path, Args)
    with pytest.raises(SystemExit, match="2"):
        parse_options(Args, ["--config", str(path)])
    assert str(path) in capsys.readouterr().err


def test_a_missing_file_and_a_missing_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--config", str(tmp_path / "none.yaml")], ["--config"]):
        with pytest.raises(SystemExit, match="2"):
            parse_options(Args, words)
        assert capsys.readouterr().err


def test_a_run_keeps_its_options(tmp_path: Path) -> None:
    Run(tmp_path, "ppo", CHANGED)
    assert read_config(tmp_path / CONFIG, Args) == CHANGED


@pytest.mark.parametrize(
    ("kind", "words", "message"),
    [
        (ValueArgs, ["--players", "3", "--eval-opponents", "denial", "nobody"], "unknown agent 'nobody'"),
        (ValueArgs, ["--mode", "solo"], "solo"),
        (PPOArgs, ["--scripted", "nobody"], "unknown agent 'nobody'"),
        (PPOArgs, ["--players", "7"], "players"),
        (PPOArgs, ["--network", "deep"], "--network: expected one of afterstates, .*, got 'deep'"),
        (PPOArgs, ["--start-from", "nowhere.safetensors"], "nowhere.safetensors"),
        (ValueArgs, ["--start-from", "nowhere.safetensors"], "nowhere.safetensors"),
        (ValueArgs, ["--search-deals", "1"], "--search-deals: expected at least 2, one half to choose by, got 1"),
        (ValueArgs, ["--search-turns", "0"], "--search-turns: expected at least 1, the next turn, got 0"),
        (
            ValueArgs,
            ["--start-from", str(find_shipped("value", Rules())), "--widths.first", "8"],
            r"--widths: expected at least those of --start-from .*, first 64, kind 32, .*, got first 8, kind 32",
        ),
    ],
)
def test_a_trainer_checks_its_options_before_it_begins(
    kind: type[Any], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(kind, words)
    assert ended.value.code == 2
    assert re.search(message, capsys.readouterr().err)
