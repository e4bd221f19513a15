/** What a signed-in person sees, and the client beneath it. */
import { render } from "preact";
import { Chatd, type Options, SignedOut } from "@chatd/client";
import { indexedDBStore } from "@chatd/client/indexeddb";
import { load, save } from "./saved.ts";
import { about } from "./signin.ts";
import { loadBlocked } from "./blocked.ts";
import { createPeople } from "./people.ts";
import { drafts } from "./drafts.ts";
import { removeLeft, removeNow } from "./removals.ts";
import { SessionContext, type Session } from "./session.ts";
import type { SignIn } from "./signin.ts";
import { createToasts } from "./ui/toasts.tsx";
import { wire } from "./wire.ts";
import { App } from "./app.tsx";
import "./whole.ts";

/** Shows the page of a user; returns how to end it. */
export function start(me: string, signIn: SignIn, root: HTMLElement): () => Promise<void> {
  const getToken: Options["getToken"] = async ({ reason }) => {
    if (reason !== "start" && !(await signIn.renew())) throw new SignedOut("the sign-in has ended");
    return signIn.token();
  };
  const chat = new Chatd({ url: "/", getToken, user: me, store: indexedDBStore(), ...wire });
  const people = createPeople(chat);
  const toasts = createToasts();
  let session: Session = { chat, me, people, signIn, features: load("features") ?? [], toast: toasts.say };
  let ended = false;
  const ends = [
    chat.on("message", (m) => people.seen([m])),
    chat.on("profiles", people.versions),
    chat.on("failed", ({ error }) => !/^(review|discarded)$/.test(error.code) && toasts.say(error.detail, { bad: true })),
    chat.on("signed-out", () => signIn.refused()),
    chat.on("left", ({ group }) => people.forget(group)),
  ];
  const draw = () => render(
    <SessionContext.Provider value={session}>
      <App />
      <toasts.View />
    </SessionContext.Provider>,
    root,
  );
  /** They seldom change: those that are known from before do until the server has said which there are. */
  function has({ features }: { features: string[] }): void {
    if (ended || features.join() === session.features.join()) return;
    save("features", features);
    session = { ...session, features };
    draw();
  }
  chat.connect();
  removeLeft(chat, me);
  draw();
  about().then(has, () => {});
  void chat.ready.then(() => loadBlocked(chat)).catch(() => {}); // what is known from before is shown
  // What could not be loaded now is the next time.
  void chat.ready.then(() => import("./offline.ts")).then((m) => ended || ends.push(m.keep(session, drafts)), () => {});
  return async () => {
    ended = true;
    removeNow();
    for (const end of ends) end();
    people.close();
    render(null, root);
    await chat.close();
  };
}
