/** What windows of the page and the service worker say to each other about notifications. */

/** What a window asks to be shown. group "": the inbox, and id is a seq of it. thread: the root of the one that it is in. loud: is heard even where it takes the place of another. */
export type Alert = { group: string; id: number; title: string; body: string; path: string; thread?: number; loud?: boolean; test?: boolean };

/** What a window keeps of its person for when it is closed: how groups are called, and a few words in their language. */
export type Names = { user: string; titles: Record<string, string>; message: string; inbox: string };

/** To the worker: something to show; it answers with what went wrong, or "". */
export type ToWorker = { alert: Alert };

/** To a window: whether a person looks at this group (or the inbox, ""), or a view that it is to open; it answers whether so. */
export type ToWindow = { looking: string; thread?: number | undefined } | { open: string };

/** Where the worker finds it. */
export const NAMES = "chatd-names";

/** A group has one notification: a later one takes the place of an earlier one, whichever way it came. */
export const tagOf = (group: string): string => `chatd ${group}`;

type Receiver = { postMessage(message: unknown, transfer: Transferable[]): void };

/** What the other side answers; null: nothing in this time. */
export function answerOf(to: Receiver, message: ToWorker | ToWindow, withinMs: number): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((done) => {
    const timer = setTimeout(() => done(null), withinMs);
    port1.onmessage = (e) => {
      clearTimeout(timer);
      port1.close();
      done(e.data);
    };
    to.postMessage(message, [port2]);
  });
}
