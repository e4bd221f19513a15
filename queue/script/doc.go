// Package script gives names to the keys and arguments of Lua scripts. The header of a script declares them, the loader
// binds locals of those names in front of the script, and Go passes them by the same names:
//
//	-- Moves a member's cursors forward.
//	--
//	-- KEYS  meta members seen read core:enqueue at...
//	-- ARGV  user id:int with_read:flag mentions...
//	--   id  up to which the member has seen everything
//	-- Returns {OK, seen, read}
//
//	ackScript.On(k.member(user)).Arg("user", user).Arg("id", id).Arg("with_read", true)
//
// A name of KEYS or ARGV is one of
//
//	name           one value; name:int is a number in Lua, name:flag true or false
//	name:group     a key for each name of a group of the Library (the keys of a task queue); the local holds the index of
//	               the first of them in KEYS
//	name...        all that follow; the local holds the index of the first of them
//	name(a b)...   the same, in rows of two; the local name_row is 2
//	name:group...  the same, in rows that are the keys of a group
//
// If several rests follow each other, the script itself finds where the second begins.
//
// Four comments are directives for the loader:
//
//	-- include: trim       is replaced by lua/lib/trim.lua, once. Indented, it is included for its block only: a branch that
//	                       is rarely taken does not cost its functions in every call
//	-- needs: meta msgs    in an included file: names that the including script must have bound before
//	-- bind: users at i    becomes `local a, b = KEYS[i], KEYS[i + 1]`: a row of a rest, or the keys of a group
//	-- set: work at q      the same without the `local`
//
// So neither scripts nor Go count keys. A literal index into KEYS or ARGV is refused, like everything else that does
// not fit together: loading panics, or the first use, so the test of a package that looks at all of its scripts fails.
//
// Names cost nothing while a script runs: locals are the cheapest variables of Lua, and no table is built for them. But
// a function that uses them from outside pays for each when it is created. Hot code is better included as a whole,
// outside any function.
package script
