/** Signing in. */
import { Entrance } from "../../js/views/signin.js";
import type { SignIn } from "../signin.ts";

export function Door({ signIn, reason }: { signIn: SignIn; reason: string }) {
  const actions: any = {
    signIn: signIn.byName, signInWithToken: signIn.byToken, signInWithPassword: signIn.byPassword, signInWithTicket: signIn.byTicket,
    resumeByCookie: signIn.byCookie, register: signIn.register,
  };
  return <Entrance reason={reason} invite="" actions={actions} />;
}
