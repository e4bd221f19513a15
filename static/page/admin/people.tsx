/** Users and keys: who may do what, from where, and how to end it. */
import { useState } from "preact/hooks";
import { counted, say } from "../say.ts";
import { Face } from "../ui/parts.tsx";
import { type Ask, type Pages, e, useAnswer, usePages, useSettled } from "./api.ts";
import { Act, More, Table, View, When } from "./parts.tsx";

type Props = { ask: Ask; query: URLSearchParams };
type User = { user: string; name?: string; picture?: string; role?: string | null; disabled?: boolean; last_seen_at?: string | null };
type Login = { id: string; last_used_at: string; address: string; agent: string };
type Session = { id: string; node: string; since: string; address: string; agent: string; groups: number };

export function Users({ ask }: Props) {
  const [q, setQ] = useState("");
  const find = useSettled(q.trim());
  return (
    <View title={say("Users", "用户")} lead={say("Sessions are live connections; revoking ends all tokens at once.", "会话是实时连接；吊销会立即使所有令牌失效。")}>
      <div class="filters"><label class="field"><span>{say("Name or id begins with", "姓名或 ID 开头")}</span>
        <input type="search" name="q" value={q} maxLength={64} dir="auto" onInput={(ev) => setQ(ev.currentTarget.value)} /></label></div>
      {find ? <Found ask={ask} q={find} /> : <Accounts ask={ask} />}
    </View>
  );
}

function Found({ ask, q }: { ask: Ask; q: string }) {
  const pages = usePages<User>(ask, `/v1/users?q=${e(q)}`, "users");
  return <UserList ask={ask} pages={pages} empty={say(`Nobody’s name or id begins with “${q}”.`, `没有以“${q}”开头的用户。`)} />;
}

/** Those who have an account here, while nobody is looked for. */
function Accounts({ ask }: { ask: Ask }) {
  const pages = usePages<User>(ask, "/v1/accounts", "accounts", 0);
  const none = pages.failure?.status === 404; // this server has no accounts: people come with tokens of another one
  return <UserList ask={ask} pages={none ? { ...pages, failure: null } : pages}
    empty={none ? say("Type the beginning of a name or of an id.", "输入姓名或 ID 的开头。") : say("Nobody has an account.", "没有账号。")} />;
}

