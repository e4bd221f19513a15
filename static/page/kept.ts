/** What this browser keeps for all tabs: in localStorage, and for this tab where that is refused or full. */
const memory = new Map<string, string>();

/** Undefined removes it. */
export function keep(key: string, value: unknown): void {
  const text = JSON.stringify(value) as string | undefined;
  memory.delete(key);
  try {
    if (text === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    if (text !== undefined) memory.set(key, text);
  }
}

/** Null: nothing is kept. */
export function recall<T>(key: string): T | null {
  try {
    return JSON.parse(memory.get(key) ?? localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** The keys of what is kept that begin so. */
export function keysOf(prefix: string): string[] {
  let stored: string[] = [];
  try {
    stored = Object.keys(localStorage);
  } catch {
    // refused
  }
  return [...new Set([...stored, ...memory.keys()])].filter((key) => key.startsWith(prefix));
}
