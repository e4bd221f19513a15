/** Names and pictures of people, asked for once each, many with one call, when they are shown. */
import type { Chatd, Message } from "@chatd/client";
import { useLayoutEffect } from "preact/hooks";
import { passing } from "./call.ts";
import { kept, labelOf, looksAlike, remembered, textOf, withPeople, usersIn, type People } from "./profiles.ts";
import { load, save } from "./saved.ts";
import { useSyncExternal } from "./hooks.ts";
import { useSession } from "./session.ts";

export { isolated, labelOf, looksAlike, nameIn, textOf, withIds, withLabels } from "./profiles.ts";
export type { People } from "./profiles.ts";

/** What comes together is asked for together. */
const GATHER_MS = 30;
/** People of one call, and characters of its address: proxies take little more than twice as many. */
const ASK_MAX = 100;
const ADDRESS_MAX = 3500;
const RETRY_MS = 5000;
/** Users, and no programs or parts of the server, which write messages too. */
const USER = /^(?!in:|reader:|key:)[\w@+|:-][\w.@+|:-]{0,127}$/;

export function createPeople(chat: Pick<Chatd, "users">) {
  let people: People = remembered(load("people"));
  const asked = new Set<string>();
  const lacking = new Set<string>();
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  function take(next: People): void {
    people = next;
    save("people", kept(people));
    for (const fn of listeners) fn();
  }

  async function flush(): Promise<void> {
    const users: string[] = [];
    let length = 0;
    for (const user of lacking) {
      length += encodeURIComponent(user).length + 3;
      if (users.length === ASK_MAX || length > ADDRESS_MAX) break;
      users.push(user);
    }
    for (const user of users) lacking.delete(user);
    let wait = 0;
    try {
      const answer = await chat.users({ ids: users.join(",") });
      if (!closed) take(withPeople(people, users, answer.users));
    } catch (err) {
      if (passing(err) || (err as { code?: string }).code === "offline") {
        for (const user of users) lacking.add(user);
        wait = RETRY_MS;
      }
    }
    timer = lacking.size > 0 && !closed ? setTimeout(() => void flush(), wait) : undefined;
  }

  const store = {
    now: (): People => people,
    subscribe(fn: () => void): () => void {
      listeners.add(fn);
      return () => listeners.delete(fn);
    },
    /** These are shown, or about to be. */
    want(users: Iterable<string | undefined>): void {
      for (const user of users) {
        if (!user || asked.has(user) || !USER.test(user)) continue;
        asked.add(user);
        lacking.add(user);
        timer ??= setTimeout(() => void flush(), GATHER_MS);
      }
    },
    /** Those whom messages are by and about. */
    seen(messages: Iterable<Message>): void {
      store.want(usersIn(messages));
    },
    /** Versions that came along with messages. */
    versions(now: Readonly<Record<string, number>>): void {
      for (const [user, version] of Object.entries(now)) {
        if (version <= (people.known.get(user)?.version ?? -1)) continue;
        asked.delete(user);
        store.want([user]);
      }
    },
    /** Somebody's profile has changed: what an answer says is newer than what is known. */
    changed(profile: { user: string }): void {
      asked.add(profile.user);
      take(withPeople(people, [profile.user], [profile]));
    },
    /** Asks again the next time somebody is shown. */
    forget(user: string): void {
      asked.delete(user);
    },
    close(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
  return store;
}

export type PeopleStore = ReturnType<typeof createPeople>;

/** All that is known of people: for texts that name several. Drawn again whenever something of it changes. */
export function usePeople(): People {
  const { people } = useSession();
  return useSyncExternal(people.subscribe, people.now);
}

export type Shown = { label: string; picture: string; status: string; alike: boolean };

/** One person as they are shown, and asked for if need be. A string, so that a row is drawn again only if it changes. */
export function usePerson(user: string): Shown {
  const { people } = useSession();
  useLayoutEffect(() => people.want([user]), [user]);
  const text = useSyncExternal(people.subscribe, () => {
    const now = people.now();
    const known = now.known.get(user);
    return JSON.stringify([labelOf(now, user), known?.picture ?? "", known?.status ?? "", looksAlike(now, user)]);
  });
  const [label, picture, status, alike] = JSON.parse(text) as [string, string, string, boolean];
  return { label, picture, status, alike };
}

/** How people are called in running text, for a function that makes one. */
export function useNames(users: readonly string[]): (user: string) => string {
  const { people } = useSession();
  const now = usePeople();
  useLayoutEffect(() => people.want(users), [users.join("\n")]);
  return (user) => textOf(now, user);
}
