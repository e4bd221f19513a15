/**
 * Notifications: what a window of the page asks for, and what the server pushes while there is none. They are shown one after
 * another in one place, so that a message which comes by two ways, or is asked for by two windows, is shown once.
 */
import { answerOf, tagOf, NAMES, type Alert, type Names } from "../alert.ts";
import { plain } from "../markdown.ts";

declare const self: ServiceWorkerGlobalScope;

/** The body of a push: the notification of openapi.yaml. */
type Pushed = { data: { user: string; group: string; thread?: number; mentions: number; last_id: number; from?: string; from_name?: string; preview: string } };

const TEXT_MAX = 200;
/** How long a window may take to say what it shows. One that says nothing shows no conversation: the door, or the admin page. */
const ANSWER_MS = 1000;

/** The newest of each group that was shown while this runs: one that was closed by its person does not come back by the other way. */
const newest = new Map<string, number>();

const windows = (): Promise<readonly WindowClient[]> => self.clients.matchAll({ type: "window", includeUncontrolled: true });

/** Whether a person has this conversation before them. */
async function isLookedAt(group: string, thread?: number): Promise<boolean> {
  const visible = (await windows()).filter((w) => w.visibilityState === "visible");
  return (await Promise.all(visible.map((w) => answerOf(w, { looking: group, thread }, ANSWER_MS)))).includes(true);
}

async function show({ group, id, title, body, path, thread, loud, test }: Alert): Promise<void> {
  const tag = test ? "chatd test" : tagOf(group);
  if (!test) {
    const [shown] = await self.registration.getNotifications({ tag });
    if (id <= Math.max(shown?.data.id ?? 0, newest.get(tag) ?? 0) || (await isLookedAt(group, thread))) return;
    newest.set(tag, id);
  }
  const options: NotificationOptions & { renotify: boolean } = {
    body, tag, dir: "auto", icon: "/icons/192.png", renotify: !!loud || !!test, data: { group, id, path, thread },
  };
  await self.registration.showNotification(title, options);
}

async function names(): Promise<Names | undefined> {
  return (await caches.match("/names", { cacheName: NAMES }))?.json();
}

async function pushed({ data: { user, group, thread, mentions, last_id, from, from_name, preview } }: Pushed): Promise<void> {
  const person = await names();
  if (person && person.user !== user) return; // of whoever was signed in here before
  const title = group ? person?.titles[group] ?? group : person?.inbox ?? "chatd";
  const who = from_name || from || title;
  await show({
    group, thread, id: last_id, title: who === title ? title : `${who} · ${title}`,
    body: plain(preview).replaceAll(/\s+/g, " ").slice(0, TEXT_MAX) || (person?.message ?? "New message"),
    path: group ? `/c/${encodeURIComponent(group)}/${thread ? `t/${thread}` : last_id}` : "/inbox", loud: mentions > 0,
  });
}

/** Opens a view in the window of the page that was looked at last, or in a new one. */
async function open(path: string): Promise<void> {
  const page = (await windows()).find((w) => !/^\/(admin|docs)\b/.test(new URL(w.url).pathname));
  if (!page) return void (await self.clients.openWindow(path));
  await page.focus().catch(() => {}); // a browser may refuse it, and the view is opened all the same
  if ((await answerOf(page, { open: path }, ANSWER_MS)) !== true) await page.navigate(path);
}

let last: Promise<unknown> = Promise.resolve();
const inTurn = (run: () => Promise<void>): Promise<void> => {
  const mine = last.then(run);
  last = mine.catch(() => {});
  return mine;
};

export function listen(): void {
  self.addEventListener("message", (event) => {
    const alert: Alert | undefined = event.data?.alert;
    const answer = (problem: string) => event.ports[0]?.postMessage(problem);
    if (alert) event.waitUntil(inTurn(() => show(alert)).then(() => answer(""), (err) => answer((err as Error).message)));
  });
  self.addEventListener("push", (event) => event.waitUntil(inTurn(() => pushed(event.data!.json()))));
  self.addEventListener("notificationclick", (event) => {
    event.notification.close();
    event.waitUntil(open(event.notification.data.path));
  });
}
