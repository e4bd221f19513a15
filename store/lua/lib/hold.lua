-- needs: meta
-- legal_hold is the refusal of a step that takes content away from a group under legal hold, with the reason of the hold; nil
-- where there is none. Whatever removes what members did not remove themselves asks it in the step that removes.
local function legal_hold()
  local reason = redis.call('HGET', meta, 'hold')
  return reason and {'HELD', reason} or nil
end
