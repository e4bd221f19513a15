-- Keeps what a user has begun to write in a group, and tells their sessions. A repeat changes nothing.
--
-- KEYS  drafts
-- ARGV  group epoch rev:int draft drafts_max:int channel
--   epoch       of the group: what was kept of an earlier one with this id is replaced
--   draft       JSON
--   drafts_max  of a user
-- Returns {OK}
-- Refuses CONFLICT (a higher revision is kept, or the same one with other content), DRAFTSFULL
-- include: base
local has = redis.call('HGET', drafts, group)
local kept_epoch, kept_rev, kept = string.match(has or '', '^(%S+) (%d+) (.*)$')
if kept_epoch == epoch then
  if tonumber(kept_rev) > rev or tonumber(kept_rev) == rev and kept ~= draft then return {'CONFLICT'} end
  if tonumber(kept_rev) == rev then return {'OK'} end
end
if not has and redis.call('HLEN', drafts) >= drafts_max then return {'DRAFTSFULL'} end
redis.call('HSET', drafts, group, epoch .. ' ' .. int(rev) .. ' ' .. draft)
redis.call(PUBLISH, channel, 'f ' .. group .. ' ' .. draft)
return {'OK'}
