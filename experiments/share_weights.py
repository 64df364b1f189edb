"""How can trained weights be shared?

    python -m experiments.share_weights write runs/value/weights.safetensors shared --name my-value
    python -m experiments.share_weights upload shared user/my-value
    python -m experiments.share_weights download user/my-value shared

writes weights in the layout of the Hugging Face Hub, with a model card made from their metadata, uploads that folder,
and downloads such a folder and checks it (agents/runs/hub.py; extra hub). Uploading needs a login: `hf auth login`.
"""

from pathlib import Path

import tyro
from tyro.conf import Positional

from agents.runs.hub import download, read_model_folder, upload, write_model_folder
from genial_env._util.shutdown import handle_signals

__all__ = ["main"]


def write(weights: Positional[Path], folder: Positional[Path], *, name: str, license: str = "mit") -> None:
    """Write weights as a folder in the layout of the Hub.

    Args:
        weights: the file of weights.
        folder: the folder to write.
        name: the name of the model.
        license: the license of the weights.
    """
    write_model_folder(weights, folder, name=name, license=license)
    _report(folder)


def send(folder: Positional[Path], repository: Positional[str], *, private: bool = False) -> None:
    """Upload a folder to the Hub.

    Args:
        folder: the folder that was written.
        repository: the repository, user/name.
        private: whether a new repository is private.
    """
    print(upload(folder, repository, private=private))


def fetch(repository: Positional[str], folder: Positional[Path], *, revision: str | None = None) -> None:
    """Download a model from the Hub, and check it.

    Args:
        repository: the repository, user/name.
        folder: the folder to write.
        revision: a branch, tag or commit.
    """
    download(repository, folder, revision=revision)
    _report(folder)


def _report(folder: Path) -> None:
    kind, rules, path = read_model_folder(folder)
    print(f"{path}: weights of {kind} for {rules.to_dict()}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    tyro.extras.subcommand_cli_from_dict({"write": write, "upload": send, "download": fetch}, args=arguments)


if __name__ == "__main__":
    with handle_signals("share_weights"):
        main()
