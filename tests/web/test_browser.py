"""The page of `genial serve` in a real browser, by clicks, keys and taps. Skipped where there is no Chromium."""

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from genial_env import Rules, play
from genial_env.core.actions import cell_name
from genial_env.records import replay_decisions, to_json_line, truncate
from genial_env.web._opponents import RATINGS
from genial_env.web._work_queue import Task
from tests.conftest import GUARD
from tests.served import Browser, Slow

pytestmark = pytest.mark.slow

PHONE = {"width": 360, "height": 640}


def button(page: Page, words: str) -> Any:
    return page.get_by_role("button", name=words, exact=True)


def begin_small(page: Page, opponent: str = "greedy") -> None:
    """Begin a game on a small board by the form."""
    expect(page.locator(".seats select")).to_have_count(2)
    page.get_by_text("Seed and variants").click()
    page.get_by_label("Seed", exact=True).fill("3")
    page.get_by_label("Cells along an edge").fill("4")
    page.locator(".seats select").nth(1).select_option(opponent)
    button(page, "Begin").click()
    expect(page.locator(".my-rack")).to_be_visible()


def free_cells(page: Page) -> list[int]:
    free = "[...document.querySelectorAll('.cell:not(.cannot)')].filter(each => each.children.length === 1)"
    found: list[int] = page.evaluate(f"{free}.map(each => Number(each.dataset.cell))")
    return found


def roomy(game: dict[str, Any]) -> int:
    """A cell where the tile can be turned."""
    return Counter(chain.from_iterable(game["choice"]["pairs"])).most_common(1)[0][0]


def cell(page: Page, number: int) -> Any:
    return page.locator(f'.cell[data-cell="{number}"]')


def lay_somewhere(page: Page) -> None:
    """Lay the first tile on the first cell where there is room, by clicks."""
    page.locator(".my-rack button").first.click()
    for number in free_cells(page):
        cell(page, number).click()
        if button(page, "Lay it").is_enabled():
            break
    button(page, "Lay it").click()


def wait_for_turn(page: Page) -> str:
    """Wait until the person is asked something, or the game is over; which of "lay", "swap" and "end" it is."""
    asked = page.locator('.my-rack button:enabled, button:has-text("Keep them"):enabled, .ending')
    expect(asked.first).to_be_visible()
    if page.locator(".ending").count():
        return "end"
    return "swap" if button(page, "Keep them").count() else "lay"


def width_of(page: Page) -> int:
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width


def a_record(*agents: str, **rules: Any) -> dict[str, Any]:
    records = play(list(agents), Rules(len(agents), **rules), seed=4, record=True).records
    assert records is not None
    return records[0]


