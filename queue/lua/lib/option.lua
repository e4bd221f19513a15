-- What the specification of a task says of its options and its unique key.

-- task_options returns the options of a task, each as "\r<name> <value>"; nil without any. Whatever a script does about
-- options, it does for those that have some. It looks at the head alone: a payload may hold anything.
local function task_options(spec) return string.match(spec, '^[^\r\n]*(\r[^\n]*)') end

local function task_unique(spec)
  return string.match(spec, '^%S+ %S+ %S+ %S+ %S+ %S+ ([^\r\n]+)')
end
