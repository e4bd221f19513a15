-- include: task_enqueue
-- needs: core
-- enqueue_review tells of a review: that it waits, or what became of it.
local function enqueue_review(name, payload, now_ms)
  task_enqueue(core, string.match(KEYS[core], '{(p%d+)}') .. '-review:' .. name, 'review', payload, 'normal', 0, now_ms, '')
end

-- enqueue_reviews ends the reviews of an owner whose time is over. whose is the payload.
local function enqueue_reviews(id, whose, due_ms, now_ms)
  task_enqueue(core, id, 'reviews', whose, 'low', due_ms, now_ms, 'reviews:' .. whose)
end
