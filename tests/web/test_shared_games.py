"""Games of people in several browsers, by requests: links, clocks, resigning, taking back, and slow agents."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from genial_env import Rules
from genial_env.records import verify
from genial_env.table import Table
from genial_env.web import _warm_up, make_app
from genial_env.web._game import Game
from genial_env.web._seating import OUT_OF_TIME, RESIGNED, Clock, Seating
from genial_env.web.limits import Limits
from tests.conftest import GUARD
from tests.served import SMALL, Browser, Slow, served


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(make_app()) as found:
        yield found


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Slow]]:
    with Slow.known(monkeypatch):
        yield Slow


def refusal(answer: Any, status: int) -> str:
    """The code of a refusal."""
    assert answer.status_code == status, answer.text
    code: str = answer.json()["code"]
    return code


def share(host: Browser, *players: str | None, links: list[bool], **sent: Any) -> dict[str, Any]:
    """Begin a game in which some people join by a link."""
    rules = {**SMALL, "players": len(players)}
    body = {"rules": rules, "players": players, "seed": 1, "links": links, **sent}
    return host._took(host.post("/api/games", json=body))


def guest(address: str, game: dict[str, Any], seat: int | None) -> Browser:
    """Another browser that uses the link of a seat, or that for spectators."""
    links = game["seating"]["links"]
    found = Browser(address)
    found.params = {"link": links["spectators"] if seat is None else links["seats"][seat]}  # type: ignore[assignment]
    return found


def look(browser: Browser, game: dict[str, Any], **asked: Any) -> dict[str, Any]:
    return browser._took(browser.get(f"/api/games/{game['id']}", params=asked))


def change(browser: Browser, game: dict[str, Any], what: str, **sent: Any) -> Any:
    return browser.post(f"/api/games/{game['id']}/{what}", json={"turn": game["turn"], **sent})


def racks_of(game: dict[str, Any]) -> list[bool]:
    """Which racks are shown."""
    return [isinstance(rack, list) for rack in game["position"]["racks"]]


# Links


def test_a_game_of_two_browsers(address: str) -> None:
    """Each sees its own rack only, plays in its own turns only, and spectators see no rack."""
    host = Browser(address)
    game = share(host, None, None, links=[False, True], names=["Ann", None])
    second, watcher = guest(address, game, 1), guest(address, game, None)
    assert game["seating"]["absent"] == [1]
    assert (game["role"], game["own"], game["seat"]) == ("host", [0], 0)
    joined = change(second, game, "join", name=" Bob ").json()
    assert (joined["role"], joined["own"], joined["names"]) == ("guest", [1], ["Ann", "Bob"])
    assert "links" not in joined["seating"]
    while "end" not in game:
        seat = game["position"]["to_play"]
        mover, other = (host, second) if seat == 0 else (second, host)
        assert refusal(change(other, game, "play", word="swap"), 403) == "turn_of_another"
        assert refusal(watcher.get(f"/api/games/{game['id']}/hint", params={"seat": seat}), 409) == "hint_of_another"
        seen = [look(each, game) for each in (mover, other, watcher)]
        assert [racks_of(each) for each in seen] == [[seat == 0, seat == 1], [seat == 1, seat == 0], [False, False]]
        assert ["choice" in each for each in seen] == [True, False, False]
        hint = mover.get(f"/api/games/{game['id']}/hint", params={"seat": seat})
        assert refusal(hint, 409) == "no_hints_in_shared_games"
        for each, asked in ((other, seat), (watcher, 0), (watcher, 1), (mover, 1 - seat)):
            assert refusal(each.get(f"/api/games/{game['id']}", params={"seat": asked}), 403) == "rack_hidden"
        game = mover.decide(look(mover, game))
    records = [each.get(f"/api/games/{game['id']}/record").text for each in (host, second, watcher)]
    assert json.loads(records[0])["agents"] == ["Ann", "Bob"]
    assert records == records[:1] * 3
    assert second.post("/api/steps", content=records[0]).status_code == 200
    assert host.get("/api/games").json()[0]["names"] == ["Ann", "Bob"]
    assert second.get("/api/games").json() == []


def test_a_link_works_in_every_browser_and_after_a_restart(tmp_path: Path) -> None:
    with served(make_app(tmp_path)) as address:
        host = Browser(address)
        game = share(host, None, None, links=[True, True])
        assert (game["own"], game["seat"], game["role"]) == ([], None, "host")
        first = guest(address, game, 0)
        change(first, game, "join", name="Ann")
        game = first.decide(look(first, game))
    with served(make_app(tmp_path, limits=Limits(idle_s=0))) as address:
        again = guest(address, look(host.window(address), game), 0)
        found = look(again, game)
        assert (found["turn"], found["names"], found["seat"]) == (1, ["Ann", "Seat 2"], 0)
        assert found["seating"]["absent"] == [1]
        second = guest(address, look(host.window(address), game), 1)
        assert second.decide(look(second, game))["turn"] == 2


@pytest.mark.parametrize("secret", ["", "x", "é", "a" * 22, "\udcff"])
def test_wrong_links(address: str, secret: str) -> None:
    game = share(Browser(address), None, None, links=[False, True])
    stranger = Browser(address)
    asked = {"link": secret.encode("utf-8", "surrogateescape").decode("latin-1")}
    assert refusal(stranger.get(f"/api/games/{game['id']}", params=asked), 404) == "no_such_link"
    assert refusal(stranger.get("/api/games/none", params=asked), 404) == "no_such_link"
    unshared = stranger.new_game(None, "greedy")
    assert refusal(stranger.get(f"/api/games/{unshared['id']}", params=asked), 404) == "no_such_link"


def test_a_new_link_replaces_the_old_one(tmp_path: Path) -> None:
    """Also for a request that waits already, and after a restart; the seat keeps its person and its game."""
    with served(make_app(tmp_path)) as address:
        host = Browser(address)
        game = share(host, None, None, links=[False, True])
        second, watcher = guest(address, game, 1), guest(address, game, None)
        change(second, game, "join", name="Bob")
        seen = look(second, game)
        with ThreadPoolExecutor() as pool:
            asked = {"after": seen["version"], "wait": 20}
            waiting = pool.submit(second.get, f"/api/games/{game['id']}", params={**second.params, **asked})
            renewed = change(host, game, "link", link_of=1).json()
            assert refusal(waiting.result(GUARD), 404) == "no_such_link"
        assert refusal(change(second, game, "resign", seat=1), 404) == "no_such_link"
        assert renewed["seating"]["links"]["spectators"] == game["seating"]["links"]["spectators"]
        again = guest(address, renewed, 1)
        assert (look(again, game)["seat"], look(again, game)["names"]) == (1, ["Seat 1", "Bob"])
        change(host, game, "link", link_of=None)
        assert refusal(watcher.get(f"/api/games/{game['id']}"), 404) == "no_such_link"
        assert refusal(change(again, game, "link", link_of=1), 403) == "links_are_the_hosts"
        for seat in (0, 2, True, "1"):
            assert refusal(change(host, game, "link", link_of=seat), 400) == "invalid_request"
    with served(make_app(tmp_path)) as address:
        assert refusal(guest(address, game, 1).get(f"/api/games/{game['id']}"), 404) == "no_such_link"
        assert look(guest(address, renewed, 1), game)["seat"] == 1


def test_spectators_of_a_game_at_one_page(tmp_path: Path) -> None:
    """Every game can have a link for spectators; they see no rack, and there are hints as before."""
    with served(make_app(tmp_path)) as address:
        host = Browser(address)
        game = host.new_game(None, "greedy")
        assert game["seating"]["links"] == {"seats": [], "spectators": None}
        game = change(host, game, "link", link_of=None).json()
        assert not game["seating"]["shared"]
        seen = look(guest(address, game, None), game)
        assert (seen["role"], seen["seat"], seen["own"]) == ("spectator", None, [])
        assert (game["names"], seen["names"]) == (["You", "greedy"], ["Seat 1", "greedy"])
        assert not any(racks_of(seen))
        assert "links" not in seen["seating"]
    with served(make_app(tmp_path)) as address:
        assert look(guest(address, game, None), game)["role"] == "spectator"


def test_only_the_person_of_a_seat_is_called_you(address: str) -> None:
    host = Browser(address)
    game = share(host, None, "greedy", links=[True, False])
    first = guest(address, game, 0)
    assert (game["names"], look(first, game)["names"]) == (["Seat 1", "greedy"], ["You", "greedy"])
    assert host.get("/api/games").json()[0]["names"] == ["Seat 1", "greedy"]
    assert look(first, game, seat=0)["seat"] == 0
    assert change(first, game, "resign", seat=0).json()["names"] == ["You", "greedy"]


def test_spectators_and_hosts_do_not_join(address: str) -> None:
    host = Browser(address)
    game = share(host, "greedy", None, links=[False, True])
    watcher, second = guest(address, game, None), guest(address, game, 1)
    for each in (host, watcher):
        assert refusal(change(each, game, "join", name="Eve"), 409) == "no_seat_to_join"
    assert refusal(change(second, game, "join", name="x" * 25), 400) == "invalid_request"
    assert refusal(change(watcher, game, "advance"), 403) == "spectators_only_look"
    assert refusal(change(watcher, game, "stop"), 403) == "spectators_only_look"
    assert second.do(game, "advance")["turn"] == 1  # a guest's page has agents play, too


@pytest.mark.parametrize(
    "sent",
    [
        {"links": [True]},
        {"links": [False, True, True]},
        {"links": "yes"},
        {"links": [0, 1]},
        {"players": [None, "greedy"], "links": [False, True]},
        {"clock": 600},
        {"clock": {"main_s": 600}},
        {"clock": {"main_s": 0, "move_s": 1}},
        {"clock": {"main_s": 600, "move_s": "x"}},
        {"clock": {"main_s": 10**9, "move_s": 0}},
        {"players": ["greedy", "greedy"], "clock": {"main_s": 600, "move_s": 10}},
    ],
    ids=str,
)
def test_games_that_cannot_be_shared(address: str, sent: dict[str, Any]) -> None:
    body = {"rules": SMALL, "players": [None, None], **sent}
    assert refusal(Browser(address).post("/api/games", json=body), 400) == "invalid_request"


def test_what_others_do_is_told_at_once(address: str) -> None:
    """A request that waits for the next version is answered when somebody plays, joins or resigns."""
    host = Browser(address)
    game = share(host, None, None, links=[False, True])
    second = guest(address, game, 1)
    for act in (
        lambda: change(second, game, "join", name="Bob"),
        lambda: host.decide(game),
        lambda: change(second, game, "resign", seat=1),
    ):
        before = look(host, game)
        waiting = second.window()
        waiting.params = second.params
        answers: list[dict[str, Any]] = []
        asked = {"after": before["version"], "wait": 30}
        thread = threading.Thread(target=lambda: answers.append(look(waiting, game, **asked)))  # noqa: B023
        thread.start()
        act()
        thread.join(GUARD)
        assert answers[0]["version"] != before["version"]
    assert look(host, game, after=look(host, game)["version"], wait=0.01)["end"]["left"] == {"1": RESIGNED}


# Invitations


def test_the_invitation_code() -> None:
    """Without it nothing can be begun or listed; the link of a seat needs none."""
    with served(make_app(invitation="abcd-2345")) as address:
        host, stranger = Browser(address), Browser(address)
        assert not host.post("/api/session", json={}).json()["invited"]
        assert refusal(host.post("/api/invitation", json={"code": "ABCD2346"}), 403) == "wrong_invitation"
        assert refusal(host.post("/api/invitation", json={"code": None}), 403) == "wrong_invitation"
        assert refusal(host.post("/api/invitation", content='{"code": "\\ud800"}'), 403) == "wrong_invitation"
        assert host.post("/api/invitation", json={"code": " abcd 2345"}).status_code == 200
        assert host.post("/api/session", json={}).json()["invited"]
        game = share(host, None, None, links=[False, True])
        for path in ("/api/games", "/api/steps", "/api/review", "/api/records"):
            assert refusal(stranger.post(path, json={}), 403) == "not_invited"
        assert refusal(stranger.get("/api/games"), 403) == "not_invited"
        assert refusal(stranger.get(f"/api/games/{game['id']}"), 403) == "not_invited"
        assert stranger.get("/").status_code == 200
        second = guest(address, game, 1)
        assert change(second, game, "join", name="Bob").status_code == 200
        assert refusal(second.post("/api/steps", content=b"{}"), 422) == "invalid_record"  # may be reviewed, too
        assert refusal(second.post("/api/games", json={}), 403) == "not_invited"


@pytest.mark.parametrize("code", ["", "   ", "abc", "ab/cd;ef"])
def test_invitation_codes_that_are_too_easy(code: str) -> None:
    with pytest.raises(ValueError, match="at least 6 letters"):
        make_app(invitation=code)


# Resigning


def test_who_resigns_loses(address: str) -> None:
    """Of two, the other has won at once, whatever the markers say; racks and record are open."""
    host = Browser(address)
    game = share(host, None, None, links=[False, True], names=["Ann", "Bob"])
    second = guest(address, game, 1)
    game = host.decide(game)
    assert refusal(change(second, game, "resign", seat=0), 400) == "invalid_request"
    end = change(host, game, "resign", seat=0).json()["end"]
    assert (end["ranks"], end["how"], end["why"]) == ([2, 1], "resignation", ["Ann resigned"])
    seen = look(second, game)
    assert racks_of(seen) == [True, True]
    assert not seen["waits"]
    assert json.loads(second.get(f"/api/games/{game['id']}/record").text)["end"] == "unfinished"
    assert host.get("/api/games").json()[0]["ranks"] == [2, 1]
    for what in ("play", "resign", "take_back", "advance"):
        assert change(second, game, what, seat=1, slot=0, cells=[0, 1]).status_code == 409


def test_the_others_play_on(address: str) -> None:
    """An agent takes the seat of one of three, and comes last however well it does."""
    host = Browser(address)
    game = share(host, None, None, "random", links=[False, True, False], names=["Ann", "Bob", None])
    second = guest(address, game, 1)
    game = change(second, game, "resign", seat=1).json()
    assert (game["own"], game["names"][1]) == ([], "Bob (greedy)")
    assert game["seating"]["left"] == {"1": RESIGNED}
    while "end" not in game:
        game = host.decide(look(host, game)) if game["waits"] else host.do(game, "advance")
    assert game["end"]["ranks"][1] == 3
    assert game["end"]["why"] == ["Bob (greedy) resigned"]
    record = json.loads(host.get(f"/api/games/{game['id']}/record").text)
    assert record["agents"] == ["Ann", "Bob, then greedy", "random"]
    assert record["end"] != "unfinished"


def test_a_person_alone_may_give_up(address: str) -> None:
    browser = Browser(address)
    game = browser.new_game(None, "greedy", "random")
    end = change(browser, game, "resign", seat=0).json()
    while "end" not in end:
        end = browser.do(end, "advance")
    assert end["end"]["ranks"][0] == 3
    solo = browser.new_game(None, edition="2009", mode="solo")
    assert change(browser, solo, "resign", seat=0).json()["end"]["how"] == "resignation"


def test_ranks_of_those_who_have_left() -> None:
    """Behind all others, by their own markers; a team has left when all its people have."""
    rules = Rules(4, "2009", "team")
    seating = Seating(left={0: RESIGNED})
    players: list[str | None] = ["greedy", None, None, None]
    assert seating.lost_tracks(rules, players) == [False, False]
    seating.left[2] = OUT_OF_TIME
    assert seating.lost_tracks(rules, players) == [True, False]
    assert seating.is_decided(rules, players)
    table = Table(Rules(3), [None] * 3, 1)
    for _ in range(9):
        table.play(int(table.view(table.to_play).mask()[0].argmax()))
    scores = table.state.scores[0]
    assert Seating(left={0: RESIGNED, 2: RESIGNED}).rank(Rules(3), table.players, scores)[1] == 1
    assert sorted(Seating().rank(Rules(3), table.players, scores))[0] == 1


# Taking back


def test_a_decision_is_taken_back_if_all_others_agree(address: str) -> None:
    host = Browser(address)
    game = share(host, None, "greedy", None, links=[False, False, True])
    third = guest(address, game, 2)
    assert refusal(change(third, game, "take_back"), 409) == "nothing_to_take_back"
    before = look(host, game)
    game = host.do(host.decide(game), "advance")
    offered = change(host, game, "take_back").json()
    assert offered["seating"]["offer"] == {"seat": 0, "waits_for": [2]}
    assert change(host, game, "take_back").json()["turn"] == 2  # asking twice is not agreeing
    assert "offer" not in change(third, game, "take_back", refuse=True).json()["seating"]
    change(host, game, "take_back")
    agreed = change(third, game, "take_back").json()
    assert (agreed["turn"], agreed["moves"]) == (0, [])
    again = look(host, game)
    assert {**again, "version": 0, "seating": 0} == {**before, "version": 0, "seating": 0}
    game = host.do(host.decide(again), "advance")
    change(host, game, "take_back")
    assert "offer" not in third.decide(look(third, game))["seating"]  # playing on refuses it


def test_people_at_one_page_agree_at_once_and_nobody_agrees_with_an_agent(address: str) -> None:
    browser = Browser(address)
    game = browser.decide(browser.new_game(None, None), 0)
    assert change(browser, game, "take_back").json()["turn"] == 0
    alone = browser.decide(browser.new_game(None, "greedy"))
    assert refusal(change(browser, alone, "take_back"), 409) == "nobody_to_agree"


# Clocks


def test_a_clock() -> None:
    now = [100.0]
    clock = Clock(600, 10, [600.0, 600.0], now=lambda: now[0])
    clock.switch(0)
    now[0] += 30
    assert (clock.remaining(0), clock.remaining(1)) == (570, 600)
    clock.end_turn(0)
    clock.switch(1)
    now[0] += 5
    clock.switch(1)
    assert (clock.remaining(0), clock.remaining(1)) == (580, 595)
    now[0] += 1000
    assert clock.remaining(1) == 0
    assert clock.to_dict() == {"main_s": 600, "move_s": 10, "left": [580.0, 0.0]}


def test_the_time_of_the_person_to_play_runs_when_all_are_there(tmp_path: Path) -> None:
    with served(make_app(tmp_path)) as address:
        host = Browser(address)
        game = share(host, None, None, links=[False, True], clock={"main_s": 600, "move_s": 10})
        second = guest(address, game, 1)
        assert game["seating"]["clock"] == {"main_s": 600, "move_s": 10, "left": [600, 600], "running": None}
        game = change(second, game, "join", name=None).json()
        assert look(host, game)["seating"]["clock"]["running"] == 0
        clock = host.decide(look(host, game))["seating"]["clock"]
        assert 600 < clock["left"][0] <= 610
        assert look(host, game)["seating"]["clock"]["running"] == 1
    with served(make_app(tmp_path)) as address:  # while no server runs, no time runs
        kept = look(host.window(address), game)["seating"]["clock"]
        assert kept["left"] == pytest.approx(clock["left"], abs=5)


@pytest.mark.parametrize("players", [2, 3])
def test_who_runs_out_of_time_has_lost(address: str, players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Browser(address)
    links = [False, True, False][:players]
    game = share(host, *[None, None, "random"][:players], links=links, clock={"main_s": 600, "move_s": 0})
    change(guest(address, game, 1), game, "join", name="Bob")
    version = look(host, game)["version"]
    monkeypatch.setattr(Clock, "remaining", lambda clock, seat: 0.0 if seat == 0 else 500.0)
    found = look(host, game, after=version, wait=30)  # comes when the time is up, nobody need do anything
    assert found["seating"]["left"] == {"0": OUT_OF_TIME}
    if players == 2:
        assert (found["end"]["ranks"], found["end"]["how"]) == ([2, 1], "time")
    else:
        assert "end" not in found
        assert found["names"][0] == "greedy"
        assert not found["own"]


# Slow agents


def test_thinking_is_cancelled_and_resumed(slow: type[Slow]) -> None:
    """The turn stays the agent's, the waiting request is answered, and nothing is played until a person says so."""
    with served(make_app(limits=Limits(agent_threads=1))) as address:
        browser = Browser(address)
        game = browser.new_game(Slow.name, None)
        answers: list[Any] = []
        window = browser.window()
        waiting = threading.Thread(target=lambda: answers.append(change(window, game, "advance", wait=30)))
        waiting.start()
        assert slow.going.acquire(timeout=GUARD)
        stopped = change(browser, game, "stop").json()
        waiting.join(GUARD)
        assert (stopped["stopped"], stopped["turn"], "thinking" in stopped) == (True, 0, False)
        assert (answers[0].status_code, answers[0].json()["stopped"]) == (200, True)
        assert change(browser, game, "advance").json()["stopped"]  # a reload does not make it think again
        assert look(browser, game)["stopped"]
        again = change(browser, game, "advance", resume=True).json()
        assert again["thinking"]
        assert slow.going.acquire(timeout=GUARD)  # in another thread: the first is still at work
        slow.may_end.set()
        assert browser.do(game, "advance")["turn"] == 1
        assert not look(browser, game)["stopped"]


