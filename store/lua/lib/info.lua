-- Puts what a user may know about a group into `out`, as group/info.lua returns it. Ends the script if there is no
-- group, or if the user is not a member.
-- needs: last_id meta members joined seen read msgs skip by at user
-- include: unread
local m = redis.call('HMGET', meta, 'epoch', 'name', 'visibility', 'created_by', 'created_ms', 'keep', 'backlog_max',
  'post', 'history', 'active_ms', 'newest', 'mark', 'floor', 'archived_from', 'late', 'changed', 'trimmed',
  'retain_days', 'overflow', 'backlog_bytes')
if not m[1] then return {'OK', ''} end
local last = tonumber(redis.call('GET', last_id))
local out = {'OK'}
for i = 1, 12 do out[#out + 1] = m[i] end
out[#out + 1] = last
local stored = redis.call('ZCARD', msgs)
out[#out + 1] = stored
out[#out + 1] = redis.call('HLEN', members)
-- archived_from exists while there is an archive: without one, no more lookups.
out[#out + 1] = m[14] or '0'
out[#out + 1] = m[14] and redis.call('ZSCORE', seen, '$archive') or '0'
out[#out + 1] = m[15] or '0'
out[#out + 1] = m[16] or '0'
out[#out + 1] = m[17] or ''
out[#out + 1] = m[18] or '0'
-- Groups made before these settings existed have neither.
out[#out + 1] = m[19] or 'drop'
out[#out + 1] = m[20] or '1073741824'
local member = redis.call('HGET', members, user)
if not member then return out end

local role, joined_ms = string.match(member, '^(%S+) (%d+)$')
local r = tonumber(redis.call('ZSCORE', read, user))
local joined_id = redis.call('ZSCORE', joined, user)
local floor = count_floor(last, stored, m[14], r, tonumber(m[7]), m[13], m[9] == '0' and joined_id)
out[#out + 1] = role
out[#out + 1] = joined_ms
out[#out + 1] = joined_id
out[#out + 1] = redis.call('ZSCORE', seen, user)
out[#out + 1] = int(r)
out[#out + 1] = unread(last, floor, by)
out[#out + 1] = redis.call('ZCOUNT', at, '(' .. int(floor), '+inf')
local acted = tonumber(out[28]) >= tonumber(joined_id) or m[4] == user or redis.call('EXISTS', by) == 1
out[#out + 1] = acted and 1 or 0
