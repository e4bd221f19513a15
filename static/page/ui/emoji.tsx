/** The picker of emoji: a frame of its size at once, and what is in it when that is loaded. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { say } from "../say.ts";

export type PickerProps = { onPick: (emoji: string) => void; onClose: () => void };
type Loaded = { View: ComponentType<PickerProps> } | "failed" | null;

/** To be shown in a Popover, which closes it with Escape; onClose is called after a choice as well. */
export function EmojiPicker(props: PickerProps) {
  const [loaded, setLoaded] = useState<Loaded>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    import("./picker.tsx").then(async (m) => {
      await m.ready();
      setLoaded({ View: m.Picker });
    }).catch(() => setLoaded("failed"));
  }, [tries]);
  return (
    <div class="emoji-picker">
      {loaded === "failed"
        ? <p class="quiet" role="alert">{say("Emoji can’t be loaded.", "无法加载表情。")} <button type="button" class="text-button" onClick={() => { setLoaded(null); setTries(tries + 1); }}>{say("Try again", "重试")}</button></p>
        : loaded ? <loaded.View {...props} /> : <p class="quiet" role="status">{say("Loading…", "正在加载…")}</p>}
    </div>
  );
}
