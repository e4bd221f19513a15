// Two people with the client, in one program that a test drives: alice sends, bob reads.

/** A token for a user, as the harness signs them, that ends soon. */
async function sign(secret, user, seconds) {
  const text = new TextEncoder();
  const encode = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const now = Math.floor(Date.now() / 1000);
  const parts = [{ alg: "HS256", typ: "JWT" }, { sub: user, iat: now, exp: now + seconds }];
  const signed = parts.map((part) => encode(text.encode(JSON.stringify(part)))).join(".");
  const key = await crypto.subtle.importKey("raw", text.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return `${signed}.${encode(new Uint8Array(await crypto.subtle.sign("HMAC", key, text.encode(signed))))}`;
}

/** @param options url of the server, secret of its tokens, tokenS: how long one lasts, and what the client takes */
export function drive({ Chatd, url, secret, tokenS = 3600, options = {} }) {
  const log = { messages: [], gaps: [], reasons: [], refused: [], said: [], firstMs: 0, done: 0 };
  let began = 0;
  let sent = 0;

  const person = (user) => {
    const chat = new Chatd({
      url, ...options, log: (level, text, cause) => log.said.push(`${user}: ${level}: ${text} ${cause ?? ""}`),
      getToken: ({ reason }) => {
        log.reasons.push(reason);
        return sign(secret, user, tokenS);
      },
    });
    const self = { chat, lives: 0, was: "" };
    chat.subscribe(() => {
      const { phase, by } = chat.state;
      if (phase === "live" && self.was !== by) self.lives++;
      self.was = by ?? phase;
    });
    return self;
  };
  const alice = person("alice");
  const bob = person("bob");
  bob.chat.on("message", (m) => {
    if (m.kind === "text") log.messages.push([m.group, m.id, m.body]);
  });
  bob.chat.on("gap", (gap) => log.gaps.push(gap));
  const timelines = new Map();
  const uploads = [];

  return {
    /** Connects, and opens bob's timelines of some groups. */
    connect(groups) {
      began = Date.now();
      alice.chat.connect();
      bob.chat.connect();
      for (const g of groups) {
        const timeline = bob.chat.group(g).timeline({ at: "end", max: 10_000 });
        timelines.set(g, timeline);
        timeline.subscribe(() => {
          if (timeline.snapshot().items.length > 0) log.firstMs ||= Date.now() - began;
        });
      }
    },
    /** Puts n messages into alice's outbox, for some groups in turn. */
    async send(groups, n) {
      for (let i = 0; i < n; i++) {
        const group = groups[sent % groups.length];
        const { done } = await alice.chat.group(group).send({ body: `message ${++sent}` });
        done.then(() => log.done++, (err) => log.refused.push(`${err.code}: ${err.detail}`));
      }
    },
    hurry() {
      alice.chat.hurry();
      bob.chat.hurry();
    },
    /** How things are. */
    now: () => ({
      lives: Math.min(alice.lives, bob.lives), by: [alice, bob].map(({ chat }) => chat.state.by ?? chat.state.phase), sent, done: log.done,
      received: log.messages.length, firstMs: log.firstMs, gaps: log.gaps, refused: log.refused, said: log.said, reasons: log.reasons,
      queued: alice.chat.snapshot().queued,
    }),
    /** What bob was told of a group, and what he sees of it. */
    seen: (group) => ({
      reported: log.messages.filter((m) => m[0] === group).map(([, id, body]) => ({ id, body })),
      shown: timelines.get(group).snapshot().items.filter((i) => i.type === "gap" || i.kind === "text")
        .map((i) => (i.type === "gap" ? { gap: true, id: i.from, to: i.to } : { id: i.id, body: i.body })),
      unread: bob.chat.group(group).snapshot()?.unread ?? -1,
    }),
    /** Begins an upload of alice's: what is told of it fills in. aborted: after the first bytes. */
    upload(group, size, { name = "numbers.bin", aborted = false } = {}) {
      const control = new AbortController();
      const told = { progress: [], file: null, error: null };
      const onProgress = (sent, of) => {
        told.progress.push(sent);
        if (of !== size) told.error = { code: `of ${of}` };
        if (aborted && sent > 0) control.abort();
      };
      const bytes = new Uint8Array(size).map((_, i) => i * 31 + (i >> 8));
      alice.chat.group(group).upload(new File([bytes], name, { type: "image/x-numbers" }), { onProgress, signal: control.signal }).then(
        (file) => (told.file = file), ({ name, code, detail }) => (told.error = { name, code: typeof code === "string" ? code : "", detail: detail ?? "" }));
      return uploads.push(told) - 1;
    },
    uploaded: (n) => uploads[n],
    sendFile: async (group, n) => (await (await alice.chat.group(group).send({ files: [uploads[n].file] })).done).id,
    async close() {
      await Promise.all([alice.chat.close(), bob.chat.close()]);
    },
  };
}
