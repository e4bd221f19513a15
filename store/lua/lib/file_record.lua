-- include: base
-- needs: files
-- file_read reads the record of a file into a table; nil if there is none. Numbers stay texts.
local function file_read(id)
  local text = redis.call('HGET', files, id)
  if not text then return nil end
  local f = {}
  f.state, f.owner, f.size, f.offset, f.created_ms, f.expires_ms, f.lock, f.until_ms, f.hash, f.refs, f.json =
    string.match(text, '^(%S+) (%S+) (%d+) (%d+) (%d+) (%d+) (%S+) (%d+) (%S+) (%S+) (.*)$')
  return f
end

-- file_text is the record as it is stored, and as Go reads it.
local function file_text(f)
  return table.concat({f.state, f.owner, f.size, f.offset, f.created_ms, f.expires_ms, f.lock, f.until_ms, f.hash,
    f.refs, f.json}, ' ')
end

local function file_write(id, f)
  redis.call('HSET', files, id, file_text(f))
end

-- file_alive says whether a file can still be used: without a message that names it, it expires.
local function file_alive(f, now_ms)
  return f and (f.refs ~= '-' or tonumber(f.expires_ms) > now_ms)
end

-- file_counted is what a file counts against quotas: a record costs something too, however small the file.
local function file_counted(f)
  return math.max(tonumber(f.size), 4096)
end
