-- include: base
-- other_version refuses a change that was decided by another life or version of a group; nil: go on.
local function other_version(epoch, version, was_epoch, was_version)
  if was_epoch == '' or epoch == was_epoch and (version or '0') == was_version then return nil end
  return {'CONFLICT'}
end

-- next_version is that of a group after a change: a time where it can be, so that a store that was rolled back gives no version
-- again that was lost.
local function next_version(version, now_ms)
  return int(math.max(now_ms, tonumber(version or 0) + 1))
end
