/** How times, sizes and the names of files are written, and what a text says apart from its words. Pure functions. */
import { locale, say } from "./say.ts";

const clock = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(locale, { weekday: "short" });
const short = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });

export const timeOf = (at: string): string => clock.format(new Date(at));
export const fullTime = (at: string): string => full.format(new Date(at));

/** Days between the calendar days of two instants, in the reader's time zone. */
function daysBetween(a: Date, b: Date): number {
  const day = (d: Date) => Date.UTC(d.getFullYear(), d.getMonth(), d.getDate());
  return Math.round((day(b) - day(a)) / 86_400_000);
}

/** The calendar day as a key, in the reader's time zone. */
export function dayKey(at: string): string {
  const d = new Date(at);
  return `${d.getFullYear()}-${d.getMonth() + 1}-${d.getDate()}`;
}

/** When, in a list: the time today, the weekday this week, else the date. */
export function shortTime(at: string, now = new Date()): string {
  const then = new Date(at);
  const days = daysBetween(then, now);
  if (days <= 0) return timeOf(at);
  return days < 7 ? weekday.format(then) : short.format(then);
}

/** A number of bytes for people. */
export function sizeOf(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const unitDisplay = power === 0 ? "long" : "short";
  return new Intl.NumberFormat(locale, { style: "unit", unit: units[power], unitDisplay, maximumFractionDigits: 1 }).format(bytes / 1024 ** power);
}

/** Characters of the name of a file. */
const NAME_MAX = 255;

/** The name of a file as the server takes it: without what would mislead people, and not too long. */
export function fileName(name: string): string {
  const plain = toWellFormed(name).normalize().replaceAll(/\p{Bidi_Control}/gu, "").replaceAll(/[\p{Cc}/\\\uFFFD]/gu, "_").trim() || "file";
  const end = /\.\w{1,15}$/.exec(plain)?.[0] ?? "";
  return [...plain.slice(0, plain.length - end.length)].slice(0, NAME_MAX - end.length).join("") + end;
}
const toWellFormed = (text: string): string => text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");

/** What a message says in one line. */
export const lineOf = (m: { body?: string; files?: readonly { name: string }[] }): string =>
  m.body || m.files?.map((f) => f.name).join(", ") || say("Data", "数据");

/** The users that a text mentions, of those who are members: 50 at most, as the server takes. */
export function mentionsIn(body: string, members: Iterable<string>): string[] {
  const known = new Set(members);
  const found = new Set<string>();
  for (const [, name] of body.matchAll(/(?<![\w@.])@([A-Za-z0-9._@+|:-]{1,128})/g)) {
    const user = longest(name!, known);
    if (user) found.add(user);
  }
  return [...found].slice(0, 50);
}

/** The longest beginning of text that is one of the names: "@bob." and "@bob:yes" mention bob. */
function longest(text: string, names: ReadonlySet<string>): string {
  for (let s = text; s; s = /[.@+|:-]$/.test(s) ? s.slice(0, -1) : s.slice(0, Math.max(s.lastIndexOf(":"), s.lastIndexOf("|"), 0))) {
    if (names.has(s)) return s;
  }
  return "";
}

export type Piece = { text: string; mention?: string; href?: string };

/** Cuts a text into plain pieces, mentions and links. Only http and https become links. */
export function pieces(body: string, mentions: readonly string[] = []): Piece[] {
  const names = new Set(mentions);
  const out: Piece[] = [];
  let end = 0;
  const add = (from: number, piece: Piece) => {
    if (from > end) out.push({ text: body.slice(end, from) });
    out.push(piece);
    end = from + piece.text.length;
  };
  for (const m of body.matchAll(/https?:\/\/[^\s<>"]+|(?<![\w@.])@[A-Za-z0-9._@+|:-]{1,128}/g)) {
    if (m[0].startsWith("@")) {
      const user = longest(m[0].slice(1), names);
      if (user) add(m.index, { text: `@${user}`, mention: user });
      continue;
    }
    const text = m[0].replace(/[.,;:!?')\]]+$/, "");
    if (URL.canParse(text)) add(m.index, { text, href: text });
  }
  if (end < body.length) out.push({ text: body.slice(end) });
  return out;
}
