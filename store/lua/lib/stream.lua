-- include: base
-- needs: meta streams streamed
-- A stream is a message that is still being written. `streams` has a record of each by its id; `streamed` has its text, in chunks
-- `<id> <n>` from 1 on, so that a piece costs what it is long and not what stands.

-- stream_of reads a record; nil: the message is no open stream.
local function stream_of(id)
  local text = redis.call('HGET', streams, id)
  if not text then return nil end
  local author, mark, length, gen, chunks, tail, opened, last, window, count, cancelled =
    string.match(text, '^(%S+) (%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d)$')
  return {id = id, author = author, mark = mark, length = tonumber(length), gen = tonumber(gen), chunks = tonumber(chunks), tail = tonumber(tail),
    opened = tonumber(opened), last = tonumber(last), window = tonumber(window), count = tonumber(count), cancelled = cancelled}
end

-- stream_write stores a record.
local function stream_write(s)
  redis.call('HSET', streams, s.id, table.concat({s.author, s.mark, int(s.length), int(s.gen), int(s.chunks), int(s.tail), int(s.opened),
    int(s.last), int(s.window), int(s.count), s.cancelled}, ' '))
end

local function stream_fields(s)
  local fields = {}
  for n = 1, s.chunks do fields[n] = s.id .. ' ' .. int(n) end
  return fields
end

-- stream_body reads what stands.
local function stream_body(s)
  return s.chunks == 0 and '' or table.concat(redis.call('HMGET', streamed, unpack(stream_fields(s))))
end

-- stream_add adds a piece to what stands. Short pieces share a chunk.
local function stream_add(s, piece)
  if piece == '' then return end
  local field = s.id .. ' ' .. int(s.chunks)
  if s.chunks > 0 and s.tail + #piece <= 1024 then
    redis.call('HSET', streamed, field, redis.call('HGET', streamed, field) .. piece)
    s.tail = s.tail + #piece
  else
    s.chunks, s.tail = s.chunks + 1, #piece
    redis.call('HSET', streamed, s.id .. ' ' .. int(s.chunks), piece)
  end
  s.length = s.length + #piece
end

-- stream_clear removes the text.
local function stream_clear(s)
  if s.chunks > 0 then redis.call('HDEL', streamed, unpack(stream_fields(s))) end
  s.chunks, s.tail, s.length = 0, 0, 0
end

-- stream_drop ends a stream. has_streams is that field of the group: without it there is none.
local function stream_drop(has_streams, id)
  local s = has_streams and stream_of(id)
  if not s then return end
  stream_clear(s)
  redis.call('HDEL', streams, id)
  if redis.call('EXISTS', streams) == 0 then redis.call('HDEL', meta, 'streams') end
end
