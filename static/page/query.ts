/** What a person types to search: words, and what narrows them, such as from:bob before:2026-03-01. Pure functions. */

export type FilterName = "in" | "from" | "has" | "before" | "after";
export const FILTERS: readonly FilterName[] = ["from", "in", "has", "after", "before"];
export type Filter = { readonly name: FilterName; readonly value: string; /** As it was typed. */ readonly text: string };
export type Query = { readonly words: string; readonly filters: readonly Filter[] };

const FILTER = /(?<!\S)(in|from|has|before|after):(?:"([^"]+)"|([^\s"]+))/gi;

export function parseQuery(text: string): Query {
  const filters: Filter[] = [];
  const words = text.replaceAll(FILTER, (all, name: string, quoted?: string, plain?: string) => {
    filters.push({ name: name.toLowerCase() as FilterName, value: (quoted ?? plain ?? "").replace(/^@/, ""), text: all });
    return " ";
  });
  return { words: words.replaceAll(/(?<!\S)(in|from|has|before|after):(?=\s|$)/gi, " ").replaceAll(/\s+/g, " ").trim(), filters };
}

export const filterText = (name: FilterName, value: string): string => `${name}:${/\s/.test(value) ? `"${value}"` : value}`;

/** The text without a filter. */
export const without = (text: string, filter: Filter): string => text.replace(filter.text, " ").replaceAll(/\s+/g, " ").trim();

export type Names = {
  groups: readonly { id: string; title: string }[];
  people: readonly { user: string; label: string }[];
};
export type Parameters = { q: string; group?: string; from?: string; since?: string; until?: string; kind?: "text" | "data" };

/** The parameters of the call. unknown: the filters that name nothing. */
export function parametersOf({ words, filters }: Query, { groups, people }: Names): Parameters & { has: string[]; unknown: Filter[] } {
  const out: Parameters & { has: string[]; unknown: Filter[] } = { q: words, has: [], unknown: [] };
  const same = (a: string, b: string) => a.localeCompare(b, undefined, { sensitivity: "base" }) === 0;
  for (const f of filters) {
    const group = f.name === "in" && (groups.find((g) => g.id === f.value) ?? groups.find((g) => same(g.title, f.value)));
    const day = f.name === "before" || f.name === "after" ? dayOf(f.value) : null;
    if (group) out.group = group.id;
    else if (f.name === "from") out.from = people.find((p) => p.user === f.value)?.user ?? people.find((p) => same(p.label, f.value))?.user ?? f.value;
    else if (f.name === "has" && f.value === "data") out.kind = "data";
    else if (f.name === "has" && /^(file|image|link)s?$/.test(f.value)) out.has.push(f.value.replace(/s$/, ""));
    else if (day && f.name === "after") out.since = day.toISOString();
    else if (day) out.until = new Date(day.getTime() - 1).toISOString();
    else out.unknown.push(f);
  }
  return out;
}

/** The beginning of a day in the reader's time zone; null: no day. */
function dayOf(text: string): Date | null {
  const [, y, m = "1", d = "1"] = /^(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?$/.exec(text) ?? [];
  if (!y) return null;
  const day = new Date(Number(y), Number(m) - 1, Number(d));
  return day.getMonth() === Number(m) - 1 && day.getDate() === Number(d) ? day : null;
}

/** Whether a message has a file, a picture or a link: the server has no index of that. */
export function hasAll(m: { readonly body?: string; readonly files?: readonly { type: string }[] }, has: readonly string[]): boolean {
  return has.every((what) => {
    if (what === "link") return /https?:\/\//.test(m.body ?? "");
    return m.files?.some((f) => what === "file" || f.type.startsWith("image/")) ?? false;
  });
}
