// Requests to the server. What it refuses becomes an Error with its words.

export class Refusal extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

export const get = (path) => asked(path, {});

export const post = (path, sent, signal) => asked(path, { method: "POST", body: JSON.stringify(sent), signal });

/** Send text as it stands: a file of records, or a line of one. */
export const postText = (path, text) => asked(path, { method: "POST", body: text });

/** Send text, and give each line of JSON of the answer to a function as it comes. */
export async function postForLines(path, text, signal, take) {
  const answer = await sent(path, { method: "POST", body: text, signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    lines.forEach((line) => take(JSON.parse(line)));
  }
}

/** The text of a file of the server. */
export async function text(path) {
  return (await sent(path, {})).text();
}

async function asked(path, options) {
  return (await sent(path, options)).json();
}

async function sent(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The server does not answer. Is “genial serve” still running?");
  }
  if (answer.ok) return answer;
  const refused = await answer.json().catch(() => ({ error: `The server answers with status ${answer.status}.` }));
  throw new Refusal(answer.status, refused.error);
}
