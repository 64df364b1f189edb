# Serves the page of the browser game, with every agent, all functions compiled:
#
#     docker build -t genial_env .
#     docker run --rm -p 8000:8000 -v genial_games:/games genial_env
FROM python:3.13-slim
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY genial_env genial_env
COPY docs/images/rules docs/images/rules
ENV GENIAL_ENV_CACHE_DIR=/cache
RUN pip install --no-cache-dir '.[fast,serve,arena,render]' \
    && useradd --create-home player && mkdir /games /cache && chown player /games /cache
USER player
RUN python -m genial_env.warmup
WORKDIR /home/player
VOLUME /games
EXPOSE 8000
CMD ["genial", "serve", "--host", "0.0.0.0", "--port", "8000", "--data", "/games"]
