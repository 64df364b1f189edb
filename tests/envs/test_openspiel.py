"""The OpenSpiel bridge: OpenSpiel's own tests and algorithms run on it, and it plays the kernel's games."""

import pickle
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="needs open_spiel: pip install -e '.[openspiel]'")

from open_spiel.python import policy, rl_environment  # noqa: E402  after it is known to be there
from open_spiel.python.algorithms import (  # noqa: E402
    cfr,
    exploitability,
    external_sampling_mccfr,
    generate_playthrough,
    ismcts,
    mcts,
)
from open_spiel.python.observation import make_observation  # noqa: E402

from genial_env import IllegalAction, Rules, view  # noqa: E402
from genial_env.core import kernel, ranking  # noqa: E402
from genial_env.core.ranking import rank_utility  # noqa: E402
from genial_env.core.state import EMPTY, FREE, Phase  # noqa: E402
from genial_env.encodings import make_encoding  # noqa: E402
from genial_env.envs import openspiel  # noqa: E402
from tests.positions import every, same  # noqa: E402

pytestmark = pytest.mark.usefixtures("each_backend")

TINY = "python_genial(players=2,side=3,colors=2,rack=2)"
GAMES = [
    TINY,
    "python_genial(players=3,side=4,colors=3,rack=2,edition=2009)",
    "python_genial(players=4,mode=team,edition=2004,side=4,colors=4,rack=2)",
    "python_genial(players=1,mode=solo,edition=2004,side=4,colors=4)",
    "python_genial",
    "python_genial(players=2,side=6,colors=2,tile_sets=6,one_bonus_a_tile=True)",
]

each_game = every("name", GAMES, GAMES[:4])


def chance(state: Any, rng: np.random.Generator) -> int:
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    return int(rng.choice(outcomes, p=probabilities))


def step(state: Any, rng: np.random.Generator) -> int:
    """In place: one random step."""
    action = chance(state, rng) if state.is_chance_node() else int(rng.choice(state.legal_actions()))
    state.apply_action(action)
    return action


def played(game: Any, seed: int, decisions: int) -> Any:
    """A state in which a player decides, after so many decisions (or the last one before the end)."""
    rng, state = np.random.default_rng(seed), game.new_initial_state()
    made, last = 0, state
    while not state.is_terminal():
        if not state.is_chance_node():
            last = state.clone()
            if made == decisions:
                break
            made += 1
        step(state, rng)
    return last


# OpenSpiel's own


@each_game
def test_openspiels_random_simulations(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=2, serialize=True, verbose=False)


@every("name", GAMES[:2] + GAMES[3:4], GAMES[:1])
def test_playthroughs_repeat(name: str) -> None:
    one, other = (generate_playthrough.playthrough(name, None, seed=3) for _ in range(2))
    assert one == other
    assert "IsTerminal() = True" in one


def test_ismcts_plays_a_whole_game() -> None:
    game = pyspiel.load_game(TINY)
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(game, evaluator, uct_c=1.0, max_simulations=8, random_state=np.random.RandomState(0))
    rng, state = np.random.default_rng(0), game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node() or state.current_player() == 1:
            step(state, rng)
        else:
            state.apply_action(bot.step(state))
    assert sum(state.returns()) == 0


def test_mcts_on_the_solo_game() -> None:
    game = pyspiel.load_game("python_genial(players=1,mode=solo,edition=2004,side=3,colors=2)")
    rng, state = np.random.default_rng(0), game.new_initial_state()
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=np.random.RandomState(1))
    bot = mcts.MCTSBot(game, 1.0, 8, evaluator, random_state=np.random.RandomState(0), solve=False)
    while not state.is_terminal():
        state.apply_action(chance(state, rng) if state.is_chance_node() else bot.step(state))
    assert 0 <= state.returns()[0] <= 1


def test_mccfr_iterates() -> None:
    game = pyspiel.load_game("python_genial(players=2,side=3,colors=2,rack=2)")
    solver = external_sampling_mccfr.ExternalSamplingSolver
    state = played(game, seed=0, decisions=7)

    class Ending(openspiel.GenialGame):
        """The same game from a late position on, small enough to walk through all actions."""

        def new_initial_state(self) -> Any:
            return state.clone()

    np.random.seed(0)  # noqa: NPY002  OpenSpiel draws from the global stream
    found = solver(
        Ending({"players": 2, "side": 3, "colors": 2, "rack": 2}), external_sampling_mccfr.AverageType.SIMPLE
    )
    found.iteration()
    policy = found.average_policy().action_probabilities(state)
    assert sum(policy.values()) == pytest.approx(1)
    assert set(policy) == set(state.legal_actions())


