"""The value agent: its network in numpy is the one in torch, its knobs turn, its files are read and refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from agents.value.self_play import Samples, SelfPlayTask, self_play
from agents.value.torch_net import TorchValueNet
from genial_env import Rules, play, use_backend, view
from genial_env.core import ranking
from genial_env.core.arrays import Ints
from genial_env.core.chance import bits
from genial_env.core.ranking import rank_utility
from genial_env.core.state import State
from genial_env.core.tables import tables
from genial_env.policies import weight_files
from genial_env.policies.afterstates import split_features, width
from genial_env.policies.endgame import exact_action
from genial_env.policies.seat_counts import search_settings
from genial_env.policies.value import KIND, Nets, Value, judge, judge_actions
from genial_env.policies.value_net import Outcomes, ValueNet, Widths
from genial_env.policies.value_search import ValueSearch, predict_later
from genial_env.testing import check_policy
from tests.conftest import needs_numba
from tests.positions import STANDARD, VARIANTS, every, random_play

SOLO, TEAM = Rules(1, "2004", "solo"), Rules(4, "2009", "team")
GAMES = [Rules(), Rules(3), Rules(4), TEAM, SOLO, Rules(side=4, colors=4, rack=3)]
each_game = every("rules", GAMES, [GAMES[0], *GAMES[4:]])
SMALL = Rules(side=4, colors=4, rack=3)


def some_samples(rules: Rules, games: int = 8, **how: Any) -> Samples:
    """Of games that "denial" plays."""
    return self_play(SelfPlayTask(rules, {}, games=games, **how))


def random_net(rules: Rules, seed: int = 0) -> TorchValueNet:
    """A network that has learned nothing, with weights everywhere."""
    torch.manual_seed(seed)
    net = TorchValueNet(rules, Widths(8, 7, 6, 5, 4), some_samples(rules).features)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return net


def weights_of(rules: Rules, path: Path, seed: int = 0) -> Path:
    """A file of such a network's weights."""
    weight_files.write(path, KIND, rules, random_net(rules, seed).arrays())
    return path


@each_game
def test_numpy_says_what_torch_says(rules: Rules) -> None:
    net, samples = random_net(rules), some_samples(rules, games=20)
    with torch.no_grad():
        told = net(torch.from_numpy(samples.features)).softmax(dim=2).numpy()
    chances = ValueNet(rules, net.arrays())(samples.features)
    assert chances.shape == samples.targets.shape
    assert np.allclose(chances, told, atol=2e-5)
    assert np.ptp(chances, axis=0).max() > 0.01


def test_weights_are_loaded() -> None:
    net, other = random_net(Rules()), random_net(Rules(), seed=1)
    other.load_arrays(net.arrays())
    features = some_samples(Rules()).features
    own, taken = (ValueNet(Rules(), each.arrays())(features) for each in (net, other))
    assert np.allclose(own, taken, atol=1e-4)


def test_a_wider_network_starts_from_a_narrow_one() -> None:
    narrow = random_net(Rules())
    features = torch.from_numpy(some_samples(Rules()).features)
    wide = TorchValueNet(Rules(), Widths(10, 8, 9, 7, 6), features.numpy())
    wide.load_arrays(narrow.arrays())
    with torch.no_grad():
        assert torch.allclose(wide(features), narrow(features), atol=1e-3)
    wide.loss(features, torch.full((len(features), 1, 2), 0.5)).backward()
    assert wide.kind_2.grad is not None
    assert (wide.kind_2.grad[narrow.kind_2.shape[0] :] != 0).any()
    with pytest.raises(ValueError, match=r"expected at most the shape \(24, 8\), got \(24, 10\)"):
        narrow.load_arrays(wide.arrays())


