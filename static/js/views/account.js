/** Signing in with a password, registering, and what the links of operators lead to. In the reader's language. */
import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { say } from "../say.js";
import { DISABLED, dropTicket, inviteProblem, ticketOf } from "../signin.js";
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
 * What is wrong, for whoever fills in the form.
 * @param {import("../api.js").Problem} err @param {string} kind of the form
 */
function worded(err, kind) {
  const { code, status, message } = err;
  if (code === "rate_limited") return say("Too many attempts. Wait a minute, then try again.", "尝试次数过多，请一分钟后再试。");
  if (code === "exists") return say("This username is taken. Choose another.", "该用户名已被使用，请换一个。");
  if (code === "invalid_request" && message.startsWith("User:")) {
    return say("A username has letters A to Z, digits and . _ - @ + | : only, and doesn’t start with a dot.", "用户名只能使用英文字母、数字和 . _ - @ + | :，且不能以点开头。");
  }
  if (code === "invalid_request" && message.startsWith("Password:")) {
    return say(message, "请换一个密码：至少 10 个字符，不能过于常见，也不能与用户名相同。");
  }
  if (kind === "register") return status === 403 ? say("You need an invitation to register here.", "注册需要邀请。") : inviteProblem(err);
  if (status === 403) return DISABLED;
  if (status !== 401) return message;
  if (kind === "signin") return say("Wrong username or password.", "用户名或密码不正确。");
  return kind === "setup"
    ? say("This link has been used, or isn’t the newest. Sign in, or open the one that chatd printed last.", "此链接已被使用或不是最新的。请登录，或打开 chatd 最近一次显示的链接。")
    : say("This link has been used, or has expired. Sign in, or ask for another.", "此链接已被使用或已过期。请登录，或重新索取。");
}

/**
 * @param {{reason: string, registration: string|null|undefined, provider: boolean, invite: string, onToken: () => void,
 *   actions: import("../actions.js").Actions}} props provider: people may sign in by OpenID Connect
 */
export function AccountForm({ reason, registration, provider, invite, onToken, actions }) {
  const ticket = ticketOf();
  const open = registration === "open" || (registration === "invite" && !!invite);
  const [turned, setTurned] = useState(false);
  const registering = open && turned !== !!invite; // the invitation may come later than the form
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
      if (ticket && err.status === 401) dropTicket(); // where one can go on from
      setProblem(worded(err, kind));
      setBusy(false);
    }
  }
  function turn() {
    setTurned(!turned);
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
