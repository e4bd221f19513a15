/** Times to come: which are suggested, and how they are written. In the zone of the person. */
import { language, locale, say } from "../say.ts";

const format = new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });
const dated = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What the server has for a time that does not come. */
export const FOR_EVER = "9999-12-31T00:00:00.000Z";
export const isForEver = (at: string): boolean => at >= FOR_EVER;

/** Short: the time alone where it is today. */
export function whenText(at: Date, now = new Date()): string {
  if (at.toDateString() === now.toDateString()) return clock.format(at);
  return at.getFullYear() === now.getFullYear() ? format.format(at) : dated.format(at);
}

/** The same moment on the clocks of another zone. */
export const timeIn = (at: Date, timeZone: string): string => new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit", timeZone }).format(at);

const LENGTHS = [["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]] as const;

/** A length of time, in the largest unit that it has: "30 seconds", "2 hours". */
export function lasting(seconds: number): string {
  const [unit, per] = LENGTHS.find(([, per]) => seconds >= per) ?? LENGTHS.at(-1)!;
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(Math.round(seconds / per));
}

const on = (now: Date, days: number, hour: number): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);

/** What people mean by later: soon, this afternoon, tomorrow, next week. */
export function suggestions(now: Date): { name: string; at: Date }[] {
  const toMonday = (8 - now.getDay()) % 7 || 7;
  return [
    { name: say("In an hour", "一小时后"), at: new Date(Math.ceil((now.getTime() + 3_600_000) / 300_000) * 300_000) },
    ...(now.getHours() < 16 ? [{ name: say("This afternoon", "今天下午"), at: on(now, 0, 17) }] : []),
    { name: say("Tomorrow morning", "明天上午"), at: on(now, 1, 9) },
    ...(toMonday > 1 ? [{ name: say("Monday morning", "周一上午"), at: on(now, toMonday, 9) }] : []),
  ];
}

/** When people want to be reminded. The next 9:00 is a morning's: at night that of the same day. */
export function reminders(now: Date): { name: string; at: Date }[] {
  const early = now.getHours() < 5;
  return [
    { name: say("In 20 minutes", "20 分钟后"), at: new Date(now.getTime() + 1_200_000) },
    { name: say("In an hour", "一小时后"), at: new Date(now.getTime() + 3_600_000) },
    { name: early ? say("This morning", "今天上午") : say("Tomorrow morning", "明天上午"), at: on(now, early ? 0 : 1, 9) },
  ];
}

/** The value of a datetime-local field. */
export function fieldOf(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** A rule of the server's in words, where it is a simple one; else as it is written. */
export function repeatText(cron: string): string {
  switch (/^\d+ \d+ \* \* (\*|1-5|[0-7])$/.exec(cron)?.[1]) {
    case undefined: return say(`Repeats: ${cron}`, `重复：${cron}`);
    case "*": return say("Every day", "每天");
    case "1-5": return say("Monday to Friday", "周一至周五");
    default: return say("Every week", "每周");
  }
}
