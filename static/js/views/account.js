/** Signing in with a password, registering, and what the links of operators lead to. In the reader's language. */
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { say } from "../say.js";
import { ticketOf } from "../signin.js";
import { MARK, Problem } from "./parts.js";

const TEXTS = {
  signin: { title: "chatd", lead: say("Sign in to your account.", "登录您的账号。"), button: say("Sign in", "登录") },
  register: { title: say("Create an account", "注册账号"), lead: say("Choose a name and a password.", "请设置姓名和密码。"), button: say("Create account", "注册") },
  setup: {
    title: say("Create the first account", "创建首个账号"), lead: say("It will run this server. You can add others later.", "该账号将管理本服务器，之后可以添加其他人。"),
    button: say("Create account", "创建账号"),
  },
  reset: {
    title: say("Choose a new password", "设置新密码"), lead: say("Your other devices will be signed out.", "您的其他设备将退出登录。"), button: say("Save and sign in", "保存并登录"),
  },
  link: { title: say("Welcome back", "欢迎回来"), lead: say("This link signs you in, once.", "此链接仅可登录一次。"), button: say("Sign in", "登录") },
};

/** What a new password has to be. */
export const NEW_PASSWORD = say("At least 10 characters. A few words that only you would put together work well.", "至少 10 个字符，建议用几个不相关的词组成。");

/** The id that a name suggests; "" where it has no Latin letters. @param {string} name */
const idFor = (name) => name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/**
 * @param {{reason: string, registration: string|null|undefined, provider: boolean, invite: string, onToken: () => void,
 *   actions: import("../actions.js").Actions}} props provider: people may sign in by OpenID Connect
 */
export function AccountForm({ reason, registration, provider, invite, onToken, actions }) {
  const ticket = ticketOf();
  const open = registration === "open" || (registration === "invite" && !!invite);
  const [registering, setRegistering] = useState(!!invite && open);
  const [name, setName] = useState("");
  const [own, setOwn] = useState(/** @type {string|null} */ (null)); // the id, once the person has typed one
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const form = useRef(/** @type {HTMLFormElement|null} */ (null));
  const kind = ticket?.kind ?? (registering ? "register" : "signin");
  const text = TEXTS[kind];
  const fresh = kind !== "signin";
  const named = kind === "setup" || kind === "register";
  const user = own ?? (named ? idFor(name) : "");
  useLayoutEffect(() => { /** @type {HTMLElement|null|undefined} */ (form.current?.querySelector("input, .primary"))?.focus(); }, [kind]);

  async function submit(/** @type {Event} */ e) {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      if (ticket) await actions.signInWithTicket(ticket, user.trim(), password, name.trim());
      else if (registering) await actions.register(user.trim(), password, name.trim(), invite);
      else await actions.signInWithPassword(user.trim(), password);
    } catch (/** @type {any} */ err) {
      setProblem(err.message);
      setBusy(false);
    }
  }
  function turn() {
    setRegistering(!registering);
    setPassword("");
    setProblem("");
  }

  return html`
    <main class="sign-in">
      <form class="card" ref=${form} onSubmit=${submit}>
        <img class="mark" src=${MARK} alt="" width="44" height="44" />
        <h1>${text.title}</h1>
        <p class="lead">${text.lead}</p>
        ${reason && !problem && html`<p class="hint" role="status">${reason}</p>`}
        ${named && html`
          <label class="field">
            <span>${say("Your name", "您的姓名")}</span>
            <input name="name" maxlength="64" autocomplete="name" dir="auto" placeholder="Alice Example"
              value=${name} onInput=${(/** @type {any} */ e) => setName(e.target.value)} />
          </label>`}
        ${(named || kind === "signin") && html`
          <label class="field">
            <span>${say("Username", "用户名")}</span>
            <input name="user" required maxlength="128" autocomplete="username" autocapitalize="none" spellcheck=${false} placeholder="alice"
              value=${user} onInput=${(/** @type {any} */ e) => setOwn(e.target.value)} />
            ${named && html`<small>${say("You sign in with it, and it stays. Letters, digits and . _ - @ + | : only.", "用于登录，之后不能更改。只能使用字母、数字和 . _ - @ + | :。")}</small>`}
          </label>`}
        ${kind !== "link" && html`
          <label class="field" key=${fresh}>
            <span>${kind === "reset" ? say("New password", "新密码") : say("Password", "密码")}</span>
            <input name="password" type="password" required minlength=${fresh ? 10 : 1} autocomplete=${fresh ? "new-password" : "current-password"}
              value=${password} onInput=${(/** @type {any} */ e) => setPassword(e.target.value)} />
            ${fresh && html`<small>${NEW_PASSWORD}</small>`}
          </label>`}
        <${Problem} text=${problem} />
        <button class="button primary wide" disabled=${busy}>${text.button}</button>
        ${!ticket && provider && html`<a class="button wide" href="/v1/oidc/login">${say("Continue with single sign-on", "使用单点登录")}</a>`}
        ${!ticket && open && html`
          <button type="button" class="text-button" onClick=${turn}>
            ${registering ? say("I have an account", "我已有账号") : say("Create an account", "注册账号")}
          </button>`}
        ${!ticket && !registering && html`
          <button type="button" class="text-button quiet" onClick=${onToken}>${say("Sign in with a token", "使用令牌登录")}</button>`}
      </form>
    </main>`;
}
