-- then_read reads n successors, which begin at a place in ARGV: of each, the id of the task before it and the ten values that
-- task_enqueue_all takes. It returns those values of all successors of a task, by its id, and the place behind them.
local function then_read(from, n)
  local successors, after = {}, from + 11 * n
  for i = from, after - 1, 11 do
    local before = ARGV[i]
    successors[before] = successors[before] or {}
    for j = i + 1, i + 10 do table.insert(successors[before], ARGV[j]) end
  end
  return successors, after
end
