-- in_thread is what a stored reply in a thread begins with: see chat.Entry.
local in_thread = '^%d+ %S+ %S+ {"id":%d+,"group":"[^"]*","from":"[^"]*","kind":"%a+","thread":%d'
