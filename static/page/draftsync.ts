/**
 * Keeps what a person has begun to write the same on all their devices. Each change goes to the server once the keys rest, and the
 * last one to come there stays: a device whose clock is behind says it again with a revision that follows.
 */
import type { Draft, Drafts, Target } from "./drafts.ts";
import type { Session } from "./session.ts";

type Frame = { group: string; body?: string; reply_to?: number; rev?: number; deleted?: true };

/** From the last key until the change goes. */
const REST_MS = 800;
/** Until one is tried again that did not get there. */
const RETRY_MS = 5_000;

/** Whether the server has anything of it: files stay on the device where they were chosen. */
const written = (draft: Draft): boolean => draft.text.trim() !== "" || draft.reply !== undefined;

/** Returns how to stop. The drafts come from the part of the page that has them: it is loaded before this one. */
export function syncDrafts({ chat, me }: Session, { changeOf, changesOf, onDraft, takeDraft, targetOf }: Drafts): () => void {
  const resting = new Map<string, ReturnType<typeof setTimeout>>();
  const calls = new Map<string, Promise<void>>(); // those of a group follow each other
  const missed = new Set<string>(); // where another device wrote during a call, which may have come before or after
  const put = new Set<string>(); // revisions of here: what comes back with one is no news

  function later(group: string, ms = REST_MS): void {
    if (group.includes("/")) return; // of a thread
    clearTimeout(resting.get(group));
    resting.set(group, setTimeout(() => {
      resting.delete(group);
      const call = (calls.get(group) ?? Promise.resolve()).then(() => send(group)).catch((err) => {
        if (err.retryable) later(group, RETRY_MS);
      });
      calls.set(group, call);
      void call.then(() => {
        if (calls.get(group) === call) calls.delete(group);
        if (missed.delete(group)) run();
      });
    }, ms));
  }

  async function send(group: string): Promise<void> {
    const draft = changeOf(me, group), { draft: on } = chat.group(group);
    if (!draft || draft.kept === draft.at) return;
    const unchanged = () => changeOf(me, group)?.at === draft.at;
    if (!written(draft)) {
      if (draft.kept !== undefined) await on.delete();
      if (unchanged()) takeDraft(me, group, draft.files?.length ? { ...draft, kept: undefined } : undefined);
      return;
    }
    put.add(`${group} ${draft.at}`);
    takeDraft(me, group, { ...draft, kept: draft.kept ?? 0 }); // a later change has to know that there may be one to delete
    try {
      await on.put({ body: draft.text, ...(draft.reply && { reply_to: draft.reply.id }), rev: draft.at });
      const now = changeOf(me, group);
      if (now) takeDraft(me, group, { ...now, kept: draft.at });
    } catch (err) {
      if ((err as { code?: string }).code !== "conflict") throw err;
      const { rev } = await on.get().catch((e) => {
        if (e.code !== "not_found") throw e;
        return { rev: 0 }; // it went meanwhile
      });
      const now = changeOf(me, group);
      if (now) takeDraft(me, group, { ...now, at: Math.max(now.at, rev + 1), kept: rev });
      later(group);
    }
  }

  function came({ group, body = "", reply_to, rev = 0, deleted }: Frame): void {
    const mine = changeOf(me, group);
    if (!deleted && (put.has(`${group} ${rev}`) || mine && rev <= mine.at)) return;
    if (calls.has(group) && (!deleted || mine && written(mine))) missed.add(group);
    if (resting.has(group) || calls.has(group)) return; // what is written here goes there next
    if (mine && written(mine) && mine.kept !== mine.at) return later(group);
    const files = mine?.files, reply = mine?.reply?.id === reply_to ? mine?.reply : undefined;
    if (!deleted) {
      takeDraft(me, group, { text: body, reply, files, at: rev, kept: rev });
      if (reply_to && !reply) void answered(group, reply_to, rev);
    } else if (mine) takeDraft(me, group, files?.length ? { text: "", files, at: mine.at } : undefined);
  }

  /** Adds to what came what it answers. */
  async function answered(group: string, id: number, rev: number): Promise<void> {
    const timeline = chat.group(group).timeline({ at: id });
    await timeline.jump(id).catch(() => {}); // without it, it is no answer here
    const item = timeline.snapshot().items.find((i) => i.type === "message" && i.id === id && !i.deleted_at);
    timeline.close();
    const now = changeOf(me, group);
    if (item && now?.at === rev) takeDraft(me, group, { ...now, reply: targetOf(item as Target) });
  }

  /** What has changed, there or here, while there was no connection. */
  async function catchUp(): Promise<void> {
    const before = changesOf(me); // what changes from here on may be newer than the list
    const found = new Set<string>();
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { drafts, next } = await chat.drafts.list(cursor ? { cursor } : {});
      for (const d of drafts) {
        found.add(d.group);
        came(d);
      }
      cursor = next;
    }
    for (const { group, draft } of before) {
      if (group.includes("/") || changeOf(me, group)?.at !== draft.at) continue;
      if (draft.kept !== draft.at) later(group);
      else if (!found.has(group)) came({ group, deleted: true });
    }
  }

  let live = false, again: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    clearTimeout(again);
    if (live) catchUp().catch((err) => { if (err.retryable) again = setTimeout(run, RETRY_MS); }); // else the next connection does
  };
  const look = () => {
    const now = chat.state.phase === "live";
    if (now === live) return;
    live = now;
    run();
  };
  const ends = [onDraft((group, taken) => { if (!taken) later(group); }), chat.on("draft", came), chat.subscribe(look)];
  look();
  return () => {
    for (const end of ends) end();
    live = false;
    for (const timer of [again, ...resting.values()]) clearTimeout(timer);
  };
}
