"""The prior is fitted: the loss is that of placements which are not considered, and the search lowers it."""

import numpy as np
import pytest

from experiments.fit_prior import Args, fit, main, take_positions
from genial_env import Rules, use_backend
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.value import Nets
from tests.conftest import needs_numba


@needs_numba
def test_the_loss_is_what_the_first_placements_lack() -> None:
    with use_backend("numba"):
        net = Nets().of(Rules())
        taken = take_positions(Rules(), net, games=6, share=0.1, seed=1)
        best = taken.utility.max(axis=1)
        everything = taken.utility.shape[1]
        few, many, all_of_them = taken.losses(DenialPolicy(), (2, 20, everything))
        first = [np.isfinite(row).sum() for row in taken.utility]
    assert sum(len(view) for view in taken.views) == len(best) > 10
    assert min(first) > 0
    assert few > many >= all_of_them == 0


@needs_numba
def test_fitting_lowers_the_loss(capsys: pytest.CaptureFixture[str]) -> None:
    args = Args(games=10, share=0.1, placements=(4,), generations=40)
    with use_backend("numba"):
        train = take_positions(Rules(), Nets().of(Rules()), args.games, args.share, args.seed)
        found = fit(train, Rules(), args)
        assert train.losses(DenialPolicy(*found), (4,)) < train.losses(DenialPolicy(), (4,))
    assert main(args) == found
    assert "first 4" in capsys.readouterr().out
