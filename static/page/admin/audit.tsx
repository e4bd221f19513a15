/** The audit: who did what to people, groups and the server. */
import { useState } from "preact/hooks";
import { say } from "../say.ts";
import { isForEver } from "../views/when.ts";
import { type Ask, e, usePages, useSettled } from "./api.ts";
import { Act, More, Table, View, When } from "./parts.tsx";

type Entry = { id: string; at: string; actor: string; via?: string; action: string; group?: string; user?: string; detail: Record<string, unknown> };

/** What the server writes down, in the order in which it may be chosen. */
const ACTIONS: Record<string, string> = {
  "member.ban": say("Banned", "封禁"), "member.unban": say("Ended a ban", "解除封禁"), "member.mute": say("Muted", "禁言"), "member.unmute": say("Let write again", "解除禁言"),
  "member.role": say("Changed a role", "更改角色"), "member.remove": say("Removed from a group", "移出群组"),
  "request.accept": say("Let somebody in", "接受入群申请"), "request.decline": say("Declined a request to join", "拒绝入群申请"), "report.close": say("Decided a report", "处理举报"),
  "review.release": say("Released a message", "放行消息"), "review.drop": say("Dropped a message", "拒绝消息"), "message.delete": say("Deleted a message", "删除消息"),
  "group.update": say("Changed a group", "修改群组"), "group.words": say("Changed the words of a group", "修改群组词表"), "group.hold": say("Began a legal hold", "开始法律保全"),
  "group.release": say("Ended a legal hold", "结束法律保全"), "group.delete": say("Deleted a group", "删除群组"),
  "invite.create": say("Made an invitation", "创建邀请"), "invite.revoke": say("Revoked an invitation", "撤销邀请"),
  "user.disable": say("Disabled a user", "停用用户"), "user.enable": say("Enabled a user", "启用用户"), "user.role": say("Made or unmade an operator", "更改管理员身份"),
  "user.revoke": say("Revoked tokens", "吊销令牌"), "user.disconnect": say("Disconnected a user", "断开用户连接"), "user.erase": say("Began an erasure", "开始抹除用户"),
  "account.create": say("Made an account", "创建账号"), "account.reset": say("Made a password reset link", "创建密码重置链接"), "account.link": say("Made a sign-in link", "创建登录链接"),
  "account.logout": say("Ended a login", "结束登录"),
  "key.create": say("Made a key", "创建密钥"), "key.update": say("Changed a key", "修改密钥"), "key.rotate": say("Rotated a key", "轮换密钥"), "key.delete": say("Deleted a key", "删除密钥"),
  "hook.create": say("Made a hook", "创建钩子"), "hook.update": say("Changed a hook", "修改钩子"), "hook.delete": say("Deleted a hook", "删除钩子"),
  "words.update": say("Changed the words of the server", "修改服务器词表"),
  "webhook.create": say("Made a webhook", "创建 Webhook"), "webhook.rotate": say("Rotated the secret of a webhook", "轮换 Webhook 密钥"), "webhook.delete": say("Deleted a webhook", "删除 Webhook"),
};

export function Audit({ ask, query }: { ask: Ask; query: URLSearchParams }) {
  const [user, setUser] = useState(query.get("user") ?? "");
  const [group, setGroup] = useState(query.get("group") ?? "");
  const [action, setAction] = useState(query.get("action") ?? "");
  const wanted = useSettled(Object.entries({ user: user.trim(), group: group.trim(), action }).flatMap(([name, value]) => (value ? `${name}=${e(value)}` : [])).join("&"));
  const pages = usePages<Entry>(ask, `/v1/audit${wanted && `?${wanted}`}`, "entries");
  return (
    <View title={say("Audit", "审计")} lead={say("Who did what to people, groups and the server, the newest first.", "谁对用户、群组和服务器做了什么，最新的在前。")}
      aside={<Act name="again" label={say("Look again", "重新查看")} run={pages.again} />}>
      <div class="filters">
        <label class="field"><span>{say("User", "用户")}</span>
          <input type="search" name="user" value={user} maxLength={128} dir="auto" placeholder={say("who did it, or whom it was done to", "操作者或被操作者")} onInput={(ev) => setUser(ev.currentTarget.value)} /></label>
        <label class="field"><span>{say("Group", "群组")}</span>
          <input type="search" name="group" value={group} maxLength={128} dir="auto" placeholder={say("any", "任意")} onInput={(ev) => setGroup(ev.currentTarget.value)} /></label>
        <label class="field"><span>{say("What", "操作")}</span>
          <select name="action" value={action} onChange={(ev) => setAction(ev.currentTarget.value)}>
            <option value="">{say("any", "任意")}</option>{Object.entries(ACTIONS).map(([value, label]) => <option key={value} value={value}>{label}</option>)}
          </select></label>
      </div>
      <Table loading={pages.loading} failure={pages.failure} empty={wanted ? say("Nothing of this kind is written down.", "没有匹配的记录。") : say("Nothing is written down yet.", "还没有记录。")}
        head={[say("When", "时间"), say("By", "操作者"), say("What", "操作"), say("To", "对象"), say("Details", "详情")]}
        rows={pages.items.map((entry) => ({
          key: entry.id,
          cells: [
            <When at={entry.at} />, <By entry={entry} />, <>{ACTIONS[entry.action] ?? entry.action} <small><code>{entry.action}</code></small></>,
            <>{entry.user && <bdi>{entry.user}</bdi>}{entry.group && <> <small>{say("group", "群组")} <bdi>{entry.group}</bdi></small></>}</>, <Details of={entry.detail} />,
          ],
        }))} />
      <More more={pages.more} loading={pages.loading} />
    </View>
  );
}

const textOf = (name: string, value: unknown): string => (name === "until" ? say("for ever", "永久") : typeof value === "string" ? value : JSON.stringify(value));

const By = ({ entry: { actor, via } }: { entry: Entry }) => (
  <>
    {actor ? <bdi>{actor}</bdi> : <span class="quiet">{say("an erased person", "已抹除的用户")}</span>}
    {via && actor !== `key:${via}` && <> <small>{say("with the key", "使用密钥")} <code>{via}</code></small></>}
  </>
);

/** What else there is to say, by the names that docs/moderation.md has. */
const Details = ({ of }: { of: Entry["detail"] }) => {
  const said = Object.entries(of).filter(([, value]) => value !== null);
  return said.length > 0 && (
    <span class="times">
      {said.map(([name, value]) => (
        <span key={name}><code>{name}</code> {name === "until" && !isForEver(String(value)) ? <When at={String(value)} /> : <bdi>{textOf(name, value)}</bdi>}</span>
      ))}
    </span>
  );
};
