/** The dialogs that are not needed at first sight, by kind. They are a file of their own; what they share with the rest comes from app.js. */
import { Browse } from "./browse.js";
import { Inbox } from "./inbox.js";
import { Members } from "./members.js";
import { NewGroup } from "./newgroup.js";
import { Receipts } from "./receipts.js";
import { Search } from "./search.js";
import { You } from "./you.js";

/** @type {Record<string, (props: any) => any>} */
export const sheets = { browse: Browse, inbox: Inbox, members: Members, new: NewGroup, receipts: Receipts, search: Search, you: You };
