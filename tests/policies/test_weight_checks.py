"""Files of weights are checked when they are read: every tensor, for every network that plays."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from genial_env import Rules, make_policy
from genial_env.policies import weight_files
from genial_env.policies.ppo import PPO, layout
from genial_env.policies.value import Value
from genial_env.policies.value_search import ValueSearch
from genial_env.policies.weight_files import find_shipped
from tests.positions import FORMER_PPO

SOLO = Rules(1, "2009", "solo")

KINDS: dict[str, tuple[str, Rules, Path, list[Callable[[Path], Any]]]] = {
    "value": ("value", Rules(), find_shipped("value", Rules()), [Value, lambda path: ValueSearch(weights=path)]),
    "solo": ("value", SOLO, find_shipped("value", SOLO), [Value]),
    "ppo": ("ppo", Rules(), find_shipped("ppo", Rules()), [PPO]),
    "ppo of halves": ("ppo", Rules(), FORMER_PPO, [PPO]),
}

Arrays = dict[str, Any]


def missing(arrays: Arrays, name: str) -> str:
    del arrays[name]
    return f"expected the tensor {name!r}, found "


def renamed(arrays: Arrays, name: str) -> str:
    arrays[f"{name}_2"] = arrays.pop(name)
    return f"expected the tensor {name!r}, found "


def another(arrays: Arrays, name: str) -> str:
    arrays["more"] = np.zeros(1, dtype=np.float32)
    return "found 'more'"


def shaped(arrays: Arrays, name: str) -> str:
    arrays[name] = np.ascontiguousarray(arrays[name][:-1])
    return r"expected float32 of shape \(.*\), found float32 of shape \("


def whole_numbers(arrays: Arrays, name: str) -> str:
    arrays[name] = arrays[name].astype(np.int32)
    return f"tensor {name!r}: expected float32 of shape .*, found int32 of shape"


def doubles(arrays: Arrays, name: str) -> str:
    arrays[name] = arrays[name].astype(np.float64)
    return f"tensor {name!r}: expected float32 of shape .*, found float64 of shape"


def not_a_number(arrays: Arrays, name: str) -> str:
    arrays[name] = np.full_like(arrays[name], np.nan)
    return f"tensor {name!r}: expected finite numbers, found nan"


def infinite(arrays: Arrays, name: str) -> str:
    arrays[name] = arrays[name].copy()
    arrays[name].flat[-1] = -np.inf
    return f"tensor {name!r}: expected finite numbers, found -inf"


@pytest.mark.parametrize("spoil", [missing, renamed, another, shaped, whole_numbers, doubles, not_a_number, infinite])
@pytest.mark.parametrize("kind", KINDS)
def test_tensors(kind: str, spoil: Callable[[Arrays, str], str], tmp_path: Path) -> None:
    name, rules, file, makers = KINDS[kind]
    arrays, _ = weight_files.read(file, name)
    path = tmp_path / "some.safetensors"
    for tensor in arrays if spoil in (missing, shaped, not_a_number) else list(arrays)[1:2]:
        changed = dict(arrays)
        said = spoil(changed, tensor)
        weight_files.write(path, name, rules, changed)
        for make in makers:
            with pytest.raises(ValueError, match=rf"^{path}: .*{said}"):
                make(path)
    if kind != "solo":
        policy = makers[0](changed)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="the weights given"):
            policy.prepare(rules)


@pytest.mark.parametrize("rules", [None, "", "[]", "{", '{"players": 2.5}', '{"players": "2"}', '{"seats": 2}'])
def test_files_that_do_not_say_what_they_play(rules: str | None, tmp_path: Path) -> None:
    arrays, _ = weight_files.read(weight_files.find_shipped("value", Rules()), "value")
    words = {"kind": "value"} | ({} if rules is None else {"rules": rules})
    save_file(arrays, tmp_path / "some.safetensors", words)
    with pytest.raises(ValueError, match=r"some\.safetensors: expected the rules"):
        Value(tmp_path / "some.safetensors")


def test_bytes_that_are_changed(tmp_path: Path) -> None:
    """A file with wrong bytes, or cut off, plays or is refused when it is read; nothing else happens."""
    whole = weight_files.find_shipped("value", SOLO).read_bytes()
    rng, path, refused = np.random.default_rng(15), tmp_path / "some.safetensors", []
    for number in range(120):
        content = bytearray(whole)
        for at in rng.integers(len(whole) if number % 2 else 2000, size=3):  # in one half of the files in the header
            content[at] = rng.integers(256)
        path.write_bytes(content[: rng.integers(len(whole))] if number % 10 == 0 else content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                agent = make_policy(f"value(weights={str(path)!r})")
                agent.prepare(SOLO)  # type: ignore[attr-defined]
        except ValueError as error:
            refused.append(str(error))
    assert 50 < len(refused) < 120
    assert all(str(path) in said for said in refused)


def test_the_layout_is_the_network_s() -> None:
    pytest.importorskip("torch")
    from agents.ppo.halves_net import HalvesNet

    for rules, width in ((Rules(), 16), (Rules(4, "2009", "team"), 5), (Rules(3, side=4, colors=4, rack=3), 8)):
        state = HalvesNet(rules, width).state_dict()
        assert layout(rules, {name: value.numpy() for name, value in state.items()}) == {
            name: tuple(value.shape) for name, value in state.items()
        }
