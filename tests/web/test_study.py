"""Requests of the analysis board, the lessons and the buttons that share: what is answered, and what is refused."""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, play
from genial_env.analysis.puzzle_ratings import RATINGS_FILE, estimate_rating, rated_puzzles
from genial_env.analysis.puzzles import LESSONS, SHIPPED
from genial_env.core import kernel
from genial_env.records import format_position, parse_position, replay_decisions, to_json_line
from genial_env.render.replay_page import replay_html, replay_iframe
from genial_env.web import _share_requests as share_requests
from genial_env.web import make_app
from tests.positions import random_play
from tests.served import Browser, served

SMALL = Rules(side=4)
DEALT = format_position(kernel.deal(SMALL, 1), draws=False)
SEEN = format_position(kernel.deal(SMALL, 1), seat=0)
RECORD = (play(["greedy", "greedy"], SMALL, record=True).records or [])[0]
LINE = to_json_line(RECORD)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(make_app()) as found:
        yield found


@pytest.fixture
def browser(address: str) -> Browser:
    return Browser(address)


def ask(browser: Browser, what: str, **sent: Any) -> Any:
    answer = browser.post(f"/api/{what}", json=sent)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(browser: Browser, what: str, status: int, **sent: Any) -> str:
    answer = browser.post(f"/api/{what}", json=sent)
    assert answer.status_code == status, answer.text
    words: str = answer.json()["error"]
    return words


# The analysis board


def test_a_new_position_of_any_rules(browser: Browser) -> None:
    shown = ask(browser, "analysis/new", rules={"players": 3, "edition": "2009", "mode": "individual"})
    assert shown["rules"]["players"] == 3
    assert "rules" in refused(browser, "analysis/new", 400, rules={"players": 9})


def test_a_position_is_shown_and_played_on(browser: Browser) -> None:
    shown = ask(browser, "analysis/position", position=DEALT.replace(" ", "_"))
    assert shown["text"] == DEALT
    assert [len(rack) for rack in shown["position"]["racks"]] == [6, 6]
    for number in range(40):
        if "choice" not in shown:
            break
        choice, seat = shown["choice"], shown["position"]["to_play"]
        if choice["swap"]:
            move: dict[str, Any] = {"word": "decline"}
        else:
            slot = next(at for at, tile in enumerate(shown["position"]["racks"][seat]) if tile)
            move = {"slot": slot, "cells": choice["pairs"][number % len(choice["pairs"])]}
        shown = ask(browser, "analysis/move", position=shown["text"], **move)
        assert shown["events"][0]["seat"] == seat
    assert shown["position"]["phase"] == "over"
    assert "over" in refused(browser, "analysis/move", 409, position=shown["text"], **move)


def test_hidden_racks_stay_hidden_until_they_are_dealt(browser: Browser) -> None:
    shown = ask(browser, "analysis/position", position=SEEN)
    assert shown["position"]["racks"][1] == 6
    moved = ask(browser, "analysis/move", position=SEEN, slot=0, cells=shown["choice"]["pairs"][0])
    assert moved["position"]["racks"][1] == 6
    assert "choice" not in moved
    assert "hidden" in refused(browser, "analysis/move", 409, position=moved["text"], slot=0, cells=[0, 1])
    assert "hidden" in refused(browser, "analysis/judge", 409, position=moved["text"])
    dealt = ask(browser, "analysis/deal", position=moved["text"])
    assert len(dealt["position"]["racks"][1]) == 6
    assert dealt["position"]["racks"][0] == moved["position"]["racks"][0]
    assert "choice" in dealt


def test_draws_can_be_named(browser: Browser) -> None:
    pair = ask(browser, "analysis/position", position=DEALT)["choice"]["pairs"][0]
    moved = ask(browser, "analysis/move", position=DEALT, slot=0, cells=pair, draws=["OG"])
    assert moved["events"][1] == {"event": 1, "kind": "draw", "seat": 0, "tiles": ["GO"]}
    assert "draws" in refused(browser, "analysis/move", 422, position=DEALT, slot=0, cells=pair, draws=["RZ"])
    assert "draws" in refused(browser, "analysis/move", 400, position=DEALT, slot=0, cells=pair, draws="RG")


