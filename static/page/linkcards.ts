/**
 * What links of messages lead to. It comes along with messages; what was kept here from before has none, and the server reads pages in the
 * background: so it is asked for what lacks, a few times.
 */
import type { Chatd, LinkPreview, Message } from "@chatd/client";
import { load, save, watch } from "./saved.ts";

/** Links of a message that the server looks at, and bytes of one. */
const LINKS_MAX = 3;
const LINK_MAX = 2048;
/** Links that are remembered, and messages of which the person has hidden the cards. */
const KNOWN_MAX = 500;
const HIDDEN_MAX = 200;
/** When the server is asked, ms after messages are shown: pages have to be read. */
const WAITS = [100, 2000, 6000, 15_000, 30_000] as const;
const PAGE = 100;
/** Messages of which the server has no more to say. */
const OVER_MAX = 1000;

const LINK = /https?:\/\/[^\s<>"\x00-\x1f\x7f]+/g;
const ENDS = ".,;:!?'*_~`]}’”。，！？、）》」";

/** The links of a text of which the server may have previews, as it finds them. One in angle brackets is only a link. */
export function linksIn(text: string): string[] {
  const found: string[] = [];
  let seen = 0;
  for (const { 0: whole, index } of text.matchAll(LINK)) {
    if (++seen > LINKS_MAX) break;
    const link = trimmed(whole);
    const enclosed = text[index - 1] === "<" && text[index + whole.length] === ">";
    if (!enclosed && link.length <= LINK_MAX && URL.canParse(link) && !found.includes(link)) found.push(link);
  }
  return found;
}

/** A link without what ends the sentence around it. */
function trimmed(link: string): string {
  let closed = 0; // brackets more than are open
  for (const c of link) closed += c === ")" ? 1 : c === "(" ? -1 : 0;
  let end = link.length;
  for (; end > 0; end--) {
    const c = link[end - 1]!;
    if (c === ")" && closed > 0) closed--;
    else if (!ENDS.includes(c)) break;
  }
  return link.slice(0, end);
}

/** The host of a link: what its page says of itself may mislead, this does not. */
export const hostOf = (link: string): string => new URL(link).host.replace(/^www\./, "");

/** The text with a link in angle brackets: without its preview, for everybody. Undefined: it has a text of its own. */
export function enclosed(text: string, link: string): string | undefined {
  for (let at = text.indexOf(link); at >= 0; at = text.indexOf(link, at + link.length)) {
    const after = text[at + link.length];
    if (text[at - 1] === "(" || (after !== undefined && !/[\s<>"]/.test(after) && !ENDS.includes(after) && after !== ")")) continue;
    return `${text.slice(0, at)}<${link}>${text.slice(at + link.length)}`;
  }
  return undefined;
}

export function createCards(chat: Pick<Chatd, "on" | "request">) {
  let known: ReadonlyMap<string, LinkPreview> = new Map();
  let hidden: readonly string[] = load("uncarded") ?? [];
  const listeners = new Set<() => void>();
  /** Messages of groups that have links without a preview, and how often the server was asked. */
  const lacking = new Map<string, Map<number, { links: readonly string[]; asked: number }>>();
  const over = new Set<string>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const changed = () => { for (const fn of [...listeners]) fn(); };
  watch("uncarded", (next) => { hidden = next ?? []; changed(); });

  function take(previews: Readonly<Record<string, LinkPreview>>): void {
    known = new Map([...known, ...Object.entries(previews)].slice(-KNOWN_MAX));
    changed();
  }
  chat.on("previews", take);

  /** Asks for the newest messages that lack some, as many as a page has. */
  async function look(group: string): Promise<void> {
    timers.delete(group);
    const of = lacking.get(group)!;
    for (const [id, { links }] of of) if (links.every((l) => known.has(l))) of.delete(id);
    const ids = [...of.keys()].sort((a, b) => b - a);
    const last = ids[0];
    if (last === undefined) return;
    const some = ids.filter((id) => id > last - PAGE);
    let tries = 0;
    for (const id of some) {
      const one = of.get(id)!;
      tries = Math.max(tries, ++one.asked);
      if (one.asked < WAITS.length) continue;
      of.delete(id);
      if (over.size === OVER_MAX) over.clear();
      over.add(`${group} ${id}`);
    }
    try {
      const first = some.at(-1)!;
      const answer: { messages: Message[]; previews?: Record<string, LinkPreview> } =
        await chat.request("GET", `/v1/groups/${encodeURIComponent(group)}/messages?after=${first - 1}&limit=${last - first + 1}`);
      if (answer.previews) take(answer.previews);
    } catch {
      // without a connection there are none; the next rows ask again
    }
    if (of.size > 0) ask(group, WAITS[some.length < ids.length ? 0 : Math.min(tries, WAITS.length - 1)]!);
  }
  function ask(group: string, wait: number): void {
    if (!timers.has(group)) timers.set(group, setTimeout(() => void look(group), wait));
  }

  return {
    subscribe(fn: () => void): () => void {
      listeners.add(fn);
      return () => listeners.delete(fn);
    },
    /** The same map until it changes. */
    known: () => known,
    /** These are shown. */
    want(group: string, id: number, links: readonly string[]): void {
      if (links.every((l) => known.has(l)) || over.has(`${group} ${id}`)) return;
      const of = lacking.get(group) ?? new Map();
      lacking.set(group, of);
      if (!of.has(id)) of.set(id, { links, asked: 0 });
      ask(group, WAITS[0]);
    },
    isHidden: (group: string, id: number): boolean => hidden.includes(`${group} ${id}`),
    hide(group: string, id: number): void {
      hidden = [...hidden, `${group} ${id}`].slice(-HIDDEN_MAX);
      save("uncarded", hidden);
      changed();
    },
  };
}
