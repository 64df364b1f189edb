"""The game in the browser: play against people and agents, step through game records, review games (`genial serve`).

    from genial_env.web import make_app

    app = make_app()  # an ASGI application, for any ASGI server

The server holds the games and knows the rules. The page shows what the server sends, and the server never sends what a
player may not know.
"""

from genial_env.web._app import make_app
from genial_env.web.limits import Limits

__all__ = ["Limits", "make_app"]
