/** What can be read in the data of a program that says what it is, by its `type`. Pure functions. */

/** Lines of a card, and letters of a value: the rest is with all of the data. */
const ROWS_MAX = 8;
const VALUE_MAX = 200;

export type Card = { type: string; title: string; link: string; rows: readonly [string, string][]; more: boolean };

/** What stands in the head of a card, whatever the type. */
const TITLES = ["title", "name", "summary", "subject"];
const LINKS = ["url", "href", "link"];

const isLink = (text: unknown): text is string => typeof text === "string" && /^https?:\/\//.test(text) && URL.canParse(text);
const valueOf = (value: unknown): string | null => (typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : null);
/** "exit_code" and "exitCode" are "exit code". */
const words = (key: string): string => key.replaceAll(/[_-]+/g, " ").replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
const cut = (text: string): string => (text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text);

/** Null: the data does not say what it is, or has nothing that a line can show. */
export function cardOf(data: unknown): Card | null {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return null;
  const fields = Object.entries(data);
  const own = new Map<string, unknown>(fields);
  const type = own.get("type");
  if (typeof type !== "string" || !type.trim()) return null;
  const named = TITLES.find((key) => typeof own.get(key) === "string");
  const linked = LINKS.find((key) => isLink(own.get(key)));
  const rows: [string, string][] = [];
  let more = false;
  for (const [key, value] of fields) {
    if (key === "type" || key === named || key === linked) continue;
    const text = valueOf(value);
    if (text === null || rows.length === ROWS_MAX) more = true;
    else rows.push([cut(words(key)), cut(text)]);
    more ||= (text?.length ?? 0) > VALUE_MAX;
  }
  if (rows.length === 0 && !named && !linked) return null;
  return { type: cut(words(type)), title: named ? cut(String(own.get(named))) : "", link: linked ? String(own.get(linked)) : "", rows, more };
}
