import type { Json, Message } from "./types.js";
export interface ChatCalls {
    /** List public groups. */
    browse(query?: {
        limit?: number;
        cursor?: string;
    }): Promise<PublicGroupPage>;
    /** Search messages. */
    search(query: {
        q: string;
        group?: string;
        from?: string;
        since?: string;
        until?: string;
        kind?: "text" | "data";
        sort?: "newest" | "best";
        limit?: number;
        cursor?: string;
    }): Promise<SearchPage>;
    /** Get users. */
    users(query?: {
        q?: string;
        limit?: number;
        cursor?: string;
        ids?: string;
    }): Promise<UserPage>;
    /** Get a user. */
    profile(user: string): Promise<User>;
    /** Tell who of some users is there. */
    presence(body: PresenceRequest): Promise<PresenceList>;
    /** Get the caller. */
    me(): Promise<Me>;
    /** Change the caller's profile. */
    updateMe(body: MeChange): Promise<Me>;
    readonly schedules: {
        /** Schedule a message. */
        create(body: ScheduleDraft): Promise<Schedule>;
        /** List the caller's schedules. */
        list(query?: {
            all?: "1";
            user?: string;
            failing?: "1";
            limit?: number;
            cursor?: string;
        }): Promise<SchedulePage>;
        /** Get a schedule. */
        get(schedule: string): Promise<Schedule>;
        /** Change a schedule. */
        update(schedule: string, body: ScheduleChange): Promise<Schedule>;
        /** Cancel a schedule. */
        cancel(schedule: string): Promise<null>;
        /** Send a scheduled message now. */
        run(schedule: string): Promise<Schedule>;
    };
    readonly blocks: {
        /** Block a user. */
        put(user: string): Promise<Block>;
        /** List whom the caller blocks. */
        list(query?: {
            limit?: number;
            cursor?: string;
        }): Promise<BlockList>;
        /** Tell whether the caller blocks a user. */
        get(user: string): Promise<Block>;
        /** Unblock a user. */
        delete(user: string): Promise<null>;
    };
    readonly reports: {
        /** List the open reports of all groups. */
        list(query?: {
            limit?: number;
            cursor?: string;
        }): Promise<ReportPage>;
        /** Decide about a report. */
        decide(report: string, body: ReportDecision): Promise<null>;
    };
    readonly reviews: {
        /** List messages that wait for a moderator. */
        list(query?: {
            group?: string;
            limit?: number;
            cursor?: string;
        }): Promise<ReviewPage>;
        /** Release a message that waits, or drop it. */
        decide(review: string, body: ReviewDecision): Promise<ReviewDecided>;
    };
    readonly audit: {
        /** List who did what. */
        list(query?: {
            user?: string;
            group?: string;
            action?: string;
            limit?: number;
            cursor?: string;
        }): Promise<AuditPage>;
    };
    readonly invites: {
        /** Invite people. */
        create(body: InviteDraft): Promise<Invite>;
        /** List invitations. */
        list(query?: {
            group?: string;
            limit?: number;
            cursor?: string;
        }): Promise<InvitePage>;
        /** Revoke an invitation. */
        delete(invite: string): Promise<null>;
        /** Look at an invitation. */
        check(body: InviteCode): Promise<InviteShown>;
        /** Accept an invitation. */
        accept(body: InviteCode): Promise<Group>;
    };
    readonly drafts: {
        /** List what the caller has begun to write. */
        list(query?: {
            limit?: number;
            cursor?: string;
        }): Promise<DraftList>;
    };
    readonly push: {
        /** Get the server's VAPID public key. */
        key(): Promise<PushKey>;
        /** List the caller's devices. */
        list(): Promise<DeviceList>;
        /** Register a device. */
        put(device: string, body: DeviceDraft): Promise<Device>;
        /** Remove a device. */
        delete(device: string): Promise<null>;
    };
}
export declare const chatCalls = "browse GET /v1/groups/public|search GET /v1/search|users GET /v1/users|profile GET /v1/users/{}|presence POST /v1/presence|me GET /v1/me|updateMe PATCH /v1/me|schedules.create POST /v1/schedules|schedules.list GET /v1/schedules|schedules.get GET /v1/schedules/{}|schedules.update PATCH /v1/schedules/{}|schedules.cancel DELETE /v1/schedules/{}|schedules.run POST /v1/schedules/{}/run|blocks.put PUT /v1/blocks/{}|blocks.list GET /v1/blocks|blocks.get GET /v1/blocks/{}|blocks.delete DELETE /v1/blocks/{}|reports.list GET /v1/reports|reports.decide POST /v1/reports/{}|reviews.list GET /v1/reviews|reviews.decide POST /v1/reviews/{}|audit.list GET /v1/audit|invites.create POST /v1/invites|invites.list GET /v1/invites|invites.delete DELETE /v1/invites/{}|invites.check POST /v1/invites/check|invites.accept POST /v1/invites/accept|drafts.list GET /v1/drafts|push.key GET /v1/push/key|push.list GET /v1/devices|push.put PUT /v1/devices/{}|push.delete DELETE /v1/devices/{}";
export interface GroupCalls {
    /** List members and their cursors. */
    members(query?: {
        limit?: number;
        cursor?: string;
    }): Promise<MemberPage>;
    /** Change what is noted about a member. */
    updateMember(user: string, body: MemberChange): Promise<Member>;
    /** List who has seen and read a message. */
    receipts(id: number, query?: {
        limit?: number;
        cursor?: string;
        wait_s?: number;
    }): Promise<Receipts>;
    /** Set the notification level in a group. */
    notify(body: NotifyDraft): Promise<Notify>;
    /** Get the notification level in a group. */
    notifies(): Promise<Notify>;
    /** Tell who of a group is there. */
    presence(query?: {
        limit?: number;
        cursor?: string;
    }): Promise<GroupPresence>;
    readonly quorum: {
        /** Ask that a message be read. */
        put(id: number, body: QuorumDraft): Promise<Quorum>;
        /** Tell whether enough members have read a message. */
        get(id: number, query?: {
            limit?: number;
            cursor?: string;
            wait_s?: number;
        }): Promise<Quorum>;
        /** Cancel a quorum. */
        delete(id: number): Promise<null>;
    };
    readonly stream: {
        /** Write on at a message. */
        write(id: number, body: StreamPiece): Promise<StreamState>;
        /** Ask the author of a message to stop writing. */
        cancel(id: number): Promise<null>;
    };
    readonly pins: {
        /** List the pins of a group. */
        list(query?: {
            limit?: number;
            cursor?: string;
        }): Promise<PinPage>;
        /** Pin a message. */
        put(id: number): Promise<null>;
        /** Unpin a message. */
        delete(id: number): Promise<null>;
    };
    readonly threads: {
        /** List the threads of a group. */
        list(query?: {
            following?: "1";
            unread?: "1";
            limit?: number;
            cursor?: string;
        }): Promise<ThreadPage>;
        /** Read the replies in a thread. */
        messages(id: number, query?: {
            after?: number;
            before?: number;
            limit?: number;
        }): Promise<ReplyPage>;
        /** Mark a thread as read. */
        read(id: number, body: ThreadRead): Promise<ThreadStanding>;
        /** Follow a thread, or not any longer. */
        follow(id: number, body: ThreadFollow): Promise<ThreadStanding>;
    };
    readonly draft: {
        /** Keep what the caller has begun to write. */
        put(body: Draft): Promise<Draft>;
        /** Read what the caller has begun to write. */
        get(): Promise<Draft>;
        /** Forget what the caller has begun to write. */
        delete(): Promise<null>;
    };
    readonly bans: {
        /** Who is banned. */
        list(query?: {
            limit?: number;
            cursor?: string;
        }): Promise<BanPage>;
        /** Keep a user out. */
        put(user: string, body: BanDraft): Promise<Ban>;
        /** End a ban. */
        delete(user: string): Promise<null>;
    };
    readonly actions: {
        /** Press an action of a message. */
        press(id: number, body: Press): Promise<null>;
    };
    readonly reports: {
        /** Report a message. */
        create(id: number, body: ReportDraft): Promise<Report>;
        /** List the open reports of a group. */
        list(query?: {
            limit?: number;
            cursor?: string;
        }): Promise<ReportPage>;
    };
    readonly requests: {
        /** Who asks to join. */
        list(query?: {
            limit?: number;
            cursor?: string;
        }): Promise<JoinRequestPage>;
        /** Ask to join. */
        put(body: JoinRequestDraft): Promise<JoinRequest>;
        /** Ask no longer. */
        delete(): Promise<null>;
        /** Answer who asks to join. */
        answer(user: string, body: JoinAnswer): Promise<null>;
    };
}
export declare const groupCalls = "members GET /members|updateMember PATCH /members/{}|receipts GET /messages/{}/receipts|notify PUT /notify|notifies GET /notify|presence GET /presence|quorum.put PUT /messages/{}/quorum|quorum.get GET /messages/{}/quorum|quorum.delete DELETE /messages/{}/quorum|stream.write PATCH /messages/{}/stream|stream.cancel POST /messages/{}/stream/cancel|pins.list GET /pins|pins.put PUT /pins/{}|pins.delete DELETE /pins/{}|threads.list GET /threads|threads.messages GET /threads/{}/messages|threads.read POST /threads/{}/read|threads.follow PUT /threads/{}|draft.put PUT /draft|draft.get GET /draft|draft.delete DELETE /draft|bans.list GET /bans|bans.put PUT /bans/{}|bans.delete DELETE /bans/{}|actions.press POST /messages/{}/actions|reports.create POST /messages/{}/reports|reports.list GET /reports|requests.list GET /requests|requests.put PUT /requests/me|requests.delete DELETE /requests/me|requests.answer PUT /requests/{}";
export type AuditPage = {
    entries: AuditEntry[];
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type Ban = {
    at: string;
    /** Who banned them: a user, or `key:<id>`; empty once they are erased. */
    by: string;
    reason?: string;
    /** A time, or null. */
    until: string | null;
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user: string;
};
export type BanDraft = {
    /** Deletes the texts and data that they sent in so many hours: a task, soon after the answer. */
    delete_hours?: number;
    /** For those who manage the group. */
    reason?: string;
    /** When the user may join again; absent or null: never. */
    until?: string | null;
};
export type BanPage = {
    bans: Ban[];
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type Block = {
    created_at: string;
    user: string;
};
export type BlockList = {
    blocks: Block[];
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type Device = {
    created_at: string;
    endpoint?: string;
    /** Compared byte for byte. */
    id: string;
    kind: "webpush" | "webhook";
    /** Of a webhook, once: `whsec_` and the key in base64. */
    secret?: string;
    url?: string;
};
export type DeviceDraft = {
    /** How the browser wants messages encrypted. The only one is `aes128gcm` (RFC 8291), which is also the default. */
    contentEncoding?: string;
    /** With webpush: what the browser's subscription names. */
    endpoint?: string;
    /** Of the subscription, in ms since 1970, or null. It changes nothing: when a subscription has ended, its push service answers 404 or 410, and the device is removed. */
    expirationTime?: number;
    /** Of the subscription, for webpush. */
    keys?: {
        auth: string;
        p256dh: string;
    };
    kind: "webpush" | "webhook";
    /** With webhook. */
    url?: string;
};
export type DeviceList = {
    devices: Device[];
};
export type Draft = {
    /** It may be empty. */
    body: string;
    /** Any JSON value, at most 16 KiB. */
    data?: Json;
    reply_to?: number;
    rev: number;
    thread?: number;
};
export type DraftList = {
    drafts: DraftOf[];
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type Group = {
    backlog_bytes: number;
    backlog_max: number;
    created_at: string;
    /** A user, or `key:<id>` where a program made the group for itself: it has no owner until one is named. */
    created_by: string;
    /** Custom fields, a JSON object of at most 4 KiB without white space. Absent where there are none. */
    data?: {
        [key: string]: Json;
    };
    /** Of a direct group only: its two users, sorted. */
    direct?: string[];
    /** Names the life of the log. */
    epoch: string;
    /** After how many seconds a message is deleted for everyone; 0: never. */
    expire_s: number;
    /** The oldest id that can still be read. */
    first: number;
    history: boolean;
    /** A legal hold on a group. Only operators see it. */
    hold?: Hold;
    /** Compared byte for byte. */
    id: string;
    /** Who may add themself to a public group: `open`: everybody; `ask`: those who manage it decide; `closed`: nobody. A private group is joined only by invitation, or by being added. Default: `open` for a public group, `closed` for a private one. */
    join: "open" | "ask" | "closed";
    keep: number;
    last: number;
    members: number;
    /** Who may mention all members at once, by `@all` in `mentions`, else `403 forbidden`: every member; those who manage the group, the default, and always where it has more than 1,000 members; or nobody. */
    mention_all: "members" | "managers" | "off";
    /** When the caller may write again; absent where they may now. `9999-12-31T00:00:00.000Z`: never. */
    muted_until?: string;
    name: string;
    overflow: "drop" | "block";
    /** Who may pin messages: `managers`, the default: the owner, admins and operators; `members`: also all members who may write. In a direct group, which nobody manages, both may. */
    pins: "managers" | "members";
    /** Who may post and edit. `none`: nobody, managers included; announcements still come. */
    post: "members" | "admins" | "none";
    /** What receipts say. `optional`, the default: who has seen and read, but for those who hide it. `required`: whether they hide it or not. `counts`: how many, and no names. `off`: nothing. */
    receipts: "optional" | "required" | "counts" | "off";
    /** After how many days messages go; 0: never. `CHATD_RETAIN_DAYS` may be shorter. */
    retain_days: number;
    /** Slow mode: how many seconds a member waits between messages; 0: none. */
    slow_s: number;
    visibility: "private" | "public";
};
export type GroupDraft = {
    /** Default: 1073741824. With `block`: how many bytes of files, in messages that they have not seen, a member may be behind. Beyond that, sends and new uploads get `429 backlog_full`. A larger file is let through alone. */
    backlog_bytes?: number;
    /** How far behind a member may be and still hold back trimming. Default: 10000. */
    backlog_max?: number;
    /** Custom fields, a JSON object of at most 4 KiB without white space. Absent where there are none. */
    data?: {
        [key: string]: Json;
    };
    /** After how many seconds a message is deleted for everyone, from 60; 0, the default: never. It holds for what is sent from then on. */
    expire_s?: number;
    /** Whether who joins sees what was said before. Default: true. */
    history?: boolean;
    /** Chosen by the server when absent; `public` is none. */
    id?: string;
    /** Who may add themself to a public group: `open`: everybody; `ask`: those who manage it decide; `closed`: nobody. A private group is joined only by invitation, or by being added. Default: `open` for a public group, `closed` for a private one. */
    join?: "open" | "ask" | "closed";
    /** How many of the newest messages stay though all have seen them. Default: 100. */
    keep?: number;
    members?: string[];
    /** Who may mention all members at once, by `@all` in `mentions`, else `403 forbidden`: every member; those who manage the group, the default, and always where it has more than 1,000 members; or nobody. */
    mention_all?: "members" | "managers" | "off";
    /** Without control characters; those for the direction of writing are dropped. */
    name?: string;
    /** What happens beyond `backlog_max`. `drop` (default): the member is no longer waited for. `block`: sends and new uploads get `429 backlog_full` until the member acks or leaves. */
    overflow?: "drop" | "block";
    /** Who may pin messages: `managers`, the default: the owner, admins and operators; `members`: also all members who may write. In a direct group, which nobody manages, both may. */
    pins?: "managers" | "members";
    /** Who may post and edit. `none`: nobody, managers included; announcements still come. */
    post?: "members" | "admins" | "none";
    /** What receipts say. `optional`, the default: who has seen and read, but for those who hide it. `required`: whether they hide it or not. `counts`: how many, and no names. `off`: nothing. */
    receipts?: "optional" | "required" | "counts" | "off";
    /** After how many days messages go, read or not; 0, the default: never. */
    retain_days?: number;
    /** Slow mode: how many seconds a member waits between messages, else `429 rate_limited` with `Retry-After`; 0, the default: none. It spares the owner and admins; edits, deletions and reactions are free. */
    slow_s?: number;
    visibility?: "private" | "public";
};
export type GroupPresence = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    /** How many are there, listed or not. */
    online: number;
    users: UserPresence[];
};
export type Invite = {
    /** In the answer to its creation only. */
    code?: string;
    created_at: string;
    created_by: string;
    expires_at: string | null;
    /** null: it lets register. */
    group: string | null;
    /** Compared byte for byte. */
    id: string;
    note?: string;
    role: string | null;
    /** The address of this server with the code behind the `#`, which browsers send nowhere; in the answer to its creation only. */
    url?: string;
    used: number;
    uses: number;
};
export type InviteCode = {
    code: string;
};
export type InviteDraft = {
    /** Default: no end. */
    expires_at?: string;
    /** Compared byte for byte. */
    group?: string;
    /** For its makers, up to 200 characters. */
    note?: string;
    /** In the group; default `member`. */
    role?: "member" | "admin";
    uses?: number;
};
export type InvitePage = {
    invites: Invite[];
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type InviteShown = {
    /** Who invites. */
    from_name?: string;
    group_name?: string;
    members?: number;
    /** Address of this server. */
    server: string;
};
export type JoinAnswer = {
    /** Whether the user becomes a member. */
    accept: boolean;
};
export type JoinRequest = {
    at: string;
    note?: string;
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user: string;
};
export type JoinRequestDraft = {
    /** For those who decide. */
    note?: string;
};
export type JoinRequestPage = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    requests: JoinRequest[];
};
export type Me = {
    data?: {
        [key: string]: Json;
    };
    name?: string;
    /** An https address, or the path of an avatar of this server. */
    picture?: string;
    /** Whether others see where the user is. */
    presence?: "shown" | "hidden";
    /** Whether others see what the user has seen and read, in groups whose `receipts` are `optional`. Who hides it does not see that of others. */
    receipts?: "shown" | "hidden";
    /** Of operators and backends alone. */
    role?: string;
    /** Any JSON value of the user's clients. */
    settings?: Json;
    status?: UserStatus;
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user: string;
    /** Grows with every change; 0: there is no profile. */
    version: number;
};
export type MeChange = {
    /** At most 4 KiB. */
    data?: {
        [key: string]: Json;
    } | null;
    /** 1 to 64 characters. */
    name?: string | null;
    picture?: string | null;
    /** Hidden: nobody sees where the caller is, and the caller sees nobody. */
    presence?: "shown" | "hidden";
    receipts?: "shown" | "hidden";
    /** Any JSON value, at most 8 KiB. */
    settings?: Json;
    /** As in User; it replaces the one before. */
    status?: {
        [key: string]: Json;
    } | null;
};
export type Member = {
    /** Custom fields, a JSON object of at most 4 KiB without white space. Absent where there are none. */
    data?: {
        [key: string]: Json;
    };
    joined_at: string;
    /** When they may write again; absent where they may now. */
    muted_until?: string;
    /** null where it is hidden from who asks. */
    read: number | null;
    role: "owner" | "admin" | "member";
    /** null where it is hidden from who asks. */
    seen: number | null;
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user: string;
};
export type MemberChange = {
    /** Custom fields, a JSON object of at most 4 KiB without white space. Absent where there are none. */
    data?: {
        [key: string]: Json;
    };
    /** When the member may write again; null: now; `9999-12-31T00:00:00.000Z`: never. */
    muted_until?: string | null;
};
export type MemberPage = {
    members: Member[];
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type Notify = {
    level: "all" | "mentions" | "none";
    /** A time, or null. */
    until: string | null;
};
export type NotifyDraft = {
    level: "all" | "mentions" | "none";
    until?: string;
};
export type PinPage = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    pins: Pin[];
};
export type PresenceList = {
    users: UserPresence[];
};
export type PresenceRequest = {
    users: string[];
};
export type Press = {
    /** Of the action. */
    id: string;
    /** Any JSON value, at most 16 KiB. */
    value?: Json;
};
export type PublicGroupPage = {
    groups: Group[];
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type PushKey = {
    /** The point of P-256, uncompressed, in base64url. */
    key: string;
};
export type Quorum = {
    /** Who asked; empty: somebody who is erased. */
    by: string;
    /** Absent while it is open. */
    decided_at?: string;
    escalate: string[];
    /** Compared byte for byte. */
    group: string;
    id: number;
    /** Exactly one of them. */
    need: QuorumNeed;
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    /** How many members count. */
    of: number;
    pending: string[];
    /** How many of them have read the message. */
    read: number;
    reminders: QuorumSent[];
    state: "open" | "met" | "missed" | "cancelled";
    until: string;
};
export type QuorumDraft = {
    escalate?: string[];
    /** Exactly one of them. */
    need: QuorumNeed;
    remind?: QuorumReminder[];
    /** Within the next 366 days. */
    until: string;
};
export type Receipts = {
    id: number;
    members: number;
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    pending: string[];
    read: number;
    seen: number;
    seen_by: ({
        read: number;
        seen: number;
        /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
        user: string;
    })[];
};
export type ReplyPage = ThreadStanding & {
    /** Compared byte for byte. */
    group: string;
    /** There are further replies, in the direction that was asked for. */
    has_more: boolean;
    messages: Message[];
};
export type Report = {
    at: string;
    /** Who reports it. */
    by: string;
    /** Who wrote it. */
    from: string;
    /** Compared byte for byte. */
    group: string;
    /** Compared byte for byte. */
    id: string;
    /** As it read when it was reported, in the lists. Kept until the report is closed, at most 90 days. */
    message?: Message;
    note?: string;
    reason: string;
    /** Id of the message. */
    target: number;
};
export type ReportDecision = {
    /** `delete` deletes the message, `mute` and `ban` are about its author, `dismiss` does nothing. */
    action: "dismiss" | "delete" | "mute" | "ban";
    /** When a mute or a ban ends; absent or null: never. */
    until?: string | null;
};
export type ReportDraft = {
    /** More about it, for those who decide. */
    note?: string;
    /** What is wrong with the message, such as `spam`. */
    reason: string;
};
export type ReportPage = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    reports: Report[];
};
export type ReviewDecided = {
    id: string;
    /** Of the message in the log; absent for direct messages and schedules. */
    message_id?: number;
    state: "released" | "dropped";
};
export type ReviewDecision = {
    action: "release" | "drop";
    /** For the sender. */
    reason?: string;
};
export type ReviewPage = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    reviews: Review[];
};
export type Schedule = Content & {
    at?: string;
    count?: number;
    created_at: string;
    cron?: string;
    /** Only in the answer to a send with `deliver_at`: this key was known. */
    duplicate?: boolean;
    /** Compared byte for byte. */
    group?: string;
    /** Compared byte for byte. */
    id: string;
    kind?: "text" | "data";
    /** A time, or null. */
    last_at?: string | null;
    /** Why the last firing sent nothing. */
    last_error: string | null;
    /** Id (or seq, to a user) of the newest message sent. */
    last_id: number | null;
    /** What happens to an occurrence that is more than 10 seconds late because no node was running: send it late (once for all that were missed), or skip it. */
    misfire?: "send" | "skip";
    /** Occurrences that were not sent because nothing ran. */
    missed?: number;
    /** When it fires next; null where it does not. */
    next_at: string | null;
    /** Of one that recurs, its next occurrences: `next_at` first, three at most. */
    next_times?: string[];
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    owner?: string;
    /** Messages sent. */
    sent: number;
    state: "pending" | "paused" | "done" | "failed" | "cancelled";
    timezone?: string;
    until?: string;
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user?: string;
};
export type ScheduleChange = {
    at?: string;
    body?: string;
    count?: number;
    cron?: string;
    /** Any JSON value, at most 16 KiB. */
    data?: Json;
    /** After how many seconds what is sent is deleted. */
    expire_s?: number;
    /** What happens to an occurrence that is more than 10 seconds late because no node was running: send it late (once for all that were missed), or skip it. */
    misfire?: "send" | "skip";
    paused?: boolean;
    timezone?: string;
    until?: string;
};
/** To a group or a user, at a time or by cron. */
export type ScheduleDraft = {
    /** At most 366 days ahead. */
    at?: string;
    /** At most 16 KiB, with at least one visible character. */
    body?: string;
    /** How many occurrences at most; missed ones do not count. */
    count?: number;
    /** Minute, hour, day of month, month, day of week; with six fields, seconds first; or @hourly, @daily, @weekly, @monthly, @yearly. Days may be L, L-3, LW, 15W, 5L and 5#3 as in Quartz. */
    cron?: string;
    /** Any JSON value, at most 16 KiB. */
    data?: Json;
    /** After how many seconds what is sent is deleted. */
    expire_s?: number;
    /** Compared byte for byte. */
    group?: string;
    /** What happens to an occurrence that is more than 10 seconds late because no node was running: send it late (once for all that were missed), or skip it. */
    misfire?: "send" | "skip";
    /** An IANA name; UTC where it is absent. */
    timezone?: string;
    /** Nothing fires after it. */
    until?: string;
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user?: string;
};
export type SchedulePage = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    schedules: Schedule[];
};
export type SearchPage = {
    hits: Hit[];
    /** Only where something is not indexed yet: what was sent after this time may be missing. */
    incomplete_before?: string;
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
};
export type StreamPiece = {
    /** Whole characters. */
    append?: string;
    /** The whole text, in place of `offset` and `append`. */
    body?: string;
    /** The text is whole. */
    done?: boolean;
    /** Where `append` begins, in bytes of UTF-8. */
    offset?: number;
};
export type StreamState = {
    /** Somebody asked to stop. */
    cancelled?: boolean;
    /** How many bytes stand. */
    length: number;
};
export type ThreadFollow = {
    following: boolean;
};
export type ThreadPage = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    threads: Thread[];
};
export type ThreadRead = {
    id: number;
};
/** A thread, and how the caller stands to it. */
export type ThreadStanding = {
    following: boolean;
    /** Of the root. */
    id: number;
    /** Of the newest reply; 0 without any. */
    last_id: number;
    /** Up to which id the caller has read it; 0 for who does not follow it. */
    read: number;
    replies: number;
    /** Replies of others above `read`; 0 for who does not follow it. */
    unread: number;
};
export type User = {
    data?: {
        [key: string]: Json;
    };
    /** For operators. */
    disabled?: boolean;
    /** When the user last made a call with a token or had a websocket, now while one is open; up to a minute late. Calls of keys with `Chatd-As` do not count. Null: never seen. Others than operators get it for a single user, to 5 minutes, unless one of the two hides. */
    last_seen_at?: string | null;
    name?: string;
    /** An https address, or the path of an avatar of this server. */
    picture?: string;
    /** For operators: `admin` or null, as `PUT /v1/users` has set it. */
    role?: string | null;
    status?: UserStatus;
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user: string;
    /** Grows with every change; 0: the user has no profile. */
    version: number;
};
export type UserPage = {
    /** The `cursor` of the next page; null at the end. */
    next: string | null;
    users: User[];
};
export type AuditEntry = {
    /** `<noun>.<verb>`, as `member.ban`. */
    action: string;
    /** Who did it: a user, or a key as `key:<id>`. Empty for an erased person. */
    actor: string;
    at: string;
    /** What else there is to say, by action. */
    detail: {
        [key: string]: Json;
    };
    /** Compared byte for byte. */
    group?: string;
    /** Compared byte for byte. */
    id: string;
    /** Whom it was done to. */
    user?: string;
    /** The key by which it was done. */
    via?: string;
};
/** The content of a text or data, the same in a send, a scheduled send and the log. */
export type Content = {
    /** Buttons below the message; only of programs with a key, and of operators. An edit keeps them. */
    actions?: Action[];
    /** At most 16 KiB, with at least one visible character; of a stream, up to 64 KiB, or empty. */
    body?: string;
    /** A key chosen by the client that makes the call safe to repeat. */
    client_id?: string;
    /** Any JSON value, at most 16 KiB. */
    data?: Json;
    /** In a send: after how many seconds the message is deleted for everyone, if its group does not do so earlier. */
    expire_s?: number;
    /** Users, each counted once; `@all` stands for everybody in the group. */
    mentions?: string[];
    reply_to?: number;
    /** Of a text, `true` while it is being written: its author goes on with `PATCH …/stream`. `cut`: they fell silent before it was done. In the entry that ends it `done` or `cut`. */
    stream?: boolean | string;
    /** The message whose thread it is in: a text or data that is in none itself. */
    thread?: number;
};
export type DraftOf = {
    body: string;
    /** Any JSON value, at most 16 KiB. */
    data?: Json;
    /** Compared byte for byte. */
    group: string;
    reply_to?: number;
    /** Grows with each change. */
    rev: number;
    thread?: number;
};
export type Hit = {
    message: Message;
    snippet: Snippet;
};
/** A legal hold on a group. Only operators see it. */
export type Hold = {
    /** The operator who gave the reason. */
    by: string;
    reason: string;
    since: string;
};
export type Pin = {
    at: string;
    /** Who pinned it; empty where they are erased. */
    by: string;
    message: Message;
};
/** Exactly one of them. */
export type QuorumNeed = {
    count?: number;
    percent?: number;
    users?: string[];
};
export type QuorumReminder = {
    /** Seconds after it was asked. */
    after_s: number;
    via?: "inbox" | "push";
};
export type QuorumSent = {
    after_s: number;
    at: string;
    sent: boolean;
    via: "inbox" | "push";
};
export type Review = {
    at: string;
    deliver_at?: string;
    expires_at: string;
    from: string;
    /** That it is for; absent: `to`. */
    group?: string;
    id: string;
    /** As it would be stored: `kind`, `body`, `data`, `mentions`, of an edit `target`. */
    message: {
        [key: string]: Json;
    };
    /** Why it waits, for moderators. */
    reason?: string;
    /** Of a direct message: whom it is for. */
    to?: string;
    /** Id of the key by which a program sent it. */
    via?: string;
};
export type Thread = ThreadStanding & {
    /** The newest reply. */
    last_message: Message | null;
    root: Message;
};
export type UserPresence = {
    since: string;
    state: "online" | "away";
    /** Compared byte for byte; does not begin with `in:`, `reader:` or `key:`, and is not `@all`. */
    user: string;
};
export type UserStatus = {
    /** One emoji of Unicode. */
    emoji?: string;
    text: string;
    /** The status is served until then. */
    until?: string;
};
export type Action = {
    /** A question that the client asks before. */
    confirm?: string;
    /** Each once in a message. As ids of groups. */
    id: string;
    /** What stands on the button. */
    label: string;
    style?: "primary" | "danger";
    /** An address of http or https that the client opens, in place of a press. */
    url?: string;
};
export type Snippet = {
    /** What matched, as `[from, to)` in UTF-16 code units of `text`, ascending. */
    marks: number[][];
    /** The part of the message around the first match, with an ellipsis where text is left out. The strings of `data` follow the body, a line each. */
    text: string;
};