def test_a_whole_game_by_clicks_and_its_review(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page()
    begin_small(page)
    while (asked := wait_for_turn(page)) != "end":
        if asked == "swap":
            button(page, "Keep them").click()
        else:
            lay_somewhere(page)
    expect(page.locator(".ending")).to_contain_text("Markers, lowest first")
    expect(page.locator(".ending")).to_contain_text("against")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the record").click()
    download.value.save_as(tmp_path / "game.jsonl")
    record = json.loads((tmp_path / "game.jsonl").read_text())
    assert record["agents"] == ["person", "greedy"]

    expect(page.get_by_role("link", name="Review this game")).to_be_in_viewport()
    page.get_by_role("link", name="Review this game").click()
    expect(page.locator(".chart")).to_be_visible()
    expect(page.locator(".panel .name").first).to_have_text("You")
    page.route("**/api/review?*", lambda route: route.abort())  # the review survives a reload
    page.reload()
    expect(page.locator(".chart")).to_be_visible()
    decisions = [event for event in record["events"] if event[0] != "draw"]
    expect(page.locator("ol.moves li")).to_have_count(len(decisions))
    page.locator("ol.moves button").nth(2).click()
    expect(page.locator(".judged")).to_contain_text("worth")
    expect(page.locator(".report .luck")).to_contain_text("without luck")
    expect(page.locator(".alternative")).not_to_have_count(0)
    letters = "".join(page.locator(".pill:not(.square)").all_text_contents())
    assert sorted(letters) == list("ABC")[: page.locator(".alternative").count()]
    page.locator(".alternative").first.click()
    expect(page.locator(".ghost.better")).to_have_count(2)
    page.get_by_text("As a table").click()
    expect(page.locator(".report tbody tr")).to_have_count(len(decisions))
    page.locator(".board").click()
    page.keyboard.press("End")
    expect(page.locator(".status")).to_contain_text(f"{len(decisions)} of {len(decisions)}")


def test_the_tile_in_hand(open_page: Callable[..., Page], session: Browser) -> None:
    """Hovering shows what a placement scores; keys, the wheel and a button turn it; nothing is played before Enter."""
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session)
    page.locator(".my-rack button").nth(1).click()
    anchor = roomy(game)
    cell(page, anchor).hover()
    expect(page.locator(".ghost")).to_have_count(2)
    expect(page.locator(".preview")).to_contain_text("point")
    seen = {page.locator(".preview").text_content()}
    for turn in (
        lambda: page.keyboard.press("r"),
        lambda: page.mouse.wheel(0, 100),
        lambda: page.keyboard.press("R"),
    ):
        before = page.locator(".preview").text_content()
        turn()
        expect(page.locator(".preview")).not_to_have_text(str(before))
        seen.add(page.locator(".preview").text_content())
    assert len(seen) == 3  # on, on again, and back
    cell(page, anchor).click()
    expect(page.locator(".ghost.fixed")).to_have_count(2)
    expect(button(page, "Lay it")).to_be_enabled()
    page.keyboard.press("Escape")
    expect(button(page, "Lay it")).to_be_disabled()
    cell(page, anchor).click()
    before = page.locator(".preview").text_content()
    button(page, "Rotate").click()
    expect(page.locator(".preview")).not_to_have_text(str(before))
    assert session.seen_by(game, 0)["turn"] == 0
    page.locator(".board").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".mark")).to_have_count(2)
    wait_for_turn(page)
    assert session.seen_by(game, 0)["turn"] >= 2


def test_a_game_by_the_keyboard_alone(open_page: Callable[..., Page]) -> None:
    page = open_page()
    expect(page.locator(".seats select")).to_have_count(2)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Begin":
            break
    page.keyboard.press("Enter")
    expect(page.locator(".my-rack")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("#announce")).to_contain_text("in hand")
    for key in ["ArrowUp"] * 5 + ["ArrowLeft"] * 2:
        page.keyboard.press(key)
    expect(page.locator(".cursor")).to_have_attribute("visibility", "visible")
    expect(page.locator("#announce")).to_contain_text("B")
    page.keyboard.press("Enter")
    expect(page.locator(".ghost.fixed")).to_have_count(2)
    before = page.locator("#announce").text_content()
    page.keyboard.press("r")
    expect(page.locator("#announce")).not_to_have_text(str(before))
    page.keyboard.press("Enter")
    wait_for_turn(page)
    expect(page.locator(".log li")).to_have_count(2)
    assert page.evaluate("document.activeElement.classList.contains('board')")
    page.keyboard.press("h")
    expect(page.locator(".preview")).to_contain_text("Hint:")
    page.keyboard.press("Enter")
    wait_for_turn(page)
    expect(page.locator(".log li")).to_have_count(4)


def test_names_and_opponents(open_page: Callable[..., Page]) -> None:
    """Seats are counted from 1, people can have names, and the form says how strong each agent is."""
    page = open_page()
    seats = page.locator(".seats select")
    expect(seats).to_have_count(2)
    expect(page.locator(".seats label > span")).to_have_text(["Seat 1", "Seat 2"])
    expect(seats.nth(1).locator("option", has_text="denial")).to_have_text(f"denial: good, {RATINGS['denial'][2]}")
    expect(page.locator(".seat-fields").nth(1).locator("input")).to_be_hidden()
    for name in ("greedy", "person"):
        seats.nth(1).select_option(name)
        expect(page.locator(".seat-fields").nth(1).locator(".hint")).to_have_count(1)
    page.get_by_label("Name of the person on seat 1").fill("Ann")
    page.get_by_label("Name of the person on seat 2").fill("Bob")
    page.get_by_text("Seed and variants").click()
    page.get_by_label("Colors").fill("2")
    page.get_by_label("Cells along an edge").fill("9")
    page.get_by_label("Cells along an edge").blur()
    expect(page.locator(".problem")).to_contain_text("1 box of tiles")
    expect(page.locator(".problem")).not_to_contain_text("tile_sets")
    page.get_by_label("Boxes of tiles").fill("12")
    page.get_by_label("Boxes of tiles").blur()
    expect(page.locator(".problem")).to_be_hidden()
    button(page, "Begin").click()
    button(page, "I am Ann: show my tiles").click()
    expect(page.locator(".status")).to_contain_text("Ann’s turn")
    expect(page.locator(".panel .name")).to_have_text(["Ann", "Bob"])


