/**
 * Ties the state to the server: the sign-in, the connection and its frames, the outbox, and the lists that the page
 * asks for by HTTP. The commands of a person are in actions.js.
 *
 * @typedef {import("./store.js").Store} Store
 */
import { Problem, call, routes } from "./api.js";
import { lineOf } from "./format.js";
import { createLink } from "./link.js";
import { withRead } from "./reading.js";
import { idOf } from "./log.js";
import { labelOf, remembered, withLabels } from "./people.js";
import { createProfiles } from "./profiles.js";
import { load } from "./saved.js";
import { createSending } from "./sending.js";
import { createSignIn } from "./signin.js";
import * as state from "./state.js";

/** Counts that may be wrong are requested again after this, so that a burst of changes asks once. */
const REFRESH_MS = 250;
/** While polling, cursors are asked for this long after an answer. */
const CURSORS_MS = 2000;
/** Pages of 100 groups, and of 100 members, that are loaded. */
const GROUP_PAGES = 20;
const MEMBER_PAGES = 5;
const TOAST_MS = 7000;
/** After a refused read the next one waits. */
const READ_AGAIN_MS = 3000;

/** @param {Store} store */
export function createClient(store) {
  /** @type {import("./link.js").PageLink|null} */
  let connection = null;
  let toasts = 0;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let refreshTimer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let cursorTimer;
  const reading = new Set(); // groups with a read in flight
  const resting = new Set(); // groups whose last read was refused

  const signIn = createSignIn({
    begun,
    renewed: (token) => { connection?.ask({ op: "auth", token }).catch(() => {}); },
    ended(reason) {
      disconnect();
      store.update(() => ({ ...state.initialState(), signedOut: reason, invite: store.get().invite }));
    },
  });

  const api = routes(async (method, path, opt = {}) => {
    const life = signIn.life();
    try {
      return await asked(life, call(method, path, { ...opt, token: signIn.token() }));
    } catch (err) {
      if (!(err instanceof Problem) || err.status !== 401 || !(await asked(life, signIn.renew()))) throw err;
      return asked(life, call(method, path, { ...opt, token: signIn.token() }));
    }
  });

  const people = createProfiles(store, api.people, signIn.life);
  const sending = createSending(store, { link: () => connection, ours, toast });
  const { pump } = sending;

  /** An answer, unless the sign-in that asked has ended: then it is for nobody. @template T @param {number} life @param {Promise<T>} answer */
  async function asked(life, answer) {
    try {
      return await answer;
    } finally {
      if (signIn.life() !== life) throw new Problem("signed_out", "You signed out.");
    }
  }

  /** What to do with an outcome, unless the present sign-in has ended by then. @template {any[]} A @param {(...args: A) => void} act */
  function ours(act) {
    const life = signIn.life();
    return (/** @type {A} */ ...args) => { if (signIn.life() === life) act(...args); };
  }

  /** @param {string} text @param {boolean} [bad] */
  function toast(text, bad = true) {
    const id = ++toasts;
    store.update((s) => ({ ...s, toasts: [...s.toasts.filter((t) => t.text !== text), { id, text, bad }].slice(-3) }));
    setTimeout(() => store.update((s) => ({ ...s, toasts: s.toasts.filter((t) => t.id !== id) })), TOAST_MS);
  }

  /** @param {string} user */
  function begun(user) {
    disconnect();
    store.update(() => ({ ...state.initialState(user), invite: store.get().invite, outbox: load("outbox") ?? [], people: remembered(load("people")) }));
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    connection = createLink(`${scheme}//${location.host}/v1/ws`, api, { hello, begin: refresh, request: positions, frame, link, round, refused });
    connection.open();
  }

  /** @param {boolean} forGood */
  async function refused(forGood) {
    if (!forGood) return signIn.renew();
    signIn.refused();
    return false;
  }

  function disconnect() {
    connection?.end();
    connection = null;
    clearTimeout(cursorTimer);
    cursorTimer = undefined;
    people.reset();
    for (const groups of [sending.busy, reading, resting]) groups.clear();
  }

  async function hello() {
    await refresh();
    return { token: signIn.token(), ...positions() };
  }

  /** Up to where the page has what came live. */
  function positions() {
    const { logs, inbox } = store.get();
    const after = Object.fromEntries([...logs].map(([g, log]) => [g, log.cursor || log.end]));
    return inbox.epoch ? { after, inbox_after: inbox.cursor } : { after };
  }

  /** Polling brings no cursors: what was read, here and by others, is asked for. */
  function round() {
    cursorTimer ??= setTimeout(() => {
      cursorTimer = undefined;
      const { open } = store.get();
      if (!connection?.isLive()) return;
      store.update((s) => ({ ...s, stale: true }));
      if (open) loadMembers(open).catch(() => {});
    }, CURSORS_MS);
  }

  /** @param {string} g */
  async function loadMembers(g) {
    const before = store.get().members.get(g);
    const list = await api.all(`/v1/groups/${encodeURIComponent(g)}/members`, "members", MEMBER_PAGES);
    store.update((s) => (s.groups.has(g) ? state.withMembers(s, g, list, before) : s));
    people.want(list.map((/** @type {any} */ m) => m.user));
  }

  async function refresh() {
    clearTimeout(refreshTimer);
    refreshTimer = undefined;
    const { me, memberships } = store.get();
    const list = await api.all("/v1/groups", "groups", GROUP_PAGES).catch((err) => {
      if (err.status === 403) signIn.refused(); // nobody else is refused their own groups
      throw err;
    });
    const cursors = new Map(Object.entries(load("cursors") ?? {}));
    store.update((s) => {
      if (s.me !== me) return s;
      // A group entered or left while the list was on its way: it may say either.
      return s.memberships === memberships ? state.withGroups(s, list, cursors, reading) : { ...s, stale: true };
    });
    people.want([me, ...list.flatMap((/** @type {any} */ g) => [...(g.direct ?? []), g.last_message?.from])]);
  }

  /** @param {import("./types.js").Link} next */
  function link(next) {
    store.update((s) => ({ ...s, link: next }));
    if (next.phase === "live") {
      pump();
      loadInbox();
    }
  }

  async function loadInbox() {
    const batch = await api.inbox().catch(() => null);
    if (batch) withItems(batch);
  }
  function withItems(/** @type {any} */ batch) {
    store.update((s) => state.withInbox(s, batch));
    people.want(batch.items.map((/** @type {any} */ i) => i.from));
  }

  /** @param {any} f */
  function frame(f) {
    switch (f.op) {
      case "welcome":
        store.update((s) => welcomed(s, f));
        if (failed(f.errors ?? [])) connection?.restart(); // the session leaves those groups out
        return;
      case "errors": return failed(f.errors);
      case "messages": return messages(f);
      case "inbox": return withItems(f);
      case "cursor": return store.update((s) => state.withCursor(s, f));
      case "typing":
        store.update((s) => state.withTyping(s, f.group, f.user, Date.now()));
        people.want([f.user]);
        setTimeout(() => store.update((s) => state.withoutTyping(s, Date.now())), state.TYPING_MS + 50);
        return;
      case "joined": return store.update((s) => ({ ...s, stale: true }));
      case "left": return left(f.group);
    }
  }

  /** @param {string} id */
  function left(id) {
    const held = store.get().groups.get(id);
    store.update((s) => state.withoutGroup(s, id));
    if (held) toast(`You’re no longer a member of ${state.titleOf(held, store.get().people)}.`, false);
  }

  /**
   * What the server could not do about some groups: one that the person is not in goes, and a position that it cannot read is given up for
   * the newest page. @param {{group: string, inbox?: boolean, code: string}[]} errors @returns {boolean} whether a position was given up
   */
  function failed(errors) {
    for (const e of errors) if (e.code === "not_found" && !e.inbox) left(e.group);
    const unreadable = errors.filter((e) => e.code === "invalid_request");
    store.update((s) => state.withoutPositions(s, unreadable));
    return unreadable.length > 0;
  }

  /** @param {import("./types.js").State} s @param {any} f */
  function welcomed(s, f) {
    let next = s;
    for (const id of s.groups.keys()) if (!Object.hasOwn(f.groups, id)) next = state.withoutGroup(next, id);
    const unknown = Object.keys(f.groups).some((id) => !s.groups.has(id));
    return unknown ? { ...next, stale: true } : next;
  }

  /** @param {import("./types.js").Batch} batch */
  function messages(batch) {
    store.update((s) => {
      const next = state.withBatch(s, batch);
      if (s.open !== batch.group) return next;
      const m = batch.messages.findLast((m) => m.kind === "delete" || (m.kind === "text" && m.from !== s.me && !m.deleted_at));
      return m ? { ...next, heard: m.kind === "text" ? `${labelOf(s.people, m.from)}: ${withLabels(lineOf(m), s.people, m.mentions ?? [])}` : "" } : next;
    });
    people.seen(batch);
    if (!store.get().groups.get(batch.group)?.known) store.update((s) => ({ ...s, stale: true }));
  }

  /** Everything up to an id was on screen. @param {string} id @param {number} upTo */
  function read(id, upTo) {
    const group = store.get().groups.get(id);
    if (!group?.known || !connection?.isLive() || upTo <= group.read || reading.has(id) || resting.has(id)) return;
    reading.add(id);
    store.update((s) => withRead(s, id, upTo));
    const { cursor } = store.get().logs.get(id) ?? {};
    // With the cursor of the newest message the server notices a log that lost its end.
    const at = idOf(cursor) === upTo ? { cursor } : { id: upTo };
    connection.ask({ op: "read", group: id, ...at }).catch(ours(() => {
      resting.add(id);
      setTimeout(ours(() => { resting.delete(id); again(); }), READ_AGAIN_MS);
      store.update((s) => ({ ...s, stale: true }));
    })).finally(ours(() => { reading.delete(id); again(); }));
  }

  const again = () => store.update((s) => ({ ...s })); // draws: what came into view meanwhile is read as well

  store.subscribe(() => {
    if (store.get().stale && refreshTimer === undefined && connection?.isLive()) {
      refreshTimer = setTimeout(() => {
        store.update((s) => ({ ...s, stale: false }));
        refresh().catch(() => {});
      }, REFRESH_MS);
    }
  });

  return {
    api, signIn, people, toast, pump, read, refresh, loadMembers,
    send: (/** @type {any} */ f) => connection?.send(f),
    hurry: () => connection?.hurry(),
  };
}

/** @typedef {ReturnType<typeof createClient>} Client */
