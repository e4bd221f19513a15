-- include: base
-- needs: bans
-- banned_until returns until when a user is banned now, in ms, 0 for no end; nil: they are not. banned is that field of the group:
-- without it nobody is.
local function banned_until(banned, user)
  local ends = banned and string.match(redis.call('HGET', bans, user) or '', '^%d+')
  if ends and (ends == '0' or tonumber(ends) > clock_ms()) then return ends end
end