def test_reloading_in_mid_game(open_page: Callable[..., Page]) -> None:
    page = open_page()
    begin_small(page)
    lay_somewhere(page)
    wait_for_turn(page)
    before = [page.locator(what).all_inner_texts() for what in (".log li", ".tracks text")]
    tiles = [tile.get_attribute("aria-label") for tile in page.locator(".my-rack button").all()]
    page.reload()
    wait_for_turn(page)
    assert [page.locator(what).all_inner_texts() for what in (".log li", ".tracks text")] == before
    assert [tile.get_attribute("aria-label") for tile in page.locator(".my-rack button").all()] == tiles
    page.goto(page.url.split("#")[0])
    page.get_by_role("link", name="You, greedy").click()
    expect(page.locator(".log li")).to_have_count(2)


def test_two_browsers_at_once(open_page: Callable[..., Page]) -> None:
    first, second = open_page(), open_page()
    begin_small(first)
    begin_small(second, "random")
    lay_somewhere(first)
    expect(second.locator(".log li")).to_have_count(0)
    second.goto(first.url)
    expect(second.get_by_role("alert")).to_contain_text("another browser's")
    expect(second.locator(".my-rack")).to_have_count(0)
    second.goto(first.url.split("#")[0])
    expect(second.locator(".games li")).to_have_count(1)
    wait_for_turn(first)


def test_people_who_hand_the_device_over(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, None)
    page = open_page(f"/#/game/{game['id']}", session=session)
    for name in ("Seat 1", "Seat 2", "Seat 1"):
        expect(page.locator(".curtain")).to_contain_text(f"Hand over to {name}")
        expect(page.locator(".my-rack, .panel .tile .half")).to_have_count(0)
        button(page, f"I am {name}: show my tiles").click()
        expect(page.locator(".my-rack button")).to_have_count(6)
        page.reload()
        expect(page.locator(".curtain")).to_be_visible()
        button(page, f"I am {name}: show my tiles").click()
        lay_somewhere(page)


def advance_until(session: Browser, game: dict[str, Any], wanted: Callable[[dict[str, Any]], bool]) -> None:
    """Play by requests until the person's decision is of a kind."""
    while not (game["waits"] and wanted(game)):
        game = session.decide(game) if game["waits"] else session.do(game, "advance")


def test_a_bonus_turn_is_announced_and_may_be_declined(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "random", edition="2009", side=6, colors=2, rack=4, tile_sets=6)
    advance_until(session, game, lambda now: now["position"]["phase"] == "bonus")
    page = open_page(f"/#/game/{game['id']}", session=session)
    expect(page.locator(".status")).to_contain_text(re.compile(r"Bonus turn \(.* arrives at \d+\)!"))
    page.locator(".log summary").click()
    expect(page.locator(".log li", has_text=": a bonus turn").last).to_contain_text("arrives at")
    button(page, "Decline the bonus").click()
    expect(page.locator(".log li", has_text="You decline a bonus")).to_have_count(1)


def test_one_bonus_turn_a_tile_can_be_chosen(open_page: Callable[..., Page]) -> None:
    page = open_page()
    expect(page.locator(".seats select")).to_have_count(2)
    page.get_by_text("Seed and variants").click()
    page.get_by_label("One bonus turn a tile").check()
    button(page, "Begin").click()
    expect(page.locator(".my-rack")).to_be_visible()
    page.goto(page.url.split("#")[0])
    expect(page.locator(".games")).to_contain_text("one bonus turn a tile")


def test_two_arrivals_with_one_tile_are_announced_as_one_bonus_turn(open_page: Callable[..., Page]) -> None:
    """The words for a tile that brings two markers to 18, by the printed rules and by the variant."""
    page = open_page()
    words = """async (bonuses) => {
      const { describePlacement } = await import("/static/placement.js");
      const rules = { colors: "RGBOYP", bonus_stops: [18], furthest: Array(19).fill(18), bonuses_a_tile: bonuses };
      const game = { rules, position: { scores: [[17, 0, 16, 0, 0, 0]], track_to_play: 0 } };
      const placement = { fits: true, tile: "RB", cells: [0, 1], halves: [1, 2], points: { R: 1, B: 2 } };
      return describePlacement(game, { name: String }, placement);
    }"""
    assert [page.evaluate(words, bonuses).count("a bonus turn!") for bonuses in (2, 1)] == [2, 1]


