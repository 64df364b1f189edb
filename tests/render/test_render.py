"""Positions as text, as drawings and as pixels."""

import io
import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest
from colorspacious import cspace_convert
from gymnasium.wrappers import RecordVideo
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image

from genial_env import Rules, genial_v0, play, view
from genial_env.core.actions import cell_name
from genial_env.core.rules import COLOR_LETTERS
from genial_env.core.state import FREE
from genial_env.envs.vector import GenialVectorEnv
from genial_env.records import Record, replay
from genial_env.render import RENDER_MODES, draw, notebook, pixels, theme
from genial_env.render.ansi import board_text, named_text, rack_text
from genial_env.render.film import draw_record, last_move
from genial_env.render.lines import scoring_lines
from genial_env.render.svg import (
    Notes,
    around,
    board_svg,
    centre,
    markers_svg,
    position_svg,
    rack_svg,
    tile_svg,
)
from tests.positions import every_rules, random_play

ESCAPE = re.compile("\x1b\\[[0-9;]*m")


@every_rules
def test_every_cell_marker_and_rack_is_there(rules: Rules) -> None:
    state = random_play(rules, games=2, seed=0, steps=12)
    text = board_text(state, row=1, color=False)
    lines = text.splitlines()
    board, rest = lines[: 2 * rules.side - 1], lines[2 * rules.side :]
    assert sum(len(line.split()) for line in board) == state.board.shape[1]
    assert sum(line.count("·") for line in board) == (state.board[1] < 0).sum()
    letters = "".join(board).replace("·", "").replace(" ", "")
    assert sum(letter.islower() for letter in letters) == rules.colors
    assert len(rest) == 1 + rules.tracks + rules.players
    colored = ESCAPE.sub("", board_text(state, row=1)).splitlines()
    assert [line.rstrip() for line in colored] == [line.rstrip() for line in lines]


def test_racks_are_hidden_from_others_and_the_last_tile_stands_out() -> None:
    state = random_play(Rules(3), games=1, seed=0, steps=4)
    text = board_text(state, color=False, last=[(0, 0)], seat=2)
    assert text.count("??") == 12
    assert "[·]" in text


def test_cells_by_name() -> None:
    state = random_play(Rules(), games=1, seed=0, steps=5)
    cells = {cell_name(state.rules, tuple(cell)): number for number, cell in enumerate(state.tables.cells.tolist())}
    board = named_text(state, color=False).split("\n\n")[0].splitlines()
    assert [line.strip()[0] for line in board] == [line[-1] for line in board] == list("ABCDEFGHIJK")
    for line in board:
        letter, shown, _ = line.strip().split("|")
        for number, word in enumerate(shown.split(), 1):
            color = int(state.board[0, cells[f"{letter}{number}"]])
            assert word.upper() == (str(number) if color < 0 else COLOR_LETTERS[color])
    assert board == board_text(state, color=False, named=True).split("\n\n")[0].splitlines()
    assert "\x1b[2m" in named_text(state)
    assert ESCAPE.sub("", named_text(state)) == named_text(state, color=False)


def test_a_rack_with_its_slots() -> None:
    state = random_play(Rules(), games=1, seed=0, steps=4)
    state.racks[0, 1] = [0, -1, 1, -1, -1, 20]
    assert rack_text(state, 1, color=False) == "rack 1  0:RR  2:RG  5:PP"


# Drawings


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def groups(svg: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in svg.iter() if element.get("class") == name]


def shapes(element: ElementTree.Element) -> list[str]:
    """The color letters of the shapes in it, which have their colors."""
    used = [child.get("href").removeprefix("#genial-") for child in element.iter() if child.tag.endswith("use")]
    return [name for name in used if name in theme.SYMBOLS]


def games(rules: Rules, seed: int = 0) -> Record:
    return play(["greedy"] * rules.players, rules, 1, seed, record=True).records[0]


