"""Weights in the layout of the Hugging Face Hub, on disk: no test reaches the network."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agents.runs.hub import CARD, CONFIG, MODEL, download, read_model_folder, upload, write_model_folder
from experiments import share_weights
from genial_env import Rules, make_policy, play
from genial_env.policies.weight_files import FOLDER

hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub: pip install -e '.[hub]'")

VALUE = FOLDER / "value-2.safetensors"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    share_weights.main(["write", str(VALUE), str(tmp_path / "shared"), "--name", "my-value"])
    return tmp_path / "shared"


def test_a_folder_has_weights_configuration_and_card(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted([MODEL, CONFIG, CARD])
    assert read_model_folder(folder) == ("value", Rules(), folder / MODEL)
    card = hub.ModelCard.load(folder / CARD)
    assert (card.data.license, card.data.library_name) == ("mit", "genial_env")
    measured = {result.dataset_name: result.metric_value for result in card.data.eval_results}
    assert measured == {
        "Two seats, edition 2025, against value_2026_11": 0.81,
        "Two seats, edition 2025, against value_2026_11_c": 0.535,
    }
    assert "| command | `python -u -m experiments.train_value" in card.text
    assert "make_policy(\"value(weights='model.safetensors')\")" in card.text


def test_the_weights_play(folder: Path) -> None:
    agent = make_policy(f"value(weights={str(folder / MODEL)!r})")
    assert (play([agent, "greedy"], games=1, seed=1).scores == play(["value", "greedy"], games=1, seed=1).scores).all()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"kind": "ppo"}, ValueError, "must hold weights of kind 'ppo', not 'value'"),
        ({"rules": {"players": 2, "edition": "2009", "mode": "individual"}}, ValueError, "expected the rules of"),
        ({"rules": {"players": 9}}, ValueError, "players must be"),
        ({"code": "x"}, ValueError, "expected the keys kind, rules, genial_env_version"),
    ],
)
def test_folders_that_contradict_themselves(
    changes: dict[str, Any], error: type[Exception], message: str, folder: Path
) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(config | changes))
    with pytest.raises(error, match=message):
        read_model_folder(folder)
    with pytest.raises(error, match=message):  # before anything is sent
        upload(folder, "user/name")


def test_missing_files_and_metadata(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_model_folder(tmp_path)
    bare = tmp_path / "bare.safetensors"
    from safetensors.numpy import load_file, save_file

    save_file(load_file(VALUE), bare, {"kind": "value"})
    with pytest.raises(ValueError, match="lacks rules, command"):
        write_model_folder(bare, tmp_path / "shared", name="bare")


def test_what_goes_to_the_hub_comes_back(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub is a folder here."""
    remote, created = tmp_path / "remote", list[str]()

    def create_repo(api: Any, repository: str, **options: Any) -> None:
        created.append(repository)

    def upload_folder(api: Any, *, repo_id: str, folder_path: Path, allow_patterns: list[str], **options: Any) -> str:
        (remote / repo_id).mkdir(parents=True)
        for name in allow_patterns:
            shutil.copy(Path(folder_path) / name, remote / repo_id / name)
        return f"commit of {repo_id}"

    def snapshot_download(repo_id: str, *, local_dir: Path, allow_patterns: list[str], **options: Any) -> str:
        assert options["revision"] == "v1"
        Path(local_dir).mkdir()
        for name in allow_patterns:
            shutil.copy(remote / repo_id / name, Path(local_dir) / name)
        return str(local_dir)

    monkeypatch.setattr(hub.HfApi, "create_repo", create_repo)
    monkeypatch.setattr(hub.HfApi, "upload_folder", upload_folder)
    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    assert upload(folder, "user/name") == "commit of user/name"
    assert created == ["user/name"]
    kind, rules, path = download("user/name", tmp_path / "again", revision="v1")
    assert (kind, rules) == ("value", Rules())
    assert path.read_bytes() == VALUE.read_bytes()
