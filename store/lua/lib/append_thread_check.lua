-- append_thread_check refuses a reply to what cannot have a thread: NOTFOUND, ROOT (a reply or no text or data), ARCHIVED, CONFLICT. It
-- sets in_thread to what append_thread.lua needs.
-- needs: call from root root_from history seen_at msgs joined meta last_id epoch below_epoch below_late in_thread own count own_row mentions_at
-- include: base
local function append_thread_check()
  local q = mentions_at
  -- bind: thread at q
  if history == '0' and seen_at and tonumber(root) < tonumber(call('ZSCORE', joined, from)) then return {'NOTFOUND'} end
  local stored, author = call('ZRANGEBYSCORE', msgs, root, root)[1], root_from
  if stored then
    local edits, json = string.match(stored, '^%d+ %S+ (%S+) (.*)$')
    local kind
    author, kind = string.match(json, '^{"id":%d+,"group":"[^"]*","from":"([^"]*)","kind":"(%a+)"')
    if kind ~= 'text' and kind ~= 'data' or string.find(json, '^{"id":%d+,"group":"[^"]*","from":"[^"]*","kind":"%a+","thread":') then
      return {'ROOT'}
    end
    if edits == 'x' then return {'NOTFOUND'} end
  else
    local archived_from, late = unpack(call('HMGET', meta, 'archived_from', 'late'))
    if not archived_from or tonumber(root) < tonumber(archived_from) or tonumber(root) > tonumber(call('GET', last_id)) then return {'NOTFOUND'} end
    -- What has a thread is known to be one that may.
    if not call('ZSCORE', threads, root) then
      if below_epoch == '-' then return {'ARCHIVED'} end
      if below_epoch ~= epoch or below_late ~= (late or '0') then return {'CONFLICT'} end
    end
  end
  in_thread = {root = root, from = from, author = author, member = seen_at, position = q}
end
