/**
 * What outlives a reload of this tab: the token, the cursors, what was not sent yet. sessionStorage, so that two tabs may be
 * two people, and closing the tab signs out. A browser that refuses storage only loses that.
 */

/** @param {string} key @param {any} value null removes it */
export function save(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(`chatd.${key}`);
    else sessionStorage.setItem(`chatd.${key}`, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the page works without.
  }
}

/** @param {string} key @returns {any} null when there is none */
export function load(key) {
  try {
    return JSON.parse(sessionStorage.getItem(`chatd.${key}`) ?? "null");
  } catch {
    return null;
  }
}
