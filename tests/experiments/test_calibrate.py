"""Calibration finds what was done to the logits, and its correction undoes it in the network."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.calibrate import Args, Predictions, calibration_error, correct, fit, fit_layer, main
from genial_env import Rules
from genial_env.core.arrays import Floats, Floats32
from genial_env.policies import weight_files
from genial_env.policies.value import KIND
from genial_env.policies.value_net import ValueNet
from tests.conftest import needs_numba
from tests.policies.test_value import SMALL, SOLO, TEAM, random_net, some_samples, weights_of

FACTORS = np.array([[0.6], [1.5]])
ADDENDS = np.array([[0.4, -0.1, -0.3], [0.0, -0.5, 0.5]])


def softmax(logits: Floats | Floats32) -> Floats:
    powers = np.exp(logits - logits.max(axis=2, keepdims=True)).astype(np.float64)
    shares: Floats = powers / powers.sum(axis=2, keepdims=True)
    return shares


def synthetic(n: int) -> tuple[Predictions, Floats]:
    """Games whose results follow scaled and shifted logits, and the true chances."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(n, 2, 3)).astype(np.float32)
    chances = softmax(FACTORS * logits + ADDENDS)
    drawn = (rng.random((n, 2, 1)) > chances.cumsum(axis=2)).sum(axis=2).clip(max=2)
    results = np.eye(3, dtype=np.float32)[drawn]
    hidden = logits.reshape(n, 6)  # as of a last layer that multiplies by 1
    return Predictions(hidden, logits, results, np.zeros(n, dtype=np.int64), np.arange(n)), chances


def test_a_known_factor_and_addend_are_recovered() -> None:
    found, chances = synthetic(1000)
    expected = replace(found, results=chances.astype(np.float32))  # what happens on average
    factor, addend = fit(expected)
    assert factor == pytest.approx(FACTORS, abs=0.01)
    assert addend - addend.mean(axis=1, keepdims=True) == pytest.approx(ADDENDS, abs=0.01)
    factor, addend = fit(synthetic(40_000)[0])
    assert factor == pytest.approx(FACTORS, abs=0.06)
    assert addend - addend.mean(axis=1, keepdims=True) == pytest.approx(ADDENDS, abs=0.06)


def test_a_whole_layer_is_recovered() -> None:
    """It finds what factors and addends cannot: one distribution follows the logits of the other one, too."""
    found, _ = synthetic(40_000)
    layer = np.diag(np.repeat(FACTORS, 3)) + 0.5 * np.eye(6, k=3)
    logits = (found.hidden @ layer + ADDENDS.ravel()).reshape(-1, 2, 3)
    drawn = (np.random.default_rng(1).random((40_000, 2, 1)) > softmax(logits).cumsum(axis=2)).sum(axis=2).clip(max=2)
    found = replace(found, results=np.eye(3, dtype=np.float32)[drawn])
    fitted = fit_layer(found, {"out": np.eye(6, dtype=np.float32), "bias_out": np.zeros(6, dtype=np.float32)})
    again = (found.hidden @ fitted["out"] + fitted["bias_out"]).reshape(-1, 2, 3)
    assert np.abs(softmax(again) - softmax(logits)).mean() < 0.01
    assert np.abs(softmax(found.logits) - softmax(logits)).mean() > 0.05


@pytest.mark.parametrize("rules", [SMALL, TEAM, SOLO], ids=str)
def test_the_corrected_network_has_scaled_logits(rules: Rules) -> None:
    net, features = ValueNet(rules, random_net(rules).arrays()), some_samples(rules).features
    rng = np.random.default_rng(0)
    factor = rng.uniform(0.5, 1.5, (net.outcomes.heads, 1))
    addend = rng.normal(size=(net.outcomes.heads, net.outcomes.classes)) / 2
    corrected = ValueNet(rules, correct(net.arrays, factor, addend))
    expected = softmax(factor * np.log(net(features).astype(np.float64)) + addend)
    assert np.allclose(corrected(features), expected, atol=1e-5)
    assert np.ptp(expected, axis=0).max() > 0.01
    same = ValueNet(rules, correct(net.arrays, np.ones_like(factor), np.zeros_like(addend)))
    assert np.array_equal(same(features), net(features))


def test_the_error_is_small_for_true_chances_only() -> None:
    net = ValueNet(Rules(), random_net(Rules()).arrays())
    found, chances = synthetic(40_000)
    rows = found.phase == 0
    honest = calibration_error(net, np.log(chances).astype(np.float32), found, rows)
    assert honest.ece < 0.01
    assert abs(honest.bias) < 0.01
    assert calibration_error(net, found.logits, found, rows).ece > 0.05


@pytest.mark.parametrize("copies", [1, 20])
def test_what_chance_adds(copies: int) -> None:
    """The mean ECE of true chances, also where all positions of a game have the same result."""
    net, honest, expected = ValueNet(Rules(), random_net(Rules()).arrays()), [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chance = np.repeat(rng.random(500), copies).astype(np.float32)
        came = np.repeat(rng.random(500), copies) < chance
        logits = np.log(np.stack([chance, 1 - chance], axis=1) + np.float32(1e-6))[:, None]
        results = np.stack([came, ~came], axis=1)[:, None].astype(np.float32)
        game = np.repeat(np.arange(500), copies)
        found = Predictions(logits[:, 0], logits, results, np.zeros_like(game), game)
        error = calibration_error(net, logits, found, found.phase == 0)
        honest.append(error.ece)
        expected.append(error.by_chance)
    assert np.mean(expected) == pytest.approx(np.mean(honest), rel=0.2)


@needs_numba
@pytest.mark.parametrize("whole_layer", [False, True])
def test_a_small_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], whole_layer: bool) -> None:
    file, out = weights_of(SMALL, tmp_path / "net.safetensors"), tmp_path / "corrected.safetensors"
    after = main(Args(file, out=out, games=60, whole_layer=whole_layer))
    assert set(after) == {"all", "opening", "middle", "end"}
    assert "predicted - came" in capsys.readouterr().out
    before, (arrays, about) = weight_files.read(file, KIND)[0], weight_files.read(out, KIND, SMALL, ValueNet.layout_of)
    options = "--whole-layer --games 60 --seed 1" if whole_layer else "--games 60 --seed 1"
    assert about["calibration"] == f"python -m experiments.calibrate {options}"
    assert {name for name in arrays if not np.array_equal(arrays[name], before[name])} == {"out", "bias_out"}
