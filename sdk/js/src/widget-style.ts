/**
 * The look of the widget. An adopted sheet is no inline style, so the page's policy has to allow none; and lengths are in px,
 * since rem is the page's.
 */
const CSS = `
:host {
  color-scheme: light dark; display: block; height: 560px; min-width: 0; text-align: start;
  --accent: var(--chatd-accent, #1f7a72); --on-accent: var(--chatd-on-accent, #fff);
  --ink: light-dark(var(--accent), color-mix(in oklab, var(--accent), #fff 45%));
  --soft: color-mix(in oklab, var(--accent) 13%, transparent);
  --ground: var(--chatd-ground, light-dark(#fff, #16191d)); --bubble: var(--chatd-bubble, light-dark(#f0f2f4, #272c32));
  --text: var(--chatd-text, light-dark(#1a2025, #e8ebee)); --muted: var(--chatd-muted, light-dark(#5d676f, #9ba6af));
  --line: var(--chatd-line, light-dark(#e4e7ea, #2d333a)); --hover: light-dark(#f5f6f8, #1f2429);
  --bad: var(--chatd-bad, light-dark(#b3261e, #f2978f)); --radius: var(--chatd-radius, 16px); --small: calc(var(--radius) * 0.3);
  --shadow: 0 1px 2px light-dark(#1a202514, #0006), 0 8px 32px light-dark(#1a202529, #0009);
  font: 15px/1.45 var(--chatd-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif);
}
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
:host([mode="launcher"]) { display: contents; }
:host([hidden]), [hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
button, textarea { margin: 0; font: inherit; color: inherit; letter-spacing: inherit; }
button { cursor: pointer; -webkit-tap-highlight-color: transparent; }
:focus { outline: none; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
h2, p, ul, pre { margin: 0; padding: 0; }
.icon { display: block; flex: none; width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
[dir="rtl"] :is(.icon-back, .icon-reply) { transform: scaleX(-1); }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.whole { height: 100%; }
.frame { display: flex; height: 100%; overflow: hidden; contain: layout paint; container-type: inline-size; border: 1px solid var(--line); border-radius: var(--radius); background: var(--ground); color: var(--text); }
.dock { position: fixed; inset-block-end: max(20px, env(safe-area-inset-bottom)); inset-inline-end: 20px; z-index: var(--chatd-z, 2147483000); color: var(--text); }
.panel { position: absolute; inset-block-end: 72px; inset-inline-end: 0; width: min(384px, 100vw - 40px); height: min(620px, 100dvh - 112px); border-radius: var(--radius); box-shadow: var(--shadow); animation: rise 0.18s ease-out; transform-origin: bottom; }
.launch { position: relative; display: grid; place-items: center; width: 56px; height: 56px; padding: 0; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); box-shadow: 0 4px 16px light-dark(#1a202540, #000a); transition: transform 0.15s; }
.launch:hover { transform: scale(1.05); }
.launch:focus-visible { outline-offset: 3px; }
.launch .icon { width: 26px; height: 26px; }
.launch .badge { position: absolute; inset-block-start: -3px; inset-inline-end: -3px; min-width: 22px; height: 22px; border-radius: 11px; background: #d03b30; color: #fff; box-shadow: 0 0 0 2px var(--ground); }
.badge { display: inline-grid; place-items: center; flex: none; min-width: 20px; height: 20px; padding: 0 6px; border-radius: 10px; background: var(--accent); color: var(--on-accent); font-size: 12px; font-weight: 600; line-height: 1; font-variant-numeric: tabular-nums; }

.talk, .list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; }
.head { display: flex; align-items: center; gap: 10px; flex: none; min-height: 64px; padding: 10px 16px; border-block-end: 1px solid var(--line); }
.titles { flex: 1; min-width: 0; }
.head h2 { overflow: hidden; font-size: 16px; font-weight: 600; line-height: 1.35; text-overflow: ellipsis; white-space: nowrap; }
.head p { overflow: hidden; color: var(--muted); font-size: 13px; line-height: 1.35; text-overflow: ellipsis; white-space: nowrap; }
.head h2:has(:empty) { width: 9em; height: 12px; border-radius: 6px; background: var(--bubble); }
.head .face:empty { width: 36px; height: 36px; border-radius: 50%; background: var(--bubble); }
.plain { display: grid; place-items: center; flex: none; width: 36px; height: 36px; padding: 0; border: 0; border-radius: 50%; background: none; color: var(--muted); }
.plain:hover { background: var(--hover); color: var(--text); }
.plain.back { margin-inline: -8px -4px; }
.plain.shut { margin-inline-end: -6px; }
.link { padding: 0; border: 0; border-radius: 4px; background: none; color: var(--ink); font-weight: 600; text-decoration: none; }
.link:hover { text-decoration: underline; text-underline-offset: 3px; }
.button { margin-block-start: 6px; padding: 7px 16px; border: 1px solid var(--line); border-radius: 999px; background: var(--ground); font-weight: 550; }
.button:hover { background: var(--hover); }

.middle > ul { flex: 1; min-height: 0; overflow-y: auto; padding: 6px; list-style: none; scrollbar-width: thin; }
.list li { content-visibility: auto; contain-intrinsic-size: auto 62px; }
.item { display: flex; align-items: center; gap: 12px; width: 100%; padding: 10px; border: 0; border-radius: calc(var(--radius) * 0.75); background: none; text-align: start; }
.item:hover { background: var(--hover); }
.item:focus-visible { outline-offset: -2px; }
.item[aria-current] { background: var(--soft); }
.item .avatar { width: 42px; height: 42px; font-size: 15px; }
.names { flex: 1; min-width: 0; }
.names > * { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
[dir="rtl"] .names > * { text-align: right; }
.names strong { font-weight: 550; }
.said { color: var(--muted); font-size: 13.5px; }
.unread strong { font-weight: 650; }
.unread .said { color: var(--text); }
.aside { display: flex; flex-direction: column; align-items: end; align-self: stretch; gap: 4px; padding-block-start: 3px; color: var(--muted); font-size: 12px; line-height: 1.4; white-space: nowrap; }
.unread .aside time { color: var(--ink); font-weight: 550; }

.empty { display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 4px; flex: 1; padding: 32px; color: var(--muted); font-size: 14px; text-align: center; text-wrap: balance; }
.empty strong { color: var(--text); font-size: 15px; font-weight: 600; }
.disc { display: grid; place-items: center; width: 56px; height: 56px; margin-block-end: 10px; border-radius: 50%; background: var(--soft); color: var(--ink); }
.disc .icon { width: 26px; height: 26px; }
.empty:has(.ghost) { align-items: stretch; justify-content: end; gap: 10px; padding: 16px; }
.ghost { width: 52%; height: 38px; border-radius: var(--radius); background: var(--bubble); animation: pulse 1.4s ease-in-out infinite; }
.ghost.own { align-self: end; width: 38%; }
.ghost-2 { width: 64%; height: 58px; animation-delay: 0.15s; } .ghost-3 { width: 30%; animation-delay: 0.3s; }
.ghost-item { height: 42px; margin-block-end: 10px; border-radius: var(--radius); background: var(--bubble); animation: pulse 1.4s ease-in-out infinite; }
.empty:has(.ghost-item) { align-items: stretch; justify-content: start; gap: 0; padding: 16px; }
.middle:has(> [data-what="signedOut"]) :is(.ghost, .ghost-item) { display: none; }
[data-why="notMember"] { animation: appear 0.2s 0.6s backwards; }
.avatar { display: grid; place-items: center; flex: none; width: 32px; height: 32px; border-radius: 50%; font-size: 12px; font-weight: 600; line-height: 1; user-select: none; }
.head .avatar { width: 38px; height: 38px; font-size: 14px; }
.tint-0 { background: light-dark(#dbe9f6, #23405a); color: light-dark(#245080, #b9d8f2); } .tint-1 { background: light-dark(#f9e0d8, #5a3226); color: light-dark(#8a3f27, #f5c8b8); }
.tint-2 { background: light-dark(#e0ecd5, #34482a); color: light-dark(#40602a, #c9e2b6); } .tint-3 { background: light-dark(#eae0f5, #443457); color: light-dark(#5d3f87, #dccbef); }
.tint-4 { background: light-dark(#f8eac6, #51421d); color: light-dark(#6f500f, #f0db9f); } .tint-5 { background: light-dark(#f9dde6, #562f3f); color: light-dark(#8a3056, #f3c5d5); }
.tint-6 { background: light-dark(#d5ece8, #204848); color: light-dark(#1b5c59, #aee0da); } .tint-7 { background: light-dark(#e3e5f3, #363b54); color: light-dark(#434a7c, #cbd0ee); }

.middle { position: relative; display: flex; flex-direction: column; flex: 1; min-height: 0; }
.middle > .empty { position: absolute; inset: 0; }
.lines { position: relative; display: flex; flex-direction: column; flex: 1; min-height: 0; }
.scroller { display: flex; flex-direction: column; flex: 1; min-height: 0; padding: 8px 16px 12px; overflow: hidden auto; overflow-anchor: none; overscroll-behavior: contain; scrollbar-width: thin; }
.scroller:focus-visible { outline-offset: -2px; }
.log { margin-block-start: auto; }
.edge { display: flex; align-items: center; justify-content: center; gap: 10px; flex: none; min-height: 36px; color: var(--muted); font-size: 13px; }
.spinner { flex: none; width: 16px; height: 16px; border: 2px solid var(--line); border-block-start-color: var(--ink); border-radius: 50%; animation: turn 0.8s linear infinite; }
.state { position: absolute; inset-block-start: 10px; inset-inline: 12px; display: flex; align-items: center; gap: 8px; width: fit-content; margin-inline: auto; padding: 7px 14px; border: 1px solid var(--line); border-radius: 999px; background: var(--ground); box-shadow: var(--shadow); font-size: 13px; font-weight: 500; }
.state .icon { width: 16px; height: 16px; color: var(--bad); }
.state:has(.spinner) { animation: appear 0.2s 0.8s backwards; }

.mark { display: flex; align-items: center; justify-content: center; gap: 12px; margin: 18px 0 10px; color: var(--muted); font-size: 12.5px; text-align: center; overflow-wrap: anywhere; }
.mark.day { font-weight: 550; }
.mark.new { color: var(--ink); font-weight: 600; }
.mark.new::before, .mark.new::after { content: ""; flex: 1; height: 1px; background: currentColor; opacity: 0.4; }
.mark.notice { margin: 10px 24px; }
.mark.gap span { padding: 4px 14px; border: 1px dashed color-mix(in srgb, var(--muted) 60%, transparent); border-radius: 999px; }
.row { display: flex; gap: 8px; margin-block-start: 2px; }
.row.first { margin-block-start: 12px; }
.mark + .row.first { margin-block-start: 0; }
.row.own { justify-content: end; }
.row > .face { flex: none; width: 32px; padding-block-start: 20px; }
.column { display: flex; flex-direction: column; align-items: start; min-width: 0; max-width: min(80%, 560px); }
.own .column { align-items: end; }
.author { max-width: 100%; overflow: hidden; padding: 0 13px 3px; color: var(--muted); font-size: 12.5px; font-weight: 550; line-height: 17px; text-overflow: ellipsis; white-space: nowrap; }
.held { position: relative; max-width: 100%; }
.row:focus-visible { outline: none; }
.row:focus-visible .bubble { outline: 2px solid var(--ink); outline-offset: 2px; }
.tools { position: absolute; z-index: 1; inset-block-start: -22px; inset-inline-end: -12px; display: flex; visibility: hidden; padding: 2px; border: 1px solid var(--line); border-radius: 999px; background: var(--ground); color: var(--muted); box-shadow: var(--shadow); white-space: nowrap; }
.own .tools { inset-inline: -12px auto; }
.row:hover .tools, .row:focus-within .tools { visibility: visible; }
.tool { display: grid; place-items: center; min-width: 30px; height: 30px; padding: 0; border: 0; border-radius: 999px; background: none; }
.tool:hover { background: var(--hover); color: var(--text); }
.tool:focus-visible { outline-offset: -2px; }
.tool .icon { width: 18px; height: 18px; }
.tool, .reaction { font-variant-emoji: emoji; }
.tool.danger { padding: 0 12px; color: var(--bad); font-size: 13px; font-weight: 600; }
.bubble { max-width: 100%; padding: 8px 13px; border-radius: var(--radius); border-start-start-radius: var(--small); border-end-start-radius: var(--small); background: var(--bubble); }
.first .bubble { border-start-start-radius: var(--radius); }
.last .bubble { border-end-start-radius: var(--radius); }
.own .bubble { border-radius: var(--radius); border-start-end-radius: var(--small); border-end-end-radius: var(--small); background: var(--accent); color: var(--on-accent); }
.own.first .bubble { border-start-end-radius: var(--radius); }
.own.last .bubble { border-end-end-radius: var(--radius); }
.gone .bubble, .own.gone .bubble { background: none; box-shadow: inset 0 0 0 1px var(--line); color: var(--muted); }
.failed .bubble, .own.failed .bubble { background: color-mix(in oklab, var(--bad) 12%, var(--ground)); box-shadow: inset 0 0 0 1px color-mix(in oklab, var(--bad) 45%, transparent); color: var(--text); }
.found .bubble { animation: found 1.6s ease-out; }
.body { display: block; white-space: pre-wrap; overflow-wrap: anywhere; }
.body a { color: inherit; text-underline-offset: 2px; }
.gone .body { font-size: 14px; font-style: italic; }
:lang(zh) .gone .body { font-style: normal; }
pre.body { max-height: 220px; overflow: auto; font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.quote { display: grid; width: 100%; margin: 1px 0 5px; padding: 1px 10px; border: 0; border-inline-start: 3px solid color-mix(in srgb, currentColor 45%, transparent); background: none; font-size: 13px; line-height: 1.4; text-align: start; }
.quote > * { overflow: hidden; text-overflow: ellipsis; }
.quote strong { font-weight: 600; white-space: nowrap; }
.quote span { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow-wrap: anywhere; }
.file { display: flex; align-items: center; gap: 8px; padding: 2px 0; overflow-wrap: anywhere; }
.file small { font-size: 12px; white-space: nowrap; opacity: 0.8; }
.foot { display: flex; flex-wrap: wrap; align-items: center; gap: 5px; padding: 3px 13px 0; color: var(--muted); font-size: 12px; line-height: 17px; font-variant-numeric: tabular-nums; }
.foot .icon { width: 14px; height: 14px; }
.foot.sending { animation: appear 0.2s 0.7s backwards; }
.queued .bubble { opacity: 0.7; }
.trouble { justify-content: end; padding-inline: 4px; gap: 4px 8px; color: var(--bad); }
.reactions { display: flex; flex-wrap: wrap; gap: 4px; margin-block-start: 4px; }
.reaction { display: inline-flex; align-items: center; gap: 5px; padding: 2px 9px; border: 1px solid var(--line); border-radius: 999px; background: var(--ground); color: var(--muted); font-size: 12.5px; font-variant-numeric: tabular-nums; }
.reaction:hover { background: var(--hover); }
.reaction[aria-pressed="true"] { border-color: var(--ink); background: var(--soft); color: var(--ink); font-weight: 600; }
.typing { display: flex; align-items: center; gap: 8px; margin-block-start: 12px; color: var(--muted); font-size: 13px; }
.dots { display: inline-flex; gap: 4px; padding: 10px 12px; border-radius: var(--radius); background: var(--bubble); }
.dots i { width: 6px; height: 6px; border-radius: 50%; background: var(--muted); animation: dot 1.2s ease-in-out infinite; }
.dots i:nth-child(2) { animation-delay: 0.15s; } .dots i:nth-child(3) { animation-delay: 0.3s; }
.newest { position: absolute; inset-block-end: 8px; inset-inline: 0; display: flex; align-items: center; gap: 6px; width: fit-content; height: 36px; margin-inline: auto; padding: 0 14px 0 10px; border: 1px solid var(--line); border-radius: 999px; background: var(--ground); box-shadow: var(--shadow); font-size: 13.5px; font-weight: 550; }
.newest:has(span:empty) { width: 36px; margin-inline: auto 16px; padding: 0; justify-content: center; }
.newest:hover { background: var(--hover); }
.newest .icon { color: var(--ink); }
.write { flex: none; }
.about { display: flex; align-items: center; gap: 10px; margin: 4px 12px; padding: 4px 4px 4px 12px; border-radius: calc(var(--radius) * 0.75); background: var(--bubble); font-size: 13px; }
[dir="rtl"] .about { padding: 4px 12px 4px 4px; }
.about .icon-reply, .about .icon-edit { width: 16px; height: 16px; color: var(--ink); }
.about strong { font-weight: 600; }
.about .names span { color: var(--muted); }
.composer { display: flex; align-items: end; gap: 4px; flex: none; margin: 4px 12px 12px; padding: 4px; border: 1px solid var(--line); border-radius: 23px; background: var(--ground); transition: border-color 0.15s, box-shadow 0.15s; }
.composer:focus-within { border-color: var(--ink); box-shadow: 0 0 0 3px var(--soft); }
textarea { flex: 1; min-width: 0; max-height: 144px; padding: 7px 8px 7px 12px; border: 0; background: none; line-height: 1.45; resize: none; field-sizing: content; scrollbar-width: thin; }
textarea:dir(rtl) { padding-inline: 12px 8px; }
textarea:focus-visible { outline: none; }
::placeholder { color: var(--muted); opacity: 1; }
.send { display: grid; place-items: center; flex: none; width: 36px; height: 36px; padding: 0; border: 0; border-radius: 50%; background: var(--accent); color: var(--on-accent); transition: background-color 0.15s, color 0.15s; }
.send:hover:enabled { background: color-mix(in oklab, var(--accent), #000 12%); }
.send:disabled { background: var(--bubble); color: var(--muted); cursor: default; }

.only-talk > .list, .only-list > .talk { display: none; }
.both > .list { flex: 0 0 clamp(240px, 34%, 320px); border-inline-end: 1px solid var(--line); }
@container (width >= 640px) { .both .back, .both > .list .state { display: none; } }
@container (width < 640px) { .both > .list { flex: 1; border: 0; } .both.open > .list, .both:not(.open) > .talk { display: none; } }
@media (width < 480px) {
  .panel { position: fixed; inset: 0; width: auto; height: auto; border-radius: 0; }
  .panel .frame { border: 0; border-radius: 0; }
  .panel:not([hidden]) + .launch { display: none; }
}
@media (width >= 480px) { .shut { display: none; } }
@media (pointer: coarse) { textarea { font-size: 16px; } }
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation-duration: 0.01ms !important; animation-iteration-count: 1 !important; transition: none !important; } }
@media (forced-colors: active) { .bubble, .badge, .send, .launch { border: 1px solid; } }
@keyframes appear { from { opacity: 0; } }
@keyframes rise { from { opacity: 0; transform: translateY(8px) scale(0.98); } }
@keyframes turn { to { transform: rotate(1turn); } }
@keyframes pulse { 50% { opacity: 0.5; } }
@keyframes dot { 0%, 60%, 100% { opacity: 0.35; } 30% { opacity: 1; transform: translateY(-2px); } }
@keyframes found { 0%, 40% { box-shadow: 0 0 0 3px var(--ink); } }
`;

let sheet: CSSStyleSheet | undefined;

export function style(): CSSStyleSheet {
  if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(CSS);
  return sheet;
}
