/**
 * What outlives a reload. The sign-in and what a person chose are the browser's: localStorage, so all tabs share them. The rest is
 * the tab's: sessionStorage. It belongs to one user. A browser that refuses storage only loses what it would keep.
 */

const SHARED = new Set(["signin", "dev-code", "prefs", "starred", "muted", "steps", "inbox-done", "inbox-replies", "owner", "people", "features", "away", "alerts", "levels", "blocked", "asked", "shown", "quorums", "uncarded"]);

const storageOf = (key: string): Storage => (SHARED.has(key) ? localStorage : sessionStorage);

/** null removes it. */
export function save(key: string, value: unknown): void {
  try {
    if (value === null) storageOf(key).removeItem(`chatd.${key}`);
    else storageOf(key).setItem(`chatd.${key}`, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the page works without.
  }
}

/** null: there is none. */
export function load(key: string): any {
  try {
    return JSON.parse(storageOf(key).getItem(`chatd.${key}`) ?? "null");
  } catch {
    return null;
  }
}

/** Calls back when another tab changed a value. */
export function watch(key: string, changed: (value: any) => void): void {
  addEventListener("storage", (e) => {
    if (e.key === `chatd.${key}` || e.key === null) changed(load(key));
  });
}
