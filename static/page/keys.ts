/** Shortcuts that work wherever one is. What has the focus comes first: it prevents what it takes. */
import { useState } from "preact/hooks";
import { useEvent } from "./hooks.ts";
import { close, go, openPanel, ownsId, route } from "./route.ts";
import { closed, useSession } from "./session.ts";
import { listed } from "./views/sidebar.tsx";

export type Over = "switcher" | "shortcuts" | null;

/** Listens while the shell is shown. Returns what is open over everything. */
export function useKeys(): [Over, (over: Over) => void] {
  const { chat, features } = useSession();
  const [over, setOver] = useState<Over>(null);

  /** The group above or below in the list. */
  function step(by: number, unread: boolean): void {
    const now = route();
    const at = now.view === "group" ? now.group : "";
    const among = unread ? listed.filter((g) => g.id === at || g.unread > 0 || g.mentions_unread > 0) : listed;
    const from = among.findIndex((g) => g.id === at);
    const to = among[from < 0 ? (by > 0 ? 0 : among.length - 1) : (from + by + among.length) % among.length];
    if (to && to.id !== at) go({ view: "group", group: to.id });
  }

  useEvent<KeyboardEvent>(window, "keydown", (e) => {
    if (e.defaultPrevented || e.isComposing) return;
    const typing = (e.target as Element).closest?.("input, textarea, select, [contenteditable]") !== null;
    const command = (e.ctrlKey || e.metaKey) && !e.altKey;
    const modal = document.querySelector("dialog[open]") !== null;
    const take = (run: () => void) => {
      e.preventDefault();
      run();
    };
    if (command && !e.shiftKey && e.key.toLowerCase() === "k") return take(() => setOver(over === "switcher" ? null : "switcher"));
    if (modal) return;
    if (command && e.shiftKey && e.key.toLowerCase() === "f" && features.includes("search")) return take(search);
    if (e.altKey && !command && (e.key === "ArrowUp" || e.key === "ArrowDown")) return take(() => step(e.key === "ArrowUp" ? -1 : 1, e.shiftKey));
    if (e.key === "F6") return take(() => region(e.shiftKey ? -1 : 1));
    if (e.key === "Escape") return escape(e);
    if (e.key === "?" && !typing && !command && !e.altKey) take(() => setOver("shortcuts"));
  });

  /** The innermost thing that is open, else the end of the conversation, else all of it is read. */
  function escape(e: KeyboardEvent): void {
    const now = route();
    if (now.view !== "group" || document.querySelector(":popover-open")) return;
    e.preventDefault();
    const { group, id, panel } = now;
    const end = document.querySelector<HTMLElement>(".to-end");
    if (panel) close({ view: "group", group, ...(id && !ownsId(panel) && { id }) });
    else if (end?.checkVisibility()) end.click();
    else {
      const last = chat.group(group).snapshot()?.last;
      if (last) void chat.group(group).read(last).catch(closed);
    }
  }
  return [over, setOver];
}

function search(): void {
  const now = route();
  if (now.view === "group") openPanel("search");
  else go({ view: "search", q: "" });
}

/** The regions of the page in their order; each gives the focus to what it has it at. */
function region(by: number): void {
  const all = [...document.querySelectorAll<HTMLElement>("[data-region], .panel, .write")].filter((r) => r.checkVisibility());
  const at = all.findLastIndex((r) => r.contains(document.activeElement));
  const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length];
  const inside = to?.matches("main, .panel") ? to : ["textarea", '[tabindex="0"]', "a[href], button"].map((s) => to?.querySelector<HTMLElement>(s)).find(Boolean);
  (inside ?? to)?.focus();
}
