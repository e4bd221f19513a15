import type { GroupCalls, Schedule } from "./calls.gen.js";
import { callsOfGroup } from "./calls.js";
import type { Client } from "./client.js";
import { ChatdError } from "./error.js";
import { newKey } from "./outbox.js";
import { type Task, keyOf, pad } from "./state.js";
import { Thread } from "./thread.js";
import { type At, Timeline } from "./timeline.js";
import type { FileInfo, GroupState, Json, Message } from "./types.js";
import { type UploadOptions, upload } from "./upload.js";

/** More messages than this are not kept for sending: something is wrong, and a person should know. */
const OUTBOX_MAX = 1000;
/** Signs of typing go out at most this often. */
const TYPING_MS = 3000;
const LINES_MAX = 500;

/** What a message says. A body, data or files have to be there. */
export type Draft = {
  body?: string;
  data?: Json;
  replyTo?: number;
  /** The message in whose thread it is a reply; see thread. */
  thread?: number;
  mentions?: readonly string[];
  /** After how many seconds it is deleted for everyone, from 60, if its group does not do so earlier. */
  expireS?: number;
  /** Uploaded before, see upload. */
  files?: readonly FileInfo[];
};

/** A message to be sent later, though the client is closed then. It shows up in the log when it is due, in no timeline before. */
export type Delayed = Draft & { deliverAt: Date | string };

/** A message that waits to be sent. */
export type Sending<T = Message> = {
  /** Names it for retry and discard; it is the client_id of the message. */
  readonly key: string;
  /**
   * Fulfilled with the message once the server has stored it, however long that takes while this client lives. Rejects with a
   * ChatdError when it is refused or discarded, and with `closed` when the client is closed: it is sent the next time then.
   * Of a delayed one it is the schedule; or the message, where that is there by the time that the server is reached.
   */
  readonly done: Promise<T>;
};

let last = 0; // place in the outbox

/** One group. It holds nothing: all that is known of the group is in the snapshot and in its timelines. */
export interface Group extends GroupCalls {}
export class Group {
  #typed = 0;

  /** @internal */
  constructor(private readonly client: Client, readonly id: string) {
    Object.assign(this, callsOfGroup(client.http, id));
  }

