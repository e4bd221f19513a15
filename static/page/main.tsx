/** Starts the page: the door for whoever is not signed in, which loads little, and else the shell. */
import { render } from "preact";
import { applyPrefs } from "./prefs.ts";
import { followLinks } from "./route.ts";
import { language } from "./say.ts";
import { createSignIn, takeDevCode, takeInvite, takeTicket } from "./signin.ts";
import { Door } from "./door/door.tsx";

takeInvite();
takeDevCode();
takeTicket();
applyPrefs();
document.documentElement.lang = language;
followLinks();

const root = document.getElementById("app")!;
let stop: (() => Promise<void>) | null = null;
let begun = 0;

const signIn = createSignIn({
  begun: (user) => void begin(user),
  renewed() {}, // the client asks for the token when it needs it
  ended: (reason) => void end(reason),
});

async function begin(user: string): Promise<void> {
  const mine = ++begun;
  const shell = import("./shell.tsx");
  await stop?.();
  stop = null;
  try {
    const { start } = await shell;
    if (mine === begun) stop = start(user, signIn, root);
  } catch (err) {
    if (mine === begun) render(<Door signIn={signIn} reason={String((err as Error).message)} />, root);
  }
}

async function end(reason: string): Promise<void> {
  const mine = ++begun;
  await stop?.();
  stop = null;
  if (mine === begun) render(<Door signIn={signIn} reason={reason} />, root);
}

addEventListener("hashchange", () => {
  takeDevCode();
  takeTicket();
  void signIn.byLink();
});

void signIn.resume().then(() => {
  if (begun === 0) void end("");
});
