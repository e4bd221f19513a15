// What a client writes with the generated types. A field of a request that has a default may be left out.
import type { components, operations } from "./types";

type Schema = components["schemas"];

export const group: Schema["GroupDraft"] = { id: "general" };
export const empty: Schema["GroupDraft"] = {};
export const sync: Schema["SyncRequest"] = {};
export const message: Schema["MessageDraft"] = { body: "hi" };
export const direct: Schema["DirectDraft"] = { body: "hi" };
export const schedule: Schema["ScheduleDraft"] = { group: "general", body: "hi", cron: "0 9 * * *" };
export const announcement: Schema["AnnouncementDraft"] = { to: { all: true }, body: "hi" };
export const file: Schema["FileDraft"] = { name: "a.txt", size: 1 };
export const webhook: Schema["WebhookDraft"] = { url: "https://hooks.example/" };
export const search: operations["search"]["parameters"]["query"] = { q: "word" };

export const frames: Schema["ClientFrame"][] = [
  { op: "hello", token: "t", after: { general: 42, other: "9f2c.44.k3" }, inbox_after: 7 },
  { op: "send", ref: "1", group: "general", body: "hi", client_id: "c-1" },
  { op: "ack", group: "general", id: 42 },
  { op: "read", group: "general", cursor: "9f2c.44.k3" },
  { op: "inbox_ack", seq: 7 },
  { op: "typing", group: "general" },
  { op: "focus", group: null },
  { op: "stream", group: "general", id: 42, offset: 0, append: "Hello" },
  { op: "auth", token: "t" },
];

// @ts-expect-error an op that does not exist
export const wrong: Schema["ClientFrame"] = { op: "nope" };

// The op tells which frame it is.
export function read(frame: Schema["ServerFrame"]): string | number {
  switch (frame.op) {
    case "welcome":
      return frame.groups["general"]?.last ?? frame.ping_s;
    case "ok":
      return frame.id ?? frame.ref;
    case "error":
      return frame.retry_after_ms ?? frame.detail;
    case "messages":
      return frame.messages[0]?.body ?? frame.to;
    case "inbox":
      return frame.items[0]?.seq ?? frame.to;
    case "cursor":
      return frame.seen + frame.read;
    case "typing":
      return frame.user;
    case "here":
      return frame.count;
    case "stream":
      return frame.append ?? frame.id;
    case "stream_cancel":
      return frame.user;
    case "draft":
      return frame.body ?? frame.group;
    case "joined":
    case "left":
      return frame.group;
  }
}

// The type tells which event a webhook or a device got.
export function event(
  body: Schema["MessageEvent"] | Schema["GroupDeletedEvent"] | Schema["MemberRequestedEvent"] | Schema["ScheduleFailedEvent"] | Schema["NotificationEvent"],
): string | number {
  switch (body.type) {
    case "group.deleted":
      return body.data.deleted_at;
    case "member.requested":
      return body.data.user;
    case "schedule.failed":
      return body.data.code;
    case "notification":
      return body.data.count;
    default:
      return body.data.id;
  }
}
