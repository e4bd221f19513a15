/** Where a person is signed in and connected, and their password. */
import { useEffect, useState } from "preact/hooks";
import { fullTime, shortTime } from "../../format.ts";
import { useSnapshot } from "../../hooks.ts";
import { say } from "../../say.ts";
import { useSession } from "../../session.ts";
import { problemOf } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/parts.tsx";

type Login = { id: string; last_used_at: string; address: string; agent: string; current: boolean };
type Connection = { id: string; since: string; address: string; agent: string };

export function Devices() {
  const { chat, signIn } = useSession();
  const [logins, setLogins] = useState<readonly Login[]>([]);
  const [sessions, setSessions] = useState<readonly Connection[] | null>(null);
  const [problem, setProblem] = useState("");
  const account = signIn.hasAccount();
  const attempt = (doing: Promise<unknown>) => { setProblem(""); return doing.catch((err) => setProblem(problemOf(err))); };
  const look = () => attempt(Promise.all([
    account && chat.request("GET", "/v1/me/logins").then((answer) => setLogins(answer.logins)),
    chat.request("GET", "/v1/users/me/sessions").then((answer) => setSessions(answer.sessions)),
  ]));
  const live = useSnapshot((s) => s.connection.phase === "live");
  useEffect(() => { void look(); }, [live]); // this browser is among them then
  /** id "": all others. */
  const end = (id: string) => attempt(chat.request("DELETE", `/v1/me/logins${id && `/${encodeURIComponent(id)}`}`).then(look));
  return (
    <>
      <Problem text={problem} />
      {account && (
        <section>
          <h2>{say("Where you’re signed in", "已登录的设备")}</h2>
          <ul class="rows" data-list="logins">
            {logins.map((l) => (
              <li key={l.id} data-login={l.id}>
                <Device agent={l.agent} address={l.address} at={l.last_used_at} when={l.current ? say("this browser", "当前浏览器") : say(`last used ${shortTime(l.last_used_at)}`, `上次使用：${shortTime(l.last_used_at)}`)} />
                {!l.current && <button type="button" class="button" onClick={() => end(l.id)}>{say("Sign out", "退出登录")}</button>}
              </li>
            ))}
          </ul>
          {logins.some((l) => !l.current) && <p class="buttons"><button type="button" class="button" name="end-others" onClick={() => end("")}>{say("Sign out everywhere else", "退出其他所有设备")}</button></p>}
        </section>
      )}
      <section>
        <h2>{say("Connected now", "当前连接")}</h2>
        {sessions?.length === 0 && <p class="quiet">{say("No live connection.", "没有实时连接。")}</p>}
        <ul class="rows" data-list="sessions">
          {sessions?.map((s) => <li key={s.id}><Device agent={s.agent} address={s.address} at={s.since} when={say(`since ${shortTime(s.since)}`, `自 ${shortTime(s.since)}`)} /></li>)}
        </ul>
      </section>
      {account && <Password onDone={look} />}
    </>
  );
}

const Device = ({ agent, address, at, when }: { agent: string; address: string; at: string; when: string }) => (
  <span class="grow device"><strong title={agent}>{deviceOf(agent)}</strong><small title={fullTime(at)}>{address} · {when}</small></span>
);

// The first that fits: browsers name those that they descend from, too.
const BROWSERS = [["Edg", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"]] as const;
const SYSTEMS = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"], ["Mac OS", "macOS"], ["CrOS", "ChromeOS"], ["Linux", "Linux"]] as const;

/** What a client calls itself, for people. */
function deviceOf(agent: string): string {
  const find = (list: readonly (readonly [string, string])[]) => list.find(([mark]) => agent.includes(mark))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (!browser) return agent.split(/[\s/]/)[0] || say("Unknown device", "未知设备");
  return system ? say(`${browser} on ${system}`, `${system} 上的 ${browser}`) : browser;
}

function Password({ onDone }: { onDone: () => void }) {
  const { chat, me } = useSession();
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const [problem, setProblem] = useState("");
  const [said, setSaid] = useState("");
  async function submit(e: Event): Promise<void> {
    e.preventDefault();
    setProblem("");
    setSaid("");
    try {
      await chat.request("PUT", "/v1/me/password", { old, new: next });
      setOld("");
      setNext("");
      setSaid(say("Password changed. Your other devices are signed out.", "密码已更改，您的其他设备已退出登录。"));
      onDone();
    } catch (err) {
      setProblem((err as { code?: string }).code === "forbidden" ? say("That isn’t your present password.", "当前密码不正确。") : problemOf(err));
    }
  }
  return (
    <form class="stack" name="password" onSubmit={submit}>
      <h2>{say("Change password", "更改密码")}</h2>
      <input hidden autocomplete="username" readonly value={me} />
      <label class="field"><span>{say("Present password", "当前密码")}</span>
        <input name="old" type="password" required autocomplete="current-password" value={old} onInput={(e) => setOld(e.currentTarget.value)} /></label>
      <label class="field"><span>{say("New password", "新密码")}</span>
        <input name="new" type="password" required minlength={10} autocomplete="new-password" value={next} onInput={(e) => setNext(e.currentTarget.value)} />
        <small>{say("At least 10 characters. Your other devices will be signed out.", "至少 10 个字符。您的其他设备将退出登录。")}</small></label>
      <Problem text={problem} />
      <p class="buttons"><button class="button">{say("Change password", "更改密码")}</button><span class="quiet said" role="status">{said}</span></p>
    </form>
  );
}
