/**
 * What people write, read as Markdown: one parser for rows and previews. It looks at each character a bounded number of times,
 * whatever the text, and gives a tree that has no markup in it: whoever draws it makes text of text.
 */

import { ALL } from "./mentions.ts";

export type Inline =
  | string
  | { type: "strong" | "em" | "del"; inline: Inline[] }
  | { type: "code"; text: string }
  | { type: "link"; href: string; text: string }
  | { type: "mention"; user: string };

export type Block =
  | { type: "text" | "heading"; inline: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "quote"; blocks: Block[] }
  | { type: "list"; /** The number of the first item; null: without numbers. */ from: number | null; items: Inline[][] };

/** Characters looked at since the module was loaded: for the test that bounds them. */
export const work = { steps: 0 };

/** Quotes within quotes beyond this are text. */
const DEPTH_MAX = 4;
const FENCE = /^ {0,3}```([\w+#.-]{0,20}) *$/;
const HEADING = /^#{1,6} +(?=\S)/;
const ITEM = /^ {0,6}(?:[-*•]|(\d{1,9})[.)]) +(?=\S)/;

export function parse(text: string, mentions: readonly string[] = []): Block[] {
  return blocksOf(text.split("\n"), mentions, 0);
}

function blocksOf(lines: readonly string[], mentions: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let plain: string[] = [];
  const flush = () => {
    // Empty lines between blocks are drawn by their margins.
    if (blocks.length > 0) while (plain[0]?.trim() === "") plain.shift();
    if (plain.length > 0) blocks.push({ type: "text", inline: inlineOf(plain.join("\n"), mentions) });
    plain = [];
  };
  const begin = () => {
    while (plain.at(-1)?.trim() === "") plain.pop();
    flush();
  };
  /** The lines from i on of which each begins as one of a block does. */
  const run = (i: number, of: (line: string) => boolean) => {
    let end = i;
    while (end < lines.length && of(lines[end]!)) end++;
    return lines.slice(i, end);
  };
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    work.steps += line.length + 1;
    const fence = FENCE.exec(line);
    const item = ITEM.exec(line);
    if (fence) {
      const code = run(i + 1, (l) => l.trim() !== "```");
      begin();
      blocks.push({ type: "code", language: fence[1]!, text: code.join("\n") });
      work.steps += code.length;
      i += code.length + 2;
    } else if (depth < DEPTH_MAX && quoted(line)) {
      const inner = run(i, quoted).map((l) => l.replace(/^> ?/, ""));
      begin();
      blocks.push({ type: "quote", blocks: blocksOf(inner, mentions, depth + 1) });
      i += inner.length;
    } else if (item) {
      const numbers = item[1] !== undefined;
      const items = run(i, (l) => (ITEM.exec(l)?.[1] !== undefined) === numbers && ITEM.test(l));
      begin();
      blocks.push({ type: "list", from: numbers ? Number(item[1]) : null, items: items.map((l) => inlineOf(l.replace(ITEM, ""), mentions)) });
      i += items.length;
    } else if (HEADING.test(line)) {
      begin();
      blocks.push({ type: "heading", inline: inlineOf(line.replace(HEADING, ""), mentions) });
      i++;
    } else {
      plain.push(line);
      i++;
    }
  }
  if (blocks.length > 0) while (plain.at(-1)?.trim() === "") plain.pop();
  flush();
  return blocks;
}

const quoted = (line: string) => line === ">" || line.startsWith("> ") || line.startsWith(">>");

