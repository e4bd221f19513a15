/** Who is in a group, and what its owner and admins change about that. */
import type { GroupState } from "@chatd/client";
import { useMemo, useRef, useState } from "preact/hooks";
import { blockQuestion, useBlocked } from "../blocked.ts";
import { useComing, useSnapshot } from "../hooks.ts";
import { manages as managing, type Member, type Role, useMembers } from "../members.ts";
import type { Presence, There } from "../presence.tsx";
import { labelOf, textOf, useNames, usePeople } from "../people.ts";
import { pathOf } from "../route.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { Confirm, problemOf, type Question } from "../ui/confirm.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Avatar, IconButton, Name, Popover, Problem } from "../ui/parts.tsx";
import { nobody, PeopleField, usersOf } from "../ui/people-field.tsx";
import { Windowed } from "../ui/windowed.tsx";
import { BanDialog, Banned } from "./ban.tsx";
import { Invites } from "./invites.tsx";
import { Reports, Waiting } from "./moderation.tsx";
import { MuteDialog, unmute } from "./mute.tsx";
import { Requests } from "./requests.tsx";
import { isForEver, whenText } from "./when.ts";

const Watch = lazy(() => import("./there.tsx").then((m) => m.Watch), () => null);
const Dot = lazy(() => import("./there.tsx").then((m) => m.Dot), () => null);
const StateLine = lazy(() => import("./there.tsx").then((m) => m.StateLine), () => null);

const ROW = 48;
const RANK: Record<Role, number> = { owner: 0, admin: 1, member: 2 };
const ROLES: Record<Role, string> = { owner: say("Owner", "群主"), admin: say("Admin", "管理员"), member: say("Member", "成员") };

export function Members({ group: id }: { group: string }) {
  const group = useSnapshot((s) => s.groups.find((g) => g.id === id));
  return group ? <Shown group={group} /> : null;
}

function Shown({ group }: { group: GroupState }) {
  const { me } = useSession();
  const people = usePeople();
  const { list: members, complete, mine, error, more } = useMembers(group, "mine");
  const [filter, setFilter] = useState("");
  const [question, setQuestion] = useState<Question | null>(null);
  const [muting, setMuting] = useState("");
  const [banning, setBanning] = useState("");
  const manages = !group.direct && managing(mine);
  const [there, setThere] = useState<There | null>(null);
  const first = useRef(there);
  first.current ??= there; // later the list would change under the pointer
  const words = filter.trim().toLowerCase();
  const shown = useMemo(() => {
    const matching = words ? members.filter((m) => `${m.user} ${labelOf(people, m.user)}`.toLowerCase().includes(words)) : [...members];
    const away = (m: Member) => Number(!first.current?.users.has(m.user));
    return matching.sort((a, b) => away(a) - away(b) || RANK[a.role] - RANK[b.role] || labelOf(people, a.user).localeCompare(labelOf(people, b.user), undefined, { numeric: true }) || (a.user < b.user ? -1 : 1));
  }, [members, words, people, first.current]);
  const ids = useMemo(() => new Set(members.map((m) => m.user)), [members]);
  return (
    <div class="stack">
      <Watch group={group.id} onThere={setThere} />
      {manages && <Requests group={group} />}
      {manages && <Waiting group={group} />}
      {manages && <Reports group={group} />}
      {manages && <Add group={group} has={(u) => ids.has(u)} />}
      {manages && <Invites group={group} />}
      {manages && <Banned group={group} />}
      <input type="search" name="member-search" dir="auto" aria-label={say("Search members", "搜索成员")} placeholder={say("Search members", "搜索成员")} value={filter}
        onInput={(e) => setFilter(e.currentTarget.value)} />
      <Problem text={error ? problemOf(error) : ""} />
      <p class="quiet" role="status">{words
        ? complete ? counted(shown.length, "match", "matches", "个匹配") : say(`${shown.length} among the ${members.length.toLocaleString()} loaded so far`, `已加载的 ${members.length.toLocaleString()} 人中有 ${shown.length} 个匹配`)
        : counted(group.members, "member", "members", "名成员")}{!words && there && there.online > 0 && say(` · ${there.online.toLocaleString()} online`, ` · ${there.online} 人在线`)}</p>
      <Windowed items={shown} height={ROW} label={say("Members", "成员")} onEnd={complete ? undefined : more}
        row={(m) => <Row key={m.user} member={m} there={there?.users.get(m.user) ?? (there?.whole ? null : undefined)} group={group} self={m.user === me} mine={manages ? mine : undefined} onAsk={setQuestion} onMute={setMuting} onBan={setBanning} />} />
      {!complete && <p class="buttons"><button type="button" class="button" onClick={more}>{say("Load more", "加载更多")}</button></p>}
      {question && <Confirm {...question} onClose={() => setQuestion(null)} />}
      {muting && <MuteDialog group={group.id} user={muting} onClose={() => setMuting("")} />}
      {banning && <BanDialog group={group.id} user={banning} onClose={() => setBanning("")} />}
    </div>
  );
}

type Asks = { onAsk: (q: Question) => void; onMute: (user: string) => void; onBan: (user: string) => void };

