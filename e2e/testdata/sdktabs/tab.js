// One of the tabs of a person, which a test drives.
import { Chatd } from "/dist/chatd.js";
import { indexedDBStore } from "/dist/indexeddb.js";

export function open({ url, token, user, group }) {
  const said = [];
  const chat = new Chatd({ url, user, store: indexedDBStore(), getToken: async () => token, log: (...what) => said.push(what.join(" ")) });
  chat.on("error", (err) => said.push(`error: ${err.code}: ${err.detail}`));
  chat.connect();
  const timeline = chat.group(group).timeline({ at: "end", max: 10_000 });
  return {
    /** websocket: this tab leads; tab: another one does. */
    by: () => chat.state.by ?? chat.state.phase,
    /** Fulfilled once all of it is stored. */
    send: async (bodies) => {
      for (const body of bodies) await chat.group(group).send({ body });
      return bodies.length;
    },
    lines: () => timeline.snapshot().items.filter((i) => i.type === "gap" || i.kind === "text")
      .map((i) => (i.type === "gap" ? `gap ${i.from} to ${i.to}` : `${i.body}${i.state === "sent" ? "" : `, ${i.state}`}`)),
    ids: () => timeline.snapshot().items.map((i) => i.id ?? 0),
    more: () => timeline.snapshot().before === "more" && timeline.loadBefore(),
    said: () => said,
  };
}
