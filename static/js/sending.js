/** Sends what waits in the outbox, until the server has answered for good. */
import { passing } from "./api.js";
import { due, noted, settled, wire } from "./outbox.js";

/**
 * @param {import("./store.js").Store} store
 * @param {{link: () => import("./link.js").PageLink|null, ours: <A extends any[]>(act: (...args: A) => void) => (...args: A) => void, toast: (text: string) => void}} by
 *   ours: what to do with an outcome, unless the present sign-in has ended by then
 */
export function createSending(store, { link, ours, toast }) {
  const busy = new Set(); // groups with a send in flight

  /** Sends what waits, one message at a time in each group. */
  function pump() {
    const connection = link();
    if (!connection?.isLive()) return;
    for (const task of due(store.get().outbox, busy)) {
      busy.add(task.group);
      connection.ask({ op: "send", ...wire(task) }).then(ours((ok) => sent(task, ok.id)), ours((err) => unsent(task, err)));
    }
  }

  /** @param {import("./types.js").Task} task @param {number} id */
  function sent(task, id) {
    busy.delete(task.group);
    store.update((s) => {
      const outbox = noted(s.outbox, task.client_id, { id });
      const log = s.logs.get(task.group);
      return { ...s, outbox: log ? settled(outbox, task.group, log) : outbox };
    });
    pump();
  }

  /** @param {import("./types.js").Task} task @param {import("./api.js").Problem} err */
  function unsent(task, err) {
    if (passing(err)) {
      // The same client_id goes again: whether the first try arrived does not matter.
      const wait = 1000 * err.retryAfter + Math.random() * Math.min(10_000, 500 * 2 ** task.attempts);
      store.update((s) => ({ ...s, outbox: noted(s.outbox, task.client_id, { attempts: task.attempts + 1 }) }));
      setTimeout(ours(() => { busy.delete(task.group); pump(); }), wait);
      return;
    }
    busy.delete(task.group);
    if (task.kind === "text") {
      store.update((s) => ({ ...s, outbox: noted(s.outbox, task.client_id, { problem: err.message }) }));
    } else {
      store.update((s) => ({ ...s, outbox: s.outbox.filter((t) => t.client_id !== task.client_id) }));
      toast(err.message);
    }
    pump();
  }

  return { pump, busy };
}