@pytest.mark.parametrize(
    ("position", "said"),
    [
        (None, "expected a text, found null"),
        ("", "found no text"),
        (DEALT.replace("r2", "3", 1), "board, A1: expected the printed symbol 'r'"),
        (DEALT.replace(" 0 place", " 1 swap"), "seat 1 may not swap"),
        (DEALT.replace("0,0,0,0,0,0/", "18,18,18,18,18,18/"), "it must be 3, over, as a track has all markers"),
    ],
)
def test_an_impossible_position_is_refused_with_the_reason(browser: Browser, position: str | None, said: str) -> None:
    assert said in refused(browser, "analysis/position", 400 if position is None else 422, position=position)


def test_the_judge_shows_the_best_moves(browser: Browser) -> None:
    fast = ask(browser, "analysis/judge", position=SEEN, level="fast")
    assert fast["moves"][0]["error"] is None
    assert fast["judged"] > len(fast["moves"]) == 8
    normal = ask(browser, "analysis/judge", position=SEEN)
    utilities = [move["utility"] for move in normal["moves"]]
    assert utilities == sorted(utilities, reverse=True)
    assert normal["moves"][0]["error"] == 0 < normal["moves"][1]["error"]
    for level in ("best", ["fast"], {}):
        assert "level" in refused(browser, "analysis/judge", 400, position=SEEN, level=level)
    best = normal["moves"][0]
    answer = ask(browser, "analysis/answer", position=SEEN, slot=best["slot"], cells=best["cells"])
    assert (answer["loss"], answer["verdict"]) == (0, "best")
    assert answer["best"][0]["cells"] == best["cells"]
    assert "cells" in refused(browser, "analysis/answer", 400, position=SEEN, slot=0, cells=[0, 90])


def test_an_agent_plays_on_from_a_position(browser: Browser) -> None:
    shown = ask(browser, "analysis/agent", position=SEEN, agent="greedy")
    assert shown["position"]["to_play"] == 1
    assert shown["events"][0]["cells"] == shown["move"]["cells"]
    assert [len(rack) for rack in shown["position"]["racks"]] == [6, 6]
    while shown["position"]["phase"] != "over":
        shown = ask(browser, "analysis/agent", position=shown["text"], agent="greedy")
    assert "over" in refused(browser, "analysis/agent", 409, position=shown["text"], agent="greedy")
    assert "agent: expected one of" in refused(browser, "analysis/agent", 400, position=SEEN, agent="os:getcwd")


def test_study_needs_a_session(address: str) -> None:
    stranger = Browser(address, begin=False)
    for what in ("analysis/position", "analysis/judge", "puzzles/list", "share/film"):
        assert "no session" in refused(stranger, what, 403)


# Lessons


def test_puzzles_are_listed_shown_and_answered(browser: Browser) -> None:
    listed = ask(browser, "puzzles/list")["puzzles"]
    assert len(listed) == sum(len(path.read_text().splitlines()) for path in (SHIPPED, LESSONS))
    for kind in ("endgame", "swap"):
        name = next(each["id"] for each in listed if each["kind"] == kind and each["rules"]["players"] == 2)
        shown = ask(browser, "puzzles/show", id=name)
        found = rated_puzzles()[name]
        seat = shown["position"]["to_play"]
        assert isinstance(shown["position"]["racks"][1 - seat], int)
        best = ask(browser, "puzzles/answer", id=name, **a_move(shown))["best"][0]
        right = {key: best[key] for key in ("slot", "cells", "word") if key in best}
        answer = ask(browser, "puzzles/answer", id=name, **right)
        assert answer["solved"]
        assert answer["lost"] == 0
        assert answer["proof"] == found["proof"]
    assert "no puzzle" in refused(browser, "puzzles/show", 404, id="none")
    assert "not allowed" in refused(browser, "puzzles/answer", 422, id=name, slot=0, cells=[0, 1])  # a printed symbol


def a_move(shown: dict[str, Any]) -> dict[str, Any]:
    """The first decision that is allowed."""
    if shown["choice"]["swap"]:
        return {"word": "decline"}
    slot = next(at for at, tile in enumerate(shown["position"]["racks"][shown["position"]["to_play"]]) if tile)
    return {"slot": slot, "cells": shown["choice"]["pairs"][0]}


