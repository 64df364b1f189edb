// Addresses of games. A game is named by its id, or by its id and the secret of a link: "id~secret".

/**
 * Return the address at which the server answers requests about a game.
 * @param {string} key of the game
 * @param {string} [what] the last part of the address, with a slash
 * @param {Record<string, string | number>} [query]
 */
export function gamePath(key, what = "", query = {}) {
  const [id, link] = key.split("~");
  const named = link ? { ...query, link } : query;
  const words = new URLSearchParams(Object.entries(named).map(([name, value]) => [name, String(value)])).toString();
  return `/api/games/${id}${what}${words ? `?${words}` : ""}`;
}

/**
 * Return the whole address of the page of a link, to be sent to somebody.
 * @param {string} id of the game
 * @param {string} secret
 */
export const linkAddress = (id, secret) => `${location.origin}/#/game/${id}~${secret}`;
