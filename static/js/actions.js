/** What a person can do. Every failure ends as a readable line, either beside the form (thrown) or as a toast. */
import { addressed } from "./address.js";
import { call } from "./api.js";
import { mentionsIn } from "./format.js";
import { reachesEnd } from "./log.js";
import { OUTBOX_MAX, newKey } from "./outbox.js";
import { withIds, withPeople } from "./people.js";
import { smallEnough } from "./picture.js";
import * as reading from "./reading.js";
import { load, save } from "./saved.js";
import { inviteProblem, joinLink } from "./signin.js";
import * as state from "./state.js";
import { createUploads } from "./uploads.js";

/** Signs of typing go out at most this often. */
const TYPING_EVERY_MS = 3000;

/** @param {import("./store.js").Store} store @param {import("./client.js").Client} client */
export function createActions(store, client) {
  const { api, toast } = client;
  const { takeFiles, ...uploads } = createUploads(store, client);
  const loading = new Set();
  let typed = 0;

  function full() {
    if (store.get().outbox.length < OUTBOX_MAX) return false;
    toast("Too many messages are waiting to be sent. Try again when you’re back online.");
    return true;
  }

  /** @param {Partial<import("./types.js").Task> & {group: string, kind: import("./types.js").Task["kind"]}} task */
  function queue(task) {
    if (full()) return false;
    const entry = { ...task, client_id: newKey(), queued_at: new Date().toISOString(), attempts: 0 };
    store.update((s) => ({ ...s, outbox: [...s.outbox, entry] }));
    client.pump();
    return true;
  }

  /** Loads unless the same is being loaded. @param {string} what @param {() => Promise<void>} load */
  async function once(what, load) {
    const key = `${client.signIn.life()} ${what}`;
    if (loading.has(key)) return;
    loading.add(key);
    try {
      await load();
    } finally {
      loading.delete(key);
    }
  }

  /** What a person wrote, as it is sent. @param {string} group @param {string} text */
  const sendable = (group, text) => withIds(text, store.get().people, store.get().members.get(group)?.keys() ?? []);

  /** The person as everybody sees them from now on. @param {any} me */
  function asShown(me) {
    store.update((s) => ({ ...s, people: withPeople(s.people, [me.user], [me]) }));
    return me;
  }

  /** @param {Promise<any>} doing */
  const orToast = (doing) => doing.catch((err) => { if (err.code !== "signed_out") toast(err.message); });

  return {
    ...uploads,
    signIn: client.signIn.byName,
    signInWithToken: client.signIn.byToken,
    signInWithPassword: client.signIn.byPassword,
    signInWithTicket: client.signIn.byTicket,
    resumeByCookie: client.signIn.byCookie,
    /**
     * Makes an account, by the code of an invitation where there is one, and signs in.
     * @param {string} user @param {string} password @param {string} name @param {string} invite
     */
    async register(user, password, name, invite) {
      await client.signIn.register(user, password, name, invite);
      // It is used, and whoever has used it is in the group: accepting it again opens that.
      if (store.get().invite?.shown?.members > 0) orToast(this.acceptInvite());
      else if (invite) this.dropInvite();
    },
    signOut: client.signIn.out,
    hasAccount: client.signIn.hasAccount,
    logins: api.logins,
    endLogin: api.endLogin,
    sessions: api.sessions,
    changePassword: api.changePassword,
    reconnect: () => client.hurry(),
    dismiss: (/** @type {number} */ id) => store.update((s) => ({ ...s, toasts: s.toasts.filter((t) => t.id !== id) })),

    /** Shows a group, "" the list alone. @param {string} id */
    open(id) {
      if (addressed() !== id) location.hash = encodeURIComponent(id);
      store.update((s) => reading.withOpen(s, id));
    },
    loadMembers: (/** @type {string} */ id) => orToast(client.loadMembers(id)),
    /** @param {Record<string, string>} what */
    async search(what) {
      const answer = await api.search(what);
      client.people.seen({ messages: answer.hits.map((/** @type {import("./types.js").Hit} */ h) => h.message) });
      return answer;
    },
    /** Shows a message, wherever in the log of a group it is. @param {string} group @param {number} id */
    goTo(group, id) {
      if (id < (store.get().groups.get(group)?.first ?? 1)) return toast("That message is no longer available.", false);
      if (store.get().open !== group) this.open(group);
      store.update((s) => reading.withPlace(s, group, id));
    },
    /** The message that was to be shown is. @param {import("./types.js").State["place"]} place */
    arrived: (place) => store.update((s) => (s.place === place ? { ...s, place: null } : s)),
    /** Shows the newest messages, wherever one has scrolled to. @param {string} id */
    toNewest: (id) => store.update((s) => reading.withNewest(s, id)),
    loadOlder: (/** @type {string} */ id) => once(`older ${id}`, async () => {
      const log = store.get().logs.get(id);
      if (!log?.more) return;
      const page = await api.before(id, log.from);
      store.update((s) => reading.withOlderPage(s, page, log.from));
      client.people.seen(page);
    }),
    loadNewer: (/** @type {string} */ id) => once(`newer ${id}`, async () => {
      const log = store.get().logs.get(id);
      if (!log || reachesEnd(log)) return;
      const page = await api.after(id, log.to);
      store.update((s) => reading.withNewerPage(s, page, log.to));
      client.people.seen(page);
    }),
    read: client.read,
    me: api.me,
    /** @param {{name?: string|null, status?: {text: string}|null}} change */
    changeMe: async (change) => asShown(await api.changeMe(change)),
    /** @param {File} file */
    putAvatar: async (file) => asShown(await api.putAvatar(await smallEnough(file))),
    async removeAvatar() {
      await api.removeAvatar();
      return asShown(await api.me());
    },
    /** @param {string} group */
    typing(group) {
      if (Date.now() - typed < TYPING_EVERY_MS) return;
      typed = Date.now();
      client.send({ op: "typing", group });
    },

    /** Sends a message with what is attached. @param {string} group @param {import("./types.js").Content & {body: string, reply_to?: number}} message */
    send(group, message) {
      typed = 0;
      if (full()) return false;
      const body = sendable(group, message.body);
      const mentions = mentionsIn(body, store.get().members.get(group)?.keys() ?? []);
      return queue({ ...message, body, group, kind: "text", mentions: mentions.length > 0 ? mentions : undefined, files: takeFiles(group) });
    },
    /** @param {string} group @param {number} target @param {string} body */
    edit: (group, target, body) => queue({ body: sendable(group, body), group, kind: "edit", target }),
    remove: (/** @type {string} */ group, /** @type {number} */ target) => queue({ group, kind: "delete", target }),
    react: (/** @type {string} */ group, /** @type {number} */ target, /** @type {string} */ emoji, /** @type {boolean} */ removed) =>
      queue({ group, kind: "reaction", target, emoji, removed: removed || undefined }),
    /** Sends again what was refused, under its old key. @param {string} key */
    retry(key) {
      store.update((s) => ({ ...s, outbox: s.outbox.map((t) => (t.client_id === key ? { ...t, problem: undefined, attempts: 0 } : t)) }));
      client.pump();
    },
    /** @param {string} key */
    discard(key) {
      const task = store.get().outbox.find((t) => t.client_id === key);
      for (const f of task?.files ?? []) api.removeFile(task?.group ?? "", f.id).catch(() => {}); // they expire
      store.update((s) => ({ ...s, outbox: s.outbox.filter((t) => t.client_id !== key) }));
    },

    /** Finds out once whether the server keeps files, and how large ones. @param {string} group */
    loadFileMax: (group) => once("files", async () => {
      if (store.get().fileMax !== undefined) return;
      const fileMax = await api.fileMax(group);
      store.update((s) => ({ ...s, fileMax }));
    }).catch(() => {}), // the next group asks again
    file: api.file,

    /** @param {any} draft @param {string} key */
    async createGroup(draft, key) {
      const group = await api.createGroup(draft, key);
      store.update((s) => state.withGroup(s, group));
      this.open(group.id);
    },
    publicGroups: () => api.all("/v1/groups/public", "groups", 5),
    /** @param {string} id */
    async join(id) {
      await api.putMember(id, store.get().me);
      const group = await api.group(id);
      store.update((s) => state.withGroup(s, group));
      this.open(id);
    },
    /** Opens the direct group with a person. @param {string} user */
    async openDirect(user) {
      const group = await api.openDirect(user);
      store.update((s) => state.withGroup(s, group));
      this.open(group.id);
    },
    /** Makes a link that lets people join. @param {string} group @param {number} uses */
    async invite(group, uses) {
      const { code } = await api.invite(group, uses, newKey());
      return joinLink(code);
    },
    /** Looks at the invitation that the page was opened with. */
    async showInvite() {
      const code = load("invite");
      if (!code) return;
      const seen = await call("POST", "/v1/invites/check", { body: { code } }).then((shown) => ({ shown }), (err) => ({ problem: inviteProblem(err) }));
      store.update((s) => ({ ...s, invite: { code, ...seen } }));
    },
    /** Joins by it. */
    async acceptInvite() {
      const group = await api.acceptInvite(store.get().invite?.code ?? "");
      store.update((s) => state.withGroup(s, group));
      this.dropInvite();
      this.open(group.id);
    },
    dropInvite() {
      save("invite", null);
      store.update((s) => ({ ...s, invite: null }));
    },
    /** @param {string} id */
    async leave(id) {
      await api.removeMember(id, store.get().me);
      store.update((s) => state.withoutGroup(s, id));
      this.open("");
    },
    /** @param {string} id @param {string} user @param {string} [role] */
    async addMember(id, user, role) {
      await api.putMember(id, user, role);
      await client.loadMembers(id);
    },
    /** @param {string} id @param {string} user */
    async removeMember(id, user) {
      await api.removeMember(id, user);
      await client.loadMembers(id);
    },
    /** @param {string} id @param {{name: string}|import("./types.js").Settings} change */
    async changeGroup(id, change) {
      const group = await api.changeGroup(id, change);
      store.update((s) => state.withGroup(s, group));
    },
    /** @param {string} group @param {number} id */
    async receipts(group, id) {
      const answer = await api.receipts(group, id);
      client.people.want([...answer.seen_by.map((/** @type {any} */ m) => m.user), ...(answer.pending ?? [])]);
      return answer;
    },

    direct: api.direct,
    async clearInbox() {
      const { items, to, cursor } = store.get().inbox;
      const last = items.at(-1);
      if (!last) return;
      await api.ackInbox(last.seq === to ? { cursor } : { seq: last.seq });
      store.update((s) => state.withInboxAck(s, last.seq));
    },
  };
}

/** @typedef {ReturnType<typeof createActions>} Actions */
