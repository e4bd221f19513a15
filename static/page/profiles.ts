/**
 * What the page knows of people: names, pictures and what they say about the moment, by user. Who has no name is shown by the id. Names are
 * not unique, and anyone may choose any: where two look alike, the id stands beside them. Pure functions.
 */
import { pieces } from "./format.ts";
import { ALL } from "./mentions.ts";

type Person = {
  /** "": none. */
  name: string;
  /** Address of an avatar of this server, or "". */
  picture: string;
  status: string;
  /** Of the profile; 0: there is none. */
  version: number;
  /** The label, as labels are compared. */
  folded: string;
};
export type People = {
  known: ReadonlyMap<string, Person>;
  /** Folded labels and how many people have them. */
  alike: ReadonlyMap<string, number>;
};
/** Of the server's answer, or of what was kept. */
type Profile = { user: string; name?: string | null; picture?: string | null; version?: number; status?: { emoji?: string | null; text?: string | null } | null };

/** People who are remembered; those who have not been asked for the longest go first. */
const KNOWN_MAX = 5000;
/** The server keeps these itself: pictures from elsewhere would tell their hosts who reads what, and when. */
const AVATAR = /^\/avatars\/[\w-]{16,64}$/;

export const nobody = (): People => ({ known: new Map(), alike: new Map() });

/** A label without case, diacritics and what does not show. */
const fold = (label: string): string => label.normalize("NFKD").replaceAll(/[\p{Mn}\p{Cf}]/gu, "").toLowerCase().replaceAll(/\s+/g, " ").trim();

/** Takes what the server answered about some users: profiles of those whom the person may see. */
export function withPeople(people: People, asked: Iterable<string>, profiles: readonly Profile[]): People {
  const known = new Map(people.known);
  const found = new Map(profiles.map((p) => [p.user, p]));
  for (const user of asked) {
    const p = found.get(user);
    known.delete(user); // the newest are last
    known.set(user, {
      name: p?.name ?? "", picture: AVATAR.test(p?.picture ?? "") ? p!.picture! : "", version: p?.version ?? 0, folded: fold(p?.name || user),
      status: [p?.status?.emoji, p?.status?.text].filter(Boolean).join(" "),
    });
  }
  for (const user of known.keys()) {
    if (known.size <= KNOWN_MAX) break;
    known.delete(user);
  }
  const alike = new Map<string, number>();
  for (const { folded } of known.values()) alike.set(folded, (alike.get(folded) ?? 0) + 1);
  return { known, alike };
}

/** How a user is shown. */
export const labelOf = (people: People, user: string): string => people.known.get(user)?.name || user;

/** Whether somebody else's label looks the same. */
export function looksAlike(people: People, user: string): boolean {
  const person = people.known.get(user);
  return !!person?.name && person.name !== user && (people.alike.get(person.folded) ?? 0) > 1;
}

/** What stands for somebody where no id can stand beside it. */
export const nameIn = (people: People) => (user: string): string => (looksAlike(people, user) ? user : labelOf(people, user));

/** Letters that turn the direction of what stands beside them. */
const TURNS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name in running text, which keeps its direction whatever that of the name is. */
export const isolated = (name: string): string => (TURNS.test(name) ? `\u2068${name}\u2069` : name);

/** The label in running text. */
export function textOf(people: People, user: string): string {
  const label = labelOf(people, user);
  return isolated(looksAlike(people, user) ? `${label} (${user})` : label);
}

/** What is worth keeping over a reload. */
export const kept = (people: People): Profile[] =>
  [...people.known].filter(([, p]) => p.version > 0).slice(-1000).map(([user, p]) => ({ user, name: p.name, picture: p.picture, version: p.version }));

/** saved: what kept returned, or null. */
export const remembered = (saved: unknown): People => (Array.isArray(saved) ? withPeople(nobody(), saved.map((p) => p.user), saved) : nobody());

/** Whom entries of a log are by and about. */
export function* usersIn(messages: Iterable<{ from: string; mentions?: readonly string[]; user?: string; users?: readonly string[] }>): Generator<string> {
  for (const m of messages) {
    yield m.from;
    yield* (m.mentions ?? []).filter((user) => user !== ALL);
    if (m.user) yield m.user;
    yield* m.users ?? [];
  }
}

/** A text with the labels of people in the place of their ids. */
export const withLabels = (text: string, people: People, mentions: readonly string[]): string =>
  pieces(text, mentions).map((p) => (p.mention && !looksAlike(people, p.mention) ? `@${labelOf(people, p.mention)}` : p.text)).join("");

/**
 * A text that names people by their labels, as it is sent: with their ids. Who has a label that looks like another's is named by the id.
 * users: who can be mentioned.
 */
export function withIds(text: string, people: People, users: Iterable<string>): string {
  if (!text.includes("@")) return text;
  const labels = [...users].flatMap((u): [string, string][] => (labelOf(people, u) === u || looksAlike(people, u) ? [[u, u]] : [[labelOf(people, u), u], [u, u]]));
  labels.sort(([a], [b]) => b.length - a.length); // "Ana Silva" before "Ana"
  let out = "";
  for (let i = 0; i < text.length; ) {
    const found = text[i] === "@" && !/[\w@.]/.test(text[i - 1] ?? "") && labels.find(([label]) => {
      const after = text.slice(i + 1 + label.length);
      return text.startsWith(label, i + 1) && !/^[\p{L}\p{N}_]/u.test(after);
    });
    out += found ? `@${found[1]}` : text[i];
    i += found ? 1 + found[0].length : 1;
  }
  return out;
}
