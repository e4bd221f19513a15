-- needs: seen read member_data mutes
-- member_row returns role, joined_at ms, seen, read, custom fields and until when they are muted (false for none) of a member; value is
-- that in members, muted that of the group.
local function member_row(user, value, muted)
  local role, joined_ms = string.match(value, '^(%S+) (%d+)$')
  return {role, joined_ms, redis.call('ZSCORE', seen, user), redis.call('ZSCORE', read, user), redis.call('HGET', member_data, user),
    muted and redis.call('ZSCORE', mutes, user)}
end
