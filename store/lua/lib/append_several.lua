-- append_several collects what plain entries of one call write, and writes it together: the entries at the end, the ids and the cursors
-- of a sender before an entry of another one.
-- needs: call msgs seen read several
local entries, ids, ids_of, sender, last, since = {}, {}, nil, nil, nil, nil
local function write_ids()
  if not ids_of then return end
  call('ZADD', ids_of, unpack(ids))
  if since then
    call('ZADD', seen, last, sender)
    if tonumber(call('ZSCORE', read, sender)) == since then call('ZADD', read, last, sender) end
  end
  ids, ids_of, since = {}, nil, nil
end
several = {
  -- follows: the id that the sender had seen, if that was the last
  add = function(id, entry, by, from, follows)
    if ids_of ~= by then write_ids() end
    entries[#entries + 1], entries[#entries + 2] = id, entry
    ids[#ids + 1], ids[#ids + 2] = id, id
    ids_of, sender, last, since = by, from, id, since or follows or nil
  end,
  write = function()
    write_ids()
    if #entries > 0 then call('ZADD', msgs, unpack(entries)) end
  end,
}
