/** Who is in a group: one list for all its views, loaded by pages as far as they need it, and kept up by what the log and the readers say. */
import type { Chatd, GroupState, Message, Wire } from "@chatd/client";
import { useEffect } from "preact/hooks";
import { useSnapshot, useSyncExternal } from "./hooks.ts";
import { useSession } from "./session.ts";

export type Member = Pick<Wire.Member, "user" | "role" | "muted_until">;
export type Role = Member["role"];
export type Members = {
  /** In the order of joining. */
  readonly list: readonly Member[];
  /** false: there are more. */
  readonly complete: boolean;
  /** One's own role; undefined: it is not known. */
  readonly mine: Role | undefined;
  readonly error: unknown;
};
/** How much of a list a view needs: so many members, or one's own role. */
type Need = number | "mine";
type Reads = ReadonlyMap<string, number>;

/** The server tells of the positions of others in groups up to this size. The first page has as many. */
const SMALL = 100;
const PAGE = 500;
/** Members among whom one's own role is looked for. */
const LOOK_MAX = 20_000;

const unknown: Members = { list: [], complete: false, mine: undefined, error: null };
const nobody: Reads = new Map();

function createMembers(chat: Chatd, me: string, id: string) {
  let [state, reads] = [unknown, nobody];
  let all = new Map<string, Member>();
  let cursor: string | null = "";
  let loading = false;
  /** Another value whenever the list is loaded anew: what was on its way then is dropped. */
  let life = 0;
  let count = 0;
  /** What the views need together. */
  let [wanted, role] = [1, false];
  const moved = new Map<string, number>(); // before it was known that they are members, or while a page was on its way
  const listeners = new Set<() => void>();
  let stops: (() => void)[] = [];

  function tell(): void {
    for (const fn of [...listeners]) fn();
  }
  function show(error: unknown = null): void {
    const complete = cursor === null;
    state = { list: [...all.values()], complete, mine: all.get(me)?.role ?? (complete ? "member" : undefined), error };
    tell();
  }
  async function page(): Promise<void> {
    const mine = life;
    const anew = cursor === "";
    const answer = await chat.group(id).members({ limit: anew ? SMALL : PAGE, ...(cursor && { cursor }) });
    if (mine !== life) return;
    if (anew) [all, reads] = [new Map(), nobody];
    for (const { user, role, muted_until } of answer.members) all.set(user, { user, role, ...(muted_until && { muted_until }) });
    if (anew) reads = new Map(answer.members.map((m) => [m.user, Math.max(m.read ?? 0, moved.get(m.user) ?? 0)]));
    cursor = answer.next;
    show();
  }
  const enough = (): boolean => cursor === null || (cursor !== "" && all.size >= wanted && (!role || all.has(me) || all.size >= LOOK_MAX));
  /** Loads pages until there is enough, one after the other whoever asks. */
  async function load(): Promise<void> {
    if (loading) return;
    loading = true;
    const mine = life;
    try {
      while (mine === life && !enough()) await page();
    } catch (err) {
      if (mine === life) show(err);
    }
    if (mine === life) loading = false;
  }
  function begin(): void {
    life++;
    loading = false;
    cursor = "";
    moved.clear();
    void load();
  }
  function noticed(m: Message): void {
    if (m.group !== id || m.kind !== "notice") return;
    for (const user of m.users ?? (m.user ? [m.user] : [])) {
      if (m.notice === "left" || m.notice === "removed") all.delete(user);
      else if (m.notice === "joined") {
        all.set(user, { user, role: (m.role as Role | undefined) ?? "member" });
        reads = new Map(reads).set(user, moved.get(user) ?? 0);
      }
      else if (m.notice === "role") setRole(all, user, m.role as Role);
      else if (m.notice === "muted" && all.has(user)) all.set(user, { ...all.get(user)!, muted_until: m.muted_until });
    }
    show();
  }

  return {
    now: () => state,
    reads: () => reads,
    subscribe(fn: () => void): () => void {
      if (listeners.size === 0) {
        begin();
        stops = [chat.on("message", noticed), chat.on("cursor", (c) => {
          if (c.group !== id || c.user === me) return; // where the person is is no mark
          moved.set(c.user, c.read);
          if (!all.has(c.user) || reads.get(c.user) === c.read) return;
          reads = new Map(reads).set(c.user, c.read);
          tell();
        })];
      }
      listeners.add(fn);
      return () => {
        listeners.delete(fn);
        if (listeners.size > 0) return;
        life++;
        for (const stop of stops) stop();
        [wanted, role] = [1, false];
        if (all.size > PAGE) [all, state] = [new Map(), unknown];
      };
    },
    /** Loads what a view needs; the state says what went wrong. */
    need(what: Need): void {
      if (what === "mine") role = true;
      else wanted = Math.max(wanted, what);
      void load();
    },
    /** Loads the list anew: positions of others moved unseen while there was no connection. */
    again: begin,
    /** How many there are, as the group says: where the list says otherwise, it missed something. */
    counted(n: number): void {
      const was = count;
      count = n;
      if (was && was !== n && state.complete && n !== all.size) begin();
    },
  };
}

function setRole(all: Map<string, Member>, user: string, role: Role): void {
  if (role === "owner") for (const m of all.values()) if (m.role === "owner") all.set(m.user, { ...m, role: "admin" });
  all.set(user, { ...all.get(user), user, role });
}

type Store = ReturnType<typeof createMembers>;
const stores = new WeakMap<Chatd, Map<string, Store>>();

function storeOf(chat: Chatd, me: string, id: string): Store {
  const all = stores.get(chat) ?? new Map<string, Store>();
  stores.set(chat, all);
  const store = all.get(id) ?? createMembers(chat, me, id);
  all.set(id, store);
  return store;
}

/** The members of a group as far as they are loaded. more: loads the next page; look: loads until one's own role is known. */
export function useMembers(group: Pick<GroupState, "id" | "members">, need: Need = 1): Members & { more: () => void; look: () => void } {
  const { chat, me } = useSession();
  const store = storeOf(chat, me, group.id);
  const state = useSyncExternal(store.subscribe, store.now);
  useEffect(() => store.need(need), [store, need]);
  useEffect(() => store.counted(group.members), [store, group.members]);
  return { ...state, more: () => store.need(state.list.length + 1), look: () => store.need("mine") };
}

/** How far the members of a small group have read; empty for larger ones. The long poll does not tell: each new entry has them asked for. */
export function useReads(group: Pick<GroupState, "id" | "members" | "last">): Reads {
  const { chat, me } = useSession();
  const store = storeOf(chat, me, group.id);
  const by = useSnapshot((s) => (s.connection.phase === "live" ? s.connection.by : ""));
  useEffect(() => {
    if (by && store.now() !== unknown) store.again();
  }, [store, by, by === "poll" && group.last]);
  const reads = useSyncExternal(store.subscribe, store.reads);
  return group.members <= SMALL ? reads : nobody;
}

/** Whether a role may change the group and delete what others wrote. */
export const manages = (role: Role | undefined): boolean => role === "owner" || role === "admin";

/** Calls back for each notice of a group. */
export const followNotices = (chat: Chatd, group: string, fn: (m: Message) => void): (() => void) =>
  chat.on("message", (m) => m.group === group && m.kind === "notice" && fn(m));
