/**
 * Holds the state and notifies listeners of changes: at most once per turn of the event loop, however many changes
 * one turn brings.
 *
 * @typedef {import("./types.js").State} State
 * @param {State} first
 */
export function createStore(first) {
  let state = first;
  let notified = true;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    /** @returns {State} */
    get: () => state,
    /** @param {(s: State) => State} change */
    update(change) {
      const next = change(state);
      if (next === state) return;
      state = next;
      if (!notified) return;
      notified = false;
      setTimeout(() => {
        notified = true;
        for (const l of listeners) l();
      });
    },
    /** @param {() => void} listener */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** @typedef {ReturnType<typeof createStore>} Store */
