-- include: base
-- include: blocked
-- needs: mutes
-- refuse_muted refuses a user who is muted now, or blocked in a direct group; nil: go on. muted is that field of the group:
-- without it nobody is.
local function refuse_muted(muted, user)
  local until_ms = muted and tonumber(redis.call('ZSCORE', mutes, user) or 0)
  if is_blocked(until_ms) then return {'BLOCKS'} end
  if until_ms and until_ms > clock_ms() then return {'MUTED', int(until_ms)} end
end