def test_cells_are_named(open_page: Callable[..., Page], session: Browser) -> None:
    """The board has the names of its cells, and moves, reviews and announcements say where a tile lies."""
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session)
    expect(page.locator(".row-name")).to_have_text([letter for letter in "ABCDEFG" for _ in range(2)])
    rules = Rules(side=4)
    for number, (q, r) in enumerate(game["rules"]["cells"]):
        shown = page.locator(".row-name").nth(2 * (r + 3)).text_content(), cell(page, number).text_content()
        assert "".join(map(str, shown)) == cell_name(rules, (q, r))
    lay_somewhere(page)
    wait_for_turn(page)
    place = r"on [A-G]\d(, .*? on| and) [A-G]\d"
    expect(page.locator(".log li").first).to_have_text(re.compile(f"You lay .* {place}: "))
    expect(page.locator("#announce")).to_have_text(re.compile(f"greedy lays .* {place}: "))
    page.goto(f"{page.url.split('#')[0]}#/replay")
    open_reviewed(page, a_record("greedy", "random", side=4))
    expect(page.locator(".blunders button").first).to_have_text(re.compile(f"1. greedy lays .* {place}: .* – mistake"))
    expect(page.locator("ol.moves button").first).to_have_text(re.compile(f"greedy lays .* {place}: "))


def test_a_swap_is_offered(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "random", seed=2, side=5, rack=2)
    advance_until(session, game, lambda now: now["choice"]["swap"])
    page = open_page(f"/#/game/{game['id']}", session=session)
    expect(page.locator(".status")).to_contain_text("none of the lowest colors")
    expect(page.locator(".my-rack button:enabled")).to_have_count(0)
    button(page, "Swap all tiles").click()
    expect(page.locator(".log li", has_text="You show and swap")).to_have_count(1)
    wait_for_turn(page)


def test_on_a_phone(open_page: Callable[..., Page], session: Browser) -> None:
    """Nothing reaches over the side; a tile is laid by taps."""
    game = session.new_game(None, "greedy", "greedy", "greedy", side=8)
    page = open_page(viewport=PHONE, has_touch=True, is_mobile=True, session=session)
    expect(page.locator(".seats select")).to_have_count(2)
    assert width_of(page) == PHONE["width"]
    page.goto(f"{page.url.split('#')[0]}#/game/{game['id']}")
    expect(page.locator(".my-rack button")).to_have_count(6)
    assert width_of(page) == PHONE["width"]
    page.locator(".my-rack button").first.tap()
    number = roomy(game)
    cell(page, number).tap()
    expect(page.locator(".ghost.fixed")).to_have_count(2)
    before = page.locator(".preview").text_content()
    cell(page, number).tap()
    expect(page.locator(".preview")).not_to_have_text(str(before))
    expect(button(page, "Lay it")).to_be_in_viewport()
    button(page, "Lay it").tap()
    expect(page.locator(".log li")).to_have_count(4)
    page.goto(f"{page.url.split('#')[0]}#/replay")
    open_reviewed(page, a_record("greedy", "random"))
    page.locator("ol.moves button").nth(3).tap()
    assert width_of(page) == PHONE["width"]


