/**
 * What outlives a reload. The sign-in and what a person chose are the browser's: localStorage, so all tabs share them. The
 * cursors and what was not sent yet are the tab's: sessionStorage. They belong to one user. A browser that refuses storage only loses what
 * it would keep.
 */

const SHARED = new Set(["signin", "dev-code", "prefs", "starred", "steps", "inbox-done"]);

/** @param {string} key */
const storageOf = (key) => (SHARED.has(key) ? localStorage : sessionStorage);

/** @param {string} key @param {any} value null removes it */
export function save(key, value) {
  try {
    if (value === null) storageOf(key).removeItem(`chatd.${key}`);
    else storageOf(key).setItem(`chatd.${key}`, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the page works without.
  }
}

/** @param {string} key @returns {any} null when there is none */
export function load(key) {
  try {
    return JSON.parse(storageOf(key).getItem(`chatd.${key}`) ?? "null");
  } catch {
    return null;
  }
}

/** Calls back when another tab changed a value. @param {string} key @param {(value: any) => void} changed */
export function watch(key, changed) {
  addEventListener("storage", (e) => {
    if (e.key === `chatd.${key}` || e.key === null) changed(load(key));
  });
}
