// Checks of the page's pure modules, run inside the page itself. Gives the list of what does not hold.
(async () => {
  const { append, emptyLog, extend, prepend, reachesEnd, shorten, unloaded } = await import("/js/log.js");
  const { revised } = await import("/js/content.js");
  const { due, noted, overlaid, settled, wire } = await import("/js/outbox.js");
  const reading = await import("/js/reading.js");
  const state = await import("/js/state.js");
  const format = await import("/js/format.js");
  const people = await import("/js/people.js");
  const { readMarks, timeline, upTo } = await import("/js/timeline.js");

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

  // A log: what comes twice is taken once, holes are marked, another life of the log replaces the first.
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
  const part = unloaded(log, 2), elsewhere = (m) => ({ ...batch([m], { epoch: "f" }), first: 1, last: 3 });
  same("pages of another life", [prepend(part, elsewhere(text(2, "bob", "two")), part.from, "ann") === part, extend(part, elsewhere(text(3, "bob", "three")), part.to, "ann") === part], [true, true]);
  const reacted = [change(4, "ann", "reaction", 2, { emoji: "x" }), change(5, "bob", "reaction", 2, { emoji: "x" }), change(6, "bob", "reaction", 2, { emoji: "x", removed: true })];
  same("a reaction beside one's own", [2, 3].map((n) => append(log, batch(reacted.slice(0, n)), "ann").entries.get(2).reactions.get("x")), [{ count: 2, mine: true }, { count: 1, mine: true }]);
  const many = append(emptyLog(0, "e"), batch(Array.from({ length: 900 }, (_, i) => text(i + 1, "bob", `${i + 1}`))), "ann");
  same("shortened", [shorten(many).entries.size, shorten(many).from, shorten(many).more], [500, 401, true]);

  // The outbox: one send at a time in a group, in order, and nothing is shown twice.
  const task = (client_id, group, more = {}) => ({ client_id, group, kind: "text", body: client_id, queued_at: at(50), attempts: 0, ...more });
  const box = [task("a", "g"), task("b", "g"), task("c", "h"), task("d", "i", { problem: "no" })];
  same("due", [due(box, new Set()), due(box, new Set(["g"]))].map((l) => l.map((t) => t.client_id)), [["a", "c"], ["c"]]);
  same("due behind a refused one", due(noted(box, "a", { problem: "no" }), new Set()).map((t) => t.client_id), ["b", "c"]);
  same("after an answer", due(noted(box, "a", { id: 3 }), new Set()).map((t) => t.client_id), ["b", "c"]);
  same("settled", settled(noted(noted(box, "a", { id: 3 }), "b", { id: 4 }), "g", log).map((t) => t.client_id), ["b", "c", "d"]);
  const echoed = append(log, batch([text(4, "ann", "a", { client_id: "a" })]), "ann");
  same("own ones once", overlaid(echoed, box.slice(0, 2), "ann").map((e) => e.body), ["one", "three", "a", "b"]);
  const own = overlaid(log, [task("r", "g", { kind: "reaction", target: 2, emoji: "x" }), task("e", "g", { kind: "edit", target: 1, body: "uno" })], "ann");
  const extra = task("x", "g", { tag: "t", attempts: 2, problem: "no", id: 9 });
  same("a field that the outbox does not know", [wire(extra), overlaid(log, [extra], "ann").at(-1).tag],
    [{ client_id: "x", group: "g", kind: "text", body: "x", tag: "t" }, "t"]);
  const full = text(1, "bob", "@ann", { mentions: ["ann"], data: { a: 1 }, reply_to: 7 });
  same("a deletion leaves no content", revised(full, change(2, "bob", "delete", 1), at(2)),
    { group: "g", id: 1, from: "bob", kind: "text", sent_at: at(1), reply_to: 7, deleted_at: at(2) });
  same("an edit keeps what it does not name", revised(full, change(2, "bob", "edit", 1, { body: "new" }), at(2)), { ...full, body: "new", edited_at: at(2) });
  same("changes before they are confirmed", [own[0].body, own[0].pending, [...own[1].reactions]], ["uno", "waiting", [["x", { count: 1, mine: true }]]]);

  // Counts: exact from the list, then kept by what comes; doubt asks the server again.
  const listed = (id, more = {}) => ({ id, name: id, epoch: "e", first: 1, last: 2, seen: 1, read: 1, unread: 1, mentions_unread: 0, created_at: at(0), last_message: null, ...more });
  let s = state.withGroups(state.initialState("ann"), [listed("g"), listed("__proto__")], new Map(), new Set());
  same("names that objects have of their own", [...s.groups.keys()], ["g", "__proto__"]);
  s = state.withBatch(s, batch([text(2, "bob", "old"), text(3, "bob", "@ann", { mentions: ["ann"] }), text(4, "ann", "mine"), change(5, "bob", "reaction", 4, { emoji: "x" })]));
  same("unread", [s.groups.get("g").unread, s.groups.get("g").mentions_unread, s.stale], [2, 1, false]);
  same("a late list", state.withGroups(s, [listed("g")], new Map(), new Set()).groups.get("g").unread, 2);
  same("a late list asks again", state.withGroups(s, [listed("g")], new Map(), new Set()).stale, true);
  same("read", [reading.withRead(s, "g", 5).groups.get("g").unread, state.totalUnread(reading.withRead(s, "g", 5))], [0, 1]);
  const held = state.withBatch(state.withGroups(state.initialState("ann"), [listed("g", { last: 1, unread: 0 })], new Map(), new Set()),
    batch([text(2, "bob", "new"), text(3, "bob", "@ann", { mentions: ["ann"] }), text(4, "ann", "mine"), text(5, "bob", "last")]));
  const counts = (s) => [s.groups.get("g").unread, s.groups.get("g").mentions_unread, s.stale];
  same("read in part", [0, 2, 3, 4, 5].map((id) => counts(reading.withRead(held, "g", id))), [[3, 1, false], [2, 1, false], [1, 0, false], [1, 0, false], [0, 0, false]]);
  const blank = state.withGroups(state.initialState("ann"), [listed("g", { last: 9, unread: 8 })], new Map(), new Set());
  same("read of what is not loaded", [reading.withRead(blank, "g", 3).groups.get("g").unread, reading.withRead(blank, "g", 3).stale], [8, true]);
  const opened = (more) => {
    const next = reading.withOpen(state.withGroups(state.initialState("ann"), [listed("g", more)], new Map(), new Set()), "g");
    return [next.open, next.logs.get("g").to, next.logs.get("g").end, reachesEnd(next.logs.get("g"))];
  };
  same("opened with nothing unread", opened({ last: 300, read: 300, unread: 0 }), ["g", 300, 300, true]);
  same("opened with a few unread", opened({ last: 300, read: 290, unread: 10 }), ["g", 300, 300, true]);
  same("opened with many unread", opened({ last: 300, read: 50, unread: 250 }), ["g", 90, 300, false]);
  same("opened where the first unread is trimmed", opened({ first: 101, last: 300, read: 50, unread: 200 }), ["g", 140, 300, false]);
  const far = reading.withOpen(state.withGroups(state.initialState("ann"), [listed("g", { last: 300, read: 50, unread: 250 })], new Map(), new Set()), "g");
  const live = state.withBatch(far, batch([text(301, "bob", "live")]));
  same("live beside what is shown", [live.logs.get("g").to, live.logs.get("g").end, live.logs.get("g").cursor, live.logs.get("g").entries.size, live.groups.get("g").unread], [90, 301, "e.301.m", 0, 251]);
  const newest = reading.withNewest(live, "g").logs.get("g");
  same("back to the newest", [newest.from, newest.to, reachesEnd(newest), newest.cursor], [302, 301, true, "e.301.m"]);
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
  const noticed = (id, what, more) => ({ group: "g", id, from: "eve", kind: "notice", notice: what, sent_at: at(id), ...more });
  const several = [noticed(6, "renamed", { name: "N" }), noticed(7, "role", { user: "bob", role: "admin" }),
    noticed(8, "settings", { settings: { visibility: "public", keep: 5, post: "admins", history: false, backlog_max: 9 } }), noticed(9, "settings", { from: "bob" })];
  same("notices", timeline([...append(undefined, batch(several), "ann").entries.values()], [], -1, "ann").slice(1).map((l) => l.text),
    ["eve renamed the group to “N”", "bob is now an admin", "eve changed the settings: the group is public, only admins can post, new members can’t see earlier messages, " +
      "at least 5 messages are kept, members may fall 9 messages behind", "bob changed the settings"]);
  const came = [noticed(10, "joined", { users: ["x", "y"] }), noticed(11, "removed", { user: "x" }), noticed(12, "left", { user: "y" }), noticed(13, "joined", { user: "z" })];
  same("how many there are", [came, came].reduce((now, some) => state.withBatch(now, batch(some)), s).groups.get("g").members - s.groups.get("g").members, 1);
  const after = state.withBatch(s, batch(several)).groups.get("g");
  same("what notices change", [after.name, after.visibility, after.post], ["N", "public", "admins"]);

  // Text: only http and https are links, only members are mentioned.
  const cut = (body, names) => format.pieces(body, names).map((p) => p.href ?? (p.mention ? `@${p.mention}!` : p.text));
  same("links", cut("see https://a.example/b?c=d. javascript:alert(1) HTTP://x http://"), ["see ", "https://a.example/b?c=d", ". javascript:alert(1) HTTP://x http://"]);
  same("mentions", cut("@bob. a@bob @bobby @b.o", ["bob", "b.o"]), ["@bob!", ". a@bob @bobby ", "@b.o!"]);
  same("mentioned", format.mentionsIn("@bob, @eve and @bob-", ["bob", "ann"]), ["bob"]);
  same("mentions of ids with a colon", cut("@bob:yes @a:b: @auth0|5f.", ["bob", "a", "a:b", "auth0|5f"]), ["@bob!", ":yes ", "@a:b!", ": ", "@auth0|5f!", "."]);
  same("pieces lose nothing", format.pieces("@bob https://x.example, ok", ["bob"]).map((p) => p.text).join(""), "@bob https://x.example, ok");
  same("initials", ["ann", "ann-bee", "x", "日本", "-"].map(format.initials), ["AN", "AB", "X", "日本", "?"]);
  same("names", [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]].map((n) => format.namesOf(n)), ["a", "a and b", "a, b and c", "a, b and 2 others"]);

  // People: by name, with the id where two look alike, and by id in what is sent.
  const named = (...list) => people.withPeople(people.nobody(), list.map(([user]) => user), list.map(([user, name, picture]) => ({ user, name, picture, version: 1 })));
  const known = named(["u1", "Ana"], ["u2", "Ana Silva"], ["bob", "Bob"], ["bob.smith"], ["x", "JOSÉ"], ["y", "jose\u200d"], ["eve", "zed"], ["zed"], ["__proto__", "Proto"]);
  same("labels", ["u1", "bob.smith", "nobody", "__proto__"].map((u) => people.labelOf(known, u)), ["Ana", "bob.smith", "nobody", "Proto"]);
  same("alike", ["u1", "x", "y", "eve", "zed"].map((u) => people.textOf(known, u)), ["Ana", "JOSÉ (x)", "jose\u200d (y)", "zed (eve)", "zed"]);
  const ids = [...known.known.keys()];
  same("sent", people.withIds("@Ana Silva, @Ana! @Anabel a@Ana @bob.smith @Bob @JOSÉ @zed", known, ids),
    "@u2, @u1! @Anabel a@Ana @bob.smith @bob @JOSÉ @zed");
  same("edited again", people.withLabels("@u2, @u1! @x", known, ["u1", "u2", "x"]), "@Ana Silva, @Ana! @x");
  same("pictures", ["/avatars/AAAAAAAAAAAAAAAA-0", "https://x.example/a", "/v1/me", "//x.example/AAAAAAAAAAAAAAAAA"].map((p) => people.pictureOf(named(["a", "", p]), "a")),
    ["/avatars/AAAAAAAAAAAAAAAA-0", "", "", ""]);
  same("over a reload", people.labelOf(people.remembered(JSON.parse(JSON.stringify(people.kept(known)))), "u2"), "Ana Silva");

  // Lines: days, runs, where the new ones begin, notices together.
  const lines = timeline(overlaid(echoed, [], "ann"), [2], 1, "ann");
  same("lines", lines.map((l) => l.type), ["day", "message", "gap", "new", "message", "message"]);
  same("nothing new", timeline(overlaid(echoed, [], "ann"), [], -1, "ann").map((l) => l.type), ["day", "message", "message", "message"]);
  same("runs", lines.filter((l) => l.type === "message").map((l) => [l.head, l.tail]), [[true, true], [true, true], [true, true]]);
  same("read marks", [...readMarks([...echoed.entries.values()], [{ user: "ann", read: 4 }, { user: "bob", read: 3 }], "ann")], [[1, ["bob"]]]);
  same("read marks beyond what is shown", [...readMarks([...echoed.entries.values()], [{ user: "bob", read: 30 }], "ann", 4)], []);
  same("read up to", [...upTo(lines, 7)].map(([, id]) => id), [7, 3, 1]);
  const lineOf = (id, what, from, user, more = {}) => ({ ...text(id, from), kind: "notice", notice: what, user, ...more });
  const folded = (...list) => timeline(list, [], -1, "ann").filter((l) => l.type === "notice").map((l) => (l.each.length > 1 ? [l.text, l.each.length] : l.text));
  same("one notice", folded(lineOf(1, "joined", "ann", "bob")), ["ann added bob"]);
  same("added", folded(lineOf(1, "created", "ann"), ...["b", "c", "d", "e"].map((u, i) => lineOf(i + 2, "joined", "ann", u))), ["ann created the group", ["ann added b, c and 2 others", 4]]);
  const about = (what, id, ...users) => ({ ...lineOf(id, what, "ann"), user: undefined, users });
  same("added together", folded(about("joined", 1, "b", "c", "d", "e"), lineOf(2, "joined", "ann", "f")), [["ann added b, c and 3 others", 2]]);
  same("one notice about several", folded(about("joined", 1, "b", "c"), text(2, "b"), about("removed", 3, "b", "c")), ["ann added b and c", "ann removed b and c"]);
  same("joined by themselves", folded(lineOf(1, "joined", "b", "b"), lineOf(2, "joined", "c", "c"), lineOf(3, "joined", "ann", "d")), [["b and c joined", 2], "ann added d"]);
  same("left", folded(lineOf(1, "left", "b", "b"), lineOf(2, "left", "c", "c"), lineOf(3, "removed", "ann", "d"), lineOf(4, "removed", "bob", "e")), [["b and c left", 2], "ann removed d", "bob removed e"]);
  same("roles", folded(lineOf(1, "role", "a", "b", { role: "admin" }), lineOf(2, "role", "a", "c", { role: "admin" }), lineOf(3, "role", "a", "d", { role: "member" }), lineOf(4, "role", "a", "e", { role: "owner" })), [["b and c are now admins", 2], "d is now a member", "e is now the owner"]);
  same("renamed", folded(lineOf(1, "renamed", "a", undefined, { name: "x" }), lineOf(2, "renamed", "a", undefined, { name: "y" })), [["a renamed the group to “y”", 2]]);
  same("settings", folded(lineOf(1, "settings", "a"), lineOf(2, "settings", "a"), lineOf(3, "settings", "b")), [["a changed the settings 2 times", 2], "b changed the settings"]);
  same("notices apart", timeline([lineOf(1, "joined", "a", "b"), text(2, "b", "hi"), lineOf(3, "joined", "a", "c")], [], -1, "ann").map((l) => l.type), ["day", "notice", "message", "notice"]);

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
    // What is on its way, while live entries go on arriving and the person goes elsewhere in the log.
    let log = emptyLog(server.length, "e"), before = null, after = null;
    const send = () => { if (server.length > log.end) log = append(log, batch(server.slice(log.end, log.end + 1 + rand(4)).map(copy)), "ann"); };
    for (let i = 0; i < 60; i++) {
      const step = rand(9);
      if (step < 3) write();
      else if (step < 5) send();
      else if (step === 5) log = unloaded(log, rand(log.end + 1));
      else if (step < 8) older(1 + rand(5));
      else newer(1 + rand(5));
    }
    while (log.end < server.length) send();
    while (before || log.more) older(10);
    while (after || !reachesEnd(log)) newer(10);
    function older(limit) {
      if (before) [log, before] = [prepend(log, before.page, before.id, "ann"), null];
      else if (log.more) before = { id: log.from, page: page(Math.max(0, log.from - 1 - limit), log.from - 1) };
    }
    function newer(limit) {
      if (after) [log, after] = [extend(log, after.page, after.id, "ann"), null];
      else if (!reachesEnd(log)) after = { id: log.to, page: page(log.to, log.to + limit) };
    }
    function page(from, to) {
      const messages = server.slice(from, to).map((m) => ({ ...copy(m), reactions: reactions(m.id) }));
      return { ...batch(messages), first: 1, last: server.length, has_more: false };
    }
    const order = (map) => Object.fromEntries([...map].sort());
    const got = [...log.entries.values()].map((e) => [e.id, e.body, e.deleted_at, e.deleted_at ? {} : order(e.reactions)]);
    const want = server.filter((m) => m.kind === "text").map((m) => [m.id, m.body, m.deleted_at, m.deleted_at ? {} : reactions(m.id)]);
    return JSON.stringify(got) === JSON.stringify(want) ? "" : `got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`;
  }
})()