def test_an_agent_is_replaced_while_it_thinks(slow: type[Slow], tmp_path: Path) -> None:
    with served(make_app(tmp_path)) as address:
        browser = Browser(address)
        game = browser.new_game(Slow.name, None)
        change(browser, game, "advance")
        assert slow.going.acquire(timeout=GUARD)
        assert refusal(change(browser, game, "replace", agent="os:system"), 400) == "invalid_request"
        replaced = change(browser, game, "replace", agent="greedy").json()
        assert (replaced["names"], replaced["turn"], replaced["stopped"]) == (["greedy", "You"], 0, False)
        game = browser.do(game, "advance")
        assert game["turn"] == 1
        assert refusal(change(browser, game, "replace", agent="greedy"), 409) == "no_agent_to_play"
        assert refusal(change(browser, game, "stop"), 409) == "no_agent_to_play"
        slow.may_end.set()
    with served(make_app(tmp_path)) as address:
        game = look(browser.window(address), game)
        assert game["names"] == ["greedy", "You"]
        ended = change(browser.window(address), game, "resign", seat=1).json()
        record = json.loads(browser.window(address).get(f"/api/games/{ended['id']}/record").text)
        assert record["agents"] == ["slow, then greedy", "person"]


def test_cancelled_tasks_do_not_keep_others_waiting(slow: type[Slow]) -> None:
    with served(make_app(limits=Limits(agent_threads=1))) as address:
        browser = Browser(address)
        first, second = browser.new_game(Slow.name, None), browser.new_game("greedy", None)
        change(browser, first, "advance")
        assert slow.going.acquire(timeout=GUARD)
        assert change(browser, second, "advance").json()["thinking"]["waits"]
        change(browser, first, "stop")
        assert browser.do(second, "advance")["turn"] == 1