@every_rules
def test_a_drawing_shows_the_position(rules: Rules) -> None:
    state = random_play(rules, games=2, seed=0, steps=12)
    svg = drawn(position_svg(state, 1, names=[f"agent {seat}" for seat in range(rules.players)]))
    cells = groups(svg, "cell")
    assert [int(cell.get("data-cell")) for cell in cells] == list(range(state.board.shape[1]))
    seen = ["".join(shapes(cell)) for cell in cells]
    assert seen == ["" if color < 0 else "RGBOYP"[color] for color in state.board[1].tolist()]
    markers = groups(svg, "marker")
    assert ["".join(shapes(marker)) for marker in markers] == list("RGBOYP"[: rules.colors]) * rules.tracks
    numbers = [next(text.text for text in marker.iter() if text.tag.endswith("text")) for marker in markers]
    assert numbers == [str(marker) for marker in state.scores[1].ravel().tolist()]
    racks = groups(svg, "rack")
    assert sorted(int(rack.get("data-seat")) for rack in racks) == list(range(rules.players))
    for rack in racks:
        kinds = [kind for kind in state.racks[1, int(rack.get("data-seat"))].tolist() if kind >= 0]
        assert "".join(shapes(rack)) == "".join("RGBOYP"[half] for kind in kinds for half in state.tables.kinds[kind])


def test_an_onlooker_sees_no_rack_but_its_own() -> None:
    state = random_play(Rules(3), games=1, seed=0, steps=4)
    for seat in range(3):
        racks = groups(drawn(position_svg(state, seat=seat)), "rack")
        assert [bool(shapes(rack)) for rack in racks] == [holder == seat for holder in range(3)]
        assert all(len(groups(rack, "slot")) == 6 for rack in racks)


@pytest.mark.parametrize(
    "rules", [Rules(), Rules(3, "2004"), Rules(4, "2009", "team"), Rules(1, "2009", "solo")], ids=str
)
def test_the_lines_add_up_to_the_points(rules: Rules) -> None:
    """For every tile of a game the lines drawn are what the kernel scored."""
    record = games(rules)
    placed = 0
    for number, event in enumerate(record["events"], 1):
        if event[0] == "place":
            move = last_move(record, number)
            lines = scoring_lines(replay(record, number), 0, move.first, move.second)
            points: dict[str, int] = {}
            for line in lines:
                points[line.letter] = points.get(line.letter, 0) + line.points
            assert points == event[7]
            placed += 1
            if placed == 20:
                break
    assert placed == 20


def test_a_move_stands_out() -> None:
    record = games(Rules())
    svg = drawn(draw_record(record, 20))
    assert len(groups(svg, "last")) == 2
    move = last_move(record, 20)
    lines = move.notes(replay(record, 20)).lines
    assert len(groups(svg, "line")) == len(groups(svg, "points")) == len(lines)
    assert not groups(drawn(draw_record(record, 0)), "last")
    with pytest.raises(ValueError, match=r"a half must lie on \(0, 0\), which is free"):
        scoring_lines(replay(record, 0), 0, (0, 0), (1, 0))
    with pytest.raises(ValueError, match=r"\(9, 0\), which is off the board"):
        scoring_lines(replay(record, 0), 0, (9, 0), (8, 0))


def test_notes_on_a_board() -> None:
    state = random_play(Rules(), games=1, seed=0, steps=0)
    svg = drawn(board_svg(state, notes=Notes(ghosts={(0, 0): "R"}, labels={(1, 0): "7"}), width=500))
    assert svg.get("width") == "500"
    by_number = {int(cell.get("data-cell")): cell for cell in groups(svg, "cell")}
    index = state.tables.cell_index
    assert shapes(by_number[index[0, 0]]) == ["R"]
    assert "".join(by_number[index[1, 0]].itertext()) == "7"
    assert shapes(drawn(tile_svg(Rules(), 1))) == ["R", "G"]


