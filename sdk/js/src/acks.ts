import { ChatdError } from "./error.js";
import type { Clock, Frame, LinkListener } from "./parts.js";
import type { Socket } from "./socket.js";

/** What is acked within this time goes together. */
const JOIN_MS = 300;
const AGAIN_MS = 2000;
/** Few enough for a socket at a time: a first session may bring a thousand groups. */
const AT_ONCE = 20;

type Position = string | number;
type Taken = ReturnType<LinkListener["acks"]>;

export type AcksOptions = {
  clock: Clock;
  taken: LinkListener["acks"];
  socket(): Socket | null;
  /** The server refuses an ack, because what was acked is not in its log any more. */
  rolledBack(): void;
};

/** The acks that the server does not have yet. Each stays until it was answered, and gives way to a later one of its group. */
export type Acks = {
  /** There may be some for the websocket. */
  soon(): void;
  /** All of them, for a sync. */
  all(): Taken;
  /** A sync has done them, but for those in errors. */
  done(acks: Taken, errors: readonly Frame[]): void;
  /** Says over the websocket what there is, without waiting for answers. */
  last(): void;
};

export function createAcks({ clock, taken, socket, rolledBack }: AcksOptions): Acks {
  const waiting = new Map<string, Position>(); // by group; "": of the inbox
  const busy = new Set<string>();
  let notBefore = 0;
  let cancel: (() => void) | null = null;

  function take(): void {
    const { ack = {}, inbox_ack } = taken();
    for (const [group, at] of Object.entries(ack)) waiting.set(group, at);
    if (inbox_ack !== undefined) waiting.set("", inbox_ack);
  }

  function soon(): void {
    cancel ??= clock.after(Math.max(JOIN_MS, notBefore - clock.now()), () => {
      cancel = null;
      flush();
    });
  }

  function flush(): void {
    const by = socket();
    if (!by?.live) return;
    take();
    const ready = [...waiting].filter(([group]) => !busy.has(group));
    for (const [group, at] of ready.slice(0, AT_ONCE)) void send(by, group, at);
    if (ready.length > AT_ONCE) soon();
  }

  async function send(by: Socket, group: string, at: Position): Promise<void> {
    busy.add(group);
    try {
      await by.ask(command(group, at));
      settle(group, at);
    } catch (err) {
      const { code, retryable, retryAfter } = err as ChatdError;
      if (retryable) notBefore = clock.now() + Math.max(AGAIN_MS, 1000 * retryAfter);
      else settle(group, at);
      if ((code === "conflict" || code === "out_of_range") && by === socket()) rolledBack();
    }
    busy.delete(group);
    if (waiting.has(group)) soon();
  }

  function settle(group: string, at: Position): void {
    if (waiting.get(group) === at) waiting.delete(group);
  }

  return {
    soon,
    all() {
      take();
      const groups = [...waiting].filter(([group]) => group !== "");
      const inbox = waiting.get("");
      return { ...(groups.length > 0 && { ack: Object.fromEntries(groups) }), ...(inbox !== undefined && { inbox_ack: inbox }) };
    },
    done({ ack = {}, inbox_ack }, errors) {
      const again = new Set(errors.filter((e) => new ChatdError(e.code, "").retryable).map((e) => (e.inbox ? "" : e.group)));
      for (const [group, at] of Object.entries(ack)) if (!again.has(group)) settle(group, at);
      if (inbox_ack !== undefined && !again.has("")) settle("", inbox_ack);
    },
    last() {
      cancel?.();
      cancel = null;
      const by = socket();
      if (!by?.live) return;
      take();
      for (const [group, at] of [...waiting].slice(0, AT_ONCE)) by.tell(command(group, at));
    },
  };
}

function command(group: string, at: Position): Frame {
  if (group === "") return { op: "inbox_ack", ...(typeof at === "string" ? { cursor: at } : { seq: at }) };
  return { op: "ack", group, ...(typeof at === "string" ? { cursor: at } : { id: at }) };
}
