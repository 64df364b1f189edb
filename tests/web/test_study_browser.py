"""The analysis board, the lessons and shared addresses in a real browser."""

import base64
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import FrameLocator, Page, expect

from genial_env import Rules, play
from genial_env.analysis.puzzle_ratings import rated_puzzles
from genial_env.analysis.puzzles import parse_puzzle
from genial_env.core.actions import cell_name
from genial_env.core.tables import tables
from genial_env.records import format_position, replay_decisions, to_json_line
from genial_env.render.replay_page import replay_html, replay_iframe
from tests.conftest import GUARD
from tests.served import Browser

pytestmark = pytest.mark.slow
expect.set_options(timeout=1000 * GUARD)

RECORD = (play(["greedy", "concave"], Rules(), seed=4, record=True).records or [])[0]
FOUND = replay_decisions(RECORD)
MIDDLE = format_position(FOUND.states.select(np.array([18])), draws=False)
PHONE = {"width": 390, "height": 844}


def button(page: Page, words: str) -> Any:
    return page.get_by_role("button", name=words, exact=True)


def address_of(text: str) -> str:
    return f"/#/analysis/{text.replace(' ', '_')}"


def judged(page: Page) -> None:
    expect(page.locator(".judged-moves li")).not_to_have_count(0)
    expect(page.locator(".judged-moves")).to_contain_text("±")


def test_moves_are_judged_tried_and_taken_back(open_page: Callable[..., Page]) -> None:
    page = open_page(address_of(MIDDLE))
    judged(page)
    moves = page.locator(".judged-moves button")
    moves.nth(0).click()
    button(page, "Lay it").click()
    expect(page.locator(".variations li")).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("The position as text")).to_have_value(MIDDLE)
    judged(page)
    moves.nth(4).dblclick()
    expect(page.locator(".branch li")).to_have_count(1)
    page.reload()
    expect(page.locator(".branch li")).to_have_count(1)
    button(page, "Remove").click()
    expect(page.locator(".variations li")).to_have_count(2)
    button(page, "Save").click()
    page.locator(".saved summary").click()
    expect(page.locator(".saved li")).to_have_count(1)