def test_a_part_of_a_board() -> None:
    state = random_play(Rules(), games=1, seed=0, steps=20)
    index = state.tables.cell_index
    part = around(state.rules, [(0, 0), (1, 0)], 2)
    svg = drawn(board_svg(state, only=part, notes=Notes(labels={(0, 0): "7"})))
    cells = groups(svg, "cell")
    assert [int(cell.get("data-cell")) for cell in cells] == sorted(index[cell] for cell in part)
    whole = {cell.get("data-cell"): shapes(cell) for cell in groups(drawn(board_svg(state)), "cell")}
    assert all(shapes(cell) == whole[cell.get("data-cell")] for cell in cells)
    assert float(svg.get("width")) == pytest.approx(6 * 3**0.5 * 20 + 2, abs=0.01)
    assert float(svg.get("height")) == pytest.approx(8 * 20 + 2, abs=0.01)
    assert pixels.rgb_array(board_svg(state, only=[(3, 1)])).shape == (42, 38, 3)
    assert around(state.rules, [(5, 0)]) == {(5, 0), (4, 0), (4, 1), (5, -1)}
    assert around(state.rules, [(0, 0)], 0) == {(0, 0)}
    for nothing in ([], [(9, 0)]):
        with pytest.raises(ValueError, match="only must name cells of a board of side 6, not "):
            board_svg(state, only=nothing)


def test_names_of_cells() -> None:
    """They are those of the command line, on free cells and beside the rows; without the option nothing changes."""
    state = random_play(Rules(), games=1, seed=0, steps=9)
    rules, free = state.rules, np.flatnonzero(state.board[0] == FREE)
    words = [
        text.text or "" for text in drawn(board_svg(state, cell_names=True)).iter("{http://www.w3.org/2000/svg}text")
    ]
    named = [cell_name(rules, (q, r)) for q, r in state.tables.cells.tolist()]
    rows = sorted({name[0] for name in named})
    assert words[: len(free)] == [named[cell][1:] for cell in free]
    assert sorted(words[len(free) :]) == sorted(rows * 2)
    assert not list(drawn(board_svg(state)).iter("{http://www.w3.org/2000/svg}text"))
    whole = [text.text for text in drawn(position_svg(state, cell_names=True)).iter("{http://www.w3.org/2000/svg}text")]
    assert [words in whole for words in rows] == [True] * len(rows)


@every_rules
def test_markers_and_racks_alone(rules: Rules) -> None:
    """The same as beside a board."""
    state = random_play(rules, games=2, seed=0, steps=12)
    whole = drawn(position_svg(state, 1))
    for track in range(rules.tracks):
        alone = groups(drawn(markers_svg(state, 1, track)), "marker")
        beside = groups(whole, "marker")[track * rules.colors : (track + 1) * rules.colors]
        assert ["".join(marker.itertext()) for marker in alone] == ["".join(marker.itertext()) for marker in beside]
        assert [shapes(marker) for marker in alone] == [shapes(marker) for marker in beside]
    for rack in groups(whole, "rack"):
        alone = drawn(rack_svg(state, 1, int(rack.get("data-seat"))))
        assert len(groups(alone, "slot")) == rules.rack
        assert shapes(alone) == shapes(rack)
        assert not shapes(drawn(rack_svg(state, 1, int(rack.get("data-seat")), hidden=True)))


def test_markers_that_moved_and_what_stands_out() -> None:
    state = random_play(Rules(4, "2009", "team"), games=1, seed=0, steps=0)
    state.scores[0, 0, 1] = 18
    svg = drawn(markers_svg(state, letters="RG", moved={"G": (16, 5)}, marked="R"))
    red, green = groups(svg, "marker")
    assert ["".join(red.itertext()), "".join(green.itertext())] == ["0R", "16 + 518G"]
    assert (len(groups(red, "way")), len(groups(green, "way"))) == (0, 1)
    assert len(groups(svg, "marked")) == 1
    assert [text.text for text in svg if text.tag.endswith("text")] == ["0", "18", "36"]
    state.racks[0, 0] = [0, 1, -1, 7, 11, -1]  # RR RG -- GB BB --
    svg = drawn(rack_svg(state, marked="G"))
    assert [len(groups(slot, "marked")) for slot in groups(svg, "slot")] == [0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\"&'", "\x00\x1b[31m\u202e", "名前" * 40, ""])
