/** Signing in: by a password where the server has accounts, by a name where it offers the development sign-in, else by a token. */
import { useEffect, useState } from "preact/hooks";
import { inviteText, lookAtInvite, type Invited } from "../invite.ts";
import { say } from "../say.ts";
import { about, hasDevCode, ticketOf, type SignIn } from "../signin.ts";
import { AccountForm } from "./account.tsx";
import { MARK } from "./card.tsx";
import { NameForm } from "./name.tsx";

type Server = Awaited<ReturnType<typeof about>>;

/** The sign-in by name ends with the first account. */
const FIRST = say("Nobody has an account here yet. Open the link that chatd printed when it started.", "这里还没有账号。请打开 chatd 启动时显示的链接。");

export function Door({ signIn, reason }: { signIn: SignIn; reason: string }) {
  const [server, setServer] = useState<Server | null>();
  const [invite, setInvite] = useState<Invited | null>(null);
  const [way, setWay] = useState<"account" | "other">();
  useEffect(() => {
    about().then(async (found) => {
      if (!found.accounts || ticketOf() || !(await signIn.byCookie())) setServer(found);
    }, () => setServer(null));
    void lookAtInvite().then(setInvite);
  }, []);
  if (server === undefined) return <main class="sign-in" aria-busy="true"><img class="mark" src={MARK} alt="" width="44" height="44" /></main>;
  const has = (feature: string) => !!server?.features.includes(feature);
  const byName = has("dev") && hasDevCode();
  const invited = invite?.shown ? inviteText(invite.shown) : invite?.problem ?? "";
  const chosen = way ?? (server?.accounts && (!byName || ticketOf()) ? "account" : "other");
  if (chosen === "other") {
    return <NameForm signIn={signIn} reason={reason} invited={invited} byName={!server?.accounts || byName} open={has("dev")} onAccount={server?.accounts ? () => setWay("account") : undefined} />;
  }
  return (
    <AccountForm signIn={signIn} reason={reason || (has("dev") && !ticketOf() ? FIRST : "")} invited={invited} invite={invite?.shown ? invite : null}
      registration={server?.registration} provider={has("oidc")} onToken={() => setWay("other")} />
  );
}
