-- needs: meta members
-- refuse_all refuses to mention all members, for a sender whose role is `<name> ...`. anyone: one who need not be a member.
local function refuse_all(role, anyone)
  if anyone then return nil end
  local who = redis.call('HGET', meta, 'mention_all') or 'managers'
  if who == 'off' then return {'FORBIDDEN', 'nobody_all'} end
  local manages = string.sub(role, 1, 6) ~= 'member'
  if not manages and (who ~= 'members' or redis.call('HLEN', members) > 1000) then return {'FORBIDDEN', 'managers_all'} end
end
