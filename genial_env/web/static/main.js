// The page: which screen is shown is in the address behind "#".

import { Refusal, post } from "./api.js";
import { fill, h } from "./dom.js";
import { gameScreen } from "./game.js";
import { setLook } from "./look.js";
import { replayScreen } from "./replay.js";
import { startScreen } from "./start.js";

const main = document.getElementById("main");
let leave = () => {};
let setup = null;

/** Screens fill the element that they are given, and return what is to be done when they are left. */
function screenFor(address) {
  const [, first, second] = address.split("/");
  if (first === "game" && second) return (at) => gameScreen(at, second);
  if (first === "replay") return (at) => replayScreen(at, second);
  return (at) => startScreen(at, setup);
}

async function show() {
  leave();
  leave = () => {};
  const place = h("div", { class: "screen" });
  fill(main, place);
  document.title = "Génial!";
  try {
    if (setup === null) {
      setup = await post("/api/session", {});
      setLook(setup.look);
    }
    leave = (await screenFor(location.hash)(place)) ?? (() => {});
  } catch (error) {
    fill(place, trouble(error));
  }
}

/** What went wrong, and a way out. */
function trouble(error) {
  if (!(error instanceof Refusal)) console.error(error);
  const words = error instanceof Refusal ? error.message : "Something went wrong in this page.";
  return h(
    "div",
    { class: "card", role: "alert" },
    h("p", {}, words),
    h("p", {}, h("a", { href: "#/" }, "To the start"), " · ", h("button", { type: "button", onclick: () => location.reload() }, "Load again")),
  );
}

addEventListener("hashchange", async () => {
  await show();
  main.focus({ preventScroll: true });
});
show();
