-- append_known answers with what a retry key stands for, if that has the same content.
-- needs: content expires expiring
-- include: base
local function append_known(value)
  if string.match(value, '^%d+ %d+ %S+ (.*)$') ~= content then return {'KEYREUSED'} end
  local id = string.match(value, '^%d+')
  local goes_ms = expiring and redis.call('ZSCORE', expires, id)
  return goes_ms and id .. '/' .. int(tonumber(goes_ms)) .. string.sub(value, #id + 1) or value
end
