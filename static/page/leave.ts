/** Signing out: nothing stays of the person in this browser. */
import { dropDrafts } from "./drafts.ts";
import { load, save } from "./saved.ts";
import type { Session } from "./session.ts";
import { dropStarred } from "./starred.ts";

export async function leave({ chat, me, signIn }: Session): Promise<void> {
  await chat.forget();
  dropDrafts(me);
  dropStarred(me);
  save("inbox-done", null);
  const { [me]: _, ...others } = load("steps") ?? {};
  save("steps", others);
  signIn.out();
}