def test_a_position_is_shown_while_everything_is_busy(
    slow: type[Slow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game whose session must be read from the disk first is shown, too, with all queues full."""
    with served(make_app(tmp_path)) as address:
        browser = Browser(address)
        game = browser.new_game(None, "greedy")
    with served(make_app(tmp_path, limits=Limits(agent_threads=1, helper_threads=1, queued_tasks=1))) as address:
        busy = Browser(address)
        games = [busy.new_game(Slow.name, None) for _ in range(3)]
        statuses = [change(busy, each, "advance").status_code for each in games]
        assert statuses[-1] == 503
        assert look(busy, games[0])["thinking"]
        assert look(browser.window(address), game)["turn"] == 0


def test_agents_play_by_numpy_while_code_is_compiled(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from genial_env import backends

    asked: list[str] = []
    choose = Table.choose

    def noted(table: Table) -> int | None:
        asked.append(backends.current().name)
        return choose(table)

    monkeypatch.setattr(Table, "choose", noted)
    monkeypatch.setenv(backends.BACKEND_VARIABLE, "numba")
    monkeypatch.setattr(_warm_up.WarmUp, "in_progress", property(lambda self: True))
    browser = Browser(address)
    browser.do(browser.new_game("greedy", None), "advance")
    assert asked == ["numpy"]


def test_thinking_says_that_code_is_compiled(slow: type[Slow], address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(address)
    game = browser.new_game(Slow.name, None)
    assert not change(browser, game, "advance").json()["thinking"]["compiling"]
    monkeypatch.setattr(_warm_up.WarmUp, "in_progress", property(lambda self: True))
    assert look(browser, game)["thinking"]["compiling"]


def test_the_compilation_is_ended_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sleeping(_warm_up.subprocess.Popen):  # type: ignore[type-arg, misc]
        def __init__(self, command: list[str], **settings: Any) -> None:
            super().__init__([command[0], "-c", "import time; time.sleep(3600)"], **settings)

    monkeypatch.setattr(_warm_up.subprocess, "Popen", Sleeping)
    monkeypatch.delenv("GENIAL_ENV_BACKEND", raising=False)
    warm_up = _warm_up.WarmUp()
    warm_up.start()
    assert warm_up.in_progress
    warm_up.stop()
    assert not warm_up.in_progress


def test_names_in_records() -> None:
    """People have the names that they gave, unless an agent would be taken to have played."""
    table = Table(Rules(3, side=4), [None, None, "greedy"], 1)
    assert Game("x", table, 0.0).record()["agents"] == ["person", "person", "greedy"]
    assert Game("x", table, 0.0, ("Ann", "value", None)).record()["agents"] == ["Ann", "value (person)", "greedy"]
    assert list(verify([Game("x", table, 0.0, ("Ann", "", None)).record()])) == [None]


def test_a_restored_game_is_as_before() -> None:
    """What :meth:`Game.snapshot` returns undoes every change of who plays."""
    game = Game("x", Table(Rules(side=4), ["greedy", None], 1), time.time())
    before, restore = game.to_json(), game.snapshot()
    game.table.advance()
    game.give_seat(0, "random")
    game.leave(1, RESIGNED)
    assert game.to_json() != before
    restore()
    assert game.to_json() == before
