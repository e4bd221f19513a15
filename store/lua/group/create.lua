-- include: core.lua
-- include: entry.lua
-- Makes a group with its members and the notices of that.
--
-- KEYS  core
-- ARGV  1 creator, 2 epoch, 3 name, 4 visibility, 5 created_ms, 6 keep, 7 backlog_max, 8 post, 9 history (1 or 0),
--       10 retry key, 11 member of the public index, 12 channel, 13 id for a task, 14 its payload, 15 group, 16 how many
--       members besides the creator, then these, then mark and rest of 1 + that many notices
-- Returns {OK, 1 where it was made now, 0 where this very creation was done before}
-- Refuses EXISTS; GONE where the members of an earlier group of this id are not cleaned up yet
local k = core()
local creator, epoch, name, visibility, created_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local keep, backlog_max, post, history, key = ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
local public_member, channel, task_id, payload = ARGV[11], ARGV[12], ARGV[13], ARGV[14]
local group, others = ARGV[15], tonumber(ARGV[16])

local m = redis.call('HMGET', k.meta, 'epoch', 'key', 'created_by')
if m[1] then
  if key ~= '' and m[2] == key and m[3] == creator then return {'OK', 0} end
  return {'EXISTS'}
end
if redis.call('EXISTS', k.gone_members, k.gone_senders) > 0 then return {'GONE'} end

redis.call('HSET', k.meta, 'epoch', epoch, 'name', name, 'visibility', visibility, 'created_by', creator, 'created_ms',
  created_ms, 'keep', keep, 'backlog_max', backlog_max, 'post', post, 'history', history, 'key', key, 'active_ms',
  created_ms, 'newest', '0', 'owner', creator, 'floor', '0')

local function add(user, role, from)
  local id = notice(k, channel, epoch, ARGV[from], ARGV[from + 1], created_ms)
  -- Where the history is hidden a member begins with the notice of joining.
  local start = history == '1' and '0' or int(tonumber(id) - 1)
  redis.call('HSET', k.members, user, role .. ' ' .. created_ms)
  redis.call('ZADD', k.joined, id, user)
  redis.call('ZADD', k.seen, start, user)
  redis.call('ZADD', k.read, start, user)
end
local notices = 17 + others
add(creator, 'owner', notices)
redis.call('ZADD', k.managers, '1', creator)
for i = 1, others do add(ARGV[16 + i], 'member', notices + 2 * i) end

if visibility == 'public' then redis.call('ZADD', k.public, 0, public_member) end
log_grew(k, group, epoch, int(1 + others), clock_ms(), false, 1)
task_enqueue(k.qk, task_id, 'member', payload, 'high', 0, clock_ms(), '')
return {'OK', 1}
