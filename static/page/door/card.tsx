/** The frame of all that the door asks. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export const MARK = document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href;

/** What the ways in share. invited: what an invitation says. */
export type Way = { reason: string; invited: string };

/** focusOn: the first field gets the focus whenever it changes. */
export function Card({ title, lead, focusOn, onSubmit, children }: {
  title: string; lead: string; focusOn: unknown; onSubmit: () => void; children: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, .primary")?.focus(), [focusOn]);
  return (
    <main class="sign-in">
      <form class="card" ref={form} onSubmit={(e) => { e.preventDefault(); onSubmit(); }}>
        <img class="mark" src={MARK} alt="" width="44" height="44" />
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
        {children}
      </form>
    </main>
  );
}

/** What to know before anything is filled in: unless something is wrong, which is said elsewhere. */
export const Hints = ({ reason, invited, quiet }: Way & { quiet: boolean }) => (
  <>
    {invited && <p class="hint invited" role="status" dir="auto">{invited}</p>}
    {reason && !quiet && <p class="hint" role="status">{reason}</p>}
  </>
);

type FieldProps = {
  label: string; name: string; value: string; onText: (text: string) => void; note?: string | undefined; secret?: boolean; required?: boolean;
  minlength?: number; maxlength?: number; autocomplete: string; autocapitalize?: "none"; spellcheck?: boolean; dir?: "auto" | "ltr"; placeholder?: string;
};

/** secret: a password. */
export function Field({ label, note, onText, secret, ...rest }: FieldProps) {
  const onInput = (e: { currentTarget: HTMLInputElement }) => onText(e.currentTarget.value);
  return (
    <label class="field">
      <span>{label}</span>
      {secret ? <input {...rest} type="password" onInput={onInput} /> : <input {...rest} onInput={onInput} />}
      {note && <small>{note}</small>}
    </label>
  );
}
