/**
 * Where the page is, as its address says: real paths by the history API. What opens over a view is part of the address, so that
 * Back closes it and only it, and a reload or a link brings it back.
 */
import { useSyncExternal } from "./hooks.ts";
import { PATHS } from "./paths.ts";

export type Panel = "members" | "files" | "settings" | "search" | "pins" | "receipts" | "thread";
export type Route =
  | { view: "home" | "inbox" | "threads" | "scheduled" | "me" | "new" | "browse" }
  | { view: "search"; q: string }
  | { view: "direct"; user: string }
  /** id: the message to show. panel: what is open beside the conversation; receipts is about the message id, thread is that of root, with id the reply to show. */
  | { view: "group"; group: string; id?: number; panel?: Panel; root?: number };

const PANELS = new Set<string>(["members", "files", "settings", "search", "pins", "receipts"]);
const VIEWS = new Set<string>(["inbox", "threads", "scheduled", "me", "new", "browse"]);

/** The route of a path; home for one that is not of this page. A # from links of earlier versions names a group. */
export function parse(path: string, search = "", hash = ""): Route {
  const [first = "", ...rest] = path.split("/").filter(Boolean).map(decode);
  if (!first && hash.length > 1 && !hash.includes("=")) return { view: "group", group: decode(hash.slice(1)) };
  if (VIEWS.has(first)) return { view: first as "inbox" };
  if (first === "search") return { view: "search", q: new URLSearchParams(search).get("q") ?? "" };
  const [id, ...more] = rest;
  if (first === "dm" && id) return { view: "direct", user: id };
  if (first !== "c" || !id) return { view: "home" };
  const number = () => (/^[1-9]\d{0,15}$/.test(more[0] ?? "") ? Number(more.shift()) : undefined);
  const thread = more[0] === "t" && more.shift();
  const at = number();
  if (thread && at) {
    const reply = number();
    return { view: "group", group: id, panel: "thread", root: at, ...(reply && { id: reply }) };
  }
  const panel = PANELS.has(more[0] ?? "") ? (more[0] as Panel) : undefined;
  return { view: "group", group: id, ...(at && { id: at }), ...(panel && { panel }) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // not written by this page
  }
}

/** The path of a route. */
export function pathOf(route: Route): string {
  const e = encodeURIComponent;
  switch (route.view) {
    case "home": return "/";
    case "search": return `/search${route.q && `?q=${e(route.q)}`}`;
    case "direct": return `/dm/${e(route.user)}`;
    case "group": if (route.root) return `/c/${e(route.group)}/t/${route.root}${route.id ? `/${route.id}` : ""}`;
      return `/c/${e(route.group)}${route.id ? `/${route.id}` : ""}${route.panel ? `/${route.panel}` : ""}`;
    default: return `/${route.view}`;
  }
}

/** Where a message is shown: in its group, or in its thread. */
export const placeOf = ({ group, id, thread }: { group: string; id: number; thread?: number | undefined }): Route & { view: "group" } =>
  ({ view: "group", group, id, ...(thread && { panel: "thread", root: thread }) });

/** Whether what is open beside a group takes the id of a route for itself, and the conversation stays where it is. */
export const ownsId = (panel: Panel | undefined): boolean => panel === "receipts" || panel === "thread";

/** The path of a group, which is where most links go. */
export const groupPath = (group: string, panel?: Panel): string => pathOf({ view: "group", group, panel });

const listeners = new Set<() => void>();
const read = (): Route => parse(location.pathname, location.search, location.hash);
let current = read();
/** Whether a step back is under way, which the browser takes its time for: a second one would leave the view. */
let closing = false;

function changed(): void {
  current = read();
  for (const fn of listeners) fn();
}
addEventListener("popstate", () => {
  closing = false;
  changed();
});
addEventListener("hashchange", changed);

export const route = (): Route => current;
export const useRoute = (): Route => useSyncExternal(onRoute, route);
/** Calls back after each change of the route; returns how to stop. */
export function onRoute(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** Goes somewhere else. Over: what opens over where the page is, and is closed by `close`. */
export function go(to: Route, how: "push" | "replace" | "over" = "push"): void {
  const path = pathOf(to);
  if (how === "replace") history.replaceState(history.state, "", path);
  else if (path !== location.pathname + location.search) history.pushState({ over: how === "over" }, "", path);
  changed();
}

/** Opens a panel beside the group that is shown; another panel takes its place, so that one Back closes either. */
export function openPanel(panel: Panel, id?: number): void {
  if (current.view !== "group") return;
  const shown = ownsId(current.panel) ? undefined : current.id; // that of a panel is no place in the conversation
  go({ view: "group", group: current.group, ...((id ?? shown) && { id: id ?? shown }), panel }, current.panel ? "replace" : "over");
}

/** Opens the thread of a message beside its group. */
export function openThread(group: string, root: number): void {
  go({ view: "group", group, panel: "thread", root }, current.view === "group" && current.panel ? "replace" : "over");
}

/** Closes what opened over a view: a step back where it was opened here, else the view beneath it. */
export function close(beneath: Route): void {
  if (closing) return;
  closing = history.state?.over === true;
  if (closing) history.back();
  else go(beneath, "replace");
}

/** Links of the page are followed without a load. */
export function followLinks(): void {
  addEventListener("click", (e) => {
    const link = (e.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
    if (!link || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    if (link.target || link.hasAttribute("download") || link.origin !== location.origin || link.dataset.native !== undefined) return;
    if (link.pathname !== "/" && !PATHS.test(link.pathname)) return;
    e.preventDefault();
    go(parse(link.pathname, link.search, link.hash));
  });
}
