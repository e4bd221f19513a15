-- Checks the retry keys of one sender in a group. Only reads.
--
-- KEYS  last_id meta members senders gone_members gone_senders msgs own
-- ARGV  user
-- Returns as own.lua, of the ids that retry keys stand for; -1 for one that cannot be read
local function listed(list) return redis.call('ZSCORE', list, user) and 1 or 0 end
local count, lowest, highest = 0, nil, 0
for _, value in ipairs(redis.call('HVALS', own)) do
  local id = tonumber(string.match(value, '^(%d+) %d+ %S+ .*$') or -1)
  count, lowest, highest = count + 1, math.min(lowest or id, id), math.max(highest, id)
end
return {'OK', redis.call('EXISTS', meta), redis.call('GET', last_id) or '0', redis.call('HEXISTS', members, user), listed(senders),
  math.max(listed(gone_members), listed(gone_senders)), redis.call('EXISTS', last_id, members, msgs), count,
  string.format('%.0f', lowest or 0), string.format('%.0f', highest)}
