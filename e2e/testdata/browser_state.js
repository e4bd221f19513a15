// Checks of the page's pure modules, run inside the page itself. Gives the list of what does not hold.
(async () => {
  const { append, emptyLog, prepend, shorten } = await import("/js/log.js");
  const { due, noted, overlaid, settled } = await import("/js/outbox.js");
  const state = await import("/js/state.js");
  const format = await import("/js/format.js");
  const { readMarks, timeline } = await import("/js/timeline.js");

  const failures = [];
  const same = (what, got, want) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  const at = (id) => new Date(Date.UTC(2026, 0, 2, 10, 0, id)).toISOString();
  const text = (id, from, body, more = {}) => ({ group: "g", id, from, kind: "text", body, sent_at: at(id), ...more });
  const change = (id, from, kind, target, more = {}) => ({ group: "g", id, from, kind, target, sent_at: at(id), ...more });
  const batch = (messages, more = {}) => ({
    group: "g", epoch: "e", from: messages[0].id, to: messages.at(-1).id, complete: true, messages, cursor: `e.${messages.at(-1).id}.m`, ...more,
  });
  const bodies = (log) => [...log.entries.values()].map((e) => e.body ?? (e.deleted_at ? "-" : null));

  // A log: what comes twice is taken once, holes are told, another life of the log replaces the first.
  let log = append(emptyLog(0, "e"), batch([text(1, "ann", "one"), text(2, "bob", "two")]), "ann");
  log = append(log, batch([text(2, "bob", "two"), change(3, "bob", "edit", 2, { body: "three" })]), "ann");
  same("edited", bodies(log), ["one", "three"]);
  same("an edit whose content went with its message", bodies(append(log, batch([change(4, "bob", "edit", 2)]), "ann")), ["one", "three"]);
  same("deleted", bodies(append(log, batch([change(4, "bob", "delete", 2)]), "ann")), ["one", "-"]);
  const hole = append(log, batch([text(9, "bob", "nine")], { complete: false }), "ann");
  same("gap", [hole.gaps, bodies(hole), hole.to], [[9], ["one", "three", "nine"], 9]);
  const other = append(log, batch([text(1, "bob", "anew")], { epoch: "f", complete: false }), "ann");
  same("another epoch", [other.gaps, bodies(other), other.epoch, other.to], [[1], ["anew"], "f", 1]);
  const rolled = append(log, { group: "g", epoch: "e", from: 3, to: 2, complete: false, messages: [], cursor: "e.2.m" }, "ann");
  same("a log that lost its end", [rolled.to, rolled.more, rolled.entries.size, rolled.cursor], [2, true, 0, "e.2.m"]);
  const many = append(emptyLog(0, "e"), batch(Array.from({ length: 900 }, (_, i) => text(i + 1, "bob", `${i + 1}`))), "ann");
  same("shortened", [shorten(many).entries.size, shorten(many).from, shorten(many).more], [500, 401, true]);

  // The outbox: one send at a time in a group, in order, and nothing is shown twice.
  const task = (client_id, group, more = {}) => ({ client_id, group, kind: "text", body: client_id, queued_at: at(50), attempts: 0, ...more });
  const box = [task("a", "g"), task("b", "g"), task("c", "h"), task("d", "i", { problem: "no" })];
  same("due", [due(box, new Set()), due(box, new Set(["g"]))].map((l) => l.map((t) => t.client_id)), [["a", "c"], ["c"]]);
  same("after an answer", due(noted(box, "a", { id: 3 }), new Set()).map((t) => t.client_id), ["b", "c"]);
  same("settled", settled(noted(noted(box, "a", { id: 3 }), "b", { id: 4 }), "g", log).map((t) => t.client_id), ["b", "c", "d"]);
  const echoed = append(log, batch([text(4, "ann", "a", { client_id: "a" })]), "ann");
  same("own ones once", overlaid(echoed, box.slice(0, 2), "ann").map((e) => e.body), ["one", "three", "a", "b"]);
  const own = overlaid(log, [task("r", "g", { kind: "reaction", target: 2, emoji: "x" }), task("e", "g", { kind: "edit", target: 1, body: "uno" })], "ann");
  same("changes before they are confirmed", [own[0].body, own[0].pending, [...own[1].reactions]], ["uno", "waiting", [["x", { count: 1, mine: true }]]]);

  // Counts: exact from the list, then kept by what comes; doubt asks the server again.
  const listed = (id, more = {}) => ({ id, name: id, epoch: "e", first: 1, last: 2, seen: 1, read: 1, unread: 1, mentions_unread: 0, created_at: at(0), last_message: null, ...more });
  let s = state.withGroups(state.initialState("ann"), [listed("g"), listed("__proto__")], new Map(), new Set());
  same("names that objects have of their own", [...s.groups.keys()], ["g", "__proto__"]);
  s = state.withBatch(s, batch([text(2, "bob", "old"), text(3, "bob", "@ann", { mentions: ["ann"] }), text(4, "ann", "mine"), change(5, "bob", "reaction", 4, { emoji: "x" })]));
  same("unread", [s.groups.get("g").unread, s.groups.get("g").mentions_unread, s.stale], [2, 1, false]);
  same("a late list", state.withGroups(s, [listed("g")], new Map(), new Set()).groups.get("g").unread, 2);
  same("a late list asks again", state.withGroups(s, [listed("g")], new Map(), new Set()).stale, true);
  same("read", [state.withRead(s, "g", 5).groups.get("g").unread, state.totalUnread(state.withRead(s, "g", 5))], [0, 1]);
  same("deleted above read", state.withBatch(s, batch([change(6, "bob", "delete", 3)])).stale, true);
  same("a cursor of one's own", state.withCursor(s, { group: "g", user: "ann", seen: 5, read: 5 }).stale, true);
  same("a cursor kept over a reload", state.withGroups(state.initialState("ann"), [listed("g")], new Map([["g", "e.1.k"]]), new Set()).logs.get("g").to, 1);
  same("a cursor of another epoch", state.withGroups(state.initialState("ann"), [listed("g")], new Map([["g", "x.1.k"]]), new Set()).logs.get("g").to, 2);
  const listedMembers = [{ user: "bob", role: "member", seen: 2, read: 2 }, { user: "eve", role: "member", seen: 2, read: 2 }];
  const before = state.withMembers(s, "g", listedMembers, undefined);
  const moved = state.withCursor(before, { group: "g", user: "bob", seen: 5, read: 5 });
  const late = [{ user: "bob", role: "admin", seen: 2, read: 2 }, { user: "eve", role: "member", seen: 2, read: 1 }];
  same("a late list of members", [...state.withMembers(moved, "g", late, before.members.get("g")).members.get("g").values()].map((m) => [m.role, m.read]), [["admin", 5], ["member", 1]]);
  same("left", [...state.withoutGroup(s, "g").groups.keys()], ["__proto__"]);

  // Notices: what they say, and what the page takes from them.
  const notice = (id, what, more) => ({ group: "g", id, from: "eve", kind: "notice", notice: what, sent_at: at(id), ...more });
  const told = [notice(6, "renamed", { name: "N" }), notice(7, "role", { user: "bob", role: "admin" }),
    notice(8, "settings", { settings: { visibility: "public", keep: 5, post: "admins", history: false, backlog_max: 9 } }), notice(9, "settings", {})];
  same("notices", timeline([...append(undefined, batch(told), "ann").entries.values()], [], -1, "ann").slice(1).map((l) => l.text),
    ["eve named the group “N”", "bob is now an admin", "eve changed the settings: the group is public, only admins post, new members don’t see earlier messages, " +
      "5 messages are kept, members may fall 9 messages behind", "eve changed the settings"]);
  const after = state.withBatch(s, batch(told)).groups.get("g");
  same("what notices change", [after.name, after.visibility, after.post], ["N", "public", "admins"]);

  // Text: only http and https are links, only members are mentioned.
  const cut = (body, names) => format.pieces(body, names).map((p) => p.href ?? (p.mention ? `@${p.mention}!` : p.text));
  same("links", cut("see https://a.example/b?c=d. javascript:alert(1) HTTP://x http://"), ["see ", "https://a.example/b?c=d", ". javascript:alert(1) HTTP://x http://"]);
  same("mentions", cut("@bob. a@bob @bobby @b.o", ["bob", "b.o"]), ["@bob!", ". a@bob @bobby ", "@b.o!"]);
  same("mentioned", format.mentionsIn("@bob, @eve and @bob-", ["bob", "ann"]), ["bob"]);
  same("pieces lose nothing", format.pieces("@bob https://x.example, ok", ["bob"]).map((p) => p.text).join(""), "@bob https://x.example, ok");
  same("initials", ["ann", "ann-bee", "x", "日本", "-"].map(format.initials), ["AN", "AB", "X", "日本", "?"]);
  same("names", [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]].map((n) => format.namesOf(n)), ["a", "a and b", "a, b and c", "a, b and 2 others"]);

  // Lines: days, runs, where the new ones begin.
  const lines = timeline(overlaid(echoed, [], "ann"), [2], 1, "ann");
  same("lines", lines.map((l) => l.type), ["day", "message", "gap", "new", "message", "message"]);
  same("nothing new", timeline(overlaid(echoed, [], "ann"), [], -1, "ann").map((l) => l.type), ["day", "message", "message", "message"]);
  same("runs", lines.filter((l) => l.type === "message").map((l) => [l.head, l.tail]), [[true, true], [true, true], [true, true]]);
  same("read marks", [...readMarks([...echoed.entries.values()], [{ user: "ann", read: 4 }, { user: "bob", read: 3 }], "ann")], [[1, ["bob"]]]);

  // Whatever the order in which pages and live entries come, the page ends with what the server has.
  for (let seed = 1; seed <= 300; seed++) {
    const problem = replay(seed);
    if (problem) { failures.push(`order of arrival, seed ${seed}: ${problem}`); break; }
  }
  return failures;

  function replay(seed) {
    const rand = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };
    const users = ["ann", "bob", "eve"], emojis = ["x", "y"], server = [], has = new Map();
    const write = () => {
      const id = server.length + 1, from = users[rand(3)], target = 1 + rand(Math.max(1, server.length));
      const m = server[target - 1], kind = ["text", "text", "edit", "delete", "reaction", "reaction"][rand(6)];
      if (kind === "text" || !m || m.kind !== "text" || m.deleted_at) return server.push(text(id, from, `body ${id}`));
      if (kind === "edit") { m.body = `edit ${id}`; m.edited_at = at(id); return server.push(change(id, from, kind, target, { body: m.body })); }
      if (kind === "delete") {
        for (const e of server) if (e === m || (e.kind === "edit" && e.target === target)) delete e.body;
        m.deleted_at = at(id);
        return server.push(change(id, from, kind, target));
      }
      const key = `${target} ${from} ${emojis[rand(2)]}`, removed = has.get(key) === true;
      has.set(key, !removed);
      return server.push(change(id, from, kind, target, { emoji: key.split(" ")[2], removed: removed || undefined }));
    };
    const reactions = (id) => Object.fromEntries(emojis.map((emoji) => [emoji, {
      count: users.filter((u) => has.get(`${id} ${u} ${emoji}`)).length, mine: has.get(`${id} ann ${emoji}`) === true,
    }]).filter(([, r]) => r.count > 0));
    const copy = (m) => JSON.parse(JSON.stringify(m));
    for (let i = rand(20); i >= 0; i--) write();
    let log = emptyLog(server.length, "e"), asked = null; // asked: a page on its way, while live entries go on arriving
    for (let i = 0; i < 40; i++) {
      const step = rand(3);
      if (step === 0) write();
      else if (step === 1 && server.length > log.to) log = append(log, batch(server.slice(log.to, log.to + 1 + rand(4)).map(copy)), "ann");
      else if (step === 2 && asked) arrive();
      else if (step === 2 && log.more) asked = page(1 + rand(5));
    }
    while (log.to < server.length) log = append(log, batch(server.slice(log.to).map(copy)), "ann");
    while (asked || log.more) { asked ??= page(10); arrive(); }
    function arrive() {
      log = prepend(log, asked, "ann");
      asked = null;
    }
    function page(limit) {
      const messages = server.slice(Math.max(0, log.from - 1 - limit), log.from - 1).map((m) => ({ ...copy(m), reactions: reactions(m.id) }));
      return { ...batch(messages), first: 1, last: server.length, has_more: false };
    }
    const order = (map) => Object.fromEntries([...map].sort());
    const got = [...log.entries.values()].map((e) => [e.id, e.body, e.deleted_at, e.deleted_at ? {} : order(e.reactions)]);
    const want = server.filter((m) => m.kind === "text").map((m) => [m.id, m.body, m.deleted_at, m.deleted_at ? {} : reactions(m.id)]);
    return JSON.stringify(got) === JSON.stringify(want) ? "" : `got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`;
  }
})()