const MARKS = { "**": "strong", "*": "em", _: "em", "~~": "del" } as const;
type Mark = keyof typeof MARKS;
const SPECIAL = /[\\`*_~[h@]/g;
const word = (c: string | undefined) => c !== undefined && /[A-Za-z0-9]/.test(c);
const space = (c: string | undefined) => c === undefined || /\s/.test(c);

/** Reads a text from left to right, with a stack of what is open: each mark of a kind at most once. */
function inlineOf(text: string, mentions: readonly string[]): Inline[] {
  const stack: { mark: Mark | ""; out: Inline[] }[] = [{ mark: "", out: [] }];
  const top = () => stack[stack.length - 1]!;
  const closers = new Map<string, number>(); // where the next one is of what was looked for
  let from = 0; // of what is not put out yet
  let i = 0;

  const find = (what: string, at: number): number => {
    const known = closers.get(what);
    if (known !== undefined && (known < 0 || known >= at)) return known;
    const found = text.indexOf(what, at);
    work.steps += (found < 0 ? text.length : found) - at;
    closers.set(what, found);
    return found;
  };
  const put = (piece: Inline, end: number) => {
    if (i > from) add(top().out, text.slice(from, i));
    add(top().out, piece);
    from = i = end;
  };
  /** Gives up the innermost mark: it was text. */
  const drop = () => {
    const { mark, out } = stack.pop()!;
    add(top().out, mark);
    for (const piece of out) add(top().out, piece);
    work.steps += out.length;
  };

  while (i < text.length) {
    SPECIAL.lastIndex = i;
    const found = SPECIAL.exec(text);
    work.steps += (found?.index ?? text.length) - i + 1;
    if (!found) break;
    i = found.index;
    const c = text[i]!;
    if (c === "\\") {
      if ("*_~`".includes(text[i + 1] ?? " ")) put(text[i + 1]!, i + 2);
      else i++;
    } else if (c === "`") {
      const ticks = text[i + 1] === "`" ? "``" : "`";
      const end = find(ticks, i + ticks.length);
      if (end > i + ticks.length) put({ type: "code", text: text.slice(i + ticks.length, end) }, end + ticks.length);
      else i += ticks.length;
    } else if (c === "[") {
      const link = named(text, i, find);
      if (link) put(link.piece, link.end);
      else i++;
    } else if (c === "h") {
      const address = /https?:\/\/[^\s<>"]+/y;
      address.lastIndex = i;
      const whole = word(text[i - 1]) ? undefined : address.exec(text)?.[0];
      const href = whole && trimmed(whole);
      work.steps += whole?.length ?? 0;
      if (href && URL.canParse(href)) {
        const end = i + href.length;
        const enclosed = text[i - 1] === "<" && text[end] === ">"; // so that it has no preview
        if (enclosed) i--;
        put({ type: "link", href, text: href }, enclosed ? end + 1 : end);
      } else {
        i += whole?.length ?? 1;
      }
    } else if (c === "@") {
      const user = /[\w@.]/.test(text[i - 1] ?? " ") ? undefined : mentioned(text, i + 1, mentions);
      if (user) put({ type: "mention", user }, i + (user === ALL ? 0 : 1) + user.length);
      else i++;
    } else {
      let end = i;
      while (text[end] === c) end++;
      work.steps += end - i;
      const mark = text.slice(i, end);
      if (!(mark in MARKS)) {
        i = end; // "***", "__init__", "~/"
        continue;
      }
      const [before, after] = [text[i - 1], text[end]];
      const loose = mark.length === 2; // within a word too: languages without spaces need that
      const open = stack.findIndex((s) => s.mark === mark);
      if (open > 0 && !space(before) && (loose || !word(after))) {
        if (i > from) add(top().out, text.slice(from, i));
        while (stack.length - 1 > open) drop();
        const { out } = stack.pop()!;
        add(top().out, { type: MARKS[mark as Mark], inline: out });
        from = i = end;
      } else if (open < 0 && !space(after) && (loose || !word(before))) {
        if (i > from) add(top().out, text.slice(from, i));
        stack.push({ mark: mark as Mark, out: [] });
        from = i = end;
      } else {
        i = end;
      }
    }
  }
  if (from < text.length) add(top().out, text.slice(from));
  while (stack.length > 1) drop();
  return stack[0]!.out;
}

/** Texts beside each other are one. */
function add(out: Inline[], piece: Inline): void {
  const last = out.length - 1;
  if (typeof piece === "string" && typeof out[last] === "string") out[last] += piece;
  else if (piece !== "") out.push(piece);
}

const NAMED_MAX = 200;

/** A link with a text of its own: "[text](https://…)". A text that looks like another address is none: it would mislead. */
function named(text: string, at: number, find: (what: string, at: number) => number): { piece: Inline; end: number } | undefined {
  const middle = find("](", at);
  if (middle < at + 2 || middle - at > NAMED_MAX) return;
  const end = find(")", middle);
  const label = text.slice(at + 1, middle);
  const href = end > 0 && end - middle < 2048 ? text.slice(middle + 2, end) : "";
  work.steps += label.length + href.length;
  if (/[[\n]|:\/\/|\w\.\w/.test(label) || !/^https?:\/\/[^\s<>"]+$/.test(href) || !URL.canParse(href)) return;
  return { piece: { type: "link", href, text: label }, end: end + 1 };
}

/** An address without what belongs to the sentence around it. */
function trimmed(address: string): string {
  let open = 0;
  for (const c of address) open += c === "(" ? 1 : c === ")" ? -1 : 0;
  let end = address.length;
  for (; end > 0; end--) {
    const c = address[end - 1]!;
    if (c === ")" && open >= 0) break;
    if (!".,;:!?')]*_~`".includes(c)) break;
    if (c === ")") open++;
  }
  return address.slice(0, end);
}

/** What may follow a name so that it is not the beginning of another word. */
const NAME_ENDS = /[.@+-]{0,128}(?:[:|]|(?![A-Za-z0-9._@+|:-]))/y;

/** The longest of the names that stands at a place: "@bob." and "@bob:yes" mention bob. */
function mentioned(text: string, at: number, names: readonly string[]): string | undefined {
  let longest: string | undefined;
  for (const name of names) {
    work.steps++;
    const from = name === ALL ? at - 1 : at;
    if (!text.startsWith(name, from) || name.length <= (longest?.length ?? 0)) continue;
    NAME_ENDS.lastIndex = from + name.length;
    if (NAME_ENDS.test(text)) longest = name;
  }
  return longest;
}

/** The text without marks, in one line: for previews and notifications. */
export function plain(text: string, mentions: readonly string[] = [], nameOf = (user: string) => user): string {
  const line = (inline: readonly Inline[]): string =>
    inline.map((p) => (typeof p === "string" ? p : p.type === "mention" ? (p.user === ALL ? ALL : `@${nameOf(p.user)}`) : "inline" in p ? line(p.inline) : p.text)).join("");
  const all = (blocks: readonly Block[]): string =>
    blocks.map((b) => (b.type === "quote" ? all(b.blocks) : b.type === "list" ? b.items.map(line).join(" ") : b.type === "code" ? b.text : line(b.inline))).join(" ");
  return all(parse(text.slice(0, 2000), mentions)).replaceAll(/\s+/g, " ").trim();
}

/** An address as it is shown: without the middle of a long one. */
export const elided = (text: string, most = 60): string => (text.length <= most ? text : `${text.slice(0, most - 20)}…${text.slice(-19)}`);
