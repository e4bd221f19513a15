-- include: base
-- needs: mutes
-- refuse_muted refuses a user who is muted now; nil: go on. muted is that field of the group: without it nobody is.
local function refuse_muted(muted, user)
  local until_ms = muted and tonumber(redis.call('ZSCORE', mutes, user) or 0)
  if until_ms and until_ms > clock_ms() then return {'MUTED', int(until_ms)} end
end
