/** What can be decided about one thing. While it is under way, nothing else can. */
import { useState } from "preact/hooks";

export type Decision = { name: string; text: string; label: string; primary?: boolean; danger?: boolean; run: () => Promise<void> };

export function Decisions({ of }: { of: readonly Decision[] }) {
  const [busy, setBusy] = useState(false);
  return (
    <span class="buttons">
      {of.map((d) => (
        <button type="button" key={d.name} class={`button${d.primary ? " primary" : d.danger ? " danger" : ""}`} name={d.name} disabled={busy} aria-label={d.label}
          onClick={() => { setBusy(true); void d.run().finally(() => setBusy(false)); }}>{d.text}</button>
      ))}
    </span>
  );
}
