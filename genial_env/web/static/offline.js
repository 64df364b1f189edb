// Have the browser keep the page, so that it begins without the server: the rules can be read then.

import { readSetting, writeSetting } from "./settings.js";

/** @import { Setup } from "./api_types.js" */

const CACHE = "genial"; // that of worker.js

/**
 * Keep what the page has loaded, and what the server has said at first.
 * @param {Setup} setup
 * @param {string[]} more addresses of files that may be needed
 */
export async function keepPage(setup, more) {
  writeSetting("setup", JSON.stringify(setup));
  if (!navigator.serviceWorker) return; // browsers have it for https and for this machine only
  try {
    await navigator.serviceWorker.register("/worker.js");
    const cache = await caches.open(CACHE);
    const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
    const files = loaded.filter((name) => name.startsWith(`${location.origin}/static/`));
    for (const address of [...files, ...more, "/"]) {
      if ((await cache.match(address)) === undefined) await cache.add(address);
    }
  } catch (error) {
    console.warn("The page is not kept for use without the server.", error);
  }
}

/**
 * Return what the server said at first when it last answered; null if it never did.
 * @returns {Setup | null}
 */
export function findKeptSetup() {
  const kept = readSetting("setup");
  return kept === null ? null : JSON.parse(kept);
}
