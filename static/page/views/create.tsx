/** Making a group, and finding one that anyone may join. */
import type { ComponentChildren } from "preact";
import type { Wire } from "@chatd/client";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSnapshot } from "../hooks.ts";
import { go, groupPath, pathOf, route } from "../route.ts";
import { counted, say } from "../say.ts";
import { useSession } from "../session.ts";
import { problemOf } from "../ui/confirm.tsx";
import { Back, Face, Problem } from "../ui/parts.tsx";
import { nobody, PeopleField, usersOf } from "../ui/people-field.tsx";
import { Enter } from "./outside.tsx";

const PAGE = 50;

export const Head = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <header class="pane-head">
    <Back />
    <h1 class="grow">{title}</h1>
    {children}
  </header>
);

export function Create() {
  const { chat, signIn } = useSession();
  const [members, setMembers] = useState(nobody);
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  async function submit(e: SubmitEvent): Promise<void> {
    e.preventDefault();
    const data = new FormData(e.currentTarget as HTMLFormElement);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    const users = usersOf(members);
    setBusy(true);
    setProblem("");
    try {
      const group = await chat.create({
        name: text("name"), visibility: text("visibility") as "private", ...(text("id") && { id: text("id") }), ...(users.length > 0 && { members: users }),
      });
      if (route().view === "new") go({ view: "group", group: group.id }, "replace");
    } catch (err) {
      const { code, detail = "" } = err as { code?: string; detail?: string };
      setProblem(code === "exists" ? say("This ID is already in use. Choose another one.", "此 ID 已被使用，请换一个。")
        : code === "forbidden" ? say("You can’t add one of these people on this server. Create the group without them, and send them an invite link.", "此服务器不允许您添加其中某人。请先创建群组，再发送邀请链接。")
          : /^ID:/i.test(detail) ? say("A custom ID has letters, digits and . _ - @ + | : only.", "自定义 ID 只能使用字母、数字和 . _ - @ + | :。") : problemOf(err));
      setBusy(false);
    }
  }
  return (
    <>
      <Head title={say("New group", "新建群组")} />
      <div class="pane-body">
        <form class="stack column" name="new-group" onSubmit={submit}>
          <label class="field"><span>{say("Name", "名称")}</span>
            <input ref={first} name="name" required maxlength={200} autocomplete="off" dir="auto" placeholder={say("Weekend trip", "周末旅行")} /></label>
          <PeopleField label={say("Members", "成员")} name="members" value={members} onValue={setMembers} except={() => false} placeholder={say("Name or username", "姓名或用户名")}
            note={signIn.hasAccount() // an id that is added can’t be registered
              ? say("People who have an account. Others join by an invite link, later.", "已有账号的人。其他人稍后可通过邀请链接加入。")
              : say("You can add more people later, or send them an invite link.", "之后还可以添加更多人，或发送邀请链接。")} />
          <fieldset class="choice">
            <legend>{say("Who can join", "谁可以加入")}</legend>
            <label><input type="radio" name="visibility" value="private" defaultChecked /><span><strong>{say("Private", "私密")}</strong><small>{say("Only people who are added or invited", "仅限被添加或受邀的人")}</small></span></label>
            <label><input type="radio" name="visibility" value="public" /><span><strong>{say("Public", "公开")}</strong><small>{say("Anyone on this server", "此服务器上的任何人")}</small></span></label>
          </fieldset>
          <details><summary>{say("Set a custom ID", "自定义 ID")}</summary>
            <label class="field"><span class="unseen">{say("Custom ID", "自定义 ID")}</span>
              <input name="id" maxlength={128} autocomplete="off" autocapitalize="none" spellcheck={false} dir="ltr" placeholder="weekend-trip" />
              <small>{say("What programs call the group. It can’t be changed later.", "供程序使用的群组名，之后不能更改。")}</small></label></details>
          <Problem text={problem} />
          <p class="buttons"><button class="button primary" disabled={busy}>{say("Create group", "创建群组")}</button>
            <a class="button" href={pathOf({ view: "browse" })}>{say("Browse public groups", "浏览公开群组")}</a></p>
        </form>
      </div>
    </>
  );
}

export function Public() {
  const { chat } = useSession();
  const mine = useSnapshot((s) => s.groups);
  const [groups, setGroups] = useState<readonly Wire.Group[]>([]);
  const [next, setNext] = useState<string | null>("");
  const [problem, setProblem] = useState("");
  const [filter, setFilter] = useState("");
  const load = (cursor: string) => chat.browse({ limit: PAGE, ...(cursor && { cursor }) }).then((page) => {
    setGroups((was) => (cursor ? [...was, ...page.groups] : page.groups));
    setNext(page.next);
  }, (err) => setProblem(problemOf(err)));
  useEffect(() => { void load(""); }, []);
  const words = filter.trim().toLowerCase();
  const shown = groups.filter((g) => `${g.name} ${g.id}`.toLowerCase().includes(words));
  const ids = new Set(mine.map((g) => g.id));
  return (
    <>
      <Head title={say("Public groups", "公开群组")} />
      <div class="pane-body">
        <div class="stack column">
          <input type="search" name="group-search" dir="auto" aria-label={say("Search public groups", "搜索公开群组")} placeholder={say("Search public groups", "搜索公开群组")} value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
          <Problem text={problem} />
          {next !== "" && shown.length === 0 && (
            <p class="quiet" role="status">{words ? say(`No group matches “${filter.trim()}”.`, `没有匹配“${filter.trim()}”的群组。`) : say("No public groups yet. Create one that anyone can join.", "还没有公开群组。创建一个任何人都可以加入的群组吧。")}</p>
          )}
          <ul class="people" aria-label={say("Public groups", "公开群组")}>
            {shown.map((g) => (
              <li key={g.id} data-public={g.id}>
                <Face id={g.id} label={g.name || g.id} square />
                <span class="person"><bdi class="name">{g.name || g.id}</bdi><small>{counted(g.members, "member", "members", "名成员")}</small></span>
                {ids.has(g.id)
                  ? <a class="button" href={groupPath(g.id)} aria-label={say(`Open ${g.name}`, `打开 ${g.name}`)}>{say("Open", "打开")}</a>
                  : <Enter group={g} onProblem={setProblem} />}
              </li>
            ))}
          </ul>
          {next && <p class="buttons"><button type="button" class="button" onClick={() => load(next)}>{say("Load more", "加载更多")}</button></p>}
          <p class="buttons"><a class="button" href={pathOf({ view: "new" })}>{say("Create group", "新建群组")}</a></p>
        </div>
      </div>
    </>
  );
}
