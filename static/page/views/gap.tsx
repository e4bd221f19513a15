/** Messages that are missing: an archive that is back, or a group that shows its history again, has them by now. */
import { useRef, useState } from "preact/hooks";
import type { GapItem } from "@chatd/client";
import { counted, say } from "../say.ts";
import "../whole.ts";

/** The first message from an id on. */
const rowFrom = (list: Element, id: number) => [...list.querySelectorAll<HTMLElement>(".message[data-id]")].find((row) => Number(row.dataset.id) >= id);

export function GapLine({ gap, load }: { gap: GapItem; load: (gap: GapItem) => Promise<boolean> }) {
  const [state, set] = useState<"" | "loading" | "gone" | { error: string }>("");
  const line = useRef<HTMLLIElement>(null);
  const count = gap.to - gap.from + 1;

  async function run() {
    if (state === "loading") return;
    const list = line.current!.parentElement!;
    set("loading");
    try {
      const found = await load(gap);
      set(found ? "" : "gone");
      requestAnimationFrame(() => { // drawn by then; where the button was pressed, it goes on
        const { activeElement } = document;
        if (activeElement === document.body || line.current?.contains(activeElement)) (found ? rowFrom(list, gap.from) : line.current)?.focus();
      });
    } catch (err) {
      set({ error: (err as Error).message });
    }
  }

  if (gap.to === 0) return <li class="line gap">{say("The log of this group began anew; what was here before is no longer available", "此群组的记录已重新开始，之前的内容不再可用")}</li>;
  const failed = typeof state === "object";
  return (
    <li class="line gap" ref={line} tabIndex={-1} aria-busy={state === "loading"}>
      <span role="status" dir="auto">{state === "gone" ? say(`${counted(count, "message is", "messages are", "")} no longer available`, `有 ${count} 条消息不再可用`)
        : say(`${counted(count, "message is", "messages are", "")} missing here`, `此处缺少 ${count} 条消息`)} </span>
      {failed && <span role="alert" dir="auto">· {state.error} </span>}
      {state !== "gone" && <button type="button" class="text-button" aria-disabled={state === "loading"} onClick={() => void run()}>
        {state === "loading" ? say("Loading…", "正在加载…") : failed ? say("Retry", "重试") : say("Load", "加载")}</button>}
    </li>
  );
}
