// What the link meets in its tests: time, chance, the network and the rest of the client, all of them decided by the test.
import assert from "node:assert/strict";
import { createHttp } from "../src/http.js";
import { createLink } from "../src/link.js";
import { createTokens } from "../src/token.js";

/** Lets everything run that waits for nothing but promises. */
export const settled = () => new Promise((done) => setImmediate(done));

export class FakeClock {
  time = 1_800_000_000_000;
  chance = 0.5;
  timers = [];
  now = () => this.time;
  random = () => this.chance;
  after = (ms, run) => {
    const timer = { at: this.time + Math.max(0, ms), run };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((t) => t !== timer));
  };

  /** Lets time go by; what is due runs in its order. */
  async pass(ms) {
    const until = this.time + ms;
    await settled();
    for (let ran = 0; ; ran++) {
      const next = this.timers.filter((t) => t.at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      if (ran === 100_000) throw new Error(`timers without an end: ${next.run}`);
      this.timers = this.timers.filter((t) => t !== next);
      this.time = next.at;
      next.run();
      await settled();
    }
    this.time = until;
  }
}

export class FakeSocket {
  static all = [];
  readyState = 0;
  sent = [];
  closed = null;
  constructor(url, protocols) {
    Object.assign(this, { url, protocols });
    FakeSocket.all.push(this);
  }
  send(text) {
    assert.equal(this.readyState, 1);
    this.sent.push(JSON.parse(text));
  }
  close(code = 1005) {
    this.readyState = 3;
    this.closed ??= code;
  }
  async opens() {
    this.readyState = 1;
    this.onopen({});
    await settled();
  }
  async says(frame) {
    this.onmessage({ data: typeof frame === "string" ? frame : JSON.stringify(frame) });
    await settled();
  }
  async ends(code = 1006, reason = "") {
    this.readyState = 3;
    this.onclose({ code, reason });
    await settled();
  }
  async welcomes(fields = {}) {
    await this.opens();
    await this.says({ op: "welcome", user: "alice", session: "s", groups: {}, ping_s: 25, ...fields });
  }
  /** The frames with an op that were sent. */
  of(op) {
    return this.sent.filter((f) => f.op === op);
  }
}

/** A fetch whose calls the test answers. */
export function fakeFetch() {
  const calls = [];
  const fetch = (url, init) => new Promise((done, fail) => {
    const call = {
      url, ...init, json: typeof init.body === "string" ? JSON.parse(init.body) : undefined, aborted: false,
      answer(status, body, headers = {}) {
        done(new Response(status === 204 ? null : typeof body === "string" ? body : JSON.stringify(body), { status, headers }));
        return settled();
      },
      fails() {
        fail(new TypeError("fetch failed"));
        return settled();
      },
    };
    const abort = () => {
      call.aborted = true;
      fail(init.signal.reason);
    };
    if (init.signal.aborted) abort();
    init.signal.addEventListener("abort", abort);
    calls.push(call);
  });
  return { fetch, calls, of: (path) => calls.filter((c) => c.url.endsWith(path)), get last() { return calls.at(-1); } };
}

/** A token as JWTs are, that says when it ends, in seconds. */
export const jwt = (claims) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

/** A link with everything around it. answers: what getToken gives in turn; a function is called. */
export function around({ answers = ["t1", "t2", "t3", "t4"], WebSocket = FakeSocket } = {}) {
  FakeSocket.all = [];
  const clock = new FakeClock();
  const net = fakeFetch();
  const asked = [];
  const outs = [];
  const warned = [];
  const env = { online: null, visible: null };
  const rest = { frames: [], states: [], at: {}, acks: {}, stored: () => Promise.resolve(), place: () => Promise.resolve() };
  const tokens = createTokens({
    clock, signedOut: (why) => outs.push(why.code), warn: (text) => warned.push(text),
    getToken: async (why) => {
      const answer = answers[Math.min(asked.push(why) - 1, answers.length - 1)];
      return typeof answer === "function" ? answer(why) : answer;
    },
  });
  const http = createHttp({ url: "https://chat.example/", tokens, fetch: net.fetch, clock });
  const link = createLink({
    url: "https://chat.example/", http, tokens, clock, WebSocket,
    environment: {
      online: (run) => ((env.online = run), () => (env.online = null)),
      visible: (run) => ((env.visible = run), () => (env.visible = null)),
    },
    listener: {
      positions: async () => (await rest.place(), { after: { ...rest.at }, inbox_after: 7 }),
      acks: () => {
        const { acks } = rest;
        rest.acks = {};
        return acks;
      },
      frame: (frame) => (rest.frames.push(frame), rest.stored(frame)),
      state: (state) => rest.states.push(state),
    },
  });
  return {
    clock, net, asked, outs, warned, env, rest, tokens, http, link,
    get socket() { return FakeSocket.all.at(-1); },
    get sockets() { return FakeSocket.all; },
    get state() { return rest.states.at(-1); },
    get syncs() { return net.of("/v1/sync"); },
    ops: () => rest.frames.map((f) => f.op),
    /** Opens the link by websocket. */
    async live() {
      link.open();
      await settled();
      await FakeSocket.all.at(-1).welcomes();
    },
    /** Opens the link, which gets no websocket. */
    async polls() {
      link.open();
      await settled();
      await FakeSocket.all.at(-1).ends();
      await clock.pass(1000);
      await FakeSocket.all.at(-1).ends();
    },
    /** Ends the session. Returns how long the link waits before the next attempt, in ms. */
    async waits(code = 1006, reason = "") {
      await this.socket.ends(code, reason);
      assert.equal(this.state.phase, "waiting");
      return this.state.retryAt - clock.now();
    },
  };
}
