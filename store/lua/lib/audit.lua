-- needs: audit audits_max
-- note_audit writes an entry of the audit, of this life of a group ('-': of none), and drops the oldest ones: its id, and what stands behind
-- the epoch. With the id '' there is nothing to write.
local function note_audit(epoch, id, entry)
  if id == '' then return end
  redis.call('ZADD', audit, 0, id .. ' ' .. epoch .. ' ' .. entry)
  redis.call('ZREMRANGEBYRANK', audit, audits_max, -1)
end
