/** Signing in: by a password where the server has accounts, by a name where it offers the development sign-in, else by a token. */
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { say } from "../say.js";
import { about, hasDevCode, ticketOf } from "../signin.js";
import { AccountForm } from "./account.js";
import { MARK, Problem } from "./parts.js";

/** @param {{reason: string, invite: string, actions: import("../actions.js").Actions}} props */
export function Entrance({ reason, invite, actions }) {
  const [server, setServer] = useState(/** @type {Awaited<ReturnType<typeof about>>|null|undefined} */ (undefined));
  const [way, setWay] = useState("");
  useEffect(() => {
    about().then(async (found) => {
      if (!found.accounts || ticketOf() || !(await actions.resumeByCookie())) setServer(found);
    }, () => setServer(null));
  }, []);
  if (server === undefined) return html`<main class="sign-in"><img class="mark" src=${MARK} alt="" width="44" height="44" /></main>`;
  const has = (/** @type {string} */ feature) => !!server?.features.includes(feature);
  const byName = has("dev") && hasDevCode();
  const chosen = way || (server?.accounts && (!byName || ticketOf()) ? "account" : "other");
  if (chosen === "other") {
    return html`<${SignIn} reason=${reason} actions=${actions} token=${!!server?.accounts && !byName} onAccount=${server?.accounts && (() => setWay("account"))} />`;
  }
  // The sign-in by name ends with the first account.
  return html`<${AccountForm} reason=${reason || (has("dev") && !ticketOf() ? FIRST : "")} actions=${actions} registration=${server?.registration}
    provider=${has("oidc")} invite=${invite} onToken=${() => setWay("other")} />`;
}

const FIRST = say("Nobody has an account here yet. Open the link that chatd printed when it started.", "这里还没有账号。请打开 chatd 启动时显示的链接。");

/**
 * @param {{reason: string, actions: import("../actions.js").Actions, token: boolean, onAccount: false|undefined|(() => void)}} props token:
 *   there is no sign-in by name. onAccount: there is one by password
 */
function SignIn({ reason, actions, token, onAccount }) {
  const [byToken, setByToken] = useState(token);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const form = useRef(/** @type {HTMLFormElement|null} */ (null));
  useLayoutEffect(() => { /** @type {HTMLElement|null|undefined} */ (form.current?.querySelector("input, textarea"))?.focus(); }, [byToken]);

  async function submit(/** @type {Event} */ e) {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await (byToken ? actions.signInWithToken(text) : actions.signIn(text.trim()));
    } catch (/** @type {any} */ err) {
      if (!byToken && [404, 405].includes(err.status)) {
        setByToken(true);
        setText("");
        setProblem("This server doesn’t offer sign-in by name. Paste a token: your operator can create one with “chatd token”.");
      } else {
        setProblem(err.message);
      }
      setBusy(false);
    }
  }
  function turn() {
    setByToken(!byToken);
    setText("");
    setProblem("");
  }

  return html`
    <main class="sign-in">
      <form class="card" ref=${form} onSubmit=${submit}>
        <img class="mark" src=${MARK} alt="" width="44" height="44" />
        <h1>chatd</h1>
        <p class="lead">${byToken ? "Sign in with a token." : "Pick a name to sign in."}</p>
        ${reason && !problem && html`<p class="hint" role="status">${reason}</p>`}
        <label class="field">
          <span>${byToken ? "Token" : "Your name"}</span>
          ${byToken
            ? html`<textarea key="token" name="token" rows="4" required spellcheck=${false} autocomplete="off" value=${text}
                onInput=${(/** @type {any} */ e) => setText(e.target.value)}></textarea>`
            : html`<input key="name" name="name" required maxlength="128" autocomplete="username" autocapitalize="none" spellcheck=${false}
                placeholder="alice" value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} />`}
          <small>${byToken ? "A JWT: three parts separated by dots." : "Letters, digits and . _ - @ + | : only. It can’t start with a dot."}</small>
        </label>
        <${Problem} text=${problem} />
        <button class="button primary wide" disabled=${busy}>Sign in</button>
        ${!token && html`<button type="button" class="text-button" onClick=${turn}>${byToken ? "Sign in with a name" : "Sign in with a token"}</button>`}
        ${onAccount && html`<button type="button" class="text-button" onClick=${onAccount}>Sign in with a password</button>`}
      </form>
    </main>`;
}
