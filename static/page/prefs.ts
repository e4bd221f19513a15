/** What a person has chosen for this browser. */
import { load, save, watch } from "./saved.ts";
import { useSyncExternal } from "./hooks.ts";

export type Prefs = {
  theme: "system" | "light" | "dark";
  density: "cosy" | "compact";
  style: "rows" | "bubbles";
  /** "": what the browser asks for. */
  language: "" | "en" | "zh";
  enterSends: boolean;
  /** Cards of links. */
  previews: boolean;
  /** Width of the list of groups, px. */
  list: number;
};

const usual: Prefs = { theme: "system", density: "cosy", style: "rows", language: "", enterSends: true, previews: true, list: 280 };
let current: Prefs = { ...usual, ...load("prefs") };
const listeners = new Set<() => void>();

export const prefs = (): Prefs => current;

/** Changes some; the language shows with the next load of the page. */
export function setPrefs(change: Partial<Prefs>): void {
  take({ ...current, ...change });
  save("prefs", current);
}

function take(next: Prefs): void {
  current = next;
  applyPrefs();
  for (const fn of listeners) fn();
}

export const usePrefs = (): Prefs => useSyncExternal(subscribe, prefs);
function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** Style sheets know them by attributes of the root. */
export function applyPrefs(): void {
  const { dataset, style } = document.documentElement;
  dataset.theme = current.theme;
  dataset.density = current.density;
  dataset.style = current.style;
  style.setProperty("--list", `${Math.min(420, Math.max(220, current.list))}px`);
}

watch("prefs", (next) => take({ ...usual, ...next }));
