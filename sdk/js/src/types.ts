/**
 * The shapes that an application meets. What comes from the server keeps the names of the wire; what the client adds is
 * in camel case. Ids of groups and users are any strings: keep them in a Map, never as keys of an object.
 */

/** A value that JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type FileInfo = { id: string; name: string; size: number; type: string; width?: number; height?: number };

export type Reaction = { count: number; mine: boolean };

/** An entry of a group's log, as the server says it. */
export type Message = {
  readonly group: string;
  readonly id: number;
  readonly from: string;
  readonly kind: "text" | "data" | "edit" | "delete" | "reaction" | "notice";
  readonly sent_at: string;
  /** true: it is being written, see group.stream; cut: its author fell silent before it was whole; done: of the entry that ends it. */
  readonly stream?: true | "cut" | "done";
  readonly body?: string;
  readonly data?: Json;
  readonly mentions?: readonly string[];
  readonly files?: readonly FileInfo[];
  /** Buttons of a program; pressed with group.actions.press. */
  readonly actions?: readonly { readonly id: string; readonly label: string; readonly style?: "primary" | "danger"; readonly confirm?: string; readonly url?: string }[];
  readonly client_id?: string;
  readonly reply_to?: number;
  /** The message in whose thread it is a reply. */
  readonly thread?: number;
  /** Of a message with a thread: how many replies there are, and the newest one. */
  readonly replies?: number;
  readonly last_reply_id?: number;
  /** When the newest reply was sent, as far as the device has it. */
  readonly lastReplyAt?: string;
  readonly via?: string;
  readonly target?: number;
  readonly emoji?: string;
  readonly removed?: boolean;
  /** Of an erasure: entries without content that it took the author off. */
  readonly erased?: readonly number[];
  readonly notice?: string;
  readonly user?: string;
  readonly users?: readonly string[];
  readonly role?: string;
  readonly name?: string;
  readonly settings?: Readonly<Record<string, Json>>;
  /** In a notice of muted: when the user may write again; absent: now. */
  readonly muted_until?: string;
  readonly edited_at?: string;
  readonly deleted_at?: string;
  readonly expires_at?: string;
};

/** A line of a timeline that is a message: a text, data or a notice, with its edits, deletion and reactions applied. */
export type MessageItem = Omit<Message, "kind" | "target" | "emoji" | "removed"> & {
  readonly type: "message";
  readonly kind: "text" | "data" | "notice";
  /** Stays the same from the moment of sending on: use it as the key of a row. */
  readonly key: string;
  /** queued: kept here until the server is reached. sent: in the log. failed: refused, see error; retry or discard. */
  readonly state: "queued" | "sending" | "sent" | "failed";
  readonly error?: { code: string; detail: string };
  /** Whether an edit, deletion or reaction of one's own is not confirmed yet. */
  readonly changing: boolean;
  readonly reactions: ReadonlyMap<string, Reaction>;
};

/** Messages that are missing: ids from..to, of which loadGap may bring some; to is 0 where the log began anew. */
export type GapItem = {
  readonly type: "gap"; readonly key: string; readonly from: number; readonly to: number;
  /** Never there: any item may be asked for it. */
  readonly id?: undefined; readonly state?: undefined;
};

export type TimelineItem = MessageItem | GapItem;

export type TimelineState = {
  readonly items: readonly TimelineItem[];
  /** Whether loadBefore has something to load, or is loading; the same for loadAfter. false: the end is there. */
  readonly before: "more" | "loading" | false;
  readonly after: "more" | "loading" | false;
  /** The first message that was unread when the timeline was opened, and how many were; null: none. */
  readonly unread: { readonly id: number; readonly count: number } | null;
  /** Why nothing could be loaded; null: all is well. */
  readonly error: { code: string; detail: string } | null;
};

