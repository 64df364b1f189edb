"""The game in the browser: play against people and agents, step through records, have games judged. `genial serve`.

    from genial_env.web import make_app

    app = make_app()  # an ASGI application, for any server of such

The server keeps the games; the page shows what it is told. What a seat may not know never leaves the server.
"""

from genial_env.web.app import make_app

__all__ = ["make_app"]