def test_rl_environment() -> None:
    env = rl_environment.Environment(pyspiel.load_game(GAMES[1]))
    env.seed(3)
    time_step, rng = env.reset(), np.random.default_rng(0)
    while not time_step.last():
        player = time_step.observations["current_player"]
        time_step = env.step([int(rng.choice(time_step.observations["legal_actions"][player]))])
    assert sum(time_step.rewards) == pytest.approx(0)


# The kernel's games


@each_game
def test_games_are_the_kernels(name: str) -> None:
    """The same actions and draws, tile by tile, give the same positions."""
    game = pyspiel.load_game(name)
    rules = game.rules
    for seed in range(3):
        rng, state = np.random.default_rng(seed), game.new_initial_state()
        while state.is_chance_node():
            step(state, rng)
        other = kernel.undealt(rules).copy()
        other.racks[:] = state.position.racks
        other.bag[0] -= kernel.count_kinds(other.racks.reshape(1, -1), other.tables.n_kinds)[0].astype(np.uint8)
        while not state.is_terminal():
            player = state.current_player()
            assert player == other.to_play[0]
            assert state.legal_actions() == np.flatnonzero(kernel.legal(other)[0]).tolist()
            action, drawn = step(state, rng), []
            while state.is_chance_node():
                drawn.append(step(state, rng))
            draws = np.full((1, rules.rack), -1)
            draws[0, : len(drawn)] = drawn
            kernel.apply(other, [action], draws=draws)
            other.key[:], other.drawn[:] = state.position.key, state.position.drawn
            assert same(other, state.position)
        scores = other.scores[0]
        if rules.players == 1:
            assert state.returns() == [scores.min() / rules.top]
        else:
            utility = rank_utility(ranking.ranks(scores))
            assert state.returns() == [utility[seat % rules.tracks] for seat in range(rules.players)]


def test_draws_are_as_likely_as_the_bag_says() -> None:
    game = pyspiel.load_game("python_genial")
    state = game.new_initial_state()
    outcomes = dict(state.chance_outcomes())
    assert outcomes[0] == 5 / 120
    assert outcomes[1] == 6 / 120
    state.apply_action(0)
    assert dict(state.chance_outcomes())[0] == 4 / 119
    assert state.action_to_string(pyspiel.PlayerId.CHANCE, 1) == "RG"


def test_a_swapped_rack_is_drawn_before_the_old_one_goes_back() -> None:
    game = pyspiel.load_game("python_genial(players=2,side=4,colors=3,rack=2)")
    found = 0
    for seed in range(40):
        rng, state = np.random.default_rng(seed), game.new_initial_state()
        while not state.is_terminal():
            swap = state.position.tables.swap_action
            if not state.is_chance_node() and swap in state.legal_actions():
                seat = state.current_player()
                rack = [int(kind) for kind in state.position.racks[0, seat] if kind != EMPTY]
                left = state.position.bag[0].astype(int)
                state.apply_action(swap)
                assert f"seat {seat} shows" in state.information_state_string(1 - seat)
                for _ in range(2):
                    total = left.sum()
                    assert dict(state.chance_outcomes()) == {k: n / total for k, n in enumerate(left.tolist()) if n}
                    left[step(state, rng)] -= 1
                for kind in rack:
                    left[kind] += 1
                assert (state.position.bag[0] == left).all()
                found += 1
            else:
                step(state, rng)
    assert found > 5


# What players know


@each_game
def test_clones_and_pickles(name: str) -> None:
    game = pyspiel.load_game(name)
    assert str(pickle.loads(pickle.dumps(game))) == str(game)
    state = played(game, seed=1, decisions=5)
    twin, before = state.clone(), str(state)
    rng = np.random.default_rng(0)
    while not twin.is_terminal():
        step(twin, rng)
    assert str(state) == before
    text = pyspiel.serialize_game_and_state(game, state)
    again = pyspiel.deserialize_game_and_state(text)[1]
    assert again.information_state_string() == state.information_state_string()


