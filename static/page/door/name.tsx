/** Signing in by a name, which a server in development offers, or by a token. */
import { useState } from "preact/hooks";
import { call } from "../call.ts";
import { load } from "../saved.ts";
import { say } from "../say.ts";
import type { SignIn } from "../signin.ts";
import { Problem } from "../ui/problem.tsx";
import { Card, Field, Hints, type Way } from "./card.tsx";
import { idFor, worded } from "./words.ts";

/** byName: whether names are taken here; open: anyone may use any. onAccount: how to sign in by a password. */
export function NameForm({ signIn, reason, invited, byName, open, onAccount }: Way & {
  signIn: SignIn; byName: boolean; open: boolean; onAccount: (() => void) | undefined;
}) {
  const [token, setToken] = useState(!byName);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const user = token ? "" : idFor(text);
  const typed = text.trim();

  async function submit(): Promise<void> {
    setBusy(true);
    setProblem("");
    try {
      if (token) return await signIn.byToken(text);
      if (typed !== user) await introduce(user, typed);
      await signIn.byName(user);
    } catch (err) {
      const wrong = err as Parameters<typeof worded>[0];
      setProblem(worded(wrong, token ? "token" : "name"));
      if (!token && [404, 405].includes(wrong.status)) {
        setToken(true);
        setText("");
      }
      setBusy(false);
    }
  }
  function turn(): void {
    setToken(!token);
    setText("");
    setProblem("");
  }

  return (
    <Card title="chatd" focusOn={token} onSubmit={submit}
      lead={token ? say(`Sign in to ${location.host} with a token.`, `使用令牌登录 ${location.host}。`) : say(`Pick a name to sign in to ${location.host}.`, `输入姓名即可登录 ${location.host}。`)}>
      <Hints reason={reason} invited={invited} quiet={!!problem} />
      {token ? (
        <label class="field" key="token">
          <span>{say("Token", "令牌")}</span>
          <textarea name="token" rows={4} required spellcheck={false} autocomplete="off" dir="ltr" value={text} onInput={(e) => setText(e.currentTarget.value)} />
          <small>{say("Three parts separated by dots, as whoever runs this server gave it to you.", "由点分隔的三部分组成，由服务器管理员提供。")}</small>
        </label>
      ) : (
        <Field key="name" label={say("Your name", "您的姓名")} name="name" required maxlength={64} autocomplete="username" autocapitalize="none" spellcheck={false}
          dir="auto" placeholder={say("Alice", "王小明")} value={text} onText={setText}
          note={typed && typed !== user ? say(`Your username will be ${user}.`, `您的用户名将是 ${user}。`) : undefined} />
      )}
      <Problem text={problem} />
      <button class="button primary wide" disabled={busy}>{say("Sign in", "登录")}</button>
      {!token && open && <p class="hint open">{say("This is a development server: anyone with this link may use any name.", "这是开发服务器：任何拥有此链接的人都可以使用任意姓名。")}</p>}
      {byName && <button type="button" class="text-button" onClick={turn}>{token ? say("Sign in with a name", "使用姓名登录") : say("Sign in with a token", "使用令牌登录")}</button>}
      {onAccount && <button type="button" class="text-button" onClick={onAccount}>{say("Sign in with a password", "使用密码登录")}</button>}
    </Card>
  );
}

/** Shows others the name as it was typed, unless the person has one already. Whoever is refused here hears it when they sign in. */
async function introduce(user: string, name: string): Promise<void> {
  try {
    const { token } = await call("POST", "/v1/dev/token", { body: { user, code: load("dev-code") ?? "" } });
    const me = await call("GET", "/v1/me", { token });
    if (!me.name) await call("PATCH", "/v1/me", { token, body: { name } });
  } catch {
    // They are called by their id then, and can give a name later.
  }
}