@each_game
def test_no_color_is_special(rules: Rules) -> None:
    net, t = ValueNet(rules, random_net(rules).arrays()), tables(rules)
    features = some_samples(rules).features
    colors, kinds, whole = split_features(rules, features)
    before = (t.kinds - 1) % rules.colors  # the colors of a kind before each color takes the place of the next one
    kinds_turned = kinds[:, t.kind_of[before[:, 0], before[:, 1]]]
    turned, half_turned = (
        np.concatenate([each.reshape(len(features), -1) for each in (np.roll(colors, 1, axis=1), some, whole)], axis=1)
        for some in (kinds_turned, kinds)
    )
    assert np.abs(net(features) - net(turned)).max() < 1e-5  # float32 adds up logits of several hundred
    assert np.abs(np.log(net(features)) - np.log(net(turned))).max() < 2e-4
    assert np.abs(net(features) - net(half_turned)).max() > 1e-3  # the kinds belong to their colors


def test_outcomes_are_places_and_ties_share_them() -> None:
    scores = np.array([[[5, 6], [5, 7], [5, 6]], [[1, 9], [2, 9], [3, 9]]], dtype=np.int8)
    outcomes = Outcomes(Rules(3))
    of = outcomes.of_scores(scores)
    assert of[0].tolist() == [[0, 0.5, 0.5], [1, 0, 0], [0, 0.5, 0.5]]
    assert of[1].tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert np.allclose(outcomes.utility(of), rank_utility(ranking.ranks(scores))[:, 0])
    two = Outcomes(Rules(2)).of_scores(np.array([[[3, 4], [3, 4]], [[3, 4], [2, 9]]], dtype=np.int8))
    assert two.tolist() == [[[0.5, 0.5]], [[1, 0]]]


def test_solo_outcomes_are_the_sorted_markers() -> None:
    outcomes = Outcomes(SOLO)
    of = outcomes.of_scores(np.array([[[36, 7, 9, 9, 0, 20]]], dtype=np.int8))
    assert of.argmax(axis=2).tolist() == [[0, 7, 9, 9, 20, 36]]
    assert np.allclose(outcomes.utility(of), [0 + 0.7 + 0.09 + 0.009 + 0.002 + 0.00036])


@each_game
def test_they_are_policies_that_look_at_nothing_hidden(rules: Rules, tmp_path: Path) -> None:
    file = weights_of(rules, tmp_path / "net.safetensors")
    check_policy(Value(file, candidates=4), rules)
    check_policy(ValueSearch(playouts=8, candidates=3, replies=3, weights=file), rules)


@needs_numba
@pytest.mark.parametrize("rules", [Rules(), TEAM, SOLO], ids=str)
def test_both_backends_choose_alike(rules: Rules, tmp_path: Path) -> None:
    file = weights_of(rules, tmp_path / "net.safetensors")
    state = random_play(rules, games=6, seed=3, steps=9)
    seen, random = view(state), bits(7, np.arange(6))
    for agent in (Value(file, candidates=8), ValueSearch(playouts=16, candidates=4, replies=3, weights=file)):
        chosen = []
        for backend in ("numpy", "numba"):
            with use_backend(backend):
                chosen.append(agent(seen, random))
        assert np.array_equal(*chosen)


def net_of_widths(rules: Rules, widths: Widths, seed: int) -> ValueNet:
    """A network with random weights, small for features, which may be large."""
    random = np.random.default_rng(seed)
    of_features = "color", "kind", "game", "kind_color", "kind_game", "game_3"
    return ValueNet(
        rules,
        {
            name: random.normal(scale=1e-5 if name in of_features else 0.2, size=shape).astype(np.float32)
            for name, shape in ValueNet.layout(rules, widths).items()
        },
    )


