/** Asks whoever came by an invitation whether to join. */
import { useEffect, useState } from "preact/hooks";
import { acceptedInvite, dropInvite, inviteText, lookAtInvite, type Invited as Invitation } from "../invite.ts";
import { go } from "../route.ts";
import { say } from "../say.ts";
import { entered, useSession } from "../session.ts";
import { inviteProblem } from "../signin.ts";
import { Dialog, Problem } from "../ui/parts.tsx";

export function Invited() {
  const { chat, toast } = useSession();
  const [invite, setInvite] = useState<Invitation | null>(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let shown = true;
    const code = acceptedInvite(); // registering may have used it up, which a member does not hear of
    if (code) join(code, (text) => toast(text, { bad: true }));
    else void lookAtInvite().then((found) => {
      if (shown) setInvite(found);
    });
    return () => { shown = false; };
  }, []);

  function join(code: string, fail: (text: string) => void): void {
    setBusy(true);
    chat.invites.accept({ code }).then(async (group) => {
      dropInvite();
      await entered(chat, group.id);
      setInvite(null);
      go({ view: "group", group: group.id });
    }, (err) => fail(inviteProblem(err))).finally(() => setBusy(false));
  }
  function close(): void {
    dropInvite();
    setInvite(null);
  }

  if (!invite) return null;
  const open = !!invite.shown?.members;
  return (
    <Dialog title={say("Invitation", "邀请")} onClose={close}>
      {invite.shown && <p class="invited" dir="auto">{inviteText(invite.shown)}</p>}
      <Problem text={problem || invite.problem || ""} />
      <p class="buttons">
        {open && <button type="button" class="button primary" name="join" disabled={busy} onClick={() => join(invite.code, setProblem)}>{say("Join group", "加入群组")}</button>}
        <button type="button" class="button" onClick={close}>{open ? say("Not now", "暂不") : say("Close", "关闭")}</button>
      </p>
    </Dialog>
  );
}
