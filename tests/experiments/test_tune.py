"""The search for hyperparameters runs, prunes and continues."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

optuna = pytest.importorskip("optuna", reason="needs optuna: pip install -e '.[tune]'")


@pytest.mark.filterwarnings("ignore::DeprecationWarning:sqlalchemy.*")
def test_a_small_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments import tune_ppo

    monkeypatch.setattr(tune_ppo, "BATCH_SIZES", [32])
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    args = tune_ppo.Args(trials=2, total_timesteps=128, evaluations=2, eval_deals=2, n_envs=2, out=tmp_path)
    args = replace(args, side=3, colors=3, rack=2)
    study = tune_ppo.main(args)
    assert len(study.trials) == 2
    assert yaml.safe_load((tmp_path / "best.yaml").read_text()) == study.best_params
    assert 0 <= study.best_value <= 1
    monkeypatch.setattr(optuna.Trial, "should_prune", lambda trial: True)
    study = tune_ppo.main(replace(args, trials=3))
    assert study.trials[2].params != study.trials[0].params  # a search that goes on does not repeat itself
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "COMPLETE", "PRUNED"]
