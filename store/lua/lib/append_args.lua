-- append_args binds the keys and arguments that (*Store).appendArgs makes, which begin at the given places (1 where they
-- are left out) and go on to the end.
local function append_args(key, arg)
  key, arg = (key or 1) - 1, (arg or 1) - 1
  return {
    id = KEYS[key + 1], meta = KEYS[key + 2], members = KEYS[key + 3], msgs = KEYS[key + 4], seen = KEYS[key + 5],
    read = KEYS[key + 6], skip = KEYS[key + 7], senders = KEYS[key + 8], sent = KEYS[key + 9], by = KEYS[key + 10],
    reactions = KEYS[key + 11], reacted = KEYS[key + 12], joined = KEYS[key + 13], wants = KEYS[key + 14],
    qk = KEYS[key + 15] and key + 15, at = {unpack(KEYS, key + 23)},
  }, {
    from = ARGV[arg + 1], kind = ARGV[arg + 2], mark = ARGV[arg + 3], rest = ARGV[arg + 4], sent_ms = ARGV[arg + 5],
    key = ARGV[arg + 6], content = ARGV[arg + 7], reply_to = ARGV[arg + 8], target = ARGV[arg + 9], emoji = ARGV[arg + 10],
    removed = ARGV[arg + 11] == '1', durable = ARGV[arg + 12] == '1', channel = ARGV[arg + 13],
    keys_max = tonumber(ARGV[arg + 14]), emojis_max = tonumber(ARGV[arg + 15]), group = ARGV[arg + 16],
    task_id = ARGV[arg + 17], mentions = {unpack(ARGV, arg + 18)},
  }
end
