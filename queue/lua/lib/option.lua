-- What the specification of a task says of its options and its unique key.
local function task_unique(spec)
  return string.match(spec, '^%S+ %S+ %S+ %S+ %S+ %S+ ([^\r\n]+)')
end

-- task_option returns the value of one option of a task, nil without it. It looks at the head alone: a payload may hold
-- anything.
local function task_option(spec, name)
  local from, to = string.find(spec, '^[^\r\n]*\r[^\n]*')
  return from and string.match(string.sub(spec, from, to), '\r' .. name .. ' ([^\r]*)')
end

-- task_holds tells whether a task keeps its unique key until it ends, not only while it waits.
local function task_holds(spec) return task_option(spec, 'unique') == 'end' end
