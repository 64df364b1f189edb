"""Games of people in several browsers, and slow agents, on the page in real browsers."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from genial_env.web import _warm_up, make_app
from genial_env.web._seating import Clock
from tests.conftest import GUARD, posix
from tests.served import Browser, Slow, served

pytestmark = pytest.mark.slow


def button(page: Page, words: str) -> Any:
    return page.get_by_role("button", name=words, exact=True)


def lay_a_tile(page: Page) -> None:
    """Lay the first tile on the first cell where there is room, by clicks."""
    page.locator(".my-rack button:enabled").first.click()
    for cell in page.locator(".cell:not(.cannot)").all():
        cell.click()
        if button(page, "Lay it").is_enabled():
            break
    button(page, "Lay it").click()


def begin_with_a_link(page: Page, *, minutes: int | None = None) -> None:
    """Begin a game on a small board in which the second person joins by a link."""
    page.locator(".seats select").nth(1).select_option("link")
    page.get_by_label("Name of the person on seat 1").fill("Ann")
    page.get_by_text("Seed and variants").click()
    page.get_by_label("Seed", exact=True).fill("3")
    page.get_by_label("Cells along an edge").fill("4")
    if minutes is not None:
        page.locator("form summary", has_text="Clock").click()
        page.get_by_label("Minutes for each person").fill(str(minutes))
        page.get_by_label("Seconds added after each turn").fill("10")
    button(page, "Begin").click()


def link_of(page: Page, words: str) -> str:
    """The path of a link that the host sees."""
    address: str = page.locator(".link", has_text=words).locator("input").input_value()
    return "/" + address.split("/", 3)[3]


def test_two_browsers_play_one_game(open_page: Callable[..., Page]) -> None:
    """By a link, with names and a spectator; a third browser goes on with the same link; then one resigns."""
    ann = open_page()
    begin_with_a_link(ann, minutes=10)
    expect(ann.locator(".status")).to_contain_text("Ann’s turn")
    path = link_of(ann, "nobody has joined yet")
    watched = link_of(ann, "spectators")

    bob = open_page(path)
    bob.get_by_label("Your name").fill("Bob")
    button(bob, "Join").click()
    expect(bob.locator(".status")).to_contain_text("Ann is to play.")
    expect(bob.locator(".clock.running")).to_contain_text("Ann")
    expect(ann.locator(".link").first).to_contain_text("Bob has joined")
    watcher = open_page(watched)
    expect(watcher.locator(".status")).to_contain_text("Ann is to play.")

    lay_a_tile(ann)
    expect(ann.locator(".status")).to_contain_text("Bob is to play.")
    expect(ann.locator(".my-rack button")).to_have_count(6)
    expect(bob.locator(".status")).to_contain_text("Bob’s turn")
    expect(ann.locator(".time").first).to_have_text(re.compile(r"10:0\d"))
    lay_a_tile(bob)
    for page in (ann, bob, watcher):
        expect(page.locator(".log li")).to_have_count(2)
    assert watcher.locator(".my-rack, .panel .rack .half").count() == 0

    again = open_page(path)  # another browser: no name is asked for
    expect(again.locator(".my-rack button")).to_have_count(6)
    racks = [
        [tile.get_attribute("aria-label") for tile in page.locator(".my-rack button").all()] for page in (bob, again)
    ]
    assert racks[0] == racks[1]
    bob.goto(bob.url.split("#")[0])
    expect(bob.locator(".games a")).to_have_text(["Ann, Bob"])
    bob.locator(".games a").click()
    expect(bob.locator(".status")).to_contain_text("Ann is to play.")

    button(again, "Resign").click()
    button(again, "Yes, Bob resigns").click()
    for page in (ann, bob, again, watcher):
        expect(page.locator(".ending")).to_contain_text("Ann wins!")
        expect(page.locator(".ending")).to_contain_text("Bob resigned.")
    with watcher.expect_download():
        watcher.get_by_role("link", name="Download the record").click()


def test_a_new_link_replaces_a_lost_one(open_page: Callable[..., Page]) -> None:
    """Who has the old link sees the game no more, at once; with the new one the seat goes on."""
    ann = open_page()
    begin_with_a_link(ann)
    old = link_of(ann, "nobody has joined yet")
    bob = open_page(old)
    bob.get_by_label("Your name").fill("Bob")
    button(bob, "Join").click()
    expect(ann.locator(".link").first).to_contain_text("Bob has joined")
    ann.locator(".link", has_text="Bob has joined").get_by_role("button", name="New link").click()
    button(ann, "Keep the old one").click()
    ann.locator(".link", has_text="Bob has joined").get_by_role("button", name="New link").click()
    button(ann, "Make a new link").click()
    expect(bob.locator(".status")).to_contain_text("a new link has replaced it")
    expect(bob.locator(".my-rack, .table-actions button")).to_have_count(0)
    new = link_of(ann, "Bob has joined")
    assert new != old
    again = open_page(new)
    expect(again.locator(".my-rack button")).to_have_count(6)
    lay_a_tile(ann)
    expect(again.locator(".status")).to_contain_text("Bob’s turn")


def test_spectators_of_a_game_at_one_page(open_page: Callable[..., Page], session: Browser) -> None:
    game = session.new_game(None, "greedy")
    page = open_page(f"/#/game/{game['id']}", session=session)
    expect(page.locator(".links")).to_be_hidden()
    button(page, "Make a link for spectators").click()
    watcher = open_page(link_of(page, "spectators"))
    expect(watcher.locator(".status")).to_contain_text("Seat 1 is to play")
    lay_a_tile(page)
    expect(watcher.locator(".log li")).to_have_count(2)
    assert watcher.locator(".my-rack, .panel .rack .half").count() == 0


def test_what_others_ask_is_in_view(open_page: Callable[..., Page]) -> None:
    """On a phone too: that a decision is to be taken back, and whether the person really resigns."""
    ann = open_page(viewport={"width": 390, "height": 844})
    begin_with_a_link(ann)
    bob = open_page(link_of(ann, "nobody has joined yet"), viewport={"width": 844, "height": 390})
    button(bob, "Join").click()
    lay_a_tile(ann)
    button(ann, "Ask to take back").click()
    expect(button(bob, "Agree")).to_be_in_viewport()
    button(bob, "Refuse").click()
    button(ann, "Resign").click()
    expect(button(ann, "Yes, Ann resigns")).to_be_in_viewport()
    expect(button(ann, "Yes, Ann resigns")).to_be_focused()
    button(ann, "Yes, Ann resigns").click()
    expect(ann.locator(".ending p", has_text="Ann resigned.")).to_have_count(1)


def test_a_decision_is_taken_back_with_consent(open_page: Callable[..., Page]) -> None:
    ann = open_page()
    begin_with_a_link(ann)
    bob = open_page(link_of(ann, "nobody has joined yet"))
    button(bob, "Join").click()
    lay_a_tile(ann)
    expect(bob.locator(".log li")).to_have_count(1)
    button(ann, "Ask to take back").click()
    expect(ann.locator(".question")).to_contain_text("waiting for Seat 2")
    expect(bob.locator(".question")).to_contain_text("Ann would like to take the last decision back")
    button(bob, "Refuse").click()
    expect(ann.locator(".question")).to_be_hidden()
    button(ann, "Ask to take back").click()
    button(bob, "Agree").click()
    for page in (ann, bob):
        expect(page.locator(".log li")).to_have_count(0)
    lay_a_tile(ann)
    expect(bob.locator(".log li")).to_have_count(1)


def test_time_runs_out(open_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch) -> None:
    ann = open_page()
    begin_with_a_link(ann, minutes=1)
    bob = open_page(link_of(ann, "nobody has joined yet"))
    button(bob, "Join").click()
    expect(ann.locator(".clock.running")).to_contain_text("Ann")
    monkeypatch.setattr(Clock, "remaining", lambda clock, seat: 0.0 if seat == 0 else 60.0)
    bob.reload()
    for page in (ann, bob):
        expect(page.locator(".ending")).to_contain_text("Ann ran out of time.")


def test_an_invitation(open_page: Callable[..., Page], chromium: Any) -> None:
    """The link that the server prints lets a browser in; without it the page asks for the code."""
    with served(make_app(invitation="ABCD-2345")) as address:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(address)
        page.get_by_label("Invitation code").fill("wrong-code")
        button(page, "Enter").click()
        expect(page.locator(".problem")).to_contain_text("not the invitation code")
        page.get_by_label("Invitation code").fill("abcd 2345")
        button(page, "Enter").click()
        expect(page.locator(".seats select")).to_have_count(2)
        page.reload()
        expect(page.locator(".seats select")).to_have_count(2)
        context.close()
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{address}/#/invitation/ABCD-2345")
        expect(page.locator(".seats select")).to_have_count(2)
        assert "ABCD" not in page.url
        context.close()


def test_a_slow_agent_is_stopped_and_replaced(
    open_page: Callable[..., Page], session: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its turn stays, also after a reload; it can think again, or another plays on."""
    with Slow.known(monkeypatch):
        game = session.new_game(None, Slow.name)
        page = open_page(f"/#/game/{game['id']}", session=session)
        lay_a_tile(page)
        assert Slow.going.acquire(timeout=GUARD)
        button(page, "Stop thinking").click()
        expect(page.locator(".status")).to_contain_text("slow was stopped")
        page.reload()
        expect(page.locator(".status")).to_contain_text("slow was stopped")
        expect(page.locator(".mark")).to_have_count(2)
        button(page, "Let it think again").click()
        expect(page.locator(".status")).to_contain_text("slow is thinking")
        assert Slow.going.acquire(timeout=GUARD)
        button(page, "Stop thinking").click()
        page.get_by_label("Another agent").select_option("greedy")
        button(page, "Let this one play on").click()
        expect(page.locator(".log li")).to_have_count(2)
        expect(page.locator(".panel .name")).to_have_text(["You", "greedy"])
        expect(page.locator(".my-rack button:enabled").first).to_be_visible()


