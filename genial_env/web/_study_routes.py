"""Which function answers which request of the analysis board, the lessons and the buttons that share.

Each function takes the JSON object that was sent, and returns a JSON object or a response. They know nothing of
sessions and games; the application checks the session before.
"""

from collections.abc import Callable

from starlette.responses import Response

from genial_env.web import _analysis_requests as analysis
from genial_env.web import _lesson_requests as lessons
from genial_env.web import _share_requests as share
from genial_env.web._serialize import JsonObject

Work = Callable[[JsonObject], JsonObject | Response]

QUICK: dict[str, Work] = {
    "/api/analysis/new": analysis.new_position,
    "/api/analysis/position": analysis.show_position,
    "/api/analysis/move": analysis.try_move,
    "/api/analysis/deal": analysis.deal_racks,
    "/api/puzzles/list": lessons.list_puzzles,
    "/api/puzzles/show": lessons.show_puzzle,
    "/api/puzzles/answer": lessons.check_answer,
    "/api/share/picture": share.draw_picture,
    "/api/share/page": share.make_replay_page,
}
"""What takes milliseconds, by address."""

LONG: dict[str, Work] = {
    "/api/analysis/agent": analysis.ask_agent,
    "/api/analysis/judge": analysis.judge_position,
    "/api/analysis/answer": analysis.answer_position,
    "/api/share/film": share.draw_film,
}
"""What takes seconds, by address. It waits in a queue, and is cancelled when the page leaves."""
