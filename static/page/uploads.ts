/** The files that go with what is being written. They go on while another group is shown; what is uploaded is a part of the draft. */
import { useMemo } from "preact/hooks";
import type { Chatd, ChatdError, FileInfo } from "@chatd/client";
import { fileName, sizeOf } from "./format.ts";
import { draftOf, placeOfDraft, setDraft } from "./drafts.ts";
import { useSyncExternal } from "./hooks.ts";
import { say } from "./say.ts";
import { type Session, useSession } from "./session.ts";

export type Upload = {
  readonly key: string; readonly name: string; readonly size: number; readonly type: string;
  /** Bytes that the server has. */
  readonly sent: number;
  readonly phase: "waiting" | "sending" | "whole" | "failed";
  readonly problem?: string;
  /** What the server calls it, once it is whole. */
  readonly info?: FileInfo;
  /** Address of a picture in memory. */
  readonly preview?: string;
};

/** Files of one message. */
export const FILES_MAX = 10;
/** Uploads at the same time: browsers have few connections to one server, and messages need some of them. */
const RUNNING_MAX = 3;

function createUploads({ chat, me }: Pick<Session, "chat" | "me">) {
  const groups = new Map<string, readonly Upload[]>();
  const held = new Map<string, { group: string; file: File; stop: AbortController; running: boolean }>();
  const listeners = new Set<() => void>();
  let keys = 0;

  function list(group: string): readonly Upload[] {
    let now = groups.get(group);
    if (!now) {
      now = (draftOf(me, group)?.files ?? []).map((info) => ({ key: info.id, name: info.name, size: info.size, type: info.type, sent: info.size, phase: "whole", info }));
      groups.set(group, now);
    }
    return now;
  }

  function set(group: string, next: readonly Upload[]): void {
    groups.set(group, next);
    setDraft(me, group, { files: next.flatMap((u) => u.info ?? []) });
    for (const fn of listeners) fn();
  }
  const note = (group: string, key: string, change: Partial<Upload>): void => set(group, list(group).map((u) => (u.key === key ? { ...u, ...change } : u)));

  function next(): void {
    for (const [key, h] of held) {
      if ([...held.values()].filter((h) => h.running).length >= RUNNING_MAX) return;
      if (!h.running && list(h.group).find((u) => u.key === key)?.phase === "waiting") void run(key, h);
    }
  }

  async function run(key: string, h: { group: string; file: File; stop: AbortController; running: boolean }): Promise<void> {
    const { group, file, stop: { signal } } = h;
    h.running = true;
    note(group, key, { phase: "sending" });
    try {
      const info = await chat.group(placeOfDraft(group).group).upload(file, { name: fileName(file.name), signal, onProgress: (sent) => !signal.aborted && note(group, key, { sent }) });
      held.delete(key);
      if (!signal.aborted) note(group, key, { phase: "whole", sent: file.size, info });
    } catch (err) {
      if (!signal.aborted) note(group, key, { phase: "failed", problem: whyNot(err as ChatdError) });
    }
    h.running = false;
    next();
  }

  function forget(u: Upload): void {
    held.get(u.key)?.stop.abort();
    held.delete(u.key);
    if (u.preview) URL.revokeObjectURL(u.preview);
  }

  return {
    list,
    subscribe(fn: () => void): () => void {
      listeners.add(fn);
      return () => void listeners.delete(fn);
    },
    /** Begins to upload; returns why some are not taken, "" for none. */
    attach(group: string, files: Iterable<File>, max: number): string {
      for (const file of files) {
        if (list(group).length >= FILES_MAX) return say(`A message has at most ${FILES_MAX} files.`, `一条消息最多 ${FILES_MAX} 个文件。`);
        if (file.size > max) return say(`${file.name} is too large. The limit is ${sizeOf(max)}.`, `${file.name} 太大，上限为 ${sizeOf(max)}。`);
        const key = `new ${++keys}`;
        held.set(key, { group, file, stop: new AbortController(), running: false });
        const upload: Upload = { key, name: fileName(file.name), size: file.size, type: file.type, sent: 0, phase: "waiting" };
        set(group, [...list(group), /^image\/(png|jpeg|gif|webp)$/.test(file.type) ? { ...upload, preview: URL.createObjectURL(file) } : upload]);
      }
      next();
      return "";
    },
    retry(group: string, key: string): void {
      note(group, key, { phase: "waiting", sent: 0 });
      next();
    },
    /** Puts one before or after others: so they are sent. */
    move(group: string, key: string, by: number): void {
      const now = [...list(group)];
      const at = now.findIndex((u) => u.key === key);
      const [one] = now.splice(at, at < 0 ? 0 : 1);
      if (one) set(group, now.toSpliced(Math.max(0, Math.min(now.length, at + by)), 0, one));
    },
    /** Stops an upload, and frees what it takes at the server. */
    remove(group: string, key: string): void {
      const u = list(group).find((u) => u.key === key);
      if (!u) return;
      forget(u);
      set(group, list(group).filter((u) => u.key !== key));
      if (u.info) chat.request("DELETE", `/v1/groups/${encodeURIComponent(placeOfDraft(group).group)}/files/${encodeURIComponent(u.info.id)}`).catch(() => {}); // it expires
      next();
    },
    /** Takes all, for a message that is sent now. */
    take(group: string): FileInfo[] {
      const now = list(group);
      now.forEach(forget);
      set(group, []);
      return now.flatMap((u) => u.info ?? []);
    },
    /** Gives back what was taken: the message could not be sent. */
    restore(group: string, files: readonly FileInfo[]): void {
      set(group, [...files.map((info) => ({ key: info.id, name: info.name, size: info.size, type: info.type, sent: info.size, phase: "whole" as const, info })), ...list(group)]);
    },
  };
}

function whyNot(err: ChatdError): string {
  if (err.code === "quota_full") return say("Your space for files is full.", "您的文件空间已满。");
  if (err.code === "too_large") return say("It is too large.", "文件太大。");
  if (err.retryable) return say("The connection broke.", "连接中断。");
  return err.message;
}

export type Uploads = ReturnType<typeof createUploads>;
const all = new WeakMap<Chatd, Uploads>();

export function uploadsOf(session: Pick<Session, "chat" | "me">): Uploads {
  const uploads = all.get(session.chat) ?? createUploads(session);
  all.set(session.chat, uploads);
  return uploads;
}

/** The files that go with the next message to a group, or in a thread of it: see inThread. */
export function useUploads(group: string): [readonly Upload[], Uploads] {
  const session = useSession();
  const uploads = useMemo(() => uploadsOf(session), [session]);
  return [useSyncExternal(uploads.subscribe, () => uploads.list(group)), uploads];
}

const limits = new WeakMap<Chatd, Promise<number>>();
/** How large a file may be, bytes, asked for once; 0: the server keeps none. */
export function fileMax(chat: Chatd, group: string): Promise<number> {
  const limit = limits.get(chat) ?? chat.group(group).fileMax();
  limits.set(chat, limit);
  limit.catch(() => limits.delete(chat));
  return limit;
}
