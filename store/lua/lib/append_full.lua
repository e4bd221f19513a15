-- append_full answers while the memory of the server is full: an entry that comes alone gets the answer of its retry key, or the
-- refusal of the server; if there are several, each has to come alone.
-- needs: call key sent count answer
-- include: append_known
local function append_full(refusal)
  local known = count == 1 and key ~= '' and call('HGET', sent, key)
  if count == 1 and not known then return refusal end
  for i = 5, 4 + count do answer[i] = known and append_known(known) or '' end
  return answer
end
