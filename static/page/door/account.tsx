/** Signing in with a password, registering, and what the links of operators lead to. */
import { useState } from "preact/hooks";
import { acceptInvite, dropInvite, type Invited } from "../invite.ts";
import { say } from "../say.ts";
import { dropTicket, ticketOf, type SignIn } from "../signin.ts";
import { Problem } from "../ui/problem.tsx";
import { Card, Field, Hints, type Way } from "./card.tsx";
import { idFor, worded } from "./words.ts";

const TEXTS = {
  signin: { title: "chatd", lead: say(`Sign in to your account on ${location.host}.`, `登录您在 ${location.host} 的账号。`), button: say("Sign in", "登录") },
  register: { title: say("Create an account", "注册账号"), lead: say(`You’ll use it on ${location.host}.`, `用于登录 ${location.host}。`), button: say("Create account", "注册") },
  setup: {
    title: say("Create the first account", "创建首个账号"), lead: say("It will run this server. You can add others later.", "该账号将管理本服务器，之后可以添加其他人。"),
    button: say("Create account", "创建账号"),
  },
  reset: {
    title: say("Choose a new password", "设置新密码"), lead: say("Your other devices will be signed out.", "您的其他设备将退出登录。"), button: say("Save and sign in", "保存并登录"),
  },
  link: { title: say("Welcome back", "欢迎回来"), lead: say("This link signs you in, once.", "此链接仅可登录一次。"), button: say("Sign in", "登录") },
};

const NEW_PASSWORD = say("At least 10 characters. A few words that only you would put together work well.", "至少 10 个字符，建议用几个不相关的词组成。");
const ID_NOTE = say("You sign in with it, and it stays. Letters, digits and\u00a0.\u00a0_\u00a0-\u00a0@\u00a0+\u00a0|\u00a0:\u00a0only.", "用于登录，之后不能更改。只能使用字母、数字和 . _ - @ + | :。");

/** provider: people may sign in by OpenID Connect. */
export function AccountForm({ signIn, reason, invited, invite, registration, provider, onToken }: Way & {
  signIn: SignIn; invite: Invited | null; registration: string | null | undefined; provider: boolean; onToken: () => void;
}) {
  const ticket = ticketOf();
  const open = registration === "open" || (registration === "invite" && !!invite);
  const [turned, setTurned] = useState(false);
  const registering = open && turned !== !!invite; // the invitation may come later than the form
  const [name, setName] = useState("");
  const [own, setOwn] = useState<string | null>(null); // the id, once the person has typed one
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const kind = ticket?.kind ?? (registering ? "register" : "signin");
  const fresh = kind !== "signin";
  const named = kind === "setup" || kind === "register";
  const user = own ?? (named ? idFor(name).toLowerCase() : "");

  async function submit(): Promise<void> {
    setBusy(true);
    setProblem("");
    if (kind === "register" && invite?.shown?.members) acceptInvite();
    try {
      if (ticket) await signIn.byTicket(ticket, user.trim(), password, name.trim());
      else if (registering) await signIn.register(user.trim(), password, name.trim(), invite?.code ?? "");
      else await signIn.byPassword(user.trim(), password);
      if (registering && !invite?.shown?.members) dropInvite(); // it was for registering
    } catch (err) {
      const wrong = err as Parameters<typeof worded>[0];
      if (ticket && wrong.status === 401) dropTicket(); // where one can go on from
      setProblem(worded(wrong, kind));
      setBusy(false);
    }
  }
  function turn(): void {
    setTurned(!turned);
    setPassword("");
    setProblem("");
  }

  return (
    <Card title={TEXTS[kind].title} lead={TEXTS[kind].lead} focusOn={kind} onSubmit={submit}>
      <Hints reason={reason} invited={invited} quiet={!!problem} />
      {named && <Field label={say("Your name", "您的姓名")} name="name" maxlength={64} autocomplete="name" dir="auto" placeholder={say("Alice Example", "王小明")} value={name} onText={setName} />}
      {(named || kind === "signin") && (
        <Field label={say("Username", "用户名")} name="user" required maxlength={128} autocomplete="username" autocapitalize="none" spellcheck={false} dir="ltr" placeholder="alice"
          value={user} onText={setOwn} note={named ? ID_NOTE : undefined} />
      )}
      {kind !== "link" && (
        <Field key={String(fresh)} label={kind === "reset" ? say("New password", "新密码") : say("Password", "密码")} name="password" secret required minlength={fresh ? 10 : 1}
          autocomplete={fresh ? "new-password" : "current-password"} value={password} onText={setPassword} note={fresh ? NEW_PASSWORD : undefined} />
      )}
      <Problem text={problem} />
      <button class="button primary wide" disabled={busy}>{TEXTS[kind].button}</button>
      {!ticket && provider && <a class="button wide" data-native href="/v1/oidc/login">{say("Continue with single sign-on", "使用单点登录")}</a>}
      {!ticket && open && (
        <button type="button" class="text-button" onClick={turn}>{registering ? say("I have an account", "我已有账号") : say("Create an account", "注册账号")}</button>
      )}
      {!ticket && !registering && <button type="button" class="text-button" onClick={onToken}>{say("Sign in with a token", "使用令牌登录")}</button>}
    </Card>
  );
}
