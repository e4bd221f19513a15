/** Who is signed in to this browser; see createSignIn. */
export { about, createSignIn, dropTicket, hasDevCode, inviteProblem, takeDevCode, takeInvite, takeTicket, ticketOf } from "../js/signin.js";
import { createSignIn } from "../js/signin.js";
export type SignIn = ReturnType<typeof createSignIn>;
