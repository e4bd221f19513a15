/**
 * The service worker. It keeps one version of the page on this device, so that the page opens without a network. While the server
 * answers, the page is the server's: only what its address names by content comes from here. Nothing of the API is kept.
 */
import { PATHS } from "../paths.ts";
import { listen } from "./alerts.ts";

declare const self: ServiceWorkerGlobalScope;
/** What static.Site writes before this: which version of the page this is, its folder, and the files that it is made of. */
declare const SHELL: { version: string; folder: string; files: readonly string[] };

const PREFIX = "chatd-page-";
const NAME = PREFIX + SHELL.version;
/** How long the server may take to answer with the page before the one that is kept is shown: the client says that it is offline. */
const PATIENCE_MS = 4000;

listen();
self.addEventListener("install", (event) => event.waitUntil(keep().then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(drop((name) => name !== NAME).then(() => self.clients.claim())));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    if (pathname === "/" || PATHS.test(pathname)) event.respondWith(page(event));
  } else if (pathname.startsWith(SHELL.folder)) {
    event.respondWith(kept(pathname).then((answer) => answer ?? fetch(request)));
  }
});

/** By match, which makes no cache where there is none any more. */
const kept = (path: string): Promise<Response | undefined> => caches.match(path, { cacheName: NAME, ignoreVary: true });

/** Keeps this version of the page: all of it, or none. A later visit tries again, and the version before stays until then. */
async function keep(): Promise<void> {
  const cache = await caches.open(NAME);
  await Promise.all(SHELL.files.map(async (path) => {
    const answer = await fetch(path);
    // While nodes are updated, one of another version gives its own file under this address, and says that it may change.
    if (!answer.ok || /no-cache|no-store/.test(answer.headers.get("Cache-Control") ?? "")) throw new Error(`${path} is not of this version`);
    await cache.put(path, answer);
  }));
  const answer = await fetch("/", { cache: "no-store" });
  if (!answer.ok || !(await answer.clone().text()).includes(SHELL.folder)) throw new Error("the page is not of this version");
  await cache.put("/", answer);
}

async function drop(which: (name: string) => boolean): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && which(name));
  await Promise.all(names.map((name) => caches.delete(name)));
}

/** The page from the server; where that is away, or a proxy says so, the one that is kept. */
async function page(event: FetchEvent): Promise<Response> {
  const asked = fetch(event.request);
  const own = await kept("/");
  if (!own) return asked;
  const late = new Promise<null>((done) => setTimeout(() => done(null), PATIENCE_MS));
  const answer = await Promise.race([asked, late]).catch(() => null);
  if (!answer || answer.status >= 500) return own;
  event.waitUntil(leaveIfUnwanted());
  return answer;
}

let looked = false;

/** A server that has no service worker gets rid of this one: a version from before, or a proxy that refuses its address. */
async function leaveIfUnwanted(): Promise<void> {
  if (looked) return;
  looked = true; // once each time that the browser starts this, which is about once a visit
  const status = await fetch("/sw.js", { cache: "no-store" }).then((answer) => answer.status, () => 0);
  if (status !== 404 && status !== 410) return;
  await self.registration.unregister();
  await drop(() => true);
}
