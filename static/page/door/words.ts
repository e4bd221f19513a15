/** What the door says when something is wrong: which field, and what helps. */
import { DISABLED, inviteProblem } from "../signin.ts";
import { say } from "../say.ts";

export type Kind = "signin" | "register" | "setup" | "reset" | "link" | "name" | "token";
type Wrong = { code: string; status: number; message: string };

const ID_RULE = say("A username has letters A to Z, digits and . _ - @ + | : only, and doesn’t start with a dot.",
  "用户名只能使用英文字母、数字和 . _ - @ + | :，且不能以点开头。");

export function worded(err: Wrong, kind: Kind): string {
  const { code, status, message } = err;
  if (code === "offline") return say("Can’t reach the server. Check your connection and try again.", "无法连接服务器，请检查网络后重试。");
  if (code === "rate_limited") return say("Too many attempts. Wait a minute, then try again.", "尝试次数过多，请一分钟后再试。");
  if (status >= 500) return say("The server can’t do this right now. Try again in a moment.", "服务器暂时无法处理，请稍后再试。");
  if (code === "exists") return say("This username is taken. Choose another.", "该用户名已被使用，请换一个。");
  switch (kind) {
    case "name": return byName(status, message);
    case "token": return byToken(status, message);
    default: return byAccount(err, kind);
  }
}

function byName(status: number, message: string): string {
  if (status === 404 || status === 405) {
    return say("This server doesn’t offer sign-in by name. Paste a token: whoever runs the server can create one with “chatd token”.",
      "此服务器不支持按姓名登录。请粘贴令牌：服务器管理员可用 chatd token 创建。");
  }
  if (status === 401 || status === 403) {
    return /disabled/i.test(message) ? DISABLED
      : say("This link is from an earlier start of chatd. Open the one that it printed last.", "此链接来自 chatd 之前的一次启动，请打开最近一次显示的链接。");
  }
  return ID_RULE;
}

function byToken(status: number, message: string): string {
  if (status === 0) return say("This isn’t a token: one has three parts, separated by dots. Copy all of it.", "这不是有效的令牌：令牌由点分隔的三部分组成，请完整复制。");
  if (status === 403) return DISABLED;
  return /expired/i.test(message) ? say("This token has expired. Ask for a new one.", "此令牌已过期，请重新索取。")
    : say("The server doesn’t accept this token. Check that all of it was copied, or ask for a new one.", "服务器不接受此令牌。请确认已完整复制，或重新索取。");
}

function byAccount(err: Wrong, kind: Kind): string {
  const { code, status, message } = err;
  if (code === "invalid_request" && /^Password:/.test(message)) {
    return say(message, "请换一个密码：至少 10 个字符，不能过于常见，也不能与用户名相同。");
  }
  if (code === "invalid_request") return ID_RULE;
  if (kind === "register") return status === 403 ? say("You need an invitation to register here.", "注册需要邀请。") : inviteProblem(err as Parameters<typeof inviteProblem>[0]);
  if (status === 403) return DISABLED;
  if (status !== 401) return message;
  if (kind === "signin") return say("Wrong username or password.", "用户名或密码不正确。");
  return kind === "setup"
    ? say("This link has been used, or isn’t the newest. Sign in, or open the one that chatd printed last.", "此链接已被使用或不是最新的。请登录，或打开 chatd 最近一次显示的链接。")
    : say("This link has been used, or has expired. Sign in, or ask for another.", "此链接已被使用或已过期。请登录，或重新索取。");
}

const ID = /^[\w@+|:-][\w.@+|:-]{0,127}$/;

/**
 * The id that a name suggests: the name itself where it can be one, else its Latin letters and digits. A name in another script
 * gives the same id each time.
 */
export function idFor(name: string): string {
  const text = name.trim();
  if (!text || ID.test(text)) return text;
  const latin = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/ß/g, "ss").replace(/ø/gi, "o").replace(/æ/gi, "ae").replace(/ł/gi, "l").toLowerCase();
  const slug = latin.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
  if (/[a-z0-9]/.test(slug) && !/[^\p{Script=Latin}\p{Script=Common}]/u.test(latin)) return slug;
  let n = 2166136261;
  for (const c of text.normalize("NFC")) n = Math.imul(n ^ c.codePointAt(0)!, 16777619) >>> 0;
  return `user-${n.toString(36)}`;
}
