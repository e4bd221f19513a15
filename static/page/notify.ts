/**
 * Notifications of this browser: switched on by a click, and shown by the service worker. While some window of the page is open, the
 * one that holds the connection asks for them; while there is none, the server pushes.
 */
import type { Chatd, InboxItem, Message } from "@chatd/client";
import { answerOf, tagOf, NAMES, type Alert, type Names, type ToWindow } from "./alert.ts";
import { passing } from "./call.ts";
import { titleOf } from "./groups.ts";
import { openItems } from "./inbox.ts";
import { isFor } from "./mentions.ts";
import { mute } from "./muted.ts";
import { textOf } from "./people.ts";
import { oneLine } from "./preview.ts";
import { reminderOf } from "./reminders.ts";
import { go, parse, pathOf, placeOf, route } from "./route.ts";
import { load, save } from "./saved.ts";
import { say } from "./say.ts";
import type { Session } from "./session.ts";

/**
 * Who switched them on here, as which device the server knows this browser, and the address of the push service, since when. lacks:
 * why the server cannot push to it; detail: in whose words.
 */
export type On = { user: string; device: string; push: string; at: number; lacks?: "server" | "browser" | "refused" | "offline"; detail?: string };
const on = (): On | null => load("alerts");

/** How long a level that was asked for counts: it may be changed on another device. */
const LEVEL_MS = 60_000;
/** After this a registration is repeated: the server forgets a browser that its push service no longer knows. */
const DAY_MS = 86_400_000;
const WORKER_MS = 10_000;
/** What is read is taken away this long after it was. */
const TIDY_MS = 500;
/** Groups whose names are kept for pushes, of those that were active last. */
const TITLES_MAX = 1000;

/** install: this browser shows them only for a page that was put on the home screen. */
export type Able = "on" | "off" | "denied" | "install" | "never";

export function able(me: string): Able {
  if (!("Notification" in self) || !navigator.serviceWorker) return (navigator as { standalone?: boolean }).standalone === false ? "install" : "never";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && on()?.user === me ? "on" : "off";
}

const registration = (): Promise<ServiceWorkerRegistration | undefined> => navigator.serviceWorker.getRegistration("/");

/** The service worker of this page, registered if need be; null: there is none here. */
export const registered = (): Promise<ServiceWorkerRegistration | null> => import("./offline.ts").then((m) => m.keepPage());

/** Has the service worker show one. Throws why it did not. */
export async function ask(alert: Alert): Promise<void> {
  const worker = (await registration())?.active;
  const problem = worker ? await answerOf(worker, { alert }, WORKER_MS) : null;
  if (problem !== "") throw new Error(typeof problem === "string" ? problem : say("The service worker of this page does not answer. Reload the page.", "此页面的 Service Worker 没有响应，请刷新页面。"));
}

/** Asks for permission, and subscribes where both sides can. Throws why there are none. Call it in a click. */
export async function switchOn(session: Session): Promise<void> {
  const answer = await Notification.requestPermission();
  if (answer === "default") throw new Error(say("The browser was not allowed to show notifications.", "尚未允许浏览器显示通知。"));
  if (answer === "denied") return;
  await registered();
  const late = new Promise<null>((done) => setTimeout(() => done(null), WORKER_MS));
  if (!(await Promise.race([navigator.serviceWorker.ready, late]))) throw new Error(say("The service worker of this page did not start. Reload the page.", "此页面的 Service Worker 未能启动，请刷新页面。"));
  save("alerts", { user: session.me, device: `web-${crypto.randomUUID()}`, push: "", at: 0 } satisfies On);
  await subscribe(session);
  begin(session);
}

/** Registers this browser with the server, and notes why that could not be. */
async function subscribe({ chat }: Session): Promise<void> {
  const now = on();
  if (!now) return;
  const next = await push(chat, now.device);
  if (on()?.device === now.device) save("alerts", { user: now.user, device: now.device, at: Date.now(), ...next } satisfies On);
}

