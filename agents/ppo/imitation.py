"""Imitation: a network learns what a teacher would choose, in games that both play (DAgger).

The method is S. Ross, G. Gordon, D. Bagnell, "A reduction of imitation learning and structured prediction to no-regret
online learning", AISTATS 2011: each decision is made by the teacher or by the current student, and the student learns
the teacher's choice in all of them, so also in positions that its own mistakes lead to. Its value head learns the
outcomes of the games.

A teacher names probabilities. :class:`ChoiceTeacher` makes a teacher of any policy, with all probability on its choice.
:class:`ValueTeacher` tells how good the other candidates are, too, so that a decision teaches far more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.ppo.halves_net import HalvesNet
from genial_env import Policy, view
from genial_env.core import kernel, ranking
from genial_env.core.arrays import Bits, Bools, Floats32, Ints
from genial_env.core.chance import bits, game_seeds
from genial_env.core.ranking import rank_utility
from genial_env.core.views import View
from genial_env.policies.afterstates import candidates
from genial_env.policies.base import NONE
from genial_env.policies.decisions import choice_keys
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.halves import Halves, choose_likeliest, draw_by_weights
from genial_env.policies.ppo import TEMPERATURE
from genial_env.policies.value import Nets, judge_actions

__all__ = [
    "ChoiceTeacher",
    "Demonstrations",
    "Targets",
    "Teacher",
    "ValueTeacher",
    "collect_demonstrations",
    "train_student",
]

MASKED = -1e4
"""The logit of illegal actions."""


@dataclass(eq=False)
class Targets:
    """What a teacher would choose in n decisions.

    Attributes:
        actions: [n, K] legal actions, the same K for all decisions of a teacher; NONE fills the rest.
        probabilities: [n, K] their probabilities, which sum to 1; 0 where there is no action.
    """

    actions: Ints
    probabilities: Floats32

    @classmethod
    def join(cls, parts: Sequence["Targets"]) -> "Targets":
        """Return the decisions of several targets of the same teacher, one after the other."""
        return cls(
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
        )


Teacher = Callable[[View, Bits], Targets]
"""Advises G seats whose turn it is. The random bits [G] are those of a policy."""


class ChoiceTeacher:
    """A policy as a teacher that is certain of its choices.

    Args:
        policy: the policy.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def __call__(self, view: View, random: Bits) -> Targets:
        """Return the choices, each with probability 1."""
        actions = self._policy(view, random)
        return Targets(actions[:, None], np.ones((len(view), 1), dtype=np.float32))


class ValueTeacher:
    """The shipped value network as a teacher: the probabilities are the softmax of the utilities of the candidates.

    These are the first placements in the order of "denial", as which the student begins. So they include those that it
    overrates. With the order that was fitted to the network it learned less (docs/training.md).

    Args:
        most: the most placements that the network evaluates.
        temperature: temperature of the softmax, in units of rank utility.
    """

    def __init__(self, most: int = 32, temperature: float = TEMPERATURE) -> None:
        self._nets, self._most, self._temperature = Nets(None), most, temperature
        self._prior = DenialPolicy()

    def __call__(self, view: View, random: Bits) -> Targets:
        """Return the candidates and their probabilities."""
        actions = candidates(view, self._most, self._prior)
        judged = judge_actions(view, self._nets.of(view.rules), actions)
        logits = np.full(actions.shape, -np.inf, dtype=np.float32)
        logits[actions != NONE] = judged.utility / self._temperature
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        return Targets(actions, shares / shares.sum(axis=1, keepdims=True))


@dataclass(eq=False)
class Demonstrations:
    """n decisions with the teacher's advice.

    Attributes:
        observations: [n, ...] for each field of the encoding "halves".
        mask: [n, A] legal actions.
        targets: the teacher's probabilities.
        outcome: [n] the rank utility at the end of the game.
    """

    observations: dict[str, NDArray[np.uint8]]
    mask: Bools
    targets: Targets
    outcome: Floats32

    @classmethod
    def join(cls, parts: Sequence["Demonstrations"]) -> "Demonstrations":
        """Return the decisions of several demonstrations by the same teacher, one after the other."""
        return cls(
            {name: np.concatenate([part.observations[name] for part in parts]) for name in parts[0].observations},
            np.concatenate([part.mask for part in parts]),
            Targets.join([part.targets for part in parts]),
            np.concatenate([part.outcome for part in parts]),
        )


