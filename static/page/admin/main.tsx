/** The page for operators: the door, and behind it what is wrong and what mends it. */
import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Door } from "../door/door.tsx";
import { useSyncExternal } from "../hooks.ts";
import { applyPrefs } from "../prefs.ts";
import { language, say } from "../say.ts";
import { createSignIn, takeDevCode, takeTicket, type SignIn } from "../signin.ts";
import type { IconName } from "../ui/icons.ts";
import { lazy } from "../ui/lazy.tsx";
import { Icon } from "../ui/parts.tsx";
import { createAsk, useAnswer } from "./api.ts";
import { Overview } from "./overview.tsx";
import { Tasks } from "./tasks.tsx";
import { Trouble } from "./parts.tsx";

// Behind the first view: what an operator opens may be needed most when the server does not answer.
const more = () => import("./more.tsx");
const Announcements = lazy(() => more().then((m) => m.Announcements));
const Audit = lazy(() => more().then((m) => m.Audit));
const Doctor = lazy(() => more().then((m) => m.Doctor));
const Groups = lazy(() => more().then((m) => m.Groups));
const Keys = lazy(() => more().then((m) => m.Keys));
const Schedules = lazy(() => more().then((m) => m.Schedules));
const Settings = lazy(() => more().then((m) => m.Settings));
const Users = lazy(() => more().then((m) => m.Users));
const Webhooks = lazy(() => more().then((m) => m.Webhooks));

const VIEWS: [name: string, icon: IconName, label: string][] = [
  ["", "pulse", say("Overview", "概览")], ["tasks", "again", say("Tasks", "任务")], ["groups", "list", say("Groups held back", "被阻滞的群组")],
  ["webhooks", "link", say("Webhooks", "Webhook")], ["schedules", "clock", say("Schedules", "定时消息")], ["announcements", "bell", say("Announcements", "公告")], ["users", "people", say("Users", "用户")], ["keys", "lock", say("Keys", "密钥")], ["audit", "eye", say("Audit", "审计")], ["doctor", "shield", say("Doctor", "检查")], ["settings", "gear", say("Settings", "设置")],
];

const listeners = new Set<() => void>();
const subscribe = (fn: () => void) => {
  listeners.add(fn);
  return () => void listeners.delete(fn);
};
const moved = () => { for (const fn of listeners) fn(); };
addEventListener("popstate", moved);
addEventListener("click", (e) => {
  const link = (e.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
  if (!link || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || !/^\/admin(\/|$)/.test(link.pathname)) return;
  e.preventDefault();
  history.pushState(null, "", link.pathname + link.search);
  moved();
});

/** Whoever comes to another view reads it from its beginning, and sees in the row of views which one it is. */
function useArrival(name: string): void {
  const before = useRef(name);
  useLayoutEffect(() => {
    if (before.current === name) return;
    before.current = name;
    document.getElementById("main")?.focus();
    scrollTo(0, 0);
    document.querySelector(".admin-link[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [name]);
}

function Admin({ me, signIn }: { me: string; signIn: SignIn }) {
  const ask = useMemo(() => createAsk(signIn), [me]);
  const at = useSyncExternal(subscribe, () => location.pathname + location.search);
  const { value, failure } = useAnswer<{ role?: string | null }>(ask, "/v1/me");
  const [path = "", search = ""] = at.split("?");
  const name = path.split("/")[2] ?? "";
  const props = { ask, query: new URLSearchParams(search) };
  const operator = value?.role === "admin";
  useArrival(name);
  useEffect(() => { if (operator) void more().catch(() => {}); }, [operator]); // the view asks again
  if (!value && !failure) return <main class="nothing"><p class="quiet" role="status">{say("Loading…", "正在加载…")}</p></main>;
  if (!value && failure?.passing) return <main class="nothing"><h1>{say("The server does not answer", "服务器无响应")}</h1><Trouble of={failure} /></main>;
  if (!operator) {
    return (
      <main class="nothing">
        <h1>{say("For operators", "仅限管理员")}</h1>
        <p class="quiet">{failure?.text || say(`${me} may not see this page. Sign in as an operator.`, `${me} 无权查看此页面，请以管理员身份登录。`)}</p>
        <p class="buttons"><button type="button" class="button" onClick={() => signIn.out()}>{say("Sign out", "退出登录")}</button><a class="button" href="/">{say("Back to the groups", "返回群组")}</a></p>
      </main>
    );
  }
  return (
    <div class="admin">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>{say("Skip to the content", "跳到内容")}</button>
      <nav aria-label={say("Administration", "管理")}>
        <p class="admin-brand"><strong>{"chatd"}</strong> <bdi class="quiet">{me}</bdi></p>
        {VIEWS.map(([view, icon, label]) => (
          <a key={view} class="admin-link" href={`/admin${view && `/${view}`}`} aria-current={view === name ? "page" : undefined}><Icon name={icon} />{label}</a>
        ))}
        <a class="admin-link" href="/"><Icon name="back" />{say("Back to the groups", "返回群组")}</a>
      </nav>
      <main id="main" tabIndex={-1}>
        {name === "tasks" ? <Tasks key={at} {...props} /> : name === "groups" ? <Groups {...props} /> : name === "webhooks" ? <Webhooks {...props} />
          : name === "schedules" ? <Schedules key={at} {...props} /> : name === "users" ? <Users {...props} /> : name === "announcements" ? <Announcements {...props} /> : name === "keys" ? <Keys {...props} /> : name === "audit" ? <Audit key={at} {...props} /> : name === "doctor" ? <Doctor {...props} /> : name === "settings" ? <Settings key={at} {...props} /> : <Overview ask={ask} />}
      </main>
    </div>
  );
}

takeDevCode();
takeTicket();
applyPrefs();
document.documentElement.lang = language;
const root = document.getElementById("app")!;
let begun = 0;
const signIn: SignIn = createSignIn({
  begun: (user) => { begun++; render(<Admin key={user} me={user} signIn={signIn} />, root); },
  ended: (reason) => { begun++; render(<Door signIn={signIn} reason={reason} />, root); },
});
void signIn.resume().then(() => { if (begun === 0) render(<Door signIn={signIn} reason="" />, root); });