/** there: null where they are offline, undefined where that is not known. */
function Row({ member: m, there, group, self, mine, ...asks }: { member: Member; there: Presence | null | undefined; group: GroupState; self: boolean; mine: Role | undefined } & Asks) {
  const { chat } = useSession();
  const blocked = useBlocked().has(m.user);
  const [menu, setMenu] = useState(false);
  const button = useRef<HTMLSpanElement>(null);
  const name = useNames([m.user])(m.user);
  const mutedUntil = useComing(m.muted_until);
  const may = mine && !self && m.role !== "owner";
  return (
    <li data-user={m.user} data-role={m.role}>
      <span class="face-there"><Avatar user={m.user} />{there && <Dot state={there.state} />}</span>
      <span class="person"><Name user={m.user} />{self && <small> {say("you", "您")}</small>}</span>
      {mutedUntil && <small class="role muted" title={m.muted_until && isForEver(m.muted_until) ? undefined : say(`Until ${whenText(mutedUntil)}`, `至 ${whenText(mutedUntil)}`)}>{say("Muted", "已禁言")}</small>}
      {m.role !== "member" && <small class="role">{ROLES[m.role]}</small>}
      {!self && (
        <span ref={button}><IconButton icon="more" label={say(`More about ${name}`, `${name} 的更多操作`)} aria-expanded={menu} onClick={() => setMenu(!menu)} /></span>
      )}
      {menu && (
        <Popover anchor={button} name="menu" role="menu" label={name} onClose={() => setMenu(false)}>
          {there !== undefined && <StateLine user={m.user} there={there} />}
          {!group.direct && <a role="menuitem" data-focus href={pathOf({ view: "direct", user: m.user })} onClick={() => setMenu(false)}>{say("Send a message", "发消息")}</a>}
          {may && <Actions member={m} name={name} group={group} mine={mine} muted={!!mutedUntil} {...asks} onDone={() => setMenu(false)} />}
          <button type="button" role="menuitem" class={blocked ? "" : "danger"} data-focus={group.direct ? "" : undefined}
            onClick={() => { setMenu(false); asks.onAsk(blockQuestion(chat, m.user, name, !blocked)); }}>{blocked ? say("Unblock", "取消屏蔽") : say("Block", "屏蔽")}</button>
          {group.direct && <span class="quiet" dir="ltr">{m.user}</span>}
        </Popover>
      )}
    </li>
  );
}

function Actions({ member: m, name, group, mine, muted, onAsk, onMute, onBan, onDone }: { member: Member; name: string; group: GroupState; mine: Role; muted: boolean; onDone: () => void } & Asks) {
  const { chat, toast } = useSession();
  const here = chat.group(group.id);
  const promote: Question = {
    title: say(`Make ${name} an admin?`, `将 ${name} 设为管理员？`), button: say("Make admin", "设为管理员"), run: () => here.add(m.user, "admin"),
    text: say("Admins add and remove members, invite people, change the settings and delete anybody’s messages.", "管理员可以添加和移除成员、邀请他人、更改设置以及删除任何人的消息。"),
  };
  const demote: Question = {
    title: say(`Make ${name} a member?`, `将 ${name} 设为普通成员？`), button: say("Make member", "设为成员"), run: () => here.add(m.user, "member"),
    text: say("They stay in the group and can no longer manage it.", "对方仍在群组中，但不能再管理群组。"),
  };
  const transfer: Question = {
    title: say(`Make ${name} the owner?`, `将群组转让给 ${name}？`), button: say("Transfer group", "转让群组"), danger: true, run: () => here.add(m.user, "owner"),
    text: say("A group has one owner. You become an admin, and only the new owner can give it back.", "群组只有一位群主。您将成为管理员，只有新群主才能转回。"),
  };
  const remove: Question = {
    title: say(`Remove ${name}?`, `移除 ${name}？`), button: say("Remove", "移除"), danger: true, run: () => here.remove(m.user),
    text: say("They can no longer read or write here. Their messages stay.", "对方将无法再阅读或发送消息，其已发消息会保留。"),
  };
  const below = mine === "owner" || m.role === "member";
  const item = (q: Question) => <button key={q.title} type="button" role="menuitem" class={q.danger ? "danger" : ""} onClick={() => { onDone(); onAsk(q); }}>{q.button}</button>;
  function letWrite(): void {
    onDone();
    unmute(chat, group.id, m.user).catch((err) => toast(problemOf(err), { bad: true }));
  }
  return (
    <>
      {item(m.role === "admin" ? demote : promote)}{mine === "owner" && item(transfer)}
      {muted ? <button type="button" role="menuitem" onClick={letWrite}>{say("Let write again", "解除禁言")}</button>
        : below && <button type="button" role="menuitem" onClick={() => { onDone(); onMute(m.user); }}>{say("Mute…", "禁言…")}</button>}
      {item(remove)}
      {below && <button type="button" role="menuitem" class="danger" onClick={() => { onDone(); onBan(m.user); }}>{say("Ban…", "封禁…")}</button>}
    </>
  );
}

function Add({ group, has }: { group: GroupState; has: (user: string) => boolean }) {
  const { chat, people } = useSession();
  const [value, setValue] = useState(nobody);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const users = usersOf(value);
  async function submit(e: Event): Promise<void> {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    const refused: string[] = [];
    let why: unknown;
    for (const user of users) {
      try {
        await chat.group(group.id).add(user);
      } catch (err) {
        refused.push(user);
        why = err;
      }
    }
    setValue({ users: refused, text: "" });
    if (refused.length > 0) setProblem(say(`Not added: ${refused.map((u) => textOf(people.now(), u)).join(", ")}. `, `未能添加：${refused.map((u) => textOf(people.now(), u)).join("、")}。`) + problemOf(why));
    setBusy(false);
  }
  return (
    <form class="row-form" name="add-member" onSubmit={submit}>
      <PeopleField label={say("Add people", "添加成员")} name="user" value={value} onValue={setValue} except={has} placeholder={say("Name or username", "姓名或用户名")} />
      <button class="button" disabled={busy || users.length === 0}>{say("Add", "添加")}</button>
      <Problem text={problem} />
    </form>
  );
}
