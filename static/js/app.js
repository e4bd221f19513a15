/** Starts the page. */
import { createActions } from "./actions.js";
import { addressed } from "./address.js";
import { createClient } from "./client.js";
import { html, render } from "./html.js";
import { kept } from "./people.js";
import { save } from "./saved.js";
import { takeDevCode, takeInvite, takeTicket } from "./signin.js";
import { initialState, totalUnread } from "./state.js";
import { createStore } from "./store.js";
import { App } from "./views/app.js";

// What the dialogs take from here.
export { counted, fullTime, shortTime } from "./format.js";
export { labelOf, textOf, withLabels } from "./people.js";
export { html, useEffect, useRef, useState } from "./html.js";
export { newKey } from "./outbox.js";
export { inviteLink } from "./signin.js";
export { say } from "./say.js";
export { roleOf, titleOf } from "./state.js";
export { Avatar, GroupAvatar, Icon, IconButton, KnownPeople, Name, Problem, Sheet } from "./views/parts.js";

/** The cursors are written down at most this often; an older one only means that a little comes twice. */
const SAVE_MS = 500;

takeInvite();
takeDevCode();
takeTicket();
const store = createStore(initialState());
const client = createClient(store);
const actions = createActions(store, client);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));

let savedOutbox = store.get().outbox;
let savedLogs = store.get().logs;
let savedPeople = store.get().people;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

/** @type {typeof import("./views/sheets.js").sheets|undefined} */
let sheets;
/** @type {Promise<void>|undefined} */
let loading;
let liveOnce = false;

/** Loads the dialogs: once the page is live, so that they open at once and without a connection, or else when one is asked for. */
function loadSheets() {
  loading ??= import("./views/sheets.js").then(
    (module) => {
      sheets = module.sheets;
      draw();
    },
    () => {
      loading = undefined;
      throw new Error("This part of the page could not be loaded. Try again, or reload the page.");
    },
  );
  return loading;
}

const needSheets = () => loadSheets().catch((/** @type {Error} */ err) => client.toast(err.message));

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
  render(html`<${App} state=${s} actions=${actions} sheets=${sheets} needSheets=${needSheets} />`, root);
}

store.subscribe(() => {
  const s = store.get();
  if (s.me && s.outbox !== savedOutbox) {
    savedOutbox = s.outbox;
    save("outbox", s.outbox.filter((t) => t.id === undefined));
  }
  if (s.me && s.people !== savedPeople) {
    savedPeople = s.people;
    save("people", kept(s.people));
  }
  if (s.logs !== savedLogs) {
    savedLogs = s.logs;
    timer ??= setTimeout(saveCursors, SAVE_MS);
    // After a reload the address names the group before the list of groups is there.
    if (s.open === "" && s.groups.has(addressed())) actions.open(addressed());
  }
  draw();
  if (s.link.phase === "live" && !liveOnce) {
    liveOnce = true;
    loadSheets().catch(() => {}); // tried again when one is asked for
  }
});

addEventListener("hashchange", () => {
  if (takeInvite()) actions.showInvite();
  takeDevCode();
  takeTicket();
  client.signIn.byLink();
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
actions.showInvite();
draw();