  get #path(): string {
    return `/v1/groups/${encodeURIComponent(this.id)}`;
  }

  /** The group in the present snapshot; undefined: the person is not in it, as far as is known. */
  snapshot = (): GroupState | undefined => this.client.state.snapshot().groups.find((g) => g.id === this.id);

  /**
   * Sends a message. Resolves once it is stored on this device, to be sent in the order of the calls, over restarts if the
   * store is durable. Rejects where storing fails, and with `outbox_full` where 1,000 messages wait.
   */
  send(message: Delayed): Promise<Sending<Schedule | Message>>;
  send(message: Draft): Promise<Sending>;
  send({ replyTo, deliverAt, expireS, ...content }: Draft & Partial<Delayed>): Promise<Sending<any>> {
    const kind = content.data !== undefined && content.body === undefined && !content.files ? "data" : "text";
    return this.#queue({
      ...(content as Partial<Task>), kind, ...(replyTo !== undefined && { reply_to: replyTo }), ...(expireS && { expire_s: expireS }),
      ...(deliverAt !== undefined && { deliver_at: new Date(deliverAt).toISOString() }),
    });
  }

  /** Changes the content of one's own message; what is left out stays. Shown at once, sent in order like a message. */
  edit(id: number, content: Omit<Draft, "replyTo" | "thread" | "expireS">): Promise<Sending> {
    return this.#queue({ ...(content as Partial<Task>), kind: "edit", target: id });
  }

  /** Deletes a message, for everybody. */
  delete(id: number): Promise<Sending> {
    return this.#queue({ kind: "delete", target: id });
  }

  /** Adds one's reaction to a message, or takes it back. */
  react(id: number, emoji: string, on = true): Promise<Sending> {
    return this.#queue({ kind: "reaction", target: id, emoji, ...(!on && { removed: true }) });
  }

  async #queue(fields: Partial<Task> & Pick<Task, "kind">): Promise<Sending> {
    const { client } = this;
    if (!client.loaded) throw new ChatdError("closed", "the client is not connected");
    const given = JSON.parse(JSON.stringify(fields)) as typeof fields; // as it is now; what JSON cannot say is refused here
    await client.loaded;
    if (client.state.outbox.size + client.outcomes.coming >= OUTBOX_MAX) throw new ChatdError("outbox_full", "Too many messages are waiting to be sent.");
    const key = newKey();
    const now = client.clock.now();
    const behind = parseInt([...client.state.outbox.keys()].at(-1) ?? "0", 10); // the clock may have been set back since
    last = Math.max(now * 1000, last + 1, behind + 1);
    const record = client.state.groups.get(this.id);
    const after = Math.max(0, record?.g.last ?? 0, record?.log.end ?? 0);
    const task: Task = { ...given, n: `${pad(last)}-${key}`, key, group: this.id, queued_at: now, after };
    return client.outcomes.send(task, () => client.keep(keyOf.task(task.n), task, "queue", task));
  }

  /** Sends a message that was refused once more, under its key. Fulfilled once that is stored; `done` is over, watch the item. */
  retry(key: string): Promise<void> {
    return this.client.ask("retry", key);
  }

  /** Gives a message up that was refused or waits. */
  discard(key: string): Promise<void> {
    return this.client.ask("discard", key);
  }

  /** Says that the person has read everything up to id. Works offline: resolves once it is stored on this device. */
  read(id: number): Promise<void> {
    const known = this.client.state.groups.get(this.id)?.g.read ?? 0;
    return id > known ? this.client.keep(keyOf.read(this.id), id, "read", this.id, id) : Promise.resolve();
  }

  /** Makes a message unread, and all after it. */
  async markUnread(id: number): Promise<void> {
    await this.client.ask("cursors", this.id, await this.client.http.request("POST", `${this.#path}/unread`, { body: { id } }));
  }

  /** Says that the person is typing: call it with each key; it is said every 3 s at most, and lost while offline. */
  typing(): void {
    const now = this.client.clock.now();
    if (now - this.#typed < TYPING_MS) return;
    this.#typed = now;
    this.client.typing(this.id);
  }

  /**
   * Uploads a file for the files of a message. After a broken connection it goes on from where the server is. Rejects with a
   * ChatdError, such as `too_large` or `quota_full`, with the last one after 10 attempts in a row that got no further, and with
   * the reason of the signal.
   */
  upload(file: Blob & { readonly name?: string }, options?: UploadOptions): Promise<FileInfo> {
    return upload(this.client.http, this.client.clock, this.id, file, options);
  }

  /** The bytes of a file of a message, or of its preview, which pictures with a width have. */
  file(id: string, as: "whole" | "preview" = "whole"): Promise<Blob> {
    const path = `${this.#path}/files/${encodeURIComponent(id)}?${as === "whole" ? "inline=1" : "size=preview"}`;
    return this.client.http.request("GET", path, { timeoutMs: 0, read: (res: Response) => res.blob() });
  }

  /** How large a file may be, bytes; 0: the server keeps none. */
  fileMax(): Promise<number> {
    return this.client.http.request("OPTIONS", `${this.#path}/files`, { read: (res: Response) => Number(res.headers.get("Tus-Max-Size")) });
  }

  /** Adds a member, or changes the role of one. */
  async add(user: string, role?: "member" | "admin" | "owner"): Promise<void> {
    await this.client.http.request("PUT", `${this.#path}/members/${encodeURIComponent(user)}`, { body: role ? { role } : {} });
  }

  /** Removes a member. */
  async remove(user: string): Promise<void> {
    await this.client.http.request("DELETE", `${this.#path}/members/${encodeURIComponent(user)}`);
  }

  /** Leaves the group; what is kept of it goes, also what waits to be sent. */
  async leave(): Promise<void> {
    await this.remove(this.client.state.me);
    await this.client.ask("gone", this.id);
  }

  /** Changes the name and the settings, for owner and admins. */
  async update(change: Record<string, Json>): Promise<void> {
    await this.client.ask("known", await this.client.http.request("PATCH", this.#path, { body: change }));
  }

  /**
   * Opens a part of the log, at the first unread message, the end, a message or a time: at most max lines (500) at a time.
   * It is there at once, and fills in as it loads. Close it when it is not shown any more.
   */
  timeline({ at = "unread", max = LINES_MAX }: { at?: At; max?: number } = {}): Timeline {
    return new Timeline(this.client, this.id, at, max);
  }

  /**
   * Opens the thread of a message: its replies, at the end, or around one of them. It is there at once, and fills in as it loads.
   * Close it when it is not shown any more.
   */
  thread(root: number, { at = "end" }: { at?: "end" | number } = {}): Thread {
    return new Thread(this.client, this, root, at);
  }
}