def _file(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/x-ndjson", "buffer": text.encode()}


def test_files_of_records(open_page: Callable[..., Page]) -> None:
    """Several games to choose from, faults, and names that look like markup."""
    page = open_page("/#/replay")
    chooser = page.locator("input[type=file]")
    good = a_record("greedy", "random", side=4)
    hostile = {**good, "agents": ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>" * 20]}
    wrong = json.loads(json.dumps(good))
    wrong["events"][2][2] += 1

    chooser.set_input_files(_file("wrong.jsonl", to_json_line(wrong)))
    expect(page.locator(".problem")).to_contain_text("Line 1: event 2: expected")
    expect(page.locator(".problem")).to_contain_text("found")
    chooser.set_input_files(_file("none.jsonl", "no record\n"))
    expect(page.locator(".problem")).to_contain_text("Line 1: expected JSON")
    chooser.set_input_files(_file("empty.jsonl", "\n"))
    expect(page.locator(".problem")).to_contain_text("empty file")
    chooser.set_input_files(_file("large.jsonl", " " * 5_000_001))
    expect(page.locator(".problem")).to_contain_text("at most 5 MB")

    chooser.set_input_files(_file("three.jsonl", to_json_line(good) + to_json_line(wrong) + to_json_line(hostile)))
    expect(page.locator(".opener option")).to_have_count(3)
    expect(page.locator(".opener option").nth(1)).to_be_disabled()
    page.locator(".opener select").select_option(index=2)
    button(page, "Show this game").click()
    expect(page.locator(".panel .name").first).to_have_text("<script>alert(1)</script>")
    assert page.locator("main script, main img").count() == 0
    assert width_of(page) == page.viewport_size["width"]  # type: ignore[index]


def test_a_dropped_file(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/replay")
    expect(page.locator(".opener")).to_be_visible()
    record = to_json_line(a_record("greedy", "random", side=4))
    put = "text => { const data = new DataTransfer(); data.items.add(new File([text], 'game.jsonl')); return data; }"
    page.locator(".opener").dispatch_event("drop", {"dataTransfer": page.evaluate_handle(put, record)})
    expect(page.locator(".status")).to_contain_text("The deal. greedy, random")


def test_stepping_through_a_record(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/replay")
    record = a_record("greedy", "random", side=4)
    last = sum(event[0] != "draw" for event in record["events"])
    page.locator("input[type=file]").set_input_files(_file("game.jsonl", to_json_line(record)))
    expect(page.locator(".status")).to_contain_text("The deal")
    button(page, "Next").click()
    expect(page.locator(".status")).to_contain_text(f"1 of {last}")
    expect(page.locator(".mark")).to_have_count(2)
    button(page, "End").click()
    expect(page.locator(".status")).to_contain_text(f"{last} of {last}")
    scores = [marker for track in record["scores"] for marker in track]
    assert [int(words) for words in page.locator(".tracks .count").all_text_contents()] == scores
    button(page, "Back").click()
    expect(page.locator(".status")).to_contain_text(f"{last - 1} of {last}")
    button(page, "Start").click()
    button(page, "Play").click()
    expect(page.locator(".status")).to_contain_text(f"of {last}")  # it has moved on from the deal
    button(page, "Pause").click()
    expect(button(page, "Play")).to_be_visible()


def test_a_review_with_open_racks_that_is_cancelled_first(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/replay")
    record = a_record("greedy", "random", side=4)
    page.locator("input[type=file]").set_input_files(_file("game.jsonl", to_json_line(record)))
    page.get_by_label("Level").select_option("deep")
    page.get_by_label("Racks").select_option("open")
    button(page, "Review this game").click()
    expect(page.locator(".report progress")).to_be_visible()
    expect(page.locator(".report")).to_contain_text("decisions")
    button(page, "Cancel").click()
    expect(page.locator("#announce")).to_contain_text("The review was cancelled.")
    expect(page.get_by_label("Racks")).to_have_value("open")
    page.get_by_label("Level").select_option("normal")
    button(page, "Review this game").click()
    expect(page.locator(".chart")).to_be_visible()
    expect(page.locator(".report .hint").first).to_contain_text("with all racks open")
    page.get_by_label("Level").select_option("deep")
    button(page, "Review this game").click()
    button(page, "Cancel").click()
    expect(page.locator(".report .hint").first).to_contain_text("with all racks open")  # the former review
    expect(button(page, "Review this game")).to_be_focused()
    page.get_by_label("Racks").select_option("hidden")
    page.get_by_label("Level").select_option("fast")
    button(page, "Review this game").click()
    expect(page.locator(".report .hint").first).to_contain_text("by what the seat could know then")


def test_racks_of_an_unfinished_game_stay_hidden(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/replay")
    record = truncate(a_record("greedy", "random", side=4), 4)
    page.locator("input[type=file]").set_input_files(_file("game.jsonl", to_json_line(record)))
    expect(button(page, "Review this game")).to_be_visible()
    expect(page.get_by_label("Racks")).to_have_count(0)


def a_review(record: dict[str, Any], unit: str = "rank utility") -> dict[str, Any]:
    """A review in which every decision is a mistake, and slot 0 on the last two cells was better."""
    decisions = replay_decisions(record)
    last = len(decisions.states.board[0]) - 1
    other = {"slot": 0, "cells": [last - 1, last], "text": "", "points": {}, "utility": 0.5}
    judged = {"utility": 0.25, "best": 0.5, "loss": 0.25, "error": None, "win": 0.5, "verdict": "mistake"}
    seats = decisions.states.to_play.tolist()
    found = [{**judged, "seat": seat, "alternatives": [other]} for seat in seats]
    return {
        "judge": "fast",
        "unit": unit,
        "mean_loss": [0.25] * len(record["agents"]),
        "accuracy": [75] * len(record["agents"]),
        "decisions": found,
    }


def open_reviewed(page: Page, record: dict[str, Any], unit: str = "rank utility") -> None:
    """Open a file of a record, and have it reviewed without waiting for a judge."""
    line = json.dumps({"review": a_review(record, unit)}) + "\n"
    page.route("**/api/review?*", lambda route: route.fulfill(body=line, content_type="application/x-ndjson"))
    page.set_input_files("input[type=file]", _file("game.jsonl", to_json_line(record)))
    button(page, "Review this game").click()
    expect(page.locator(".chart")).to_be_visible()


SIZES = [(1280, 800), (1920, 1080), (390, 844), (844, 390), (640, 400)]
"""A laptop, a large screen, a phone upright and on its side, and the laptop at 200%."""


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_board_and_controls_stay_in_view(
    open_page: Callable[..., Page], session: Browser, width: int, height: int
) -> None:
    """The lists scroll beside them, in a game and in a review, and nothing covers the board."""
    game = session.new_game(None, "greedy", "greedy", "greedy", side=8)
    page = open_page(f"/#/game/{game['id']}", session=session, viewport={"width": width, "height": height})
    fully = re.compile("in view")
    inside = """(element) => {
      const box = element.getBoundingClientRect();
      const at = (x, y) => document.elementFromPoint(x, y);
      const middle = at((box.left + box.right) / 2, (box.top + box.bottom) / 2);
      const within = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight + 1 && box.right <= innerWidth + 1;
      return within && element.contains(middle) ? "in view" : JSON.stringify([box, innerHeight]);
    }"""
    expect(page.locator(".my-rack button")).to_have_count(6)
    for what in (".board", ".my-rack", ".controls .buttons"):
        assert fully.match(page.locator(what).evaluate(inside)), what
    assert page.evaluate("document.documentElement.scrollHeight") <= height
    if height > 800:  # the height is used
        box = page.locator(".controls").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] > 0.65 * height
    if min(width, height) < 500:
        before = page.locator(".cell").first.bounding_box()
        button(page, "Larger cells").click()
        after = page.locator(".cell").first.bounding_box()
        assert before is not None
        assert after is not None
        assert min(after["width"], after["height"]) >= 1.9 * min(before["width"], before["height"])
        assert min(after["width"], after["height"]) >= 40
        assert width_of(page) == width

    page.goto(f"{page.url.split('#')[0]}#/replay")
    open_reviewed(page, a_record("random", "greedy", "random", "denial"))
    page.locator(".blunders button").last.click()
    for what in (".board", ".steps", ".judged"):
        assert fully.match(page.locator(what).evaluate(inside)), what


def test_a_review_shows_the_decision_then_what_it_led_to(open_page: Callable[..., Page]) -> None:
    """The position, the rack and the markers are those before the decision; played and better look apart."""
    page = open_page("/#/replay")
    record = a_record("greedy", "random", side=4)
    moves = [event for event in record["events"] if event[0] != "draw"]
    open_reviewed(page, record)
    page.locator(".blunders button").nth(2).click()
    covered = page.locator(".cell", has=page.locator(".half"))
    expect(covered).to_have_count(4)  # two tiles
    expect(page.locator(".held .tile")).to_have_count(6)
    expect(page.locator(".held .tile.laid")).to_have_count(1)
    expect(page.locator(".ghost.played")).to_have_count(2)
    expect(page.locator(".pill.square")).to_have_text("?")
    expect(page.locator(".pill:not(.square)")).to_have_text("A")
    page.locator(".alternative").click()
    expect(page.locator(".ghost.better")).to_have_count(2)
    dashes = [page.locator(f".ghost.{look} .edge").first.evaluate("edge => getComputedStyle(edge).strokeDasharray")
              for look in ("played", "better")]  # fmt: skip
    assert dashes[0] != dashes[1]
    button(page, "Show what it led to").click()
    expect(covered).to_have_count(6)
    expect(page.locator(".ghost")).to_have_count(0)
    button(page, "End").click()
    expect(covered).to_have_count(2 * len(moves) - 2)
    button(page, "Next").click()
    expect(covered).to_have_count(2 * len(moves))
    scores = [marker for track in record["scores"] for marker in track]
    assert [int(words) for words in page.locator(".tracks .count").all_text_contents()] == scores


def test_only_valid_games_are_offered(open_page: Callable[..., Page]) -> None:
    page = open_page()
    seats, edition, mode = (page.get_by_role("combobox", name=words) for words in ("Seats", "Edition", "Mode"))
    expect(edition.locator("option")).to_have_count(3)
    expect(mode.locator("option")).to_have_count(1)
    seats.select_option("4")
    edition.select_option("2009")
    expect(mode.locator("option")).to_have_count(2)
    mode.select_option("team")
    expect(page.locator(".seats label", has_text="team 1")).to_have_count(2)
    seats.select_option("1")
    expect(edition.locator("option")).to_have_count(2)
    expect(page.locator(".seats select")).to_have_count(1)
    page.get_by_text("Seed and variants").click()
    page.get_by_label("Cells along an edge").fill("99")
    page.get_by_label("Cells along an edge").blur()
    expect(page.locator(".problem")).to_contain_text("side must be")
    expect(button(page, "Begin")).to_be_disabled()


def test_watching_agents(open_page: Callable[..., Page], session: Browser) -> None:
    """Their racks are open, only the last tile is framed; the game can be paused, stepped through, and sped up."""
    game = session.new_game("greedy", "random")
    page = open_page(f"/#/game/{game['id']}", session=session)
    button(page, "Pause").click()
    expect(page.locator(".status")).to_contain_text("Paused")
    assert page.locator(".panel .facedown").count() == 0
    before = page.locator(".log li").count()
    button(page, "Step").click()
    expect(page.locator(".log li")).to_have_count(before + 1)
    button(page, "Step").click()
    expect(page.locator(".log li")).to_have_count(before + 2)
    expect(page.locator(".mark")).to_have_count(2)
    expect(page.locator(".panel .rack .tile")).to_have_count(12)
    page.get_by_label("Speed").select_option("fast")
    button(page, "Go on").click()
    expect(page.locator(".ending")).to_be_visible()
    expect(page.locator(".mark")).to_have_count(2)
    expect(page.locator(".watch")).to_be_hidden()


def test_racks_are_opened_at_the_end(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session)
    expect(page.locator(".panel .facedown")).to_have_count(12)  # halves of six tiles
    while "end" not in game:
        game = session.decide(game) if game["waits"] else session.do(game, "advance")
    page.reload()
    expect(page.locator(".ending")).to_be_visible()
    expect(page.locator(".panel .facedown")).to_have_count(0)
    expect(page.locator(".panel .rack .tile").first).to_be_visible()


def test_windows_of_one_game_follow_each_other(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "greedy")
    first = open_page(f"/#/game/{game['id']}", session=session)
    expect(first.locator(".my-rack")).to_be_visible()
    second = first.context.new_page()
    second.goto(first.url)
    expect(second.locator(".my-rack")).to_be_visible()
    lay_somewhere(first)
    wait_for_turn(first)
    for page in (first, second):
        expect(page.locator(".log li")).to_have_count(2)
        assert wait_for_turn(page) == "lay"
    racks = [
        [tile.get_attribute("aria-label") for tile in page.locator(".my-rack button").all()] for page in (first, second)
    ]
    assert racks[0] == racks[1]

    second.evaluate("window.BroadcastChannel.prototype.postMessage = () => undefined")  # it tells nobody
    lay_somewhere(second)
    expect(second.locator(".log li")).to_have_count(4)
    button(first, "Hint").click()  # of the old position
    expect(first.locator(".preview")).to_contain_text("gone on meanwhile")
    expect(first.locator(".log li")).to_have_count(4)
    expect(first.locator(".ghost")).to_have_count(0)


def test_a_reviewed_file_survives_a_reload(open_page: Callable[..., Page]) -> None:
    page = open_page("/#/replay")
    record = a_record("greedy", "random", side=4)
    open_reviewed(page, record)
    page.unroute("**/api/review?*")
    page.reload()
    expect(page.locator(".chart")).to_be_visible()
    page.get_by_role("link", name="Play").click()
    expect(page.locator(".seats select")).to_have_count(2)
    page.get_by_role("link", name="Review").click()
    expect(page.locator(".opener")).to_be_visible()
    expect(page.locator(".board")).to_have_count(0)


def test_words_of_values(open_page: Callable[..., Page]) -> None:
    """In solo the page says what the numbers are; shares have the right article."""
    page = open_page("/#/replay")
    open_reviewed(page, a_record("greedy", edition="2004", mode="solo"), "lowest marker")
    page.locator(".blunders button").first.click()
    expect(page.locator(".judged p")).to_contain_text("expected lowest marker 0.3, the best decision expected lowest")
    expect(page.locator(".alternative")).to_contain_text("expected lowest marker 0.5")
    hints = "({ texts }) => [0.89, 0.08, 0.11, 0.18, 0.5].map((win) => texts.hintWords('', 0, win))"
    words = page.evaluate(f"import('/static/texts.js').then({hints})")
    assert [re.findall("– (an? [0-9]+%)", each)[0] for each in words] == [
        "an 89%",
        "an 8%",
        "an 11%",
        "an 18%",
        "a 50%",
    ]


def test_the_list_of_games(open_page: Callable[..., Page], session: Browser) -> None:
    """It has dates and results; removing a game is confirmed."""
    game = session.new_game(None, "random")
    session.new_game("greedy", "random")
    while "end" not in game:
        game = session.decide(game) if game["waits"] else session.do(game, "advance")
    page = open_page(session=session)
    items = page.locator(".games li")
    expect(items).to_have_count(2)
    expect(items.first).to_contain_text("0 decisions so far")
    expect(items.last).to_contain_text(re.compile(r"\d+, \d{4}, .* (wins?!|share the first place)"))
    button(page, "Remove the game of greedy, random").click()
    button(page, "Keep it").click()
    expect(items).to_have_count(2)
    button(page, "Remove the game of greedy, random").click()
    button(page, "Remove it: Remove the game of greedy, random").click()
    expect(items).to_have_count(1)


def test_the_server_goes_away(open_page: Callable[..., Page], session: Browser) -> None:
    """The page says so, and goes on when it is back."""
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session)
    expect(page.locator(".my-rack")).to_be_visible()
    page.context.set_offline(True)
    lay_somewhere(page)
    expect(page.locator(".preview")).to_contain_text("does not answer")
    page.context.set_offline(False)
    page.route("**/advance", lambda route: route.abort())
    lay_somewhere(page)
    expect(button(page, "Try again")).to_be_visible()
    page.unroute("**/advance")
    button(page, "Try again").click()
    wait_for_turn(page)
    expect(page.locator(".log li")).to_have_count(2)


def test_an_agent_that_thinks_for_long(
    open_page: Callable[..., Page], session: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The position is there at once after a reload, and for how long the agent has been thinking; then it goes on."""
    monkeypatch.setattr(Task, "seconds", property(lambda task: 83.0))
    with Slow.known(monkeypatch):
        game = session.new_game(None, Slow.name)
        page = open_page(f"/#/game/{game['id']}", session=session)
        expect(page.locator(".my-rack")).to_be_visible()
        lay_somewhere(page)
        assert Slow.going.acquire(timeout=GUARD)
        page.reload()
        expect(page.locator(".status")).to_contain_text(re.compile(r"slow is thinking … 1 min \d+ s"))
        expect(page.locator(".mark")).to_have_count(2)
        expect(page.locator(".log li")).to_have_count(1)
        Slow.may_end.set()
        assert wait_for_turn(page) == "lay"
        expect(page.locator(".log li")).to_have_count(2)
        expect(page.locator(".status")).not_to_contain_text("min")


def test_a_game_is_removed_while_an_agent_thinks(
    open_page: Callable[..., Page], session: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Slow.known(monkeypatch):
        game = session.new_game(Slow.name, None)
        page = open_page(f"/#/game/{game['id']}", session=session)
        assert Slow.going.acquire(timeout=GUARD)
        page.goto(f"{page.url.split('#')[0]}#/")
        button(page, "Remove the game of slow, You").click()
        button(page, "Keep it").click()
        button(page, "Remove the game of slow, You").click()
        button(page, "Remove it: Remove the game of slow, You").click()
        expect(page.locator(".games li")).to_have_count(0)
