/** A question before something that cannot be taken back. */
import { useState } from "preact/hooks";
import { say } from "../say.ts";
import { Dialog, Problem } from "./parts.tsx";

/** run: what is done; when it fails, the dialog stays and says why. typed: what has to be typed first. */
export type Question = { title: string; text: string; button: string; danger?: boolean; typed?: { label: string; text: string }; run: () => Promise<unknown> };

export function Confirm({ title, text, button, danger, typed, run, onClose }: Question & { onClose: () => void }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [word, setWord] = useState("");
  function submit(e: Event): void {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    run().then(onClose, (err) => {
      setProblem(problemOf(err));
      setBusy(false);
    });
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" name="confirm" onSubmit={submit}>
        <p dir="auto">{text}</p>
        {typed && (
          <label class="field"><span>{typed.label}</span>
            <input name="confirm" autocomplete="off" autocapitalize="none" spellcheck={false} dir="auto" value={word} onInput={(e) => setWord(e.currentTarget.value)} /></label>
        )}
        <Problem text={problem} />
        <p class="buttons">
          <button class={danger ? "button danger" : "button primary"} disabled={busy || (typed && word.trim() !== typed.text)}>{button}</button>
          <button type="button" class="button" onClick={onClose}>{say("Cancel", "取消")}</button>
        </p>
      </form>
    </Dialog>
  );
}

/** Why a call failed, for people. The server writes its own for logs as well: a sentence begins with a capital here. */
export function problemOf(err: unknown): string {
  const { code, detail, message } = err as { code?: string; detail?: string; message: string };
  switch (code) {
    case "offline": case "timeout": return say("Can’t reach the server. Check your connection and try again.", "无法连接服务器，请检查网络后重试。");
    case "forbidden": return say("You’re not allowed to do this here. Ask the owner or an admin.", "您没有此权限，请联系群主或管理员。");
    case "rate_limited": case "overloaded": case "unavailable": return say("The server is busy. Try again in a moment.", "服务器繁忙，请稍后再试。");
    default: {
      const text = detail || message;
      return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
    }
  }
}
