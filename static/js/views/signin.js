/** Signing in: by a name where the server offers the development sign-in, else by a token. */
import { html, useState } from "../html.js";
import { MARK, Problem } from "./parts.js";

/** @param {{reason: string, actions: import("../actions.js").Actions}} props */
export function SignIn({ reason, actions }) {
  const [byToken, setByToken] = useState(false);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit(/** @type {Event} */ e) {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await (byToken ? actions.signInWithToken(text) : actions.signIn(text.trim()));
    } catch (/** @type {any} */ err) {
      if (!byToken && [403, 404, 405].includes(err.status)) {
        setByToken(true);
        setText("");
        setProblem("This server has no sign-in by name. Paste a token; its operator makes one with “chatd token”.");
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
      <form class="card" onSubmit=${submit}>
        <img class="mark" src=${MARK} alt="" width="44" height="44" />
        <h1>chatd</h1>
        <p class="lead">${byToken ? "Sign in with a token." : "Pick a name to sign in on this server."}</p>
        ${reason && !problem && html`<p class="hint" role="status">${reason}</p>`}
        <label class="field">
          <span>${byToken ? "Token" : "Your name"}</span>
          ${byToken
            ? html`<textarea key="token" name="token" rows="4" required autofocus spellcheck=${false} autocomplete="off" value=${text}
                onInput=${(/** @type {any} */ e) => setText(e.target.value)}></textarea>`
            : html`<input key="name" name="name" required autofocus maxlength="64" autocomplete="username" autocapitalize="none" spellcheck=${false}
                placeholder="alice" value=${text} onInput=${(/** @type {any} */ e) => setText(e.target.value)} />`}
          <small>${byToken ? "Three parts with dots between them." : "Letters, digits and . _ - @ + ; not beginning with a dot."}</small>
        </label>
        <${Problem} text=${problem} />
        <button class="button primary wide" disabled=${busy}>Sign in</button>
        <button type="button" class="text-button" onClick=${turn}>${byToken ? "Use a name instead" : "Use a token instead"}</button>
      </form>
    </main>`;
}
