"""The command that installs what is missing fits how the package was installed."""

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from genial_env._util import extras
from genial_env._util.extras import install_hint


class Installed:
    """Metadata of an installed package."""

    def __init__(self, origin: object) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'genial-env[fast]'"),
        ({"url": "file:///a/clone", "dir_info": {"editable": True}}, "pip install -e '/a/clone[fast]'"),
        ({"url": "file:///a%20b", "dir_info": {"editable": True}}, "pip install -e '/a b[fast]'"),
        ({"url": "file:///a/clone", "dir_info": {}}, "pip install 'genial-env[fast] @ file:///a/clone'"),
        ({"url": "file:///a/g.whl", "archive_info": {}}, "pip install 'genial-env[fast] @ file:///a/g.whl'"),
        (
            {"url": "https://a.b/g", "vcs_info": {"vcs": "git", "commit_id": "c0"}},
            "pip install 'genial-env[fast] @ git+https://a.b/g@c0'",
        ),
    ],
)
def test_hints(origin: object, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "distribution", lambda name: Installed(origin))
    assert install_hint("fast") == command


def test_in_the_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    origin = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    monkeypatch.setattr(extras, "distribution", lambda name: Installed(origin))
    assert install_hint("fast") == "pip install -e '.[fast]'"


def test_a_clone_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "distribution", missing)
    monkeypatch.chdir(Path(extras.__file__).parents[2])
    assert install_hint("arena") == "pip install -e '.[arena]'"