def test_strange_names_are_words(name: str) -> None:
    state = random_play(Rules(), games=1, seed=0, steps=2)
    svg = position_svg(state, names=[name, "b"])
    assert "<script" not in svg
    assert not [element for element in drawn(svg).iter() if element.tag.endswith("script")]
    pixels.png(svg)
    with pytest.raises(ValueError, match="names must be 2, one a seat, not 1"):
        position_svg(state, names=[name])


# Colors


SIGHTS = [None, "protanomaly", "deuteranomaly", "tritanomaly"]


def rgb(color: str) -> np.ndarray:
    return np.array(list(bytes.fromhex(color[1:]))) / 255


@pytest.mark.parametrize("sight", SIGHTS)
def test_colors_are_told_apart(sight: str | None) -> None:
    space = {"name": "sRGB1+CVD", "cvd_type": sight, "severity": 100} if sight else "sRGB1"
    seen = [
        cspace_convert(np.clip(cspace_convert(rgb(c), space, "sRGB1"), 0, 1), "sRGB1", "CAM02-UCS")
        for c in theme.COLORS.values()
    ]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 15.9


def test_colors_stand_out_from_tiles() -> None:
    def light(color: str) -> float:
        parts = rgb(color)
        return float(
            np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
        )

    for color in theme.COLORS.values():
        assert (light(color) + 0.05) / (light(theme.TILE) + 0.05) >= 3
    assert len(set(theme.SHAPES.values())) == len(set(theme.SYMBOLS.values())) == 6


# Pixels


def test_pixels_have_the_colors_of_the_cells() -> None:
    """In the middle of every half of a filled shape is its color, on free cells that of the board."""
    state = random_play(Rules(), games=1, seed=0, steps=12)
    image = pixels.rgb_array(board_svg(state))
    assert image.dtype == np.uint8
    height, width, _ = image.shape
    for number, cell in enumerate(state.tables.cells.tolist()):
        x, y = centre(tuple(cell))
        found = image[round(height / 2 + y), round(width / 2 + x)]
        what = int(state.board[0, number])
        expected = theme.FREE if what < 0 else theme.TILE if "RGBOYP"[what] == "P" else theme.COLORS["RGBOYP"[what]]
        assert np.abs(found - 255 * rgb(expected)).max() < 12, (cell, what)


def test_pictures_as_files() -> None:
    record = games(Rules(side=4, colors=4, rack=3))
    assert Image.open(io.BytesIO(pixels.png(draw_record(record), 301))).width == 301
    assert pixels.rgb_array(draw_record(record), 301).shape[1] == 302
    film = Image.open(io.BytesIO(pixels.gif([draw_record(record, number) for number in (0, 2, 4)], 0.2, 200)))
    assert (film.n_frames, film.width) == (3, 200)
    with pytest.raises(ValueError, match="width must be 1 to 8192, not 0"):
        pixels.png(draw_record(record), 0)
    with pytest.raises(ValueError, match="takes at least one drawing"):
        pixels.gif([], 1)


@pytest.mark.parametrize("width", [0, 0.5, -5, 8193, 1e9, float("nan"), float("inf")])
def test_a_drawing_has_a_width_that_can_be_drawn(width: float) -> None:
    with pytest.raises(ValueError, match="width must be"):
        position_svg(random_play(Rules(), games=1, seed=0, steps=4), width=width)


@pytest.mark.parametrize(
    ("svg", "told"),
    [
        ('<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="50000"/>', "not 100000 by 50000"),
        ('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="1e7"/>', "at most 8192 by 8192 pixels"),
        ('<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"/>', "not 0 by 0"),
        ('<svg xmlns="http://www.w3.org/2000/svg" width="nan" height="5"/>', "at most 8192"),
        ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 10000000"/>', "with its width and height in pixels"),
        ("no drawing", "must be SVG"),
        ("", "must be SVG"),
    ],
)
def test_no_picture_is_too_large_for_memory(svg: str, told: str) -> None:
    """Resvg would abort the process, without an exception."""
    with pytest.raises(ValueError, match=told):
        pixels.png(svg)
    with pytest.raises(ValueError, match=r"SVG|at most 2048"):
        pixels.gif([svg])


