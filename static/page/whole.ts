/** Each file that is loaded later imports this: what it shares with the shell is one chunk then, and no chunk for each set of those who share. */
import "./app.tsx";
import "./wire.ts";
import "./invite.ts";
import "./ui/confirm.tsx";
