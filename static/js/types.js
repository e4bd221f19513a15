/**
 * The shapes that the modules share. What comes from the wire keeps the names of the wire.
 *
 * @typedef {import("./content.js").Content} Content
 *
 * @typedef {Content & MessageFields} Message an entry of a group's log
 * @typedef {object} MessageFields
 * @property {string} group
 * @property {number} id
 * @property {string} from
 * @property {string} [via] id of the key by which a program wrote it
 * @property {"text"|"data"|"edit"|"delete"|"reaction"|"notice"} kind
 * @property {string} [client_id]
 * @property {string} sent_at
 * @property {number} [reply_to]
 * @property {number} [target]
 * @property {string} [emoji]
 * @property {boolean} [removed]
 * @property {string} [notice]
 * @property {string} [user] whom a notice concerns
 * @property {string[]} [users] in place of user where it concerns several
 * @property {string} [role]
 * @property {string} [name]
 * @property {Settings} [settings] what a notice of settings changed, with the new values
 * @property {string} [edited_at]
 * @property {string} [deleted_at]
 * @property {Record<string, Reaction>} [reactions] only in pages of GET messages
 *
 * @typedef {{count: number, mine: boolean}} Reaction
 *
 * @typedef {{id: string, name: string, size: number, type: string, width?: number, height?: number}} File
 *
 * @typedef {object} Upload a file that goes with what is being written
 * @property {string} key
 * @property {string} group
 * @property {string} name
 * @property {number} size
 * @property {string} type as the browser says
 * @property {number} sent bytes that the server has got
 * @property {"waiting"|"sending"|"whole"|"failed"} phase waiting: for its turn, or for the next attempt
 * @property {string} [id] of the file at the server
 * @property {string} [problem] why it failed
 *
 * @typedef {{visibility?: "private"|"public", keep?: number, retain_days?: number, backlog_max?: number, overflow?: "drop"|"block", backlog_bytes?: number, post?: "members"|"admins", history?: boolean, data?: object}} Settings
 *
 * @typedef {Content & EntryFields} Entry a text, data or notice as the page shows it
 * @typedef {object} EntryFields
 * @property {number} id
 * @property {string} from
 * @property {string} [via] id of the key by which a program wrote it
 * @property {"text"|"data"|"notice"} kind
 * @property {string} [client_id]
 * @property {string} sent_at
 * @property {number} [reply_to]
 * @property {string} [notice]
 * @property {string} [user]
 * @property {string} [role]
 * @property {string} [name]
 * @property {Settings} [settings]
 * @property {string} [edited_at]
 * @property {string} [deleted_at]
 * @property {number} at the entry of the log up to which this copy has the state of the message
 * @property {Map<string, Reaction>} reactions
 * @property {"waiting"|"failed"} [pending] a message of our own that the server has not confirmed yet
 * @property {string} [problem] why it failed
 *
 * @typedef {object} Batch messages from the server, ascending and dense
 * @property {string} group
 * @property {string} epoch
 * @property {number} from
 * @property {number} to
 * @property {string} [cursor]
 * @property {boolean} complete
 * @property {Message[]} messages
 * @property {Record<string, number>} [profiles] versions of the profiles of those who wrote or are mentioned
 *
 * @typedef {Batch & {first: number, last: number, has_more: boolean}} Page
 *
 * @typedef {object} Log the part of a group's log that the page holds; it holds every id from..to
 * @property {string} epoch
 * @property {number} from
 * @property {number} to
 * @property {number} end the last id that the server has sent live; above `to` while what is between is not loaded
 * @property {string} cursor of `end`; empty when only the id is known
 * @property {boolean} more whether there may be something older to load
 * @property {boolean} trimmed whether what stood before `from` is known to be gone
 * @property {number[]} gaps ids before which something is missing for good
 * @property {Map<number, Entry>} entries ascending by id
 * @property {Message[]} changes edits, deletions and reactions whose target is not held
 *
 * @typedef {object} Group
 * @property {string} id
 * @property {string} name
 * @property {"private"|"public"} visibility
 * @property {string} created_by
 * @property {string} created_at
 * @property {string} epoch
 * @property {number} first
 * @property {number} last
 * @property {number} members
 * @property {[string, string]} [direct] of a direct group: its two users
 * @property {string} [peer] of these, the other one
 * @property {"members"|"admins"} post
 * @property {number} [keep]
 * @property {number} [retain_days] absent where the server does not know it
 * @property {number} seen
 * @property {number} read
 * @property {number} unread
 * @property {number} mentions_unread
 * @property {number} counted the id up to which `unread` counts
 * @property {Message|null} last_message
 * @property {boolean} known false: only the id is known yet
 *
 * @typedef {{user: string, role: "owner"|"admin"|"member", joined_at: string, seen: number, read: number}} Member
 *
 * @typedef {object} Item of the inbox
 * @property {number} seq
 * @property {string} kind
 * @property {string} [from]
 * @property {string} [group]
 * @property {number} [id]
 * @property {string} [body]
 * @property {any} [data]
 * @property {string} sent_at
 *
 * @typedef {Content & TaskFields} Task a send that waits for its answer
 * @typedef {object} TaskFields
 * @property {string} client_id
 * @property {string} group
 * @property {"text"|"edit"|"delete"|"reaction"} kind
 * @property {number} [reply_to]
 * @property {number} [target]
 * @property {string} [emoji]
 * @property {boolean} [removed]
 * @property {string} queued_at
 * @property {number} attempts
 * @property {number} [id] the answer: the id it got in the log
 * @property {string} [problem] why it was refused for good
 *
 * @typedef {object} Hit of a search
 * @property {Message} message
 * @property {{text: string, marks: [number, number][]}} snippet marks in UTF-16 code units of the text
 *
 * @typedef {{phase: "off"|"connecting"|"live"|"waiting", until?: number, by?: "socket"|"poll"}} Link
 *
 * @typedef {object} State
 * @property {string} me
 * @property {Link} link
 * @property {Map<string, Group>} groups
 * @property {Map<string, Log>} logs
 * @property {Map<string, Map<string, Member>>} members
 * @property {import("./people.js").People} people
 * @property {Map<string, Map<string, number>>} typing group -> user -> until, ms
 * @property {string} open the group that is shown, or ""
 * @property {{items: Item[], to: number, epoch: string, cursor: string, complete: boolean}} inbox
 * @property {Task[]} outbox
 * @property {Upload[]} uploads
 * @property {number|undefined} fileMax bytes of a file; 0: the server keeps no files; undefined: not known yet
 * @property {{id: number, text: string, bad: boolean}[]} toasts
 * @property {string} heard what a screen reader is to say next
 * @property {{code: string, shown?: any, problem?: string}|null} invite that the page was opened with
 * @property {string} signedOut why the sign-in page is shown, or ""
 * @property {boolean} stale true: counts have to be requested again
 * @property {{group: string, id: number}|null} place the message to show next
 * @property {number} memberships how often the person was seen to enter or leave a group
 */
export {};
