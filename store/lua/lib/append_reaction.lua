-- append_reaction counts a reaction, unless its target is in the archive alone.
-- needs: call reaction reacted reactions
-- include: base
local function append_reaction(id)
  -- One that no longer stands, or whose target is in the archive, still loses its emoji with its target.
  local past = reaction.taken_back or reaction.archived and not reaction.removed and id
  if past then call('ZADD', reacted, past, '=' .. reaction.target .. ' ' .. past) end
  if reaction.archived then return end
  call('ZREM', reacted, reaction.opposite)
  call('ZADD', reacted, id, reaction.record)
  if reaction.counted then call('ZREM', reactions, reaction.counted) end
  if reaction.count > 0 then
    call('ZADD', reactions, reaction.target, reaction.target .. ' ' .. reaction.emoji .. ' ' .. int(reaction.count))
  end
end
