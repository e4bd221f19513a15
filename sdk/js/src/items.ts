/** The lines of a timeline as an application gets them: with its own changes applied before the server confirms them. */
import { type Entry, type Range, react, revised } from "./log.js";
import type { Task } from "./state.js";
import type { GapItem, MessageItem, Reaction, TimelineItem } from "./types.js";

type Made = { entry: Entry | Task | Range; by: readonly (Task | boolean)[]; item: TimelineItem };

export const isMessage = (t: Task) => t.kind === "text" || t.kind === "data";

/** Makes items, the same object as before wherever nothing changed. */
export class Items {
  #made = new Map<string, Made>();
  #next = new Map<string, Made>();

  /** @param gaps that lie in what is shown @param tasks of the group @param sending keys of those under way */
  make(lines: readonly Entry[], gaps: readonly Range[], tasks: readonly Task[], sending: ReadonlySet<string>, me: string, end: boolean): TimelineItem[] {
    this.#next = new Map();
    const out: TimelineItem[] = [];
    const open = [...gaps].sort((a, b) => a[0] - b[0]);
    const gap = () => {
      const g = open.shift()!;
      const key = g[1] ? `g-${g[1]}` : `e-${g[0]}`; // it is loaded from its beginning
      out.push(this.#keep(key, g, [g[1] === 0], (): GapItem => ({ type: "gap", key, from: g[0], to: g[1] })));
    };
    const changes = new Map<number, Task[]>();
    for (const t of tasks) {
      if (!isMessage(t) && !t.error) changes.set(t.target!, [...(changes.get(t.target!) ?? []), t]);
    }
    const own = new Set<string>();
    for (const e of lines) {
      while (open.length > 0 && e.id >= open[0]![0]) gap();
      if (e.client_id && e.from === me) own.add(e.client_id);
      const by = changes.get(e.id)?.filter((t) => t.id === undefined || t.id > e.at) ?? [];
      let key = e.client_id ? `c-${e.from}-${e.client_id}` : `m-${e.id}`;
      if (this.#next.has(key)) key = `m-${e.id}`; // the server keeps keys for a day: then one may be used again
      out.push(this.#keep(key, e, by, () => line(key, e, by)));
    }
    while (open.length > 0) gap();
    for (const t of end ? tasks : []) {
      if (!isMessage(t) || t.deliver_at !== undefined || own.has(t.key)) continue;
      const key = `c-${me}-${t.key}`;
      const going = sending.has(t.key);
      out.push(this.#keep(key, t, [going], () => unsent(key, t, going, me)));
    }
    this.#made = this.#next;
    return out;
  }

  #keep(key: string, entry: Made["entry"], by: Made["by"], make: () => TimelineItem): TimelineItem {
    const was = this.#made.get(key);
    const same = was && was.entry === entry && was.by.length === by.length && by.every((t, i) => t === was.by[i]);
    const made = same ? was : { entry, by, item: make() };
    this.#next.set(key, made);
    return made.item;
  }
}

function line(key: string, e: Entry, by: readonly Task[]): MessageItem {
  for (const t of by) {
    if (t.kind === "reaction") {
      const list = e.reactions ?? [];
      const mine = list.find(([emoji]) => emoji === t.emoji)?.[1].mine ?? false;
      if (mine === !!t.removed) e = { ...e, reactions: react(list, t.emoji!, !t.removed, true) };
    } else e = revised(e, t, new Date(t.queued_at).toISOString());
  }
  // What had to go is not shown, even where its deletion has not come.
  if (e.expires_at && !e.deleted_at && Date.parse(e.expires_at) <= Date.now()) e = revised(e, { kind: "delete" }, e.expires_at);
  const { at, reactions, ...message } = e;
  return { ...message, type: "message", kind: e.kind as MessageItem["kind"], key, state: "sent", changing: by.length > 0, reactions: new Map<string, Reaction>(e.deleted_at ? [] : reactions) };
}

function unsent(key: string, t: Task, going: boolean, me: string): MessageItem {
  const { n, key: client_id, queued_at, after, id = 0, sent_at, error, target, emoji, removed, deliver_at, kind, ...content } = t;
  return {
    ...content, type: "message", kind: kind as "text" | "data", key, id, from: me, client_id, sent_at: sent_at ?? new Date(queued_at).toISOString(),
    state: error ? "failed" : id > 0 ? "sent" : going ? "sending" : "queued", ...(error && { error }), changing: false, reactions: new Map(),
  };
}
