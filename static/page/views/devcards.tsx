/** For whoever tries the server out: a second person, and a message by the API. */
import { load } from "../saved.ts";
import { pathOf } from "../route.ts";
import { say } from "../say.ts";
import { CopyField } from "../ui/copy.tsx";

export function DevCards() {
  const code = load("signin")?.dev ? load("dev-code") : null;
  if (!code) return null;
  const link = `${location.origin}${pathOf({ view: "home" })}#code=${code}`;
  const token = `curl -s ${location.origin}/v1/dev/token -H 'Content-Type: application/json' -d '{"user":"bob","code":"${code}"}'`;
  return (
    <section class="cards">
      <div class="home-card"><h2>{say("Second person", "第二个人")}</h2>
        <p class="quiet">{say("Open this link in a private window and choose another name. Anyone who has it may use any name.", "在隐私窗口中打开此链接并选择另一个名字。持有链接的人可使用任何名字。")}</p>
        <CopyField name="link" label={say("Link for a second person", "第二个人的链接")} text={link} /></div>
      <div class="home-card"><h2>{say("From the command line", "命令行")}</h2>
        <p class="quiet">{say("This gives a token of bob, for any call of the API.", "此命令返回 bob 的令牌，可用于任何 API 调用。")} <a href="/docs" target="_blank" rel="noopener noreferrer">{say("The API", "API 文档")}</a></p>
        <CopyField name="curl" label={say("Command", "命令")} text={token} /></div>
    </section>
  );
}