def test_an_edited_position_is_analysed_and_an_impossible_one_refused(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/analysis")
    button(page, "Edit the position").click()
    t = tables(Rules())
    free = [cell for cell in range(t.n_cells) if cell not in t.start_symbols.tolist()]
    first, second = next((a, b) for a, b in t.placements.tolist() if a in free and b in free)
    button(page, "blue snowflake").click()
    page.locator(f'.cell[data-cell="{first}"]').click()
    button(page, "Use this position").click()
    expect(page.locator(".editor .problem")).to_contain_text("no tiles of the box cover all cells")
    page.locator(f'.cell[data-cell="{second}"]').click()
    page.get_by_label("Rack: Seat 1").fill("RR GG BB OO YY PP")
    page.get_by_label("Rack: Seat 2").fill("6")
    page.get_by_label("Marker red: Seat 1").fill("17")
    page.get_by_label("Edition").select_option("2009")
    button(page, "Use this position").click()
    judged(page)
    text = page.get_by_label("The position as text").input_value()
    assert " RRGGBBOOYYPP/6 17,0,0,0,0,0/" in text
    assert "edition=2009" in text
    page.get_by_label("The position as text").fill(text.replace("RRGGBB", "RRRRRRRRRRRR"))
    button(page, "Use this text").click()
    expect(page.locator(".problem:visible")).to_contain_text("racks, seat 0")


def test_a_position_is_played_on_against_an_agent(open_page: Callable[..., Page]) -> None:
    page = open_page(address_of(MIDDLE))
    judged(page)
    page.get_by_label("Opponent").select_option("greedy")
    button(page, "Play on").click()
    page.locator(".my-rack button:enabled").first.click()
    for number in range(91):
        cell = page.locator(f'.cell[data-cell="{number}"]')
        if cell.evaluate("cell => cell.children.length === 1"):
            cell.click()
            if button(page, "Lay it").is_enabled():
                break
    button(page, "Lay it").click()
    expect(page.locator(".variations li")).not_to_have_count(1)
    expect(page.locator(".my-rack button:enabled")).not_to_have_count(0)
    assert page.locator(".panel .facedown").count() == 12  # both halves of six tiles
    button(page, "End the game").click()
    expect(page.locator(".panel .facedown")).to_have_count(0)


def test_a_puzzle_is_solved(open_page: Callable[..., Page]) -> None:
    name, found = next(
        (name, each)
        for name, each in rated_puzzles().items()
        if each["kind"] == "endgame" and each["record"]["rules"]["players"] == 2
    )
    puzzle = parse_puzzle({key: value for key, value in found.items() if key != "rating"})
    slot, placement = puzzle.state.tables.split_action(puzzle.best[0])
    cells = puzzle.state.tables.placements[placement].tolist()
    page = open_page(f"/#/lessons/puzzle/{name}", viewport=PHONE)
    page.locator(f'.my-rack [data-act="tile-{slot}"]').click()
    page.locator(f'.cell[data-cell="{cells[0]}"]').click()
    where = " ".join(cell_name(puzzle.rules, tuple(puzzle.state.tables.cells[cell].tolist())) for cell in cells)
    for _ in range(6):
        if page.locator(".preview").inner_text().startswith(f"{where}:"):
            break
        button(page, "Rotate").click()
    button(page, "Lay it").click()
    expect(page.locator(".right")).to_contain_text("Solved!")
    stored = json.loads(page.evaluate("localStorage.getItem('genial-solver')"))
    assert stored["solved"] == 1
    assert stored["rating"] > 0
    button(page, "Next").click()
    expect(page.locator(".right")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_an_address_of_a_decision_is_opened(open_page: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    file.write_text(to_json_line(RECORD))
    page = open_page("/#/replay")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.locator(".status")).to_contain_text("The deal")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    shared = page.url
    assert shared.endswith("/2")
    words = page.locator(".status").inner_text()
    other = open_page(shared[shared.index("/#") :])
    expect(other.locator(".status")).to_have_text(words)
    other.locator("summary", has_text="Share").click()
    with other.expect_download() as saved:
        button(other, "Game record").click()
    assert Path(saved.value.path()).read_text() == file.read_text()
    cut = open_page(shared[shared.index("/#") : -40])
    expect(cut.locator(".card[role=alert]")).to_contain_text("cut off, or changed")


def test_mistakes_of_a_review_become_lessons(open_page: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    file.write_text(to_json_line(RECORD))
    page = open_page("/#/replay")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Level").select_option("fast")
    button(page, "Review this game").click()
    expect(page.locator(".report.done")).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".judged .sign")).to_have_text(re.compile(r"^\?"))
    button(page, "Keep my mistakes as puzzles").click()
    page.locator(".report a", has_text="new puzzle").click()
    expect(page.locator(".status")).to_have_text("Find a better move.")
    page.go_back()
    page.locator(".judged a", has_text="Try again").click()
    expect(page.locator(".my-rack button:enabled")).not_to_have_count(0)


def test_a_game_in_progress_is_stepped_through(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.decide(session.new_game(None, "greedy"))
    page = open_page(f"/#/game/{game['id']}", session=session)
    page.get_by_role("link", name="Step through this game").click()
    expect(page.locator(".status")).to_contain_text("The deal")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".status")).to_contain_text("1 of ")
    assert page.locator(".panel .facedown").count() == 12
    page.get_by_role("link", name="Analyse", exact=True).last.click()
    expect(page.locator(".analysis")).to_be_visible()


def test_a_replay_by_its_address_and_in_pages_of_its_own(open_page: Callable[..., Page]) -> None:
    html = replay_html(RECORD)
    data = re.search(r'id="game">(.*?)</script>', html)
    assert data is not None
    squeezed = zlib.compressobj(wbits=-15)
    packed = base64.urlsafe_b64encode(squeezed.compress(data[1].encode()) + squeezed.flush()).decode().rstrip("=")
    page = open_page(f"/embed#{packed}")
    step_through(page)
    page.goto("about:blank")
    page.set_content(html)
    step_through(page)
    page.set_content(f"<!doctype html>{replay_iframe(RECORD)}")
    step_through(page.frame_locator("iframe"))


def step_through(place: Page | FrameLocator) -> None:
    """Go a step on in a replay."""
    expect(place.locator("p")).to_contain_text("0 / ")
    place.locator("button").last.click()
    expect(place.locator("p")).to_contain_text("1 / ")
    assert place.locator(".board g").count() == 91
