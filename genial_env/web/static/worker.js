// The service worker: it answers with what the browser has kept if the server does not answer. Else it changes nothing.

const CACHE = "genial"; // that of offline.js

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const isFile = pathname === "/" || pathname.startsWith("/static/");
  if (event.request.method === "GET" && origin === location.origin && isFile) event.respondWith(answer(event.request));
});

/**
 * Ask the server; keep its answer, or find the one that was kept.
 * @param {Request} request
 */
async function answer(request) {
  const cache = await caches.open(CACHE);
  try {
    const sent = await fetch(request);
    if (sent.ok) await cache.put(request, sent.clone());
    return sent;
  } catch (error) {
    const kept = await cache.match(request);
    if (kept === undefined) throw error;
    return kept;
  }
}