def random_features(rules: Rules, n: int, seed: int) -> NDArray[np.int16]:
    """Features of all sizes: in the first half each row differs from the last one in few, in the other half in all."""
    random = np.random.default_rng(seed)
    features = random.integers(-(2**15), 2**15, (n, width(rules)), dtype=np.int16)
    features >>= random.integers(0, 16, features.shape, dtype=np.int16)
    for row in range(1, n // 2):
        features[row] = np.where(random.random(width(rules)) < 0.1, features[row], features[row - 1])
    return features


@needs_numba
@every("rules", [*STANDARD, *VARIANTS], [Rules(), TEAM, SOLO, VARIANTS[2]])
@pytest.mark.parametrize("widths", [Widths(48, 24, 32, 64, 32), Widths(13, 1, 7, 70, 3), Widths(72, 9, 40, 5, 66)])
def test_both_backends_predict_the_same_bits(rules: Rules, widths: Widths) -> None:
    """Whatever was predicted before, by this network or another of the same sizes."""
    nets = [net_of_widths(rules, widths, seed) for seed in range(2)]
    features = random_features(rules, 60, seed=3)
    with use_backend("numpy"):
        expected = [net(features) for net in nets]
    assert len(np.unique(expected[0])) > len(features) / 2
    with use_backend("numba"):
        for rows in (slice(None), slice(None, None, -1), slice(5, 6), slice(0, 0)):
            for net, chances in zip(nets, expected, strict=True):
                assert np.array_equal(net(features[rows]), chances[rows])


def test_what_is_over_is_not_guessed() -> None:
    """A last placement is judged by how the game ends."""
    rules = SMALL
    net = ValueNet(rules, random_net(rules).arrays())
    state = random_play(rules, games=60, seed=5, steps=13)
    judged = judge(view(state, rows=np.flatnonzero(~state.over)), net, most=100)
    over = judged.after.over
    assert over.any()
    expected = rank_utility(ranking.ranks(judged.after.scores[over]))[:, 0]
    assert np.allclose(judged.utility[over], expected)


def test_search_looks_at_later_turns(tmp_path: Path) -> None:
    """Its knobs turn: with other settings it chooses otherwise somewhere."""
    file = weights_of(Rules(), tmp_path / "net.safetensors")
    state = random_play(Rules(), games=10, seed=3, steps=10)
    seen, random = view(state), bits(3, np.arange(10))
    settings: list[dict[str, Any]] = [
        {},
        {"playouts": 90},
        {"candidates": 2},
        {"width": 3},
        {"replies": 1},
        {"turns": 2},
        {"trust": 10_000},
        {"prior": "greedy"},
    ]
    chosen = [ValueSearch(**{"playouts": 30, **setting}, weights=file)(seen, random) for setting in settings]
    assert len({tuple(actions.tolist()) for actions in chosen}) == len(settings)


@each_game
def test_settings_of_the_search_follow_from_the_seats(rules: Rules, tmp_path: Path) -> None:
    """By default as the table says; each number can be given alone."""
    file, usual = weights_of(rules, tmp_path / "net.safetensors"), search_settings(rules)
    state = random_play(rules, games=4, seed=3, steps=10)
    seen, random = view(state), bits(3, np.arange(4))
    given: list[dict[str, Any]] = [{}, *({name: number} for name, number in usual._asdict().items()), usual._asdict()]
    chosen = {tuple(ValueSearch(30, **some, weights=file)(seen, random).tolist()) for some in given}
    assert len(chosen) == 1


@each_game
def test_whoever_trusts_the_network_most_plays_as_it_says(rules: Rules, tmp_path: Path) -> None:
    """With as many deals as possible for the network, a few deals decide between actions that are as good as equal."""
    file = weights_of(rules, tmp_path / "net.safetensors")
    state = random_play(rules, games=4, seed=3, steps=10)
    seen, random = view(state), bits(3, np.arange(4))
    net = Nets(file).of(rules)
    searched = ValueSearch(1, trust=10_000, width=20, weights=file)(seen, random)
    best = judge(seen, net, 20)
    lost = np.maximum.reduceat(best.utility, np.searchsorted(best.after.game, np.arange(4)))
    lost -= judge_actions(seen, net, searched[:, None]).utility
    greatest = net.outcomes.weights[0].max() * net.outcomes.weights[1].sum()
    assert (lost <= 4 * 2 * greatest / 10_000).all()  # a deal in each of at most four rounds


def test_samples_are_repeatable_and_add_up() -> None:
    rules = SMALL
    learner, rival = random_net(rules).arrays(), random_net(rules, seed=1).arrays()
    order = SelfPlayTask(rules, learner, [{}, rival], seed=3, games=40, opponent_share=0.5, candidates=6)
    once, again = self_play(order), self_play(order)
    assert np.array_equal(once.features, again.features)
    assert np.array_equal(once.targets, again.targets)
    assert once.features.shape == (len(once), width(rules))
    assert np.allclose(once.targets.sum(axis=2), 1, atol=1e-5)
    assert once.games == 40
    assert 0 < len(once) < once.moves  # rivals' decisions are not learned from, nor what ended a game


def test_without_trace_the_next_own_afterstate_is_the_target() -> None:
    """With lambda 0 a target is what the network said of the seat's next afterstate, or how the game ended; with 1
    always how it ended.
    """
    rules, learner = SMALL, random_net(SMALL).arrays()
    net = ValueNet(rules, learner)
    how: dict[str, Any] = {"seed": 3, "games": 1, "candidates": 6, "opponent_share": 0.0}
    ends = self_play(SelfPlayTask(rules, learner, td_lambda=1.0, **how))
    assert {tuple(target) for target in ends.targets[:, 0].tolist()} <= {(1, 0), (0, 1), (0.5, 0.5)}
    next_ones = self_play(SelfPlayTask(rules, learner, td_lambda=0.0, **how))
    assert np.array_equal(ends.features, next_ones.features)
    said = net(next_ones.features)
    matched = [any(np.allclose(target, word, atol=1e-5) for word in said) for target in next_ones.targets]
    assert sum(matched) >= len(matched) - 2  # but for the last ones of both seats


class Recorded:
    """Records what :func:`predict_later` predicts: the means of each searched action over the later half of deals."""

    def __init__(self, deals: int, turns: int) -> None:
        self.deals, self.turns, self.means = deals, turns, list[NDArray[np.float32]]()

    def __call__(self, state: State, seats: Ints, net: ValueNet, replies: int, turns: int) -> NDArray[np.float32]:
        assert turns == self.turns
        found = predict_later(state, seats, net, replies, turns)
        self.means += list(found.reshape(-1, self.deals, *found.shape[1:])[:, self.deals // 2 :].mean(axis=1))
        return found


@pytest.mark.parametrize(("rules", "turns"), [(SMALL, 1), (Rules(1, "2009", "solo", side=4, colors=4), 2)], ids=str)
def test_searched_targets_are_means_over_deals(rules: Rules, turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those over the second half of the deals, of all searched actions that do not end the game."""
    recorded = Recorded(3, turns)
    monkeypatch.setattr("agents.value.searching.predict_later", recorded)
    how: dict[str, Any] = {"seed": 3, "games": 2, "candidates": 6, "td_lambda": 0.0, "temperature": 0.0}
    search: dict[str, Any] = {"search_candidates": 4, "search_deals": 3, "search_replies": 3, "search_turns": turns}
    task = SelfPlayTask(rules, random_net(rules).arrays(), search_share=1.0, **how, **search)
    found = self_play(task)
    chosen = self_play(SelfPlayTask(rules, task.learner, **how))
    means = {mean.tobytes() for mean in recorded.means}
    is_mean = np.array([target.tobytes() in means for target in found.targets])
    assert len(found) > len(chosen)
    assert is_mean.all()
    utility = Outcomes(rules).utility(np.stack(recorded.means))
    assert np.ptp(utility) > 0
    again = self_play(task)
    for name in ("features", "targets"):
        assert np.array_equal(getattr(found, name), getattr(again, name)), name


def test_some_decisions_are_searched() -> None:
    """As many as the share says, and the same ones again."""
    rules, learner = SMALL, random_net(SMALL).arrays()
    how: dict[str, Any] = {"seed": 3, "games": 30, "candidates": 6, "search_deals": 2, "search_replies": 2}
    sizes = []
    for share in (0.0, 0.3, 1.0):
        once, again = (self_play(SelfPlayTask(rules, learner, search_share=share, **how)) for _ in range(2))
        for name in ("features", "targets"):
            assert np.array_equal(getattr(once, name), getattr(again, name)), name
        assert np.allclose(once.targets.sum(axis=2), 1, atol=1e-5)
        sizes.append(len(once) / once.moves)
    assert sizes[0] <= 1
    assert sizes[1] - sizes[0] == pytest.approx(0.3 * (sizes[2] - sizes[0]), rel=0.3)


def test_value_plays_what_the_endgame_solver_knows(tmp_path: Path) -> None:
    """Where the solver has no answer, it plays what the network values highest."""
    agent, known = Value(weights_of(SMALL, tmp_path / "net.safetensors"), candidates=4), []
    net = ValueNet(SMALL, weight_files.read(tmp_path / "net.safetensors", KIND)[0])
    for steps in range(10, 16):
        state = random_play(SMALL, games=60, seed=5, steps=steps)
        seen = view(state, rows=np.flatnonzero(~state.over))
        actions, judged = agent(seen, bits(1, np.arange(len(seen)))), judge(seen, net, most=4)
        by_net = judged.after.actions[judged.best(judged.utility, len(seen))]
        for game in range(len(seen)):
            exact = exact_action(seen.select(np.array([game])))
            assert actions[game] == (by_net[game] if exact is None else exact)
            known.append((exact is not None, actions[game] != by_net[game]))
    assert {(False, False), (True, False), (True, True)} == set(known)


def test_an_empty_batch_has_no_predictions() -> None:
    for rules in GAMES:
        net = ValueNet(rules, random_net(rules).arrays())
        nothing = np.empty((0, width(rules)), dtype=np.int16)
        with use_backend("numpy"):
            assert net(nothing).shape == (0, net.outcomes.heads, net.outcomes.classes)


def test_shipped_weights_are_found_or_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_files, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"no weights of 'value' are shipped for 2 seats .*\(shipped: none\)"):
        play([Value(), "random"], SMALL)
    weights_of(SMALL, tmp_path / "value-2.safetensors")
    assert len(play([Value(candidates=2), "random"], SMALL)) == 1
    with pytest.raises(ValueError, match=r"\(shipped: value-2\.safetensors\)"):
        weight_files.find_shipped(KIND, TEAM)
    weights_of(TEAM, tmp_path / "value-4-team.safetensors")
    assert weight_files.find_shipped(KIND, TEAM).name == "value-4-team.safetensors"


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = weights_of(SMALL, tmp_path / "net.safetensors")
    with pytest.raises(ValueError, match="plays mode 'individual' with 2 seats, not mode 'individual' with 3"):
        play([Value(file)] * 3, Rules(3))
    with pytest.raises(ValueError, match="must hold weights of kind 'ppo', not 'value'"):
        weight_files.read(file, "ppo")
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="is no file of weights"):
        Value(broken)
    with pytest.raises(FileNotFoundError, match="there is no file of weights"):
        Value(tmp_path / "missing")
    arrays, about = weight_files.read(file, KIND)
    by_file, by_arrays = (play([Value(source), "random"], SMALL, 3, seed=1) for source in (file, arrays))
    assert np.array_equal(by_file.scores, by_arrays.scores)
    assert json.loads(about["rules"])["side"] == 4
    with pytest.raises(
        ValueError, match=r"'bias_out': expected float32 of shape \(2,\), found float32 of shape \(1,\)"
    ):
        ValueNet(SMALL, arrays | {"bias_out": arrays["bias_out"][:1]})
    with pytest.raises(ValueError, match="for 4 colors and 2 seats: expected the tensor 'out', found bias_1, bias_2"):
        ValueNet(SMALL, {name: array for name, array in arrays.items() if name != "out"})


@pytest.mark.parametrize("setting", [{name: 0} for name in ("candidates", "width", "replies", "turns", "playouts")])
def test_wrong_settings_are_refused(setting: dict[str, int], tmp_path: Path) -> None:
    file = weights_of(SMALL, tmp_path / "net.safetensors")
    with pytest.raises(ValueError, match=next(iter(setting))):
        ValueSearch(**setting, weights=file)  # type: ignore[arg-type]
