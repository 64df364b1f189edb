"""`genial position`."""

from pathlib import Path

import pytest

from genial_env import Rules
from genial_env.cli.common import UserError
from genial_env.cli.position import position
from genial_env.core import kernel
from genial_env.records import format_position

TEXT = format_position(kernel.deal(Rules(), 1), seat=0)


def test_it_shows_a_position(capsys: pytest.CaptureFixture[str]) -> None:
    position(TEXT, seat=0)
    shown = capsys.readouterr().out
    assert "BP" in shown
    assert shown.endswith(f"{TEXT}\n")


def test_it_draws_a_position(tmp_path: Path) -> None:
    position(TEXT, out=tmp_path / "drawn.svg", width=300)
    assert 'width="300"' in (tmp_path / "drawn.svg").read_text()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"text": "nothing"}, "expected the fields board, racks"),
        ({"text": TEXT, "out": Path("a.gif")}, "must end in .svg or .png"),
        ({"text": TEXT, "seat": 2}, "seat"),
        ({"text": TEXT, "width": 10}, "width is for a picture"),
    ],
)
def test_what_is_refused(sent: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        position(**{"out": None, "seat": None, "width": None, **sent})  # type: ignore[arg-type]
