import { test } from "node:test";
import assert from "node:assert/strict";
import { callsOf, callsOfGroup } from "../src/calls.js";

test("calls ask with their method, their path, and a query or a body", async () => {
  const asked = [];
  const http = { request: async (method, path, options) => void asked.push([method, path, options?.body]) };
  const chat = callsOf(http), group = callsOfGroup(http, "a/b é");
  await chat.browse();
  await chat.search({ q: "release & notes", group: undefined, limit: 5 });
  await chat.profile("ann|1 2");
  await chat.schedules.update("s1", { paused: true });
  await chat.schedules.run("s1");
  await chat.invites.delete("i?");
  await chat.push.put("phone", { kind: "webpush" });
  await group.members({ limit: 2 });
  await group.receipts(7, { wait_s: 3 });
  await group.notify({ level: "none" });
  assert.deepEqual(asked, [
    ["GET", "/v1/groups/public", undefined],
    ["GET", "/v1/search?q=release+%26+notes&limit=5", undefined],
    ["GET", "/v1/users/ann%7C1%202", undefined],
    ["PATCH", "/v1/schedules/s1", { paused: true }],
    ["POST", "/v1/schedules/s1/run", undefined],
    ["DELETE", "/v1/invites/i%3F", undefined],
    ["PUT", "/v1/devices/phone", { kind: "webpush" }],
    ["GET", "/v1/groups/a%2Fb%20%C3%A9/members?limit=2", undefined],
    ["GET", "/v1/groups/a%2Fb%20%C3%A9/messages/7/receipts?wait_s=3", undefined],
    ["PUT", "/v1/groups/a%2Fb%20%C3%A9/notify", { level: "none" }],
  ]);
});