async function push(chat: Chatd, device: string): Promise<Pick<On, "push" | "lacks" | "detail">> {
  let by: On["lacks"] = "server";
  try {
    const { key } = await chat.push.key();
    by = "browser";
    const manager = (await registration())?.pushManager;
    if (!manager) return { push: "", lacks: by };
    let held = await manager.getSubscription();
    if (held && keyOf(held) !== key) held = (await held.unsubscribe(), null); // of a server that has lost its key
    const { endpoint, keys } = (held ?? (await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key }))).toJSON();
    by = "refused";
    await chat.push.put(device, { kind: "webpush", endpoint: endpoint!, keys: { p256dh: keys!.p256dh!, auth: keys!.auth! } });
    return { push: endpoint! };
  } catch (err) {
    const away = by === "server" ? (err as { code?: string }).code !== "not_found" : by === "refused" && passing(err);
    return { push: "", lacks: away ? "offline" : by, detail: (err as Error).message };
  }
}

/** The key that a subscription is for, in base64url. */
const keyOf = (held: PushSubscription): string =>
  btoa(String.fromCharCode(...new Uint8Array(held.options.applicationServerKey ?? new ArrayBuffer(0)))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/**
 * Ends them in this browser, and with chat for the server. Never fails, and does not wait for a server that is away: it hears from the
 * push service that the subscription is gone.
 */
export async function switchOff(chat?: Chatd): Promise<void> {
  const was = on();
  save("alerts", null);
  if (!was) return;
  const worker = await registration().catch(() => undefined);
  const late = new Promise<void>((done) => setTimeout(done, 3000));
  await Promise.allSettled([
    Promise.race([chat?.push.delete(was.device), late]),
    worker?.pushManager?.getSubscription().then((held) => held?.unsubscribe()),
    worker?.getNotifications().then((shown) => shown.forEach((one) => one.close())),
    caches.delete(NAMES),
  ]);
}

/** Subscribes again where the browser has another address by now, or something was in the way. */
async function renew(session: Session): Promise<void> {
  const { push, lacks, at } = on()!;
  const held = await (await registration())?.pushManager?.getSubscription();
  if (lacks === "offline" || (held?.endpoint ?? "") !== push || Date.now() - at > DAY_MS) await subscribe(session);
}

const begun = new WeakSet<Chatd>();

/** Asks for what concerns the person until their client ends, and takes away what they have read. Once for each client. */
export function begin(session: Session): void {
  const { chat, me, people } = session;
  const now = on();
  if (chat.snapshot().connection.phase === "closed") return;
  if (now && now.user !== me) return void switchOff(); // of whoever was signed in here before
  if (able(me) !== "on" || begun.has(chat)) return;
  begun.add(chat);
  const levels = new Map<string, { level: string; at: number }>();
  const threads = new Map<string, { following: boolean; at: number }>();
  const { groups, inbox } = chat.snapshot();
  /** What is unread from before is shown by the page. */
  const before = new Map([...groups.map((g): [string, number] => [g.id, g.last]), ["", inbox.items.at(-1)?.seq ?? 0]]);

  const speaks = (): boolean => {
    const { connection } = chat.snapshot();
    return connection.phase === "live" && connection.by !== "tab" && able(me) === "on";
  };

  async function levelOf(group: string): Promise<string> {
    const known = levels.get(group);
    if (known && known.at > Math.max(Date.now() - LEVEL_MS, load("levels") ?? 0)) return known.level;
    const at = Date.now();
    const now = await chat.group(group).notifies();
    levels.set(group, { level: now.level, at });
    mute(me, group, now);
    return now.level;
  }

  /** Whether the person follows a thread: the client may not have asked yet. */
  async function follows(group: string, root: number): Promise<boolean> {
    if (chat.group(group).snapshot()?.unreadThreads?.includes(root)) return true;
    const key = `${group} ${root}`;
    const known = threads.get(key);
    if (known && known.at > Date.now() - LEVEL_MS) return known.following;
    const at = Date.now();
    const { following } = await chat.group(group).threads.messages(root, { limit: 1 });
    threads.set(key, { following, at });
    return following;
  }

  async function came(m: Message): Promise<void> {
    if (!speaks()) return;
    if (m.kind === "delete") return closeAll((group, id) => group === m.group && id === m.target);
    const group = chat.group(m.group).snapshot();
    if (!group || m.from === me || (m.kind !== "text" && m.kind !== "data") || m.id <= Math.max(m.thread ? 0 : group.read, before.get(m.group) ?? 0)) return;
    const named = isFor(m, me);
    if (m.thread && !named && !(await follows(m.group, m.thread))) return;
    const level = await levelOf(m.group);
    if (level === "none" || (level === "mentions" && !named)) return;
    const title = titleOf(group, me, people.now());
    await ask({
      group: m.group, id: m.id, title: group.direct ? title : `${textOf(people.now(), m.from)} · ${title}`, body: oneLine(m, people.now()),
      path: pathOf(placeOf(m)), ...(m.thread && { thread: m.thread }), loud: named || !!group.direct,
    });
  }

  /** What comes to the inbox alone; the rest of it is about messages. */
  async function arrived({ kind, seq, from, body = "", data }: InboxItem): Promise<void> {
    if (!speaks() || seq <= before.get("")! || (kind !== "direct" && kind !== "announcement")) return;
    const reminder = reminderOf(me, from, data);
    const title = reminder ? say("Reminder", "提醒") : from ? textOf(people.now(), from) : say("Announcement", "公告");
    await ask({ group: "", id: seq, title, body: oneLine({ body }, people.now()), path: reminder ? pathOf({ view: "group", ...reminder }) : "/inbox", loud: kind === "direct" });
  }

  async function closeAll(which: (group: string, id: number, thread?: number) => boolean): Promise<void> {
    for (const one of (await (await registration())?.getNotifications()) ?? []) {
      if (one.tag === tagOf(one.data.group) && which(one.data.group, one.data.id, one.data.thread)) one.close();
    }
  }

  let timer: ReturnType<typeof setTimeout> | undefined;
  function changed(): void {
    if (chat.snapshot().connection.phase === "closed") return end();
    timer ??= setTimeout(() => {
      timer = undefined;
      if (speaks()) closeAll(isRead).catch(() => {});
    }, TIDY_MS);
  }
  function isRead(id: string, at: number, thread?: number): boolean {
    const group = chat.group(id).snapshot();
    if (thread) return !group?.unreadThreads?.includes(thread);
    return id ? !group || group.read >= at : !openItems(chat.snapshot()).some((item) => item.seq >= at);
  }

  /** Keeps for pushes how groups are called. */
  async function keepNames(): Promise<void> {
    if (able(me) !== "on") return;
    const titles = Object.fromEntries(chat.snapshot().groups.slice(0, TITLES_MAX).map((g) => [g.id, titleOf(g, me, people.now())]));
    const names: Names = { user: me, titles, message: say("New message", "新消息"), inbox: say("Inbox", "收件箱") };
    await (await caches.open(NAMES)).put("/names", new Response(JSON.stringify(names)));
  }
  const hidden = () => { if (document.visibilityState === "hidden") keepNames().catch(() => {}); };

  function asked({ data, ports: [port] }: MessageEvent<ToWindow>): void {
    if ("looking" in data) {
      const at = route();
      port?.postMessage(document.hasFocus() && (data.looking ? at.view === "group" && at.group === data.looking && (!data.thread || at.root === data.thread) : at.view === "inbox"));
    } else if ("open" in data) {
      go(parse(data.open));
      port?.postMessage(true);
    }
  }

  const ends = [
    chat.on("message", (m) => void came(m).catch(() => {})), // the page shows it all the same
    chat.on("inbox", (item) => void arrived(item).catch(() => {})),
    chat.subscribe(changed),
  ];
  navigator.serviceWorker.addEventListener("message", asked);
  document.addEventListener("visibilitychange", hidden);
  Promise.all([keepNames(), renew(session)]).catch(() => {}); // the next start tries again
  function end(): void {
    for (const fn of ends) fn();
    clearTimeout(timer);
    navigator.serviceWorker.removeEventListener("message", asked);
    document.removeEventListener("visibilitychange", hidden);
  }
}
