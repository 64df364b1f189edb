"""Options of training runs as YAML files."""

import math
import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agents.ppo.trainer import Args as PPOArgs
from agents.runs.config import CONFIG, check_ranges, parse_options, read_config, write_config
from agents.runs.run import Run
from agents.value.learner import Args as ValueArgs
from experiments.quickstart import Args as QuickstartArgs
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
        (PPOArgs, ["--device", "foo"], "--device: expected a device of torch, such as cpu, got 'foo'"),
        (PPOArgs, ["--log-formats", "csv", "foo"], "--log-formats: expected some of tensorboard, .*, got 'foo'"),
        (PPOArgs, ["--backend", "foo"], "unknown backend 'foo'"),
        (PPOArgs, ["--scripted"], "--scripted: expected at least one opponent, got none"),
        (QuickstartArgs, ["--opponents", "gredy"], "unknown agent 'gredy'"),
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


COUNT, SHARE, AMOUNT = "at least 1", "0.0 to 1.0", "at least 0.0"
OUT_OF_RANGE = {
    ValueArgs: {
        COUNT: (
            "games warmup-games n-envs actors candidates search-turns max-past-selves buffer-size batch-size "
            "eval-every threads widths.first widths.fourth"
        ),
        "at least 2": "search-deals eval-deals",
        SHARE: "td-lambda opponent-share search-share search-after ema-decay",
        AMOUNT: "temperature replay-ratio learning-rate",
    },
    PPOArgs: {
        COUNT: (
            "n-envs n-steps choices candidates save-every threads n-epochs width eval-every snapshot-every "
            "max-past-selves win-rate-horizon"
        ),
        "at least 2": "batch-size eval-deals",
        "at least 0": "total-timesteps",
        "0 to 4294967295": "seed",
        SHARE: "gae-lambda past-self-share",
        AMOUNT: "learning-rate clip-range pfsp-power",
    },
    QuickstartArgs: {
        COUNT: "imitation-games imitation-epochs n-envs n-steps n-epochs width pairs curve-pairs threads",
        "at least 2": "batch-size",
        "at least 0": "imitation-rounds total-timesteps",
        "0 to 4294967295": "seed",
        SHARE: "student-share gae-lambda",
        AMOUNT: "imitation-learning-rate sharpness learning-rate clip-range",
    },
}
"""Options of trainers by their range."""


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        pytest.param(kind, name, expected, id=f"{kind.__module__}-{name}")
        for kind, by_range in OUT_OF_RANGE.items()
        for expected, names in by_range.items()
        for name in names.split()
    ],
)
def test_numbers_out_of_range_are_refused_before_anything_is_written(
    kind: type[Any], name: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    is_real, ends = "." in expected, [int(float(word)) for word in re.findall(r"[\d.]+", expected)]
    wrong: list[float] = [ends[0] - 1, *(end + 1 for end in ends[1:])]
    messages = [f"--{name} must be {expected}, not {float(value) if is_real else value}\n" for value in wrong]
    if is_real:
        wrong.append(math.nan)
        messages.append(f"--{name} must be finite and {expected}, not nan\n")
    for value, message in zip(wrong, messages, strict=True):
        with pytest.raises(SystemExit) as ended:
            parse_options(kind, [f"--{name}={value}", f"--out={tmp_path / 'new'}"])
        assert ended.value.code == 2
        assert capsys.readouterr().err == message
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("kind", "name"), [(PPOArgs, "shaping"), (PPOArgs, "ent-coef"), (QuickstartArgs, "ent-coef")])
def test_numbers_without_a_range_must_be_finite(kind: type[Any], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for value in ("nan", "inf"):
        with pytest.raises(SystemExit, match="2"):
            parse_options(kind, [f"--{name}={value}"])
        assert capsys.readouterr().err == f"--{name} must be finite, not {value}\n"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (ValueArgs, []),
        (ValueArgs, ["--temperature", "0", "--opponent-share", "1", "--search-share", "1"]),
        (PPOArgs, []),
        (
            PPOArgs,
            ["--total-timesteps", "0", "--device", "auto", "--log-formats", "csv", "json", "--seed", "4294967295"],
        ),
        (QuickstartArgs, []),
        (QuickstartArgs, ["--imitation-rounds", "0", "--opponents", "denial", "greedy"]),
    ],
)
def test_options_at_the_ends_of_their_ranges_pass(kind: type[Any], words: list[str]) -> None:
    parse_options(kind, words)


def test_every_number_of_a_trainer_has_a_range() -> None:
    """Numbers of the rules are checked by them."""
    for kind in OUT_OF_RANGE:
        named = {name for names in OUT_OF_RANGE[kind].values() for name in names.split()}
        named |= {"seed", "shaping", "ent-coef", "players", "side", "colors", "rack"}
        numbers = {each.name for each in fields(kind) if each.type in (int, float, int | None, float | None)}
        assert {name.replace("_", "-") for name in numbers} <= named


def test_ranges() -> None:
    check_ranges(CHANGED, {"seed": (4, 4), "rate": (0.0, 1.0), "sizes.first": (1, None)})
    check_ranges(Args(), {"name": (1, None)})  # None
    with pytest.raises(ValueError, match=r"^--sizes\.first must be at least 6, not 5$"):
        check_ranges(CHANGED, {"sizes.first": (6, None)})
    with pytest.raises(TypeError, match=r"^--rate must be a whole number, not 0\.001"):
        check_ranges(CHANGED, {"rate": (0, None)})
