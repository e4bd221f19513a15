/** All emoji with their names, loaded when one is first looked for; and what a person has chosen of them. */
import { keep, recall } from "../kept.ts";
import { language } from "../say.ts";

export type Emoji = { readonly char: string; readonly toned: boolean; readonly name: string; readonly names: string; readonly group: number };

/** Groups of the table, in its order. */
export const GROUPS = 9;
const RECENT_MAX = 36;
const TONES = ["", "\u{1F3FB}", "\u{1F3FC}", "\u{1F3FD}", "\u{1F3FE}", "\u{1F3FF}"];

let table: Promise<readonly Emoji[]> | null = null;

/** Rejects where it cannot be loaded; the next call tries again. */
export function loadEmoji(): Promise<readonly Emoji[]> {
  table ??= read();
  table.catch(() => (table = null));
  return table;
}

async function read(): Promise<readonly Emoji[]> {
  const [{ table }, local] = await Promise.all([import("../../vendor/emoji.js"), language === "zh" ? import("../../vendor/emoji-zh.js") : null]);
  const localNames = local?.names.split("\n") ?? [];
  let n = 0;
  return table.split("\n\n").flatMap((rows, group) => rows.split("\n").flatMap((row) => {
    if (row.startsWith("+ ")) return flags(row.slice(2), group);
    const [code = "", ...rest] = row.split(" ");
    const english = rest.join(" ");
    const name = localNames[n++] || english.replace(/,.*/, "");
    return [{ char: code.replace("*", ""), toned: code.endsWith("*"), name, names: `${name},${english}`, group }];
  }));
}

/** The flags of regions, of two letters each: the browser knows how these are called. */
function flags(regions: string, group: number): Emoji[] {
  const [here, english] = [language, "en"].map((l) => new Intl.DisplayNames([l], { type: "region" }));
  return (regions.match(/../g) ?? []).map((code) => {
    const name = here!.of(code) ?? code;
    const char = [...code].map((c) => String.fromCodePoint(0x1f1e6 + c.charCodeAt(0) - 65)).join("");
    return { char, toned: false, name, names: `${name},${english!.of(code)?.toLowerCase()},flag ${code.toLowerCase()}`, group };
  });
}

/** Those whose names have all words of a text: first those that are called so, then those with a word that begins so. */
export function find(all: readonly Emoji[], text: string): Emoji[] {
  const wanted = text.toLowerCase().replaceAll(/[_\s]+/g, " ").trim();
  const words = wanted.split(" ");
  const rank = (names: string): number => {
    const each = names.split(",");
    if (each.includes(wanted)) return 0;
    if (each.some((name) => name.startsWith(wanted))) return 1;
    return words.every((w) => names.split(/[\s,:-]/).some((part) => part.startsWith(w))) ? 2 : 3;
  };
  const found: [number, Emoji][] = [];
  for (const e of wanted ? all : []) {
    const names = e.names.toLowerCase();
    if (words.every((w) => names.includes(w))) found.push([rank(names), e]);
  }
  return found.sort(([a], [b]) => a - b).map(([, e]) => e);
}

/** An emoji in a tone of skin, 0 to 5; 0 is none. */
export function withTone(e: Emoji, tone: number): string {
  if (!e.toned || tone === 0) return e.char;
  const [first = "", ...rest] = e.char;
  return first + TONES[tone] + rest.join("").replace(/^\uFE0F/, "");
}

export const toneNow = (): number => Math.min(5, Math.max(0, Number(recall<number>("chatd.emoji.tone")) || 0));
export const setTone = (tone: number): void => keep("chatd.emoji.tone", tone);

/** Those used last, the newest first; some that many people use for who has used none. */
export function recentEmoji(): string[] {
  const kept = recall<unknown>("chatd.emoji.last");
  return Array.isArray(kept) && kept.length > 0 ? kept.filter((c) => typeof c === "string") : ["👍", "❤️", "😂", "🎉", "😮", "😢", "🙏", "👀", "✅"];
}
export const usedEmoji = (char: string): void => keep("chatd.emoji.last", [char, ...recentEmoji().filter((c) => c !== char)].slice(0, RECENT_MAX));
