/** Signing out: nothing stays of the person in this browser. */
import { dropDrafts } from "./drafts.ts";
import { dropMuted } from "./muted.ts";
import { switchOff } from "./notify.ts";
import { dropQuorums } from "./quorums.ts";
import { load, save } from "./saved.ts";
import type { Session } from "./session.ts";
import { dropStarred } from "./starred.ts";

/** erased: the server knows the person no more. */
export async function leave({ chat, me, signIn }: Session, erased = false): Promise<void> {
  await switchOff(erased ? undefined : chat);
  await chat.forget();
  dropDrafts(me);
  dropStarred(me);
  dropMuted(me);
  dropQuorums();
  save("inbox-done", null);
  save("uncarded", null);
  const { [me]: _, ...others } = load("steps") ?? {};
  save("steps", others);
  signIn.out();
}
