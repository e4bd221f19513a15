/** The ways to what only some see: the administration for operators, and behind the scenes for them, in development mode for everybody. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useEvent } from "../hooks.ts";
import { say } from "../say.ts";
import { useSession } from "../session.ts";
import { Icon, IconButton } from "../ui/parts.tsx";

/** Whether the server takes the person for an operator. */
export function useOperator(): boolean {
  const { chat } = useSession();
  const [operator, setOperator] = useState(false);
  useEffect(() => {
    chat.request("GET", "/v1/me").then((person) => setOperator(person.role === "admin"), () => {}); // offline: not this time
  }, [chat]);
  return operator;
}

export const seesBehind = (features: readonly string[], operator: boolean): boolean => operator || features.includes("dev");

type View = ComponentType<{ onClose: () => void }>;

export function BehindGate() {
  const { features, toast } = useSession();
  const operator = useOperator();
  const allowed = seesBehind(features, operator);
  const [View, setView] = useState<{ view: View } | null>(null);
  const [shown, setShown] = useState(false);

  async function toggle(): Promise<void> {
    if (shown || View) return setShown(!shown);
    try {
      const { Behind } = await import("./behind.tsx");
      setView({ view: Behind });
      setShown(true);
    } catch {
      toast(say("This part of the page could not be loaded. Try again, or reload the page.", "无法加载此部分页面，请重试或刷新页面。"), { bad: true });
    }
  }
  useEvent<KeyboardEvent>(document, "keydown", (e) => {
    if (!allowed || e.key !== "." || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    void toggle();
  });
  if (!allowed) return null;
  return (
    <>
      {operator && <a class="rail-link admin-open" href="/admin" title={say("Administration", "管理")} aria-label={say("Administration", "管理")}><Icon name="shield" /></a>}
      <span class="behind-open"><IconButton icon="pulse" label={say("Behind the scenes", "幕后")} title={say("Behind the scenes (Ctrl+.)", "幕后（Ctrl+.）")} aria-expanded={shown} onClick={() => void toggle()} /></span>
      {shown && View && <View.view onClose={() => setShown(false)} />}
    </>
  );
}