@pytest.mark.parametrize("name", [game for game in GAMES if "solo" not in game])
@pytest.mark.parametrize("decisions", [0, 1, 6, 13])
def test_resampled_states_look_the_same(name: str, decisions: int) -> None:
    game = pyspiel.load_game(name)
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    state = played(game, seed=2, decisions=decisions)
    player, racks = state.current_player(), set()
    for _ in range(5):
        other = state.resample_from_infostate(player, sampler)
        assert other.current_player() == player
        assert other.information_state_string(player) == state.information_state_string(player)
        assert other.observation_string(player) == state.observation_string(player)
        assert other.information_state_tensor(player) == state.information_state_tensor(player)
        assert other.observation_tensor(player) == state.observation_tensor(player)
        for seat in range(game.rules.players):
            draws, numbers = other.own_draws[seat], other._drawn_as
            for slot, kind in enumerate(other.position.racks[0, seat].tolist()):
                assert kind == EMPTY or draws[numbers[seat * game.rules.rack + slot]] == kind
        racks.add(np.delete(other.position.racks[0], player, axis=0).tobytes())
        rng = np.random.default_rng(0)
        while not other.is_terminal():
            step(other, rng)
    assert len(racks) > 1 or game.rules.colors == 2


def test_resampling_where_tiles_are_drawn_is_refused() -> None:
    state = pyspiel.load_game(TINY).new_initial_state()
    with pytest.raises(ValueError, match="not where tiles are drawn"):
        state.resample_from_infostate(0, lambda: 0.5)


def test_observation_tensors_are_the_planes() -> None:
    game = pyspiel.load_game(GAMES[1])
    state = played(game, seed=4, decisions=9)
    observation = make_observation(game)
    fields = make_encoding("planes").fields(game.rules)
    for player in range(3):
        observation.set_from(state, player)
        arrays = make_encoding("planes").encode(view(state.position, player))
        assert set(observation.dict) == {"player", *arrays}
        for name, array in arrays.items():
            assert np.array_equal(observation.dict[name], array[0] / np.float32(fields[name].high))
        assert observation.tensor.max() <= 1
        assert observation.dict["player"].argmax() == player


def test_public_and_private_parts() -> None:
    game = pyspiel.load_game(GAMES[1])
    state = played(game, seed=4, decisions=9)
    kinds = {}
    for name, private in pyspiel.PrivateInfoType.__members__.items():
        kind = pyspiel.IIGObservationType(public_info=True, perfect_recall=False, private_info=private)
        observer = make_observation(game, kind)
        observer.set_from(state, 1)
        kinds[name] = (set(observer.dict), observer.string_from(state, 1))
    assert "rack" not in kinds["NONE"][0]
    assert "unseen" not in kinds["NONE"][0]
    assert "racks" in kinds["ALL_PLAYERS"][0]
    own = " ".join(openspiel.words.tile_name(game.rules, k) for k in state.position.racks[0, 1] if k != EMPTY)
    assert own not in kinds["NONE"][1]
    assert own in kinds["ALL_PLAYERS"][1]
    private = pyspiel.IIGObservationType(
        public_info=False, perfect_recall=True, private_info=pyspiel.PrivateInfoType.SINGLE_PLAYER
    )
    observer = make_observation(game, private)
    observer.set_from(state, 1)
    assert set(observer.dict) == {"player", "rack", "unseen", "events", "draws"}
    with pytest.raises(ValueError, match="observers take no parameters"):
        game.make_py_observer(None, {"a": 1})


def test_information_states_recall_everything() -> None:
    """Strings and tensors tell the same states apart."""
    game = pyspiel.load_game(TINY)
    by_string: dict[str, set[bytes]] = {}
    by_tensor: dict[bytes, set[str]] = {}
    for seed in range(40):
        rng, state = np.random.default_rng(seed % 20), game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                text = state.information_state_string()
                tensor = np.array(state.information_state_tensor(), dtype=np.float32).tobytes()
                by_string.setdefault(text, set()).add(tensor)
                by_tensor.setdefault(tensor, set()).add(text)
            step(state, rng)
    assert all(len(found) == 1 for found in [*by_string.values(), *by_tensor.values()])
    assert len(by_string) > 100