def collect_demonstrations(
    student: HalvesNet, teacher: Teacher, student_share: float, games: int, seed: int
) -> Demonstrations:
    """Play games in which the student makes a share of the decisions, and record the teacher's advice in all.

    Args:
        student: plays its most likely actions.
        teacher: its actions are drawn by their probabilities.
        student_share: probability that a decision is the student's.
        games: number of games.
        seed: seed of the games and of who decides.
    """
    rules, encoding = student.rules, Halves()
    seeds = game_seeds(seed, games)
    state, keys = kernel.deal(rules, seeds), choice_keys(seeds, rules.players)
    rng, parts, rows, tracks = np.random.default_rng(seed), [], [], []
    for live in kernel.live_games(state):
        seat = state.to_play[live]
        views = view(state, rows=live)
        arrays, mask = encoding.encode(views), views.mask()
        random = bits(keys[live, seat], state.decisions[live])
        advice = teacher(views, random)
        drawn = draw_by_weights(advice.probabilities.astype(np.float64), random)
        wanted = advice.actions[np.arange(len(live)), drawn]
        with torch.no_grad():
            logits, _ = student(_to_float({name: torch.from_numpy(array) for name, array in arrays.items()}))
        played = np.where(rng.random(len(live)) < student_share, choose_likeliest(logits.numpy(), mask), wanted)
        parts.append((arrays, mask, advice))
        rows.append(live)
        tracks.append(rules.track_of(seat))
        kernel.apply(state, played, live)
    utility = rank_utility(ranking.ranks(state.scores))
    return Demonstrations(
        observations={name: np.concatenate([arrays[name] for arrays, _, _ in parts]) for name in parts[0][0]},
        mask=np.concatenate([mask for _, mask, _ in parts]),
        targets=Targets.join([advice for _, _, advice in parts]),
        outcome=utility[np.concatenate(rows), np.concatenate(tracks)].astype(np.float32),
    )


def train_student(
    student: HalvesNet,
    optimizer: torch.optim.Optimizer,
    shown: Demonstrations,
    seed: int,
    *,
    batch_size: int = 512,
    n_epochs: int = 2,
    vf_coef: float = 0.5,
) -> dict[str, float]:
    """Train the student in place for some epochs.

    Args:
        student: the network.
        optimizer: its optimizer.
        shown: what it learns from.
        seed: seed of the order of the decisions.
        batch_size: decisions in a minibatch.
        n_epochs: passes over the decisions.
        vf_coef: coefficient of the value head's loss.

    Returns:
        Means over minibatches: the loss of imitation (the cross-entropy of the teacher's probabilities), the share of
        decisions in which the teacher's most likely action is the student's ("hits"), and the loss of values.
    """
    rng, figures = np.random.default_rng(seed), []
    n = len(shown.outcome)
    for _ in range(n_epochs):
        for at in np.array_split(rng.permutation(n), -(-n // batch_size)):
            batch = {name: torch.from_numpy(array[at]) for name, array in shown.observations.items()}
            logits, values = student(_to_float(batch))
            logits = logits.masked_fill(~torch.from_numpy(shown.mask[at]), MASKED)
            actions = torch.from_numpy(shown.targets.actions[at])
            probabilities = torch.from_numpy(shown.targets.probabilities[at])
            log_chances = logits.log_softmax(dim=1).gather(1, actions.clamp(min=0))
            imitation = -(probabilities * log_chances).sum(dim=1).mean()
            value = torch.nn.functional.mse_loss(values, torch.from_numpy(shown.outcome[at]))
            optimizer.zero_grad()
            (imitation + vf_coef * value).backward()
            torch.nn.utils.clip_grad_norm_(student.parameters(), 0.5)
            optimizer.step()
            likeliest = actions.gather(1, probabilities.argmax(dim=1, keepdim=True))[:, 0]
            hits = (logits.argmax(dim=1) == likeliest).float().mean()
            figures.append((imitation.item(), hits.item(), value.item()))
    return dict(zip(("imitation", "hits", "value"), np.mean(figures, axis=0).tolist(), strict=True))


def _to_float(observation: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: array.float() for name, array in observation.items()}
