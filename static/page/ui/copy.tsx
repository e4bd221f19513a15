/** A text that is there to be copied. */
import { useRef, useState } from "preact/hooks";
import { say } from "../say.ts";

export function CopyField({ label, name, text, note }: { label: string; name: string; text: string; note?: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  async function copy(): Promise<void> {
    field.current?.focus();
    field.current?.select();
    // The old way needs neither a permission nor https. Where both fail, the text is selected all the same.
    const copied = document.execCommand("copy") || (await navigator.clipboard?.writeText(text).then(() => true, () => false));
    setSaid(copied ? say("Copied.", "已复制。") : say("Press Ctrl+C to copy.", "请按 Ctrl+C 复制。"));
  }
  return (
    <div class="field">
      <span>{label}</span>
      <span class="copy">
        <input ref={field} name={name} readonly dir="ltr" aria-label={label} value={text} onFocus={(e) => e.currentTarget.select()} />
        <button type="button" class="button" onClick={copy}>{say("Copy", "复制")}</button>
      </span>
      <small role="status">{said || note}</small>
    </div>
  );
}