def test_a_swap_declined_is_known_to_its_seat_alone() -> None:
    game = pyspiel.load_game("python_genial(players=2,side=4,colors=3,rack=2)")
    for seed in range(40):
        rng, state = np.random.default_rng(seed), game.new_initial_state()
        while not state.is_terminal():
            decline = state.position.tables.decline_action
            if not state.is_chance_node() and decline in state.legal_actions():
                seat = state.current_player()
                state.apply_action(decline)
                assert f"seat {seat} keeps" in state.information_state_string(seat)
                assert f"seat {seat} keeps" not in state.information_state_string(1 - seat)
                return
            step(state, rng)
    raise AssertionError("no swap was offered")


def test_parameters() -> None:
    assert pyspiel.load_game("python_genial").rules == Rules()
    assert pyspiel.load_game("python_genial(players=4,edition=2009,mode=team)").rules == Rules(4, "2009", "team")
    assert pyspiel.load_game("python_genial(one_bonus_a_tile=True)").rules == Rules(one_bonus_a_tile=True)
    with pytest.raises(Exception, match="mode 'team' is for 4 players"):
        pyspiel.load_game("python_genial", {"players": 3, "mode": "team", "edition": 2009})
    assert pyspiel.load_game(GAMES[3]).get_type().utility == pyspiel.GameType.Utility.GENERAL_SUM


def dealt(game: Any, *tiles: int) -> Any:
    """A game whose opening racks are these tiles, seat by seat."""
    state = game.new_initial_state()
    for kind in tiles:
        state.apply_action(kind)
    return state


def test_twin_tiles_of_different_slots_are_different_pasts() -> None:
    """A seat recalls its own actions, slots included, even where they lead to the same rack; the others see no slot."""
    game = pyspiel.load_game(TINY)
    e = dealt(game, 1, 1, 0, 2).position.tables.n_placements
    pasts = []
    for slot in (0, 1):
        state = dealt(game, 1, 1, 0, 2)
        placement = next(action for action in state.legal_actions() if action < e)
        state.apply_action(slot * e + placement)
        while state.is_chance_node():
            state.apply_action(1)
        pasts.append(state)
    assert np.array_equal(pasts[0].position.racks, pasts[1].position.racks)
    assert pasts[0].information_state_string(0) != pasts[1].information_state_string(0)
    assert pasts[0].information_state_tensor(0) != pasts[1].information_state_tensor(0)
    assert pasts[0].information_state_string(1) == pasts[1].information_state_string(1)
    assert pasts[0].information_state_tensor(1) == pasts[1].information_state_tensor(1)


def test_where_a_seat_decides_it_recalls_all_its_past_decisions() -> None:
    """One information state, one sequence of own information states and actions before it."""
    game = pyspiel.load_game(TINY)
    pasts: list[dict[str, tuple[Any, ...]]] = [{}, {}]
    met_again = 0
    for seed in range(300):
        rng, state = np.random.default_rng(seed), dealt(game, 1, 1, 1, 1)
        past: list[tuple[Any, ...]] = [(), ()]
        while not state.is_terminal():
            player = state.current_player()
            if player < 0:  # the likeliest tile, so that the same racks come about in several ways
                state.apply_action(max(state.chance_outcomes(), key=lambda outcome: outcome[1])[0])
                continue
            text = state.information_state_string(player)
            met_again += text in pasts[player]
            assert pasts[player].setdefault(text, past[player]) == past[player]
            action = int(rng.choice([a for a in state.legal_actions() if a % 12 == 0] or state.legal_actions()))
            past[player] += ((text, action),)
            state.apply_action(action)
    assert met_again > 500


def test_what_only_one_seat_knows_is_not_public() -> None:
    game = pyspiel.load_game("python_genial(players=2,side=4,colors=3,rack=2)")
    kind = pyspiel.IIGObservationType(public_info=True, perfect_recall=True, private_info=pyspiel.PrivateInfoType.NONE)
    observer, keeps = make_observation(game, kind), 0
    for seed in range(30):
        rng, state = np.random.default_rng(seed), game.new_initial_state()
        while not state.is_terminal():
            texts = {observer.string_from(state, player) for player in range(2)}
            assert len(texts) == 1
            decline = state.position.tables.decline_action
            if not state.is_chance_node() and decline in state.legal_actions():
                keeps += 1
                state.apply_action(decline)
            else:
                step(state, rng)
    assert keeps > 5


