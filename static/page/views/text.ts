/** Changes of the text in the composer, which the browser can undo, and what stands in it. Pure, but for `insert`. */

export type Edit = { from: number; to: number; text: string; /** What is selected afterwards, counted from `from`. */ select: [number, number] };

/** Puts marks around a part, or takes them away. */
export function wrapped(text: string, from: number, to: number, mark: string): Edit {
  const n = mark.length;
  const inner = text.slice(from, to);
  if (text.slice(from - n, from) === mark && text.slice(to, to + n) === mark && from >= n) return { from: from - n, to: to + n, text: inner, select: [0, inner.length] };
  return { from, to, text: mark + inner + mark, select: [n, n + inner.length] };
}

/** A part as code: a line between marks, several in a fence. */
export function asCode(text: string, from: number, to: number): Edit {
  const inner = text.slice(from, to);
  if (!inner.includes("\n")) return wrapped(text, from, to, "`");
  const before = from > 0 && text[from - 1] !== "\n" ? "\n```\n" : "```\n";
  return { from, to, text: `${before}${inner}\n\`\`\`\n`, select: [before.length, before.length + inner.length] };
}

/** The lines of a part as a list, or a list as lines. */
export function asList(text: string, from: number, to: number): Edit {
  const begin = text.lastIndexOf("\n", from - 1) + 1;
  const after = text.indexOf("\n", to);
  const end = after < 0 ? text.length : after;
  const lines = text.slice(begin, end).split("\n");
  const listed = lines.every((l) => l.startsWith("- "));
  const made = lines.map((l) => (listed ? l.slice(2) : `- ${l}`)).join("\n");
  return { from: begin, to: end, text: made, select: [made.length, made.length] };
}

/** A part as the text of a link; without an address that is what is selected. */
export function asLink(text: string, from: number, to: number, address = "https://"): Edit {
  const label = text.slice(from, to);
  const made = `[${label}](${address})`;
  if (!label) return { from, to, text: made, select: [1, 1] };
  return { from, to, text: made, select: address === "https://" ? [label.length + 3, made.length - 1] : [made.length, made.length] };
}

export const isAddress = (text: string): boolean => /^https?:\/\/\S+$/.test(text) && URL.canParse(text);

/** Whether a place is in a fence of code that is not closed before it. */
export const inFence = (text: string, at: number): boolean => (text.slice(0, at).match(/^```/gm)?.length ?? 0) % 2 === 1;

/** The word with an @ or a :, or the command, that is being written before the caret. */
export function wordAt(text: string, caret: number): { kind: "@" | ":" | "/"; from: number; word: string } | null {
  const command = /^\/([a-z]*)$/.exec(text.slice(0, caret));
  if (command) return { kind: "/", from: 0, word: command[1]! };
  const before = text.slice(Math.max(0, caret - 70), caret);
  const found = /(?<![\w@.])@([^\s@]{0,64})$/u.exec(before) ?? /(?<![\w:])(:)([\p{L}\p{N}_+-]{2,32})$/u.exec(before);
  if (!found) return null;
  return { kind: found[0][0] as "@" | ":", from: caret - found[0].length, word: found[2] ?? found[1] ?? "" };
}

export const COMMANDS = ["schedule", "invite"] as const;

/** What a text that is sent asks of the page, and what stands behind that; null: it is a message. */
export function commandOf(text: string): { name: (typeof COMMANDS)[number]; rest: string } | null {
  const [, name, rest = ""] = /^\/(schedule|invite)(?:\s+([^]*))?$/.exec(text) ?? [];
  return name ? { name: name as "invite", rest } : null;
}

/** The text of a message that begins like a command: two slashes stand for one. */
export const unescaped = (text: string): string => text.replace(/^\/(\/(?:schedule|invite)(?!\S))/, "$1");

/** The words with an @ that a person may take for mentions. */
export const atWords = (text: string): { word: string; end: number }[] =>
  [...text.matchAll(/(?<![\p{L}\p{N}_@.`/])@([\p{L}\p{N}][\p{L}\p{N}._+|:-]{0,127})/gu)].map((m) => ({ word: m[1]!.replace(/[.:|+-]+$/, ""), end: m.index + m[0].length }));

/** Applies an edit to the field as if it was typed. */
export function insert(area: HTMLTextAreaElement, edit: Edit): void {
  area.focus();
  area.setSelectionRange(edit.from, edit.to);
  // The only way that the browser can undo.
  if (!(edit.text ? document.execCommand("insertText", false, edit.text) : edit.from === edit.to || document.execCommand("delete"))) {
    area.setRangeText(edit.text, edit.from, edit.to, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
  area.setSelectionRange(edit.from + edit.select[0], edit.from + edit.select[1]);
}
