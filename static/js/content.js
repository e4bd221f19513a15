/**
 * What a message says. An edit replaces fields of it, a deletion takes all of it away. A field added here is kept,
 * sent, edited and deleted like the others; what remains is to show it (views/message.js).
 */
const NOTHING = {
  body: /** @type {string|undefined} */ (undefined),
  data: /** @type {any} */ (undefined),
  mentions: /** @type {string[]|undefined} */ (undefined),
  files: /** @type {import("./types.js").File[]|undefined} */ (undefined),
};

/** @typedef {Partial<typeof NOTHING>} Content */

/** The fields of the content that are there. @param {Content} m @returns {Content} */
const given = (m) => Object.fromEntries(Object.keys(NOTHING).map((k) => [k, /** @type {any} */ (m)[k]]).filter(([, v]) => v !== undefined));

/**
 * A message after an edit or a deletion; after any other change it is as before.
 * @template {Content & {edited_at?: string, deleted_at?: string}} M
 * @param {M} m @param {Content & {kind: string}} change @param {string} at when it changed @returns {M}
 */
export function revised(m, change, at) {
  if (change.kind === "delete") return { ...m, ...NOTHING, deleted_at: at };
  // The entry of an edit whose message was deleted later has no content; the deletion follows.
  const next = change.kind === "edit" && !m.deleted_at ? given(change) : {};
  return Object.keys(next).length > 0 ? { ...m, ...next, edited_at: at } : m;
}

/** Whom a notice concerns. @param {import("./types.js").Message} e @returns {string[]} */
export const concerned = (e) => e.users ?? (e.user === undefined ? [] : [e.user]);
