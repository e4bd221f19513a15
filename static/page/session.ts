/** What every view of a signed-in person works with. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Chatd } from "@chatd/client";
import type { PeopleStore } from "./people.ts";
import type { SignIn } from "./signin.ts";

export type Session = {
  readonly chat: Chatd;
  readonly me: string;
  readonly people: PeopleStore;
  readonly signIn: SignIn;
  /** Of GET /v1/server: "dev", "oidc" and others. */
  readonly features: readonly string[];
  /** Says something that nothing else on the screen does. */
  toast(text: string, options?: { bad?: boolean; action?: { label: string; run: () => void } }): void;
};

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("nobody is signed in here");
  return session;
}

/** What the client keeps, and repeats until the server has it, fails only once it is closed: nobody is left to hear of it. */
export const closed = (): void => {};

/** Fulfilled once the client knows a group that the person has just entered. */
export function entered(chat: Chatd, group: string): Promise<void> {
  return new Promise((done) => {
    const look = () => {
      if (!chat.group(group).snapshot()) return;
      end();
      done();
    };
    const end = chat.subscribe(look);
    look();
  });
}
