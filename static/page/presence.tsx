/** Who is there: asked for while it is on screen, and the window is visible. */
import type { Chatd, Wire } from "@chatd/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { shortTime, timeOf } from "./format.ts";
import { useSnapshot } from "./hooks.ts";
import { say } from "./say.ts";
import { useSession } from "./session.ts";

const EVERY_MS = 30_000;
/** The server keeps to five minutes when somebody was there. */
const JUST_MS = 600_000;
const PAGES_MAX = 5;
const PAGE = 500;

export type Presence = Pick<Wire.UserPresence, "state" | "since">;
export type There = {
  readonly online: number;
  readonly users: ReadonlyMap<string, Presence>;
  /** Who is not among users is offline. Else that is not known: some are not listed, or the person hides and sees nobody. */
  readonly whole: boolean;
};

/** Asks now, every half minute, and when the window is shown again or there is a connection again. */
export function useAsking(ask: () => Promise<unknown>, what: string): () => void {
  const live = useSnapshot((s) => s.connection.phase === "live");
  const now = useRef(() => {});
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    let over = !live;
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function look(): Promise<void> {
      if (over || document.visibilityState === "hidden") return;
      await latest.current().catch(() => {}); // the next time
      clearTimeout(timer);
      if (!over) timer = setTimeout(look, EVERY_MS);
    }
    now.current = () => void look();
    void look();
    document.addEventListener("visibilitychange", look);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [live, what]);
  return () => now.current();
}

/** A view that shows nothing: calls back with who of a group is there, as long as it is shown. */
export function Watch({ group, onThere }: { group: string; onThere: (there: There) => void }): null {
  const { chat, me } = useSession();
  useAsking(async () => {
    const users = new Map<string, Presence>();
    let online = 0;
    let cursor: string | null = "";
    for (let page = 0; page < PAGES_MAX && cursor !== null; page++) {
      const answer: Wire.GroupPresence = await chat.group(group).presence({ limit: PAGE, ...(cursor && { cursor }) });
      for (const { user, ...how } of answer.users) users.set(user, how);
      online = answer.online;
      cursor = answer.next;
    }
    onThere({ online, users, whole: users.has(me) && users.size >= online });
  }, group);
  return null;
}

/** How people are there; who is missing is not, or does not say. */
export type Theres = ReadonlyMap<string, Presence>;
type Asker = { users: readonly string[]; onThere: (there: Theres) => void };

/** What shows within this is asked for together. */
const GATHER_MS = 300;
const PEERS_MAX = 200;
/** With the answer that each was given last. */
const askers = new Map<Asker, string>();
let gathering: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

/** Asks for all whose faces show, wherever that is, with one call. */
function askSoon(chat: Chatd): void {
  const mine = ++asked;
  clearTimeout(gathering);
  gathering = setTimeout(() => {
    const users = [...new Set([...askers.keys()].flatMap((a) => a.users))].slice(0, PEERS_MAX);
    if (users.length === 0) return;
    chat.presence({ users }).then((answer) => {
      if (mine !== asked) return; // others show by now
      const there = new Map(answer.users.map(({ user, ...how }) => [user, how]));
      const text = JSON.stringify(answer.users);
      for (const [asker, last] of askers) {
        askers.set(asker, text);
        if (text !== last) asker.onThere(there);
      }
    }, () => {}); // the next time
  }, GATHER_MS);
}

/** A view that shows nothing: calls back with how some people are there, as long as it is shown. */
export function Peers({ users, onThere }: Asker): null {
  const { chat } = useSession();
  const asker = useRef<Asker>({ users, onThere }).current;
  Object.assign(asker, { users, onThere });
  useEffect(() => {
    askers.set(asker, "");
    return () => void askers.delete(asker);
  }, []);
  useAsking(async () => askSoon(chat), users.toSorted().join("\n"));
  return null;
}

/** When somebody was there, in words; "": nobody says. */
function seenText(at: string | null | undefined): string {
  if (!at) return "";
  if (Date.now() - Date.parse(at) < JUST_MS) return say("Last seen a few minutes ago", "几分钟前在线");
  const today = new Date(at).toDateString() === new Date().toDateString();
  return today ? say(`Last seen at ${timeOf(at)}`, `最后在线：${timeOf(at)}`) : say(`Last seen ${shortTime(at)}`, `最后在线：${shortTime(at)}`);
}

const stateText = ({ state, since }: Presence): string =>
  state === "online" ? say("Online", "在线") : say(`Away since ${shortTime(since)}`, `${shortTime(since)} 起离开`);

/** How one person is there, in words; where they are not, when they were. known: what is known already, null where they are not there. */
function useStateOf(user: string, known?: Presence | null): { there: Presence | null; text: string } {
  const { chat, me } = useSession();
  const [now, setNow] = useState<{ there: Presence | null; text: string }>({ there: known ?? null, text: known ? stateText(known) : known === null ? say("Offline", "离线") : "" });
  const again = useAsking(async () => {
    const [there] = known !== undefined ? [known] : (await chat.presence({ users: [user] })).users;
    if (there) setNow({ there, text: stateText(there) });
    else {
      const text = await chat.profile(user).then((p) => seenText(p.last_seen_at), (err) => (err.code === "not_found" ? "" : Promise.reject(err)));
      setNow({ there: null, text: text || (known === null ? say("Offline", "离线") : "") });
    }
  }, user);
  // Who opens the conversation is there.
  useEffect(() => chat.on("here", (h) => h.users.includes(user) && user !== me && now.there?.state !== "online" && again()), [user, now]);
  return now;
}

/** Under the name of the other person of a direct conversation. */
export function PeerLine({ user, about }: { user: string; about: string }) {
  const { me } = useSession();
  const { there, text } = useStateOf(user);
  if (user === me) return <>{about}</>; // the other one is gone
  return <span class="peer-line" data-state={there?.state ?? "offline"}>{there && <i class="there" data-state={there.state} aria-hidden="true" />}{text}{text && about && " · "}{about && <bdi>{about}</bdi>}</span>;
}

/** In the menu of a member: how they are there, or when they were; there is null where they are not. */
export function StateLine({ user, there }: { user: string; there: Presence | null }) {
  const { text } = useStateOf(user, there);
  return <span class="quiet" data-there={there?.state ?? "offline"}>{there ? stateText(there) : text}</span>;
}

/** A filled circle, or a ring for who is away. */
export function Dot({ state }: { state: Presence["state"] }) {
  const text = state === "online" ? say("Online", "在线") : say("Away", "离开");
  return <i class="there" data-state={state} role="img" aria-label={text} title={text} />;
}
