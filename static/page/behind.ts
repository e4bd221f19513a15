/** What of the client's code makes what crosses the wire: pure functions. */
import type { Entry } from "./wire.ts";

const quoted = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "";
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
};

/** The server knows no ping, and any answer shows that the wire is alive. */
export const isPong = ({ way, what, text }: Entry): boolean => way === "in" && what === "error" && text.includes('"ref":"ping"');

/** The line that an application writes to have this said; "": the client says it by itself. */
export function codeOf(entry: Entry): string {
  if (entry.way !== "out") return "";
  return entry.by === "http" ? codeOfCall(entry.what) : codeOfFrame(entry);
}

function codeOfFrame({ what, text }: Entry): string {
  let f: Record<string, any>;
  try {
    f = JSON.parse(text);
  } catch {
    return ""; // longer than what is kept
  }
  const group = `chat.group(${quoted(f.group)})`;
  switch (what) {
    case "hello": return `new Chatd({ url: "/", getToken, store: indexedDBStore() }).connect()`;
    case "read": return `${group}.read(${f.id ?? `id`})`;
    case "typing": return `${group}.typing()`;
    case "send": return `${group}.${sendOf(f)}`;
    default: return "";
  }
}

function sendOf(f: Record<string, any>): string {
  const kind = f.kind ?? f.message?.kind ?? "text";
  const m = f.message ?? f;
  switch (kind) {
    case "edit": return `edit(${m.target}, { body: ${quoted(m.body)} })`;
    case "delete": return `delete(${m.target})`;
    case "reaction": return `react(${m.target}, ${quoted(m.emoji)}${m.removed ? ", false" : ""})`;
    case "data": return `send({ data: ${quoted(m.data)} })`;
    default: return `send({ body: ${quoted(m.body)}${m.reply_to ? `, replyTo: ${m.reply_to}` : ""} })`;
  }
}

const CALLS: [RegExp, (m: RegExpMatchArray) => string][] = [
  [/^GET \/v1\/groups\/([^/?]+)\/messages\?/, (m) => `chat.group(${nameIn(m)}).timeline()`],
  [/^GET \/v1\/groups\/([^/?]+)\/members/, (m) => `chat.group(${nameIn(m)}).members()`],
  [/^POST \/v1\/groups\/([^/?]+)\/messages$/, (m) => `chat.group(${nameIn(m)}).send({ body })`],
  [/^POST \/v1\/groups\/([^/?]+)\/read$/, (m) => `chat.group(${nameIn(m)}).read(id)`],
  [/^POST \/v1\/groups\/([^/?]+)\/typing$/, (m) => `chat.group(${nameIn(m)}).typing()`],
  [/^GET \/v1\/groups(\?|$)/, () => "chat.snapshot().groups"],
  [/^GET \/v1\/users\?/, () => "chat.users({ ids })"],
  [/^GET \/v1\/search/, () => "chat.search({ q })"],
  [/^POST \/v1\/inbox\/ack/, () => "chat.inbox.ack(seq)"],
  [/^POST \/v1\/groups$/, () => "chat.create({ name, members })"],
  [/^PUT \/v1\/direct\//, () => "chat.direct(user)"],
];

const nameIn = (m: RegExpMatchArray): string => quoted(decodeURIComponent(m[1] ?? ""));

function codeOfCall(what: string): string {
  for (const [pattern, code] of CALLS) {
    const found = what.match(pattern);
    if (found) return code(found);
  }
  return "";
}
