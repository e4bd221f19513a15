package embedded

import (
	"math"
	"slices"
	"strings"
)

// A reply is the answer of a command about a sorted set: an int, a score, a string, nil (null), []string, []scored (members
// with their scores), []any (scores or null) or a failure.
type reply any

// failure is an error that a command answers with.
type failure string

const (
	errSyntax    failure = "ERR syntax error"
	errInt       failure = "ERR value is not an integer or out of range"
	errFloat     failure = "ERR value is not a valid float"
	errMinMax    failure = "ERR min or max is not a float"
	errLex       failure = "ERR min or max not valid string range item"
	errWrongType failure = "WRONGTYPE Operation against a key holding the wrong kind of value"
)

// target is the key of a command. Commands look at their key at the same point as Redis does, because the order of checks decides
// which error the caller sees.
type target interface {
	// get returns nil if there is no such key.
	get() (*sortedSet, failure)
	// create is like get, but creates a missing key. The caller adds a member.
	create() (*sortedSet, failure)
}

// sortedSetCommand is a command about one sorted set. Its first argument is the key.
type sortedSetCommand struct {
	argsMin, argsMax int // the key included; argsMax 0: any number
	// run gets the arguments after the key. The caller removes the key if no member is left.
	run func(t target, args []string) reply
}

// sortedSetCommands are the commands that chatd uses, and closely related ones.
var sortedSetCommands = map[string]sortedSetCommand{
	"ZADD":             {3, 0, zadd},
	"ZINCRBY":          {3, 3, zincrby},
	"ZREM":             {2, 0, zrem},
	"ZREMRANGEBYRANK":  {3, 3, removing(byRank)},
	"ZREMRANGEBYSCORE": {3, 3, removing(byScore)},
	"ZREMRANGEBYLEX":   {3, 3, removing(byLex)},
	"ZCARD":            {1, 1, zcard},
	"ZSCORE":           {2, 2, zscore},
	"ZMSCORE":          {2, 0, zmscore},
	"ZRANK":            {2, 2, ranking(false)},
	"ZREVRANK":         {2, 2, ranking(true)},
	"ZCOUNT":           {3, 3, counting(byScore)},
	"ZLEXCOUNT":        {3, 3, counting(byLex)},
	"ZRANGE":           {3, 0, ranging(byOption, false)},
	"ZREVRANGE":        {3, 0, ranging(byRank, true)},
	"ZRANGEBYSCORE":    {3, 0, ranging(byScore, false)},
	"ZREVRANGEBYSCORE": {3, 0, ranging(byScore, true)},
	"ZRANGEBYLEX":      {3, 0, ranging(byLex, false)},
	"ZREVRANGEBYLEX":   {3, 0, ranging(byLex, true)},
}

// wrongCount returns the error of a call with too few or too many arguments, or "".
func (c sortedSetCommand) wrongCount(cmd string, args []string) failure {
	if len(args) >= c.argsMin && (c.argsMax == 0 || len(args) <= c.argsMax) {
		return ""
	}
	return failure("ERR wrong number of arguments for '" + strings.ToLower(cmd) + "' command")
}

type addOptions struct{ nx, xx, gt, lt, ch, incr bool }

// parse reads the options in front of the scores.
func (o *addOptions) parse(args []string) (rest []string) {
	for i, a := range args {
		switch strings.ToUpper(a) {
		case "NX":
			o.nx = true
		case "XX":
			o.xx = true
		case "GT":
			o.gt = true
		case "LT":
			o.lt = true
		case "CH":
			o.ch = true
		case "INCR":
			o.incr = true
		default:
			return args[i:]
		}
	}
	return nil
}

func (o *addOptions) check(rest []string) failure {
	switch {
	case len(rest) == 0 || len(rest)%2 != 0:
		return errSyntax
	case o.nx && o.xx:
		return "ERR XX and NX options at the same time are not compatible"
	case o.gt && o.lt, o.nx && (o.gt || o.lt):
		return "ERR GT, LT, and/or NX options at the same time are not compatible"
	case o.incr && len(rest) > 2:
		return "ERR INCR option supports a single increment-element pair"
	}
	return ""
}

func zadd(t target, args []string) reply {
	var o addOptions
	rest := o.parse(args)
	if f := o.check(rest); f != "" {
		return f
	}
	return o.add(t, rest)
}

func zincrby(t target, args []string) reply { return addOptions{incr: true}.add(t, args) }

// add adds pairs of a score and a member.
func (o addOptions) add(t target, pairs []string) reply {
	scores := make([]float64, len(pairs)/2)
	for i := range scores {
		var ok bool
		if scores[i], ok = parseScore(pairs[2*i]); !ok {
			return errFloat
		}
	}
	z, f := t.get()
	if z == nil && f == "" && !o.xx {
		z, f = t.create()
	}
	if f != "" {
		return f
	}
	added, updated := 0, 0
	for i, score := range scores {
		if z == nil {
			break
		}
		member := pairs[2*i+1]
		old, found := z.score(member)
		if o.incr && found {
			if score += old; math.IsNaN(score) {
				return failure("ERR resulting score is not a number (NaN)")
			}
		}
		if o.leaves(found, old, score) {
			continue
		}
		switch {
		case !found:
			z.set(member, score)
			added++
		case score != old:
			z.set(member, score)
			updated++
		}
		if o.incr {
			return score
		}
	}
	switch {
	case o.incr:
		return nil
	case o.ch:
		return added + updated
	}
	return added
}

// leaves reports whether the options leave a member as it is.
func (o addOptions) leaves(found bool, old, score float64) bool {
	if !found {
		return o.xx
	}
	return o.nx || (o.gt && score <= old) || (o.lt && score >= old)
}

func zrem(t target, args []string) reply {
	z, f := t.get()
	if f != "" {
		return f
	}
	n := 0
	for _, member := range args {
		if z != nil && z.remove(member) {
			n++
		}
	}
	return n
}

func zcard(t target, _ []string) reply {
	z, f := t.get()
	switch {
	case f != "":
		return f
	case z == nil:
		return 0
	}
	return z.len()
}

func zscore(t target, args []string) reply {
	z, f := t.get()
	if f != "" {
		return f
	}
	return z.scoreReply(args[0])
}

func zmscore(t target, args []string) reply {
	z, f := t.get()
	if f != "" {
		return f
	}
	all := make([]any, len(args))
	for i, member := range args {
		all[i] = z.scoreReply(member)
	}
	return all
}

func (z *sortedSet) scoreReply(member string) reply {
	if z != nil {
		if score, found := z.score(member); found {
			return score
		}
	}
	return nil
}

func ranking(reverse bool) func(target, []string) reply {
	return func(t target, args []string) reply {
		z, f := t.get()
		if f != "" {
			return f
		}
		if z == nil {
			return nil
		}
		score, found := z.score(args[0])
		if !found {
			return nil
		}
		rank := z.rank(func(e scored) bool { return !before(e, scored{score, args[0]}) })
		if reverse {
			return z.len() - 1 - rank
		}
		return rank
	}
}

func counting(by bounds) func(target, []string) reply {
	return func(t target, args []string) reply {
		from, to, _, f := by.between(t, args[0], args[1])
		if f != "" {
			return f
		}
		return to - from
	}
}

func removing(by bounds) func(target, []string) reply {
	return func(t target, args []string) reply {
		from, to, z, f := by.between(t, args[0], args[1])
		if f != "" {
			return f
		}
		if from == to {
			return 0
		}
		gone := slices.Collect(z.between(from, to, false))
		for _, e := range gone {
			z.remove(e.member)
		}
		return len(gone)
	}
}
