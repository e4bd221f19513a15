-- needs: seen read member_data
-- member_row returns role, joined_at ms, seen, read and custom fields (false for none) of a member; value is that in members.
local function member_row(user, value)
  local role, joined_ms = string.match(value, '^(%S+) (%d+)$')
  return {role, joined_ms, redis.call('ZSCORE', seen, user), redis.call('ZSCORE', read, user), redis.call('HGET', member_data, user)}
end
