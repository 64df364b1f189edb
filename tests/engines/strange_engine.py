"""An engine that plays at random and misbehaves on request: ``python strange_engine.py FAULT``.

The engine knows nothing of the package.
"""

import json
import random
import sys
import time
from typing import Any


def say(kind: str, **values: Any) -> None:
    print(json.dumps({"type": kind, **values}), flush=True)


class Engine:
    """Chooses moves, and fails where the random number of a decision says so: one in eight."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.boards: dict[str, str] = {}

    def remember(self, game: str, board: str) -> None:
        """End with an error if a game's board is not one that grew from the last one of the same game."""
        before = self.boards.get(game, "." * len(board))
        assert all(old in (".", new) for old, new in zip(before, board, strict=True)), "this is another game"
        self.boards[game] = board

    def fail(self) -> bool:
        """Misbehave; return whether an answer has been given."""
        if self.fault == "hang":
            time.sleep(3600)
        if self.fault == "die":
            sys.exit(7)
        if self.fault == "flood":
            for _ in range(5000):
                say("info", text="thinking" * 10)
        while self.fault == "endless":
            sys.stdout.write("x" * 10000)
        if self.fault == "nonsense":
            print("e2e4", flush=True)
            return True
        return False

    def go(self, view: dict[str, Any], request: dict[str, Any]) -> None:
        number = int(request["random"])
        if self.fault == "slow":
            time.sleep(0.05)
        if number % 8 == 0 and self.fail():
            return
        move = choose(view, random.Random(number))
        if number % 8 == 0 and self.fault in ("illegal", "words"):
            move = "RR A1 K11" if self.fault == "illegal" else "the best one"
        for _ in range(2 if number % 8 == 0 and self.fault == "twice" else 1):
            say("bestmove", id=request["id"], move=move)


def choose(view: dict[str, Any], rng: random.Random) -> str:
    legal = view["legal"]
    if legal["swap"] or not legal["slots"]:
        return "swap" if legal["swap"] else "decline"
    return f"{rng.choice(legal['slots'])} {rng.choice(legal['pairs'])}"


def main() -> None:
    engine, view = Engine(sys.argv[1]), {}
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            say("hello", protocol="genialprotocol", version=2 if engine.fault == "version" else 1)
        elif kind == "rules":
            if engine.fault == "two_only" and message["rules"]["players"] != 2:
                say("error", text="only two seats")
            else:
                say("ready")
        elif kind == "position":
            view = message["view"]
            if engine.fault == "stateful":
                engine.remember(message["game"], view["board"])
        elif kind == "go":
            engine.go(view, message)
        elif kind == "quit":
            return


if __name__ == "__main__":
    main()
