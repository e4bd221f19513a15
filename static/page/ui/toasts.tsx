/** One line at the bottom for what nothing else on the screen says, with an action where one may want to take it back. */
import { useSyncExternal } from "../hooks.ts";
import { say as tr } from "../say.ts";
import { IconButton } from "./parts.tsx";

type Toast = { id: number; text: string; bad?: boolean | undefined; action?: { label: string; run: () => void } | undefined };
/** How long one stands; longer where there is something to do. */
const STANDS_MS = 5000;
const ACTION_MS = 8000;
const MOST = 3;

export function createToasts() {
  let toasts: readonly Toast[] = [];
  let ids = 0;
  const listeners = new Set<() => void>();
  function set(next: readonly Toast[]): void {
    toasts = next;
    for (const fn of listeners) fn();
  }
  const dismiss = (id: number) => set(toasts.filter((t) => t.id !== id));
  const subscribe = (fn: () => void) => {
    listeners.add(fn);
    return () => void listeners.delete(fn);
  };

  function say(text: string, options: { bad?: boolean; action?: Toast["action"] } = {}): void {
    const id = ++ids;
    set([...toasts.filter((t) => t.text !== text).slice(1 - MOST), { id, text, ...options }]);
    setTimeout(() => dismiss(id), options.action ? ACTION_MS : STANDS_MS);
  }

  function View() {
    const shown = useSyncExternal(subscribe, () => toasts);
    return (
      <div class="toasts" role="status" aria-live="polite">
        {shown.map((t) => (
          <div key={t.id} class={t.bad ? "toast bad" : "toast"}>
            <p dir="auto">{t.text}</p>
            {t.action && <button type="button" class="text-button" onClick={() => { t.action!.run(); dismiss(t.id); }}>{t.action.label}</button>}
            <IconButton icon="close" label={tr("Dismiss", "关闭")} onClick={() => dismiss(t.id)} />
          </div>
        ))}
      </div>
    );
  }
  return { say, View };
}
