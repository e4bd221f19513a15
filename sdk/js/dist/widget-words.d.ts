/** What the widget says, by language. */
import type { Message } from "./types.js";
type Names = (user: string) => string;
type Notice = Pick<Message, "from" | "notice" | "user" | "users" | "role" | "name">;
/** All that the widget says of itself. */
export type Words = {
    conversations: string;
    noConversations: string;
    back: string;
    open: string;
    close: string;
    chat: string;
    messages: string;
    noMessages: string;
    sayHello: string;
    newest: string;
    earlier: string;
    unread: string;
    gap: string;
    missing: string;
    load: string;
    notLoaded: string;
    write: string;
    send: string;
    sending: string;
    queued: string;
    retry: string;
    discard: string;
    failed(why: string): string;
    you: string;
    edited: string;
    deleted: string;
    data: string;
    file: string;
    original: string;
    today: string;
    yesterday: string;
    actions: string;
    react: string;
    reply: string;
    replyTo(name: string): string;
    edit: string;
    editing: string;
    remove: string;
    removeNow: string;
    cancel: string;
    connecting: string;
    offline: string;
    reconnect: string;
    signedOut: string;
    notMember: string;
    members(n: number): string;
    fresh(n: number): string;
    unreadCount(n: number): string;
    reactions(emoji: string, n: number): string;
    /** names: at most three. */
    typing(names: string[]): string;
    severalTyping: string;
    /** What a notice of the log says; nameOf gives the name of a user. */
    notice(notice: Notice, nameOf: Names): string;
};
/** Words, and how the language writes times and lists. */
export type Language = Words & {
    readonly tag: string;
    time(at: string): string;
    full(at: string): string;
    day(at: string): string;
    short(at: string): string;
};
export declare const isRtl: (tag: string) => boolean;
/** A language such as "zh-CN", with some of its words replaced. One that is not there has English words, and its own dates. */
export declare function languageOf(lang: string, own?: Partial<Words>): Language;
export {};
