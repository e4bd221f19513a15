-- thread_root tells of a stored entry whether it can have a thread: it is a text or data, was not deleted, and is in no thread itself.
local function thread_root(stored)
  local edits, kind, rest = string.match(stored, '^%d+ %S+ (%S+) {"id":%d+,"group":"[^"]*","from":"[^"]*","kind":"(%a+)"(.?.?.?.?.?.?.?.?.?.?)')
  return edits ~= 'x' and (kind == 'text' or kind == 'data') and rest ~= ',"thread":'
end
