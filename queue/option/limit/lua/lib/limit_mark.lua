-- limit_mark is a field of slots that is no key. Its value is longer than 64 bytes, so Redis stores slots as a hash table. As
-- a listpack, which is read from its beginning to find a key, each command took ten times longer with 200 keys. Claims put
-- it there, and it stays.
local limit_mark, limit_mark_value = '\n', '.................................................................'
