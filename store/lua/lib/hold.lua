-- needs: meta
-- legal_hold returns the refusal of a step that removes content from a group under legal hold, with the reason of the
-- hold; nil if there is none. Every script that removes what members did not remove themselves calls it in the same
-- step.
local function legal_hold()
  local reason = redis.call('HGET', meta, 'hold')
  return reason and {'HELD', reason} or nil
end