def test_an_illegal_action_changes_nothing() -> None:
    state = dealt(pyspiel.load_game(TINY), 0, 1, 1, 2)
    told = [state.information_state_string(player) for player in range(2)]
    for action in (-2, -(10**6), 10**6, state.position.tables.decline_action, state.position.tables.swap_action):
        with pytest.raises(IllegalAction, match="illegal action"):
            state.apply_action(action)
    assert [state.information_state_string(player) for player in range(2)] == told
    assert len(state.history()) == 4


def test_a_tile_that_cannot_be_drawn_is_refused() -> None:
    game = pyspiel.load_game("python_genial(players=4,side=3,colors=2,rack=2,tile_sets=2)")
    state = game.new_initial_state()
    for kind in (-2, 3, 99):
        with pytest.raises(IllegalAction, match=r"no tile of kind -?\d+ can be drawn"):
            state.apply_action(kind)
    few = pyspiel.load_game("python_genial(players=3,side=3,colors=3,rack=3)")
    state = dealt(few, 0, 0, 0, 0, 0)  # all five RR
    bag = state.position.bag.copy()
    with pytest.raises(IllegalAction, match="no tile of kind 0 can be drawn"):
        state.apply_action(0)
    assert np.array_equal(state.position.bag, bag)


@each_game
def test_no_history_is_longer_than_the_game_says(name: str) -> None:
    game = pyspiel.load_game(name)
    rules = game.rules
    for seed in range(3):
        rng, state, made = np.random.default_rng(seed), game.new_initial_state(), [0, 0]
        while not state.is_terminal():
            made[state.is_chance_node()] += 1
            step(state, rng)
        assert made[0] <= game.max_game_length()
        assert rules.players * rules.rack <= made[1] <= game.max_chance_nodes_in_history()


def test_opening_racks_count_as_draws() -> None:
    game = pyspiel.load_game("python_genial(players=4,side=3,colors=2,rack=6,tile_sets=6)")
    assert game.max_chance_nodes_in_history() >= 24 + game.rules.most_placements


# Games that begin late


def late_position(free_cells: int) -> Any:
    """A tiny game with so many free cells or fewer, at the beginning of a turn."""
    rng, state = np.random.default_rng(0), kernel.deal(Rules(side=3, colors=2, rack=2), [0])
    while (state.board[0] == FREE).sum() > free_cells or state.phase[0] != Phase.PLACE:
        kernel.apply(state, np.array([rng.choice(np.flatnonzero(kernel.legal(state)[0]))]))
    return state


def test_a_late_game_deals_all_unseen_tiles_anew() -> None:
    position = late_position(4)
    game = openspiel.start_at(position)
    rng, racks = np.random.default_rng(1), set()
    for _ in range(20):
        state = game.new_initial_state()
        while state.is_chance_node():
            state.apply_action(chance(state, rng))
        dealt = state.position
        assert (dealt.board == position.board).all()
        assert (dealt.scores == position.scores).all()
        assert dealt.to_play == position.to_play
        unseen = [
            one.bag[0] + kernel.count_kinds(one.racks.reshape(1, -1), one.tables.n_kinds)[0]
            for one in (dealt, position)
        ]
        assert (unseen[0] == unseen[1]).all()
        racks.add(dealt.racks.tobytes())
    assert len(racks) > 1
    assert pyspiel.load_game(TINY).new_initial_state().position.board.min() == FREE


@pytest.mark.slow
def test_cfr_solves_a_late_game() -> None:
    game = openspiel.start_at(late_position(4))
    solver = cfr.CFRPlusSolver(game)
    for _ in range(4):
        solver.evaluate_and_update_policy()
    uniform = policy.UniformRandomPolicy(game)
    after, before = (exploitability.exploitability(game, p) for p in (solver.average_policy(), uniform))
    assert after < 0.1 < before


def test_a_game_begins_where_a_turn_begins() -> None:
    state = late_position(4)
    with pytest.raises(ValueError, match="one position, not 2"):
        openspiel.start_at(state.select(np.array([0, 0])))
    state.phase[:] = Phase.SWAP
    with pytest.raises(ValueError, match="where a turn begins, not in phase SWAP"):
        openspiel.start_at(state)
