-- include: entry.lua
-- include: retry.lua
-- include: trim.lua
-- include: wants.lua
-- Appends an edit or a deletion and changes the messages that it touches, in one step, if they read as they did when
-- the change was made.
--
-- KEYS  1 id, 2 meta, 3 members, 4 msgs, 5 seen, 6 read, 7 skip, 8 senders, 9 sent:<from>, 10 reactions, 11 reacted,
--       12 by: of the target's author, 13 wants, 14..21 of the core queue, then at: of everyone the target mentions
-- ARGV  1 from, 2 kind, 3 mark, 4 rest of the JSON, 5 sent_at in ms, 6 retry key, 7 hash of the content, 8 '1' where the
--       role must manage, 9 '1' for a durable answer, 10 channel, 11 retry keys to keep, 12 edits at most, 13 group, then
--       of each change, the target first: id, what stood before the edits, the edits, and the JSON; and the new JSON
-- Returns as log/append.lua
-- Refuses NOTFOUND, FORBIDDEN, KEYREUSED, CONFLICT, EDITS
local id_key, meta, members, msgs, seen, read, skip = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local senders, sent, reactions, reacted, by = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local from, kind, mark, rest, sent_ms, key, content = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local as_manager, durable, channel = ARGV[8] == '1', ARGV[9] == '1', ARGV[10]
local keys_max, edits_max, group = tonumber(ARGV[11]), tonumber(ARGV[12]), ARGV[13]

local m = redis.call('HMGET', meta, 'epoch', 'visibility', 'post', 'keep', 'backlog_max')
local epoch = m[1]
if not epoch then return {'NOTFOUND'} end
local role = redis.call('HGET', members, from)
if not role then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end
local ordinary = string.sub(role, 1, 6) == 'member'

local first_time = known(sent, key, content, durable)
if first_time then
  return first_time.refused or {'OK', first_time.id, epoch, first_time.mark, first_time.ms, 1, '', '', 0}
end
if ordinary and (as_manager or m[3] == 'admins' and kind == 'edit') then return {'FORBIDDEN'} end

local changes = {}
for i = 14, #ARGV, 5 do
  local id, head, edits, json = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
  if not stored then return {'NOTFOUND'} end
  local has_head, has_edits, has_json = string.match(stored, '^(%d+ %S+) (%S+) (.*)$')
  if #changes == 0 and has_edits == 'x' then return {'NOTFOUND'} end
  if has_head ~= head or has_json ~= json or (has_edits == 'x' and '-' or has_edits) ~= edits then return {'CONFLICT'} end
  changes[#changes + 1] = {id = id, stored = stored, head = head, edits = has_edits, json = ARGV[i + 4]}
end
local target = changes[1]
if kind == 'edit' and target.edits ~= '-' then
  local _, commas = string.gsub(target.edits, ',', '')
  if commas + 1 >= edits_max then return {'EDITS'} end
end
local now_ms = clock_ms()

local id, member = write_entry(id_key, msgs, mark, 'x', rest)
redis.call('ZADD', skip, id, id)
redis.call('HSET', meta, 'mark', mark, 'active_ms', sent_ms)
if kind == 'edit' then
  target.edits = target.edits == '-' and id or target.edits .. ',' .. id
else
  target.edits = 'x'
  redis.call('ZREM', by, target.id)
  redis.call('ZADD', skip, target.id, target.id)
  redis.call('ZREMRANGEBYSCORE', reactions, target.id, target.id)
  for i = 22, #KEYS do redis.call('ZREM', KEYS[i], target.id) end
end
local changed = {}
for i, c in ipairs(changes) do
  changed[i] = c.head .. ' ' .. c.edits .. ' ' .. c.json
  redis.call('ZREM', msgs, c.stored)
  redis.call('ZADD', msgs, c.id, changed[i])
end
advance(seen, read, from, id)
redis.call('ZADD', senders, int(now_ms), from)
if key ~= '' then remember(sent, key, id, sent_ms, mark, content, keys_max) end
log_grew({wants = KEYS[13], meta = meta, qk = 14}, group, epoch, id, now_ms)
local last = tonumber(id)
local more = sweep({seen = seen, msgs = msgs, skip = skip, reactions = reactions, reacted = reacted, meta = meta,
  wants = KEYS[13]}, last, tonumber(m[4]),
  tonumber(m[5]))
tell(channel, epoch, member, changed)
return {'OK', id, epoch, mark, sent_ms, 0, '', last % 64 == 0 and idle(senders, now_ms) or '', more and 1 or 0}