function UserList({ ask, pages, empty }: { ask: Ask; pages: Pages<User>; empty: string }) {
  const [open, setOpen] = useState("");
  return (
    <>
      <Table loading={pages.loading} failure={pages.failure} empty={empty} head={[say("User", "用户"), say("Role", "角色"), say("Last seen", "最近在线"), ""]}
        rows={pages.items.map((u) => ({
          key: u.user,
          cells: [
            <span class="user"><Face id={u.user} label={u.name || u.user} picture={u.picture?.startsWith("/avatars/") ? u.picture : ""} small /><bdi>{u.name || u.user}</bdi> {u.name && <small>{u.user}</small>}</span>,
            <>{u.role === "admin" ? say("operator", "管理员") : ""}{u.disabled && <span class="dead"> {say("disabled", "已停用")}</span>}</>, <When at={u.last_seen_at} />,
            <button type="button" class="button small" aria-expanded={open === u.user} onClick={() => setOpen(open === u.user ? "" : u.user)}>{say("Manage", "管理")}</button>,
          ],
          under: open === u.user && <OneUser ask={ask} user={u} changed={pages.again} />,
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </>
  );
}

function OneUser({ ask, user: u, changed }: { ask: Ask; user: User; changed: () => Promise<void> }) {
  const path = `/v1/users/${e(u.user)}`;
  const { value, failure, again } = useAnswer<{ sessions: Session[] }>(ask, `${path}/sessions`);
  const logins = useAnswer<{ logins: Login[] }>(ask, `${path}/logins`);
  const [link, setLink] = useState("");
  const after = () => Promise.all([again(), logins.again(), changed()]);
  const code = async (kind: "reset" | "link") => setLink((await ask("POST", `${path}/codes`, { kind })).url);
  async function put(change: Record<string, unknown>): Promise<void> {
    const { errors } = await ask("PUT", "/v1/users", { users: [{ user: u.user, ...change }] });
    if (errors.length > 0) throw new Error(errors[0].detail);
    await after();
  }
  return (
    <div class="one-user">
      <p class="buttons">
        <Act name="disconnect" label={say("Disconnect", "断开连接")} run={() => ask("POST", `${path}/disconnect`).then(after)} />
        <Act name="revoke" danger label={say("Revoke all tokens", "吊销所有令牌")} sure={say("They have to sign in again everywhere.", "用户需要在所有设备重新登录。")} run={() => ask("POST", `${path}/revoke`, {}).then(after)} />
        {logins.value && <Act name="reset" label={say("Password reset link", "密码重置链接")} run={() => code("reset")} />}
        <Act name="disable" danger={!u.disabled} label={u.disabled ? say("Enable", "启用") : say("Disable", "停用")} {...(!u.disabled && { sure: say("They cannot sign in any more.", "用户将无法登录。") })} run={() => put({ disabled: !u.disabled })} />
      </p>
      {link && <p><code class="secret">{link}</code> <small>{say("Shown once. Give it to nobody else.", "仅显示一次，请勿转给他人。")}</small></p>}
      <Table loading={!value} failure={failure} empty={say("No live sessions.", "没有活动会话。")} head={[say("Since", "自"), say("From", "来源"), say("Client", "客户端"), say("Node", "节点")]}
        rows={(value?.sessions ?? []).map((s) => ({ key: s.id, cells: [<When at={s.since} />, <code>{s.address}</code>, <small>{s.agent}</small>, <><code>{s.node}</code> <small>{counted(s.groups, "group", "groups", "个群组")}</small></>] }))} />
      {(logins.value?.logins.length ?? 0) > 0 && <Table empty="" head={[say("Login, last used", "登录，最近使用"), say("From", "来源"), say("Client", "客户端"), ""]}
        rows={logins.value!.logins.map((l) => ({ key: l.id, cells: [<When at={l.last_used_at} />, <code>{l.address}</code>, <small>{l.agent}</small>,
          <Act name="end" label={say("End", "结束")} run={() => ask("DELETE", `${path}/logins/${e(l.id)}`).then(after)} />] }))} />}
    </div>
  );
}

type Key = { id: string; name: string; scopes: string[]; expires_at: string | null; created_by: string; last_used_at: string | null; as: string | string[] | null };

export function Keys({ ask }: Props) {
  const pages = usePages<Key>(ask, "/v1/keys", "keys");
  const [shown, setShown] = useState<{ id: string; key: string } | null>(null);
  return (
    <View title={say("Keys", "密钥")} lead={say("What backends and bots sign in with. New ones are made with chatd keys add.", "后端与机器人使用的凭据，用 chatd keys add 创建。")}>
      <Table loading={pages.loading} failure={pages.failure} empty={say("No keys yet. chatd keys add makes the first one.", "还没有密钥，可用 chatd keys add 创建。")} head={[say("Name", "名称"), say("May", "权限"), say("By", "创建者"), say("Last used", "最近使用"), say("Ends", "到期"), ""]}
        rows={pages.items.map((k) => ({
          key: k.id,
          cells: [
            <><bdi>{k.name}</bdi> <small>{k.id}</small></>, <>{k.scopes.join(", ")}{k.as && <small> {say("for", "代表")} {Array.isArray(k.as) ? k.as.join(", ") : k.as}</small>}</>,
            k.created_by, <When at={k.last_used_at} />, <When at={k.expires_at} />,
            <span class="row-acts"><Act name="rotate" label={say("Rotate", "轮换")} run={async () => setShown(await ask("POST", `/v1/keys/${e(k.id)}/rotate`, {}))} />
              <Act name="delete" danger label={say("Delete", "删除")} sure={say("What uses it stops working.", "使用它的程序将失效。")} run={() => ask("DELETE", `/v1/keys/${e(k.id)}`).then(pages.again)} /></span>,
          ],
          under: shown?.id === k.id && <p><code class="secret">{shown.key}</code> <small>{say("Shown once. The old one goes on for a while.", "仅显示一次，旧密钥仍会短暂有效。")}</small></p>,
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </View>
  );
}
