/** A person's data: a copy of it, and its end. */
import { useState } from "preact/hooks";
import { call } from "../../call.ts";
import { leave } from "../../leave.ts";
import { say } from "../../say.ts";
import { useSession } from "../../session.ts";
import { Confirm, problemOf, type Question } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/parts.tsx";

/** The last line of a whole export. */
const END = '{"end":true}';

export function Own() {
  const session = useSession();
  const { chat, me, signIn } = session;
  const [problem, setProblem] = useState("");
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);

  async function download(): Promise<void> {
    setProblem("");
    setSaid(say("Collecting your data…", "正在收集您的数据…"));
    setBusy(true);
    try {
      const data: Blob = await call("GET", "/v1/me/export", { token: signIn.token(), read: (res: Response) => res.blob() });
      const tail = await data.slice(-64).text();
      if (tail.trimEnd().split("\n").at(-1)?.replace(/\s/g, "") !== END) throw new Error(say("The download was cut off. Try again.", "下载中断，请重试。"));
      const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(data), download: `chatd-${me}.ndjson` });
      link.click();
      URL.revokeObjectURL(link.href);
      setSaid(say("Downloaded.", "已下载。"));
    } catch (err) {
      setSaid("");
      setProblem(problemOf(err));
    }
    setBusy(false);
  }
  const erase: Question = {
    title: say("Erase your account?", "删除您的账号？"), button: say("Erase everything", "删除全部"), danger: true,
    text: say("Your profile, your messages and files, reactions, schedules and memberships are removed from this server for good. What others wrote about you stays. Nobody can undo this.",
      "您的资料、消息、文件、回应、定时消息和群组成员身份将从此服务器永久删除。他人提及您的内容会保留。此操作无法撤销。"),
    typed: { label: say(`Type your username, ${me}, to confirm`, `输入您的用户名 ${me} 以确认`), text: me },
    run: async () => {
      await chat.request("DELETE", "/v1/me");
      await leave(session, true);
    },
  };
  return (
    <section class="stack">
      <h2>{say("Your data", "您的数据")}</h2>
      <Problem text={problem} />
      <p class="buttons">
        <button type="button" class="button" name="export" disabled={busy} onClick={download}>{say("Download a copy", "下载副本")}</button>
        <button type="button" class="button danger-text" name="erase" onClick={() => setQuestion(erase)}>{say("Erase account…", "删除账号…")}</button>
        <span class="quiet said" role="status">{said}</span>
      </p>
      {question && <Confirm {...question} onClose={() => setQuestion(null)} />}
    </section>
  );
}