def test_the_width_of_a_picture_does_not_make_it_too_high() -> None:
    tall = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="100"/>'
    assert Image.open(io.BytesIO(pixels.png(tall, 20))).size == (20, 200)
    with pytest.raises(ValueError, match="not 1000 by 10000"):
        pixels.rgb_array(tall, 1000)


# Modes


def test_environments_render() -> None:
    for make in (lambda mode: gym.make("genial_env/Genial-v0", render_mode=mode, seat=1), genial_v0_env):
        for mode in ("svg", "rgb_array", "ansi"):
            env = make(mode)
            env.reset(seed=0)
            shown = env.render()
            assert shown.shape[2] == 3 if mode == "rgb_array" else "seat 0" in shown
    envs = GenialVectorEnv(2, render_mode="svg")
    envs.reset(seed=0)
    assert [svg[:4] for svg in envs.render()] == ["<svg", "<svg"]
    with pytest.raises(ValueError, match="unknown render mode 'human': the modes are None, ansi, svg, rgb_array"):
        GenialVectorEnv(2, render_mode="human")


def genial_v0_env(mode: str) -> genial_v0.env:
    return genial_v0.env(render_mode=mode)


def test_a_rendered_move_is_marked_and_survives_copies() -> None:
    env = gym.make("genial_env/Genial-v0", render_mode="svg", opponents="greedy").unwrapped
    _, info = env.reset(seed=0)
    assert 'class="last"' not in env.render()
    env.step(int(info["action_mask"].argmax()))
    shown, state = env.render(), env.get_state()
    assert shown.count('class="last"') == 2
    env.reset(seed=1)
    env.set_state(state)
    assert env.render() == shown


def test_colors_of_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    state = random_play(Rules(), games=1, seed=0, steps=4)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in draw("ansi", state)
    assert draw("human", state) is None
    assert "\x1b[" not in capsys.readouterr().out  # no terminal
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in draw("ansi", state)
    assert RENDER_MODES == ["human", "ansi", "svg", "rgb_array"]


def test_video(tmp_path: Path) -> None:
    env = gym.make("genial_env/Genial-v0", render_mode="rgb_array", side=4, colors=4, rack=3)
    env = RecordVideo(env, str(tmp_path / "videos"))
    _, info = env.reset(seed=0)
    for _ in range(3):
        *_, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    (video,) = tmp_path.glob("videos/*.mp4")
    assert video.stat().st_size > 1000


# Notebooks


def test_notebooks_show_states_views_and_records() -> None:
    state = random_play(Rules(), games=3, seed=0, steps=4)
    formatter = InteractiveShell.instance().display_formatter
    shown = formatter.format(state)[0]["image/svg+xml"]
    assert "The first of 3 games" in shown
    assert all(shapes(rack) for rack in groups(drawn(shown), "rack"))
    shown = formatter.format(view(state, 1))[0]["image/svg+xml"]
    assert "The first of 3 games" in shown
    assert [bool(shapes(rack)) for rack in groups(drawn(shown), "rack")] == [False, True]
    counts = [text.text for text in drawn(shown).iter() if text.tag.endswith("text")]
    unseen = view(state, 1).unseen[0]
    assert counts[-(unseen > 0).sum() :] == [str(count) for count in unseen.tolist() if count]
    record = games(Rules())
    shown = formatter.format(record)[0]["text/html"]
    assert shown.startswith("<svg")
    assert "seat 0 lays" in shown
    record["events"][0][2] += 1
    assert "does not replay" in notebook.record_html(record)
    assert not notebook.is_running()


def test_shapes_are_defined_once() -> None:
    svg = drawn(position_svg(random_play(Rules(), games=1, seed=0, steps=4)))
    paths = {path.get("id"): (path.get("d"), path.get("fill")) for path in svg.iter() if path.tag.endswith("path")}
    assert paths == {f"genial-{letter}": (path, theme.COLORS[letter]) for letter, path in theme.SYMBOLS.items()}
    used = {use.get("href")[1:] for use in svg.iter() if use.tag.endswith("use")}
    assert used <= {element.get("id") for element in svg.iter()}
