/** Starts the page: the door for whoever is not signed in, which loads little, and else the shell. */
import { render } from "preact";
import { applyPrefs } from "./prefs.ts";
import { followLinks } from "./route.ts";
import { language, say } from "./say.ts";
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
  ended: (reason) => void end(reason),
});

async function begin(user: string): Promise<void> {
  const mine = ++begun;
  const shell = Promise.all([import("./shell.tsx"), styles()]);
  await stop?.();
  stop = null;
  try {
    const [{ start }] = await shell;
    if (mine === begun) stop = start(user, signIn, root);
  } catch (err) {
    if (mine === begun) open(String((err as Error).message));
  }
}

async function end(reason: string): Promise<void> {
  const mine = ++begun;
  await stop?.();
  stop = null;
  if (mine === begun) open(reason);
}

let opened = 0;
/** Opens the door, anew where it is open already. */
const open = (reason: string) => render(<Door key={++opened} signIn={signIn} reason={reason} />, root);

/** Loads the styles of the shell, which the door does without. */
function styles(): Promise<void> {
  if (document.querySelector("link[data-shell]")) return Promise.resolve();
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL("app.css", import.meta.url).href });
  link.dataset.shell = "";
  return new Promise((done, fail) => {
    link.onload = () => done();
    link.onerror = () => {
      link.remove();
      fail(new Error(say("Part of the page could not be loaded. Reload it.", "页面的一部分无法加载，请刷新。")));
    };
    document.head.append(link);
  });
}

addEventListener("hashchange", () => {
  const invited = takeInvite();
  takeDevCode();
  takeTicket();
  if (stop && invited) location.reload();
  else if (!stop && opened > 0) open("");
  void signIn.byLink();
});

void signIn.resume().then(() => {
  if (begun === 0) void end("");
});