def test_the_page_says_that_code_is_compiled(
    open_page: Callable[..., Page], session: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_warm_up.WarmUp, "in_progress", property(lambda self: True))
    with Slow.known(monkeypatch):
        game = session.new_game(Slow.name, None)
        page = open_page(f"/#/game/{game['id']}", session=session)
        assert Slow.going.acquire(timeout=GUARD)
        page.reload()
        expect(page.locator(".status")).to_contain_text("compiling for this machine, once")


PATIENT = """
from genial_env.cli import main
from genial_env.policies import settings

settings._DEFAULT_PLAYOUTS = settings._MOST_PLAYOUTS
main()
"""
"""The command `genial`, in which searches do not end by themselves."""


def run_server(folder: Path, port: str) -> tuple["subprocess.Popen[str]", str]:
    """Start `genial serve`, in which agents play by numpy and think until they are stopped.

    Returns:
        Its process and its address.
    """
    command = [sys.executable, "-c", PATIENT, "serve", "--port", port, "--data", str(folder)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "GENIAL_ENV_BACKEND": "numpy"},
    )
    assert process.stdout is not None
    address = re.match(r"Play at (http://127\.0\.0\.1:\d+)/", process.stdout.readline())
    assert address is not None
    return process, address[1]


@posix
def test_the_server_is_killed_while_an_agent_thinks(chromium: Any, tmp_path: Path) -> None:
    """The page says that it is gone; when it is back, the last position is there and the agent thinks again."""
    process, address = run_server(tmp_path, "0")
    context = chromium.new_context()
    page = context.new_page()
    try:
        page.goto(address)
        page.locator(".seats select").nth(1).select_option("ismcts")
        button(page, "Begin").click()
        lay_a_tile(page)
        expect(page.locator(".status")).to_contain_text("ismcts is thinking")
        process.kill()
        process.communicate()
        expect(button(page, "Try again")).to_be_visible()
        process, again = run_server(tmp_path, address.rpartition(":")[2])
        assert again == address
        button(page, "Try again").click()
        expect(page.locator(".status")).to_contain_text("ismcts is thinking")
        expect(button(page, "Stop thinking")).to_be_visible()
        page.reload()
        expect(page.locator(".status")).to_contain_text("ismcts is thinking")
        expect(page.locator(".log li")).to_have_count(1)
        process.send_signal(signal.SIGINT)
        assert (process.wait(GUARD), process.communicate()[1]) == (0, "")
    finally:
        process.kill()
        process.communicate()
        context.close()
