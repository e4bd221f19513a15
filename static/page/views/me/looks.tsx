/** How the page looks and behaves in this browser. */
import { setPrefs, usePrefs, type Prefs } from "../../prefs.ts";
import { say } from "../../say.ts";
import { useSession } from "../../session.ts";

type Option<K extends keyof Prefs> = readonly [Prefs[K], string];

const THEMES: readonly Option<"theme">[] = [["system", say("As the system", "跟随系统")], ["light", say("Light", "浅色")], ["dark", say("Dark", "深色")]];
const DENSITIES: readonly Option<"density">[] = [["cosy", say("Comfortable", "舒适")], ["compact", say("Compact", "紧凑")]];
const STYLES: readonly Option<"style">[] = [["rows", say("Rows", "列表")], ["bubbles", say("Bubbles", "气泡")]];
/** Each language in itself, so that everybody finds theirs. */
const LANGUAGES: readonly Option<"language">[] = [["", say("As the browser", "跟随浏览器")], ["en", "English"], ["zh", "中文"]];

export function Looks() {
  const prefs = usePrefs();
  const { features } = useSession();
  return (
    <section class="stack" data-part="looks">
      <h2>{say("In this browser", "此浏览器")}</h2>
      <Segments name="theme" legend={say("Theme", "主题")} value={prefs.theme} options={THEMES} onValue={(theme) => setPrefs({ theme })} />
      <Segments name="density" legend={say("Density", "密度")} value={prefs.density} options={DENSITIES} onValue={(density) => setPrefs({ density })} />
      <Segments name="style" legend={say("Messages as", "消息样式")} value={prefs.style} options={STYLES} onValue={(style) => setPrefs({ style })} />
      <Segments name="language" legend={say("Language", "语言")} value={prefs.language} options={LANGUAGES} onValue={(language) => {
        setPrefs({ language });
        location.reload(); // texts are chosen when the page is loaded
      }} />
      {features.includes("previews") && (
        <label class="toggle"><input type="checkbox" name="previews" checked={prefs.previews} onChange={(e) => setPrefs({ previews: e.currentTarget.checked })} />
          <span><strong>{say("Link previews", "链接预览")}</strong></span></label>
      )}
      <label class="toggle"><input type="checkbox" name="enter-sends" checked={prefs.enterSends} onChange={(e) => setPrefs({ enterSends: e.currentTarget.checked })} />
        <span><strong>{say("Enter sends", "按 Enter 发送")}</strong><small>{prefs.enterSends
          ? say("Shift and Enter begin a new line.", "按 Shift + Enter 换行。") : say("Enter begins a new line; Ctrl and Enter send.", "按 Enter 换行，按 Ctrl + Enter 发送。")}</small></span></label>
    </section>
  );
}

function Segments<V extends string>({ name, legend, value, options, onValue }: { name: string; legend: string; value: V; options: readonly (readonly [V, string])[]; onValue: (v: V) => void }) {
  return (
    <fieldset class="segments">
      <legend>{legend}</legend>
      <div>{options.map(([v, text]) => <label key={v}><input type="radio" name={name} value={v} checked={v === value} onChange={() => onValue(v)} /><span>{text}</span></label>)}</div>
    </fieldset>
  );
}
