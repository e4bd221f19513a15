/** The invitation that the page was opened with, and the links that bring others here. */
import type { Wire } from "@chatd/client";
import { call } from "./call.ts";
import { load, save } from "./saved.ts";
import { inviteProblem } from "./signin.ts";
import { pathOf } from "./route.ts";
import { say } from "./say.ts";

/** shown: what it is for; problem: why it does not help. */
export type Invited = { code: string; shown?: Wire.InviteShown; problem?: string };

let accepted = false;
/** Whoever makes an account by an invitation has said that they want to join. */
export const acceptInvite = (): void => { accepted = true; };
/** The code that was accepted so; null: there is none. */
export const acceptedInvite = (): string | null => (accepted ? load("invite") : null);

export async function lookAtInvite(): Promise<Invited | null> {
  const code = load("invite");
  if (!code) return null;
  try {
    return { code, shown: await call("POST", "/v1/invites/check", { body: { code } }) };
  } catch (err) {
    return { code, problem: inviteProblem(err as Parameters<typeof inviteProblem>[0]) };
  }
}

export function dropInvite(): void {
  accepted = false;
  save("invite", null);
}

/** Who invites to what, in a sentence. */
export function inviteText({ from_name: from, group_name: group, members }: Wire.InviteShown): string {
  if (!members) return say("You’re invited to register here.", "您受邀在此注册。");
  const count = say(members === 1 ? "1 member" : `${members.toLocaleString()} members`, `${members.toLocaleString()} 名成员`);
  const to = group ? say(`“${group}” (${count})`, `“${group}”（${count}）`) : say(`a group of ${count}`, `一个群组（${count}）`);
  return from ? say(`${from} invites you to ${to}.`, `${from} 邀请您加入${to}。`) : say(`You’re invited to ${to}.`, `您受邀加入${to}。`);
}

/** In development the code with which anyone may sign in goes along. */
const devCode = (): string | null => (load("signin")?.dev ? load("dev-code") : null);
const home = (): string => `${location.origin}${pathOf({ view: "home" })}`;

/** The link that lets somebody join by the code of an invitation. */
export function joinLink(invite: string): string {
  const code = devCode();
  return `${home()}#${code ? `code=${code}&` : ""}invite=${invite}`;
}