def test_a_puzzle_that_strong_agents_alone_solve_is_hard() -> None:
    agents = [0.0, 300.0, 1000.0]
    ratings = [estimate_rating([(each, float(each > least)) for each in agents]) for least in (-1, 100, 400, 2000)]
    assert ratings == sorted(ratings)
    assert 300 < ratings[2] < 1000
    assert json.loads(RATINGS_FILE.read_text())


# Sharing


def test_a_game_in_progress_is_stepped_through_without_its_secrets(browser: Browser) -> None:
    game = browser.new_game(None, "greedy")
    for _ in range(3):
        game = browser.decide(game)
        while not game["waits"] and "end" not in game:
            game = browser.do(game, "advance")
    steps = browser.get(f"/api/games/{game['id']}/steps").json()
    assert len(steps["frames"]) == len(steps["events"]) + 1
    assert all(event["kind"] != "draw" for event in steps["events"])
    for frame in steps["frames"]:
        assert isinstance(frame["position"]["racks"][1], int)
        assert "keys" not in frame["text"]
        shown = ask(browser, "analysis/position", position=frame["text"])
        assert shown["position"]["board"] == frame["position"]["board"]
    assert steps["frames"][-1]["position"]["scores"] == game["position"]["scores"]
    several = browser.new_game(None, None)
    hidden = browser.get(f"/api/games/{several['id']}/steps").json()["frames"][0]
    assert hidden["position"]["racks"] == [6, 6]
    assert "text" not in hidden


def test_the_steps_of_a_record_have_their_texts(browser: Browser) -> None:
    frames = browser.post("/api/steps", content=LINE).json()["frames"]
    states = replay_decisions(RECORD).states
    for row, frame in enumerate(frames[:-1]):
        assert parse_position(frame["text"]).board.tolist() == states.board[[row]].tolist()


def test_pictures_and_films(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    for sent in ({"position": SEEN}, {"record": LINE, "step": 3}):
        assert browser.post("/api/share/picture", json=sent).content.startswith(b"\x89PNG")
    monkeypatch.setattr(share_requests, "FILM_WIDTH", 80)
    assert browser.post("/api/share/film", json={"record": LINE}).content.startswith(b"GIF8")
    assert "step" in refused(browser, "share/picture", 400, record=LINE, step=999)
    assert "record" in refused(browser, "share/film", 400, record=3)
    assert "expected" in refused(browser, "share/film", 422, record="{}")

    def missing(*_: object) -> bytes:
        raise ImportError("pip install it")

    monkeypatch.setattr("genial_env.render.pixels.png", missing)
    assert "pip install it" in refused(browser, "share/picture", 501, position=SEEN)


def test_a_replay_is_one_page_or_one_tag(browser: Browser) -> None:
    page = browser.post("/api/share/page", json={"record": LINE}).text
    assert page == replay_html(RECORD)
    assert not re.search(r'(src|href)="', page)
    written = re.search(r'id="game">(.*?)</script>', page)
    assert written is not None
    game = json.loads(written[1])
    assert len(game["frames"]) == len(replay_decisions(RECORD).events) + 1
    assert game["frames"][-1]["scores"] == RECORD["scores"]
    hostile = replay_html({**RECORD, "agents": ["</script><b>", "greedy"]})
    assert "</script><b>" not in hostile
    assert replay_iframe(RECORD).count("<iframe") == 1


def test_the_embedding_page_may_be_framed_and_no_other(browser: Browser) -> None:
    framed, other = browser.get("/embed"), browser.get("/")
    assert "frame-ancestors *" in framed.headers["content-security-policy"]
    assert "x-frame-options" not in framed.headers
    assert "frame-ancestors 'none'" in other.headers["content-security-policy"]
    assert other.headers["x-frame-options"] == "DENY"
    assert framed.text == replay_html(None)


def test_positions_of_any_game_can_be_shown(browser: Browser) -> None:
    for rules in (
        Rules(3),
        Rules(4, "2009", "team"),
        Rules(1, "2004", "solo"),
        Rules(4, side=3, colors=2, rack=2, tile_sets=2),
    ):
        state = random_play(rules, 1, 3, 6)
        shown = ask(browser, "analysis/position", position=format_position(state, draws=False))
        assert shown["position"]["scores"] == state.scores[0].tolist()
        assert np.sum(shown["position"]["bag"]) == state.bag.sum()
