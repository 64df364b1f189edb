"""Weights in the layout of the Hugging Face Hub: a folder with the weights, a configuration and a model card.

=====================  ============================================================================================
`model.safetensors`    the weights with their metadata, as :mod:`genial_env.policies.weight_files` reads them
`config.json`          the kind of the network and the rules of the game
`README.md`            the model card: results, how the weights were trained, how they are used
=====================  ============================================================================================

:func:`upload` and :func:`download` reach the Hub. Everything else works on files. Needs the extra hub.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from agents.runs.formatting import format_against, make_game_title, make_strength_title
from agents.runs.model_cards import make_card
from genial_env._util.extras import install_hint
from genial_env._util.files import replace_path, write_json, write_text
from genial_env._util.strict_json import JSONError, parse_object, read_object
from genial_env._util.validators import OBJECT, STRING, json_object
from genial_env._util.version import __version__
from genial_env.core.rules import Rules
from genial_env.policies import weight_files

__all__ = ["CARD", "CONFIG", "MODEL", "download", "read_model_folder", "upload", "write_model_folder"]

MODEL, CONFIG, CARD = "model.safetensors", "config.json", "README.md"

_CONFIG = json_object(kind=STRING, rules=OBJECT, genial_env_version=STRING)
"""The contents of `config.json`."""

_RESULT = re.compile(r"([+-]?\d+(?:\.\d+)?)( ± .*)?")
"""The beginning of a result in the metadata of weights is a number."""


def write_model_folder(weights: Path, folder: Path, *, name: str, license: str = "mit") -> None:
    """Write a folder in the layout of the Hub.

    Args:
        weights: a file of weights with the metadata of :data:`~agents.runs.model_cards.REQUIRED_METADATA`.
        folder: the folder; files of these names in it are replaced.
        name: the name of the model in its card.
        license: the license of the weights, as the Hub names it.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if the file does not hold weights, or lacks metadata.
        ImportError: if huggingface_hub is not installed; the message says how to install it.
    """
    _import_hub()
    about = weight_files.read_metadata(weights)
    card = _make_card(weights, about, name, license)
    rules = weight_files.parse_rules(weights, about)
    folder.mkdir(parents=True, exist_ok=True)
    with replace_path(folder / MODEL) as beside:
        shutil.copyfile(weights, beside)
    config = {"kind": about["kind"], "rules": rules.to_dict(), "genial_env_version": __version__}
    write_json(folder / CONFIG, config)
    write_text(folder / CARD, card)


def read_model_folder(folder: Path) -> tuple[str, Rules, Path]:
    """Check a folder in the layout of the Hub.

    Returns:
        The kind of the network, the rules that it was trained for, and the file of weights.

    Raises:
        OSError: if a file is missing or cannot be read.
        ValueError: if the configuration cannot be read, or does not fit the weights.
    """
    path = folder / CONFIG
    config = _CONFIG(read_object(path), str(path))
    rules = Rules.from_dict(config["rules"])
    _, words = weight_files.read(folder / MODEL, config["kind"], rules)
    if weight_files.parse_rules(folder / MODEL, words) != rules:
        raise JSONError(f"{path}: expected the rules of {MODEL}, {words['rules']}, found {json.dumps(config['rules'])}")
    return config["kind"], rules, folder / MODEL


def upload(folder: Path, repository: str, *, private: bool = False) -> str:
    """Upload a folder to the Hub, to which the user has logged in; return the address of the commit.

    Args:
        folder: a folder of :func:`write_model_folder`.
        repository: the name of the repository, "user/name". It is created if it does not exist.
        private: whether a new repository is private.

    Raises:
        OSError, ValueError: as :func:`read_model_folder`; then nothing is uploaded.
        ImportError: if huggingface_hub is not installed.
    """
    hub = _import_hub()
    read_model_folder(folder)
    api = hub.HfApi(library_name="genial_env", library_version=__version__)
    api.create_repo(repository, private=private, exist_ok=True)
    commit = api.upload_folder(
        repo_id=repository,
        folder_path=folder,
        allow_patterns=[MODEL, CONFIG, CARD],
        commit_message="Weights, configuration and model card",
    )
    return str(commit)


def download(repository: str, folder: Path, *, revision: str | None = None) -> tuple[str, Rules, Path]:
    """Download a model from the Hub into a folder, and check it as :func:`read_model_folder` does.

    Only the three files of the layout are downloaded. They hold no code.

    Args:
        repository: the name of the repository, "user/name".
        folder: the folder.
        revision: a branch, tag or commit; None: the default branch.

    Raises:
        OSError, ValueError: as :func:`read_model_folder`.
        ImportError: if huggingface_hub is not installed.
    """
    hub = _import_hub()
    hub.snapshot_download(
        repository, revision=revision, local_dir=folder, allow_patterns=[MODEL, CONFIG, CARD], library_name="genial_env"
    )
    return read_model_folder(folder)


def _import_hub() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise ImportError(f"this needs more libraries: {install_hint('hub')} ({error})") from error
    return huggingface_hub


def _make_card(weights: Path, about: dict[str, str], name: str, license: str) -> str:
    """Return the model card: metadata for the Hub, results and training, and how to play the weights."""
    hub = _import_hub()
    table = make_card(weights).partition("\n\n")[2]
    rules = weight_files.parse_rules(weights, about)
    data = hub.ModelCardData(
        model_name=name,
        license=license,
        library_name="genial_env",
        pipeline_tag="reinforcement-learning",
        tags=["board-game", "genial", "ingenious", about["kind"]],
        eval_results=_list_results(hub, weights, about, rules) or None,
    )
    agent = f"{about['kind']}(weights='{MODEL}')"
    return f"""---
{data.to_yaml()}
---

# {name}

Weights of the agent `{about["kind"]}` of [genial_env](https://github.com/genial-env/genial-env) for the board game
Génial! (Ingenious): {make_game_title(rules)}.

{table}
## Use

```python
from genial_env import make_policy

policy = make_policy("{agent}")
```

or `genial play --seats "person,{agent}"`.
"""


def _list_results(hub: Any, weights: Path, about: dict[str, str], rules: Rules) -> list[Any]:
    """Return the results of the metadata as the Hub stores them; those that begin with no number are left out."""
    found = []
    for opponent, words in parse_object(about["results"], f"{weights}: results").items():
        number = _RESULT.match(str(words))
        if number is None:
            continue
        found.append(
            hub.EvalResult(
                task_type="reinforcement-learning",
                dataset_type="genial_env",
                dataset_config=opponent,  # results of one set of games are told apart by it
                dataset_name=f"{make_game_title(rules)}, {format_against(opponent)}",
                metric_type=make_strength_title(rules).replace(" ", "_"),
                metric_name=f"{make_strength_title(rules)} ({words})",
                metric_value=float(number[1]),
            )
        )
    return found