/** A thread: the replies to one message, which are in no timeline of the group. */
export type ThreadState = {
  /** The message that they are about; null: it is not known here yet, or gone. */
  readonly root: MessageItem | null;
  /** Replies, ascending; what waits to be sent is at the end. */
  readonly items: readonly MessageItem[];
  /** Whether loadBefore has something to load, or is loading; the same for loadAfter. */
  readonly before: "more" | "loading" | false;
  readonly after: "more" | "loading" | false;
  /** Whether the person follows it, up to where they have read it, and how many replies of others are above; null: not asked yet. */
  readonly follows: { readonly following: boolean; readonly read: number; readonly unread: number } | null;
  /** Why nothing could be loaded; `not_found`: the root is deleted. */
  readonly error: { code: string; detail: string } | null;
};

export type GroupState = {
  readonly id: string;
  readonly name: string;
  readonly visibility: "private" | "public";
  readonly created_by: string;
  readonly created_at: string;
  readonly epoch: string;
  readonly first: number;
  readonly last: number;
  readonly members: number;
  readonly post: "members" | "admins" | "none";
  /** Slow mode: how many seconds a member waits between messages; 0 or absent: none. */
  readonly slow_s?: number;
  readonly expire_s?: number;
  readonly receipts?: "optional" | "required" | "counts" | "off";
  /** Who may pin messages; absent: managers. */
  readonly pins?: "managers" | "members";
  /** Who may mention all members, by `@all` in mentions. */
  readonly mention_all?: "members" | "managers" | "off";
  /** When one may write again; absent: now. */
  readonly muted_until?: string | undefined;
  readonly direct?: readonly [string, string];
  readonly seen: number;
  readonly read: number;
  readonly unread: number;
  readonly mentions_unread: number;
  /** Replies by others, not read, in threads that the person follows: they count here alone. */
  readonly threads_unread?: number;
  /** The roots of these threads, as far as the device has asked for them; absent: none. */
  readonly unreadThreads?: readonly number[];
  readonly last_message: Message | null;
  readonly typing: readonly string[];
  /** Messages of one's own that wait for the server, and that it refused; without replies in threads. */
  readonly queued: number;
  readonly failed: number;
  /** The newest message of one's own that waits for the server; absent: none, or only changes of messages and replies in threads. */
  readonly waiting?: { readonly [K in "body" | "files" | "mentions"]: Message[K] | undefined };
  readonly data?: Json;
};

export type InboxItem = {
  readonly seq: number; readonly kind: string; readonly from?: string; readonly group?: string; readonly id?: number;
  readonly body?: string; readonly data?: Json; readonly accepted?: boolean; readonly client_id?: string; readonly sent_at: string;
};

export type Profile = { readonly id: string; readonly name?: string; readonly picture?: string; readonly data?: Json; readonly version?: number };

/** What a link leads to, as its page says: plain text. */
export type LinkPreview = { readonly title: string; readonly description?: string; readonly site?: string; /** An https URL, which shows who loads it to that site. */ readonly image?: string };

export type ConnectionState =
  | { readonly phase: "off" | "connecting" | "signed-out" | "closed" }
  | { readonly phase: "live"; readonly by: "websocket" | "poll" | "tab" }
  | { readonly phase: "waiting"; readonly retryAt: number };

/** All of it at one moment; a new object whenever something of it changed, and the same parts where they did not. */
export type Snapshot = {
  readonly me: string;
  readonly connection: ConnectionState;
  /** Latest activity first. */
  readonly groups: readonly GroupState[];
  readonly unread: number;
  readonly mentions: number;
  /** Of all groups. */
  readonly threads_unread: number;
  readonly inbox: { readonly items: readonly InboxItem[]; readonly complete: boolean };
  readonly queued: number;
  readonly failed: number;
  /** false: nothing is kept over a reload, because the browser refused storage or none was asked for. */
  readonly stored: boolean;
};

export type TokenReason = "start" | "expiring" | "refused";
export type GetToken = (why: { reason: TokenReason; signal: AbortSignal }) => Promise<string>;
