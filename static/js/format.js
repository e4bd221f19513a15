/** How things are written: times, names, initials, and the pieces of a message. Pure functions. */

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long" });
const date = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dateYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** @param {string} at */
export const timeOf = (at) => clock.format(new Date(at));
/** @param {string} at */
export const fullTime = (at) => full.format(new Date(at));

/** Days between the calendar days of two instants, in the reader's time zone. @param {Date} a @param {Date} b */
function daysBetween(a, b) {
  const day = (/** @type {Date} */ d) => Date.UTC(d.getFullYear(), d.getMonth(), d.getDate());
  return Math.round((day(b) - day(a)) / 86_400_000);
}

/** The calendar day as a key, in the reader's time zone. @param {string} at */
export function dayKey(at) {
  const d = new Date(at);
  return `${d.getFullYear()}-${d.getMonth() + 1}-${d.getDate()}`;
}

/** @param {string} at @param {Date} [now] */
export function dayName(at, now = new Date()) {
  const then = new Date(at);
  const days = daysBetween(then, now);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return then.getFullYear() === now.getFullYear() ? date.format(then) : dateYear.format(then);
}

/** When, in a list: the time today, the weekday this week, else the date. @param {string} at @param {Date} [now] */
export function shortTime(at, now = new Date()) {
  const then = new Date(at);
  const days = daysBetween(then, now);
  if (days <= 0) return timeOf(at);
  return days < 7 ? weekday.format(then).slice(0, 3) : short.format(then);
}

/** Up to two letters for an avatar. @param {string} name */
export function initials(name) {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? [...words[0]][0] + [...words[1]][0] : [...(words[0] ?? "?")].slice(0, 2).join("");
  return letters.toUpperCase();
}

/** Whether a text is one emoji and nothing else; also one that is typed without its variation selector. @param {string} text */
export const isEmoji = (text) => /^\p{RGI_Emoji}$/v.test(text) || /^\p{RGI_Emoji}$/v.test(`${text}\uFE0F`);

/** One of eight tints, always the same for a name. @param {string} name */
export function tint(name) {
  let n = 0;
  for (const c of name) n = (n * 31 + /** @type {number} */ (c.codePointAt(0))) >>> 0;
  return n % 8;
}

/** "bob", "bob and carol", "bob, carol and 3 others". @param {string[]} names @param {number} [most] */
export function namesOf(names, most = 3) {
  if (names.length <= 1) return names[0] ?? "";
  if (names.length <= most) return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
  const rest = names.length - most + 1;
  return `${names.slice(0, most - 1).join(", ")} and ${rest} others`;
}

/** @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = `${one}s`) => `${n.toLocaleString()} ${n === 1 ? one : many}`;

/** A number of bytes for people. @param {number} bytes */
export function sizeOf(bytes) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const unitDisplay = power === 0 ? "long" : "short";
  return new Intl.NumberFormat(undefined, { style: "unit", unit: units[power], unitDisplay, maximumFractionDigits: 1 }).format(bytes / 1024 ** power);
}

/** Characters of the name of a file. */
const NAME_MAX = 255;

/** The name of a file as the server takes it: without what would mislead people, and not too long. @param {string} name */
export function fileName(name) {
  const plain = name.toWellFormed().normalize().replaceAll(/\p{Bidi_Control}/gu, "").replaceAll(/[\p{Cc}/\\\uFFFD]/gu, "_").trim() || "file";
  const end = /\.\w{1,15}$/.exec(plain)?.[0] ?? "";
  return [...plain.slice(0, plain.length - end.length)].slice(0, NAME_MAX - end.length).join("") + end;
}

/** What a message says in one line. @param {import("./content.js").Content} m */
export const lineOf = (m) => m.body || m.files?.map((f) => f.name).join(", ") || "Data";

/** The names that a text mentions, of those who are members. @param {string} body @param {Iterable<string>} members */
export function mentionsIn(body, members) {
  const known = new Set(members);
  const found = new Set();
  for (const [, name] of body.matchAll(/(?<![\w@.])@([A-Za-z0-9._@+|:-]{1,128})/g)) {
    const user = longest(name, known);
    if (user) found.add(user);
  }
  return [...found].slice(0, 50);
}

/**
 * The longest beginning of text that is one of the names: "@bob." and "@bob:yes" mention bob.
 * @param {string} text @param {Set<string>} names
 */
function longest(text, names) {
  for (let s = text; s; s = /[.@+|:-]$/.test(s) ? s.slice(0, -1) : s.slice(0, Math.max(s.lastIndexOf(":"), s.lastIndexOf("|"), 0))) {
    if (names.has(s)) return s;
  }
  return "";
}

/**
 * Cuts a text into plain pieces, mentions and links. Only http and https become links.
 * @param {string} body @param {string[]} [mentions]
 * @returns {{text: string, mention?: string, href?: string}[]}
 */
export function pieces(body, mentions = []) {
  const names = new Set(mentions);
  /** @type {{text: string, mention?: string, href?: string}[]} */
  const out = [];
  let end = 0;
  const add = (/** @type {number} */ from, /** @type {{text: string, mention?: string, href?: string}} */ piece) => {
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
