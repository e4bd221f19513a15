/**
 * Asks the server for the people who are shown: once each, many with one call, and again where a batch says that a profile has another
 * version by now.
 */
import { passing } from "./api.js";
import { usersIn, withPeople } from "./people.js";

/** What comes together is asked for together. */
const GATHER_MS = 30;
/** People of one call, and characters of its address: proxies take little more than twice as many. */
const ASK_MAX = 100;
const ADDRESS_MAX = 3500;
const RETRY_MS = 5000;
/** Users, and no programs or parts of the server, which write messages too. */
const USER = /^(?!in:|reader:|key:)[\w@+|:-][\w.@+|:-]{0,127}$/;

/** @param {import("./store.js").Store} store @param {(ids: string[]) => Promise<{users: any[]}>} ask @param {() => number} life of the sign-in */
export function createProfiles(store, ask, life) {
  /** @type {Set<string>} */
  const lacking = new Set();
  /** Versions as they were asked for; 0 where any will do. @type {Map<string, number>} */
  const asked = new Map();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer;

  /** @param {string} user @param {number} version */
  function lack(user, version) {
    if ((asked.get(user) ?? -1) >= version || !USER.test(user)) return;
    asked.set(user, version);
    lacking.add(user);
    timer ??= setTimeout(flush, GATHER_MS);
  }

  async function flush() {
    const mine = life();
    const users = [];
    let length = 0;
    for (const user of lacking) {
      length += encodeURIComponent(user).length + 3;
      if (users.length === ASK_MAX || length > ADDRESS_MAX) break;
      users.push(user);
    }
    for (const user of users) lacking.delete(user);
    let wait = 0;
    try {
      const answer = await ask(users);
      if (mine === life()) store.update((s) => ({ ...s, people: withPeople(s.people, users, answer.users) }));
    } catch (err) {
      if (mine === life() && passing(err)) {
        for (const user of users) lacking.add(user);
        wait = RETRY_MS;
      }
    }
    timer = lacking.size > 0 && mine === life() ? setTimeout(flush, wait) : undefined;
  }

  return {
    /** These are shown, or about to be. @param {Iterable<string|undefined>} users */
    want(users) {
      for (const user of users) if (user) lack(user, 0);
    },
    /** Those whom messages are by and about, with the versions that came along. @param {{messages: any[], profiles?: Record<string, number>}} batch */
    seen({ messages, profiles = {} }) {
      const { known } = store.get().people;
      for (const [user, version] of Object.entries(profiles)) if (version > (known.get(user)?.version ?? -1)) lack(user, version);
      this.want(usersIn(messages));
    },
    /** Another sign-in begins: nothing was asked for. */
    reset() {
      clearTimeout(timer);
      timer = undefined;
      lacking.clear();
      asked.clear();
    },
  };
}

/** @typedef {ReturnType<typeof createProfiles>} Profiles */
