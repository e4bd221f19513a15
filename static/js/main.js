/** Starts the page. */
import { createActions } from "./actions.js";
import { addressed } from "./address.js";
import { createClient } from "./client.js";
import { html, render } from "./html.js";
import { save } from "./saved.js";
import { takeDevCode } from "./signin.js";
import { initialState, totalUnread } from "./state.js";
import { createStore } from "./store.js";
import { App } from "./views/app.js";

/** The cursors are written down at most this often; an older one only means that a little comes twice. */
const SAVE_MS = 500;

takeDevCode();
const store = createStore(initialState());
const client = createClient(store);
const actions = createActions(store, client);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));

let savedOutbox = store.get().outbox;
let savedLogs = store.get().logs;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

function saveCursors() {
  clearTimeout(timer);
  timer = undefined;
  const { me, logs } = store.get();
  if (me) save("cursors", Object.fromEntries([...logs].filter(([, l]) => l.cursor).map(([g, l]) => [g, l.cursor])));
}

function draw() {
  const s = store.get();
  const unread = totalUnread(s);
  document.title = unread > 0 ? `(${unread}) chatd` : "chatd";
  render(html`<${App} state=${s} actions=${actions} />`, root);
}

store.subscribe(() => {
  const s = store.get();
  if (s.me && s.outbox !== savedOutbox) {
    savedOutbox = s.outbox;
    save("outbox", s.outbox.filter((t) => t.id === undefined));
  }
  if (s.logs !== savedLogs) {
    savedLogs = s.logs;
    timer ??= setTimeout(saveCursors, SAVE_MS);
    // After a reload the address names the group before the list of groups is there.
    if (s.open === "" && s.groups.has(addressed())) actions.open(addressed());
  }
  draw();
});

addEventListener("hashchange", () => {
  takeDevCode();
  if (store.get().open !== addressed()) actions.open(addressed());
});
addEventListener("pagehide", saveCursors);
addEventListener("online", client.hurry);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") client.hurry();
  draw();
});
addEventListener("focus", draw);

client.signIn.resume();
draw();
