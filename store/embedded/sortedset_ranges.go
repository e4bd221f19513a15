package embedded

import (
	"math"
	"strconv"
	"strings"
)

// bounds is the kind of the two bounds of a range.
type bounds uint8

const (
	byOption bounds = iota // of ZRANGE: BYSCORE or BYLEX, otherwise ranks
	byRank
	byScore
	byLex
)

// between returns the ranks from..to-1 that lie between two bounds, and the set. If there is no set, it is nil and from equals to.
func (b bounds) between(t target, low, high string) (from, to int, z *sortedSet, f failure) {
	ranks, f := b.parse(low, high)
	if f != "" {
		return 0, 0, nil, f
	}
	if z, f = t.get(); z == nil || f != "" {
		return 0, 0, nil, f
	}
	from, to = ranks(z)
	return from, max(from, to), z, ""
}

func (b bounds) parse(low, high string) (func(*sortedSet) (from, to int), failure) {
	switch b {
	case byScore:
		return scoreBounds(low, high)
	case byLex:
		return lexBounds(low, high)
	}
	return rankBounds(low, high)
}

// rankBounds counts negative ranks from the end.
func rankBounds(low, high string) (func(*sortedSet) (from, to int), failure) {
	first, ok1 := parseInt(low)
	last, ok2 := parseInt(high)
	if !ok1 || !ok2 {
		return nil, errInt
	}
	return func(z *sortedSet) (int, int) {
		n := z.len()
		from, to := first, last
		if from < 0 {
			from = max(from+n, 0)
		}
		if to < 0 {
			to += n
		}
		return min(from, n), min(to, n-1) + 1
	}, ""
}

func scoreBounds(low, high string) (func(*sortedSet) (from, to int), failure) {
	lowest, lowOpen, ok1 := parseScoreBound(low)
	highest, highOpen, ok2 := parseScoreBound(high)
	if !ok1 || !ok2 {
		return nil, errMinMax
	}
	return func(z *sortedSet) (int, int) {
		from := z.rank(func(e scored) bool { return e.score > lowest || (!lowOpen && e.score == lowest) })
		to := z.rank(func(e scored) bool { return e.score > highest || (highOpen && e.score == highest) })
		return from, to
	}, ""
}

// lexBounds is meant for sets whose scores are equal, as in Redis.
func lexBounds(low, high string) (func(*sortedSet) (from, to int), failure) {
	lowest, ok1 := parseLexBound(low)
	highest, ok2 := parseLexBound(high)
	if !ok1 || !ok2 {
		return nil, errLex
	}
	return func(z *sortedSet) (int, int) {
		from := z.rank(func(e scored) bool { return lowest.below(e.member) })
		to := z.rank(func(e scored) bool { return !highest.above(e.member) })
		return from, to
	}, ""
}

// rangeOptions are what a range command's options ask for.
type rangeOptions struct {
	by               bounds
	reverse          bool
	scores           bool
	skip, membersMax int // of LIMIT; membersMax < 0: all
}

// parse reads the options after the bounds. REV, BYSCORE and BYLEX are ZRANGE's.
func (o *rangeOptions) parse(args []string) failure {
	general := o.by == byOption
	o.membersMax = -1
	for i := 0; i < len(args); i++ {
		switch option := strings.ToUpper(args[i]); {
		case option == "WITHSCORES":
			o.scores = true
		case option == "LIMIT" && i+2 < len(args):
			var ok1, ok2 bool
			o.skip, ok1 = parseInt(args[i+1])
			o.membersMax, ok2 = parseInt(args[i+2])
			if !ok1 || !ok2 {
				return errInt
			}
			i += 2
		case option == "REV" && general && !o.reverse:
			o.reverse = true
		case option == "BYSCORE" && o.by == byOption:
			o.by = byScore
		case option == "BYLEX" && o.by == byOption:
			o.by = byLex
		default:
			return errSyntax
		}
	}
	if o.by == byOption {
		o.by = byRank
	}
	switch {
	case o.by == byRank && o.membersMax != -1:
		return "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	case o.by == byLex && o.scores:
		return "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
	}
	return ""
}

// limit removes what LIMIT leaves out.
func (o *rangeOptions) limit(from, to int) (int, int) {
	if o.by == byRank {
		return from, to
	}
	if o.skip < 0 {
		return from, from
	}
	skip := min(o.skip, to-from)
	if o.reverse {
		to -= skip
	} else {
		from += skip
	}
	if o.membersMax < 0 || o.membersMax >= to-from {
		return from, to
	}
	if o.reverse {
		return to - o.membersMax, to
	}
	return from, from + o.membersMax
}

func ranging(by bounds, reverse bool) func(target, []string) reply {
	return func(t target, args []string) reply {
		o := rangeOptions{by: by, reverse: reverse}
		if f := o.parse(args[2:]); f != "" {
			return f
		}
		low, high := args[0], args[1]
		if o.reverse && o.by != byRank {
			low, high = high, low
		}
		from, to, z, f := o.by.between(t, low, high)
		if f != "" {
			return f
		}
		if o.reverse && o.by == byRank && z != nil {
			from, to = z.len()-to, z.len()-from
		}
		from, to = o.limit(from, to)
		if o.scores {
			pairs := make([]scored, 0, to-from)
			for e := range z.between(from, to, o.reverse) {
				pairs = append(pairs, e)
			}
			return pairs
		}
		members := make([]string, 0, to-from)
		for e := range z.between(from, to, o.reverse) {
			members = append(members, e.member)
		}
		return members
	}
}

// scoreBoundOpen is the prefix of a bound that is not part of the range.
const scoreBoundOpen = '('

func parseScoreBound(s string) (bound float64, open, ok bool) {
	if s != "" && s[0] == scoreBoundOpen {
		s, open = s[1:], true
	}
	if s == "" {
		return 0, open, true // as Redis reads it
	}
	bound, ok = parseScore(s)
	return bound, open, ok
}

func parseScore(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f)
}

// parseInt accepts what Redis accepts: no plus sign, no leading zeros.
func parseInt(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && strconv.Itoa(n) == s
}

// lexBound is a bound of a range of members.
type lexBound struct {
	member   string
	open     bool
	infinite int // -1: before all members; 1: after all
}

func parseLexBound(s string) (lexBound, bool) {
	switch {
	case s == "-":
		return lexBound{infinite: -1}, true
	case s == "+":
		return lexBound{infinite: 1}, true
	case s != "" && s[0] == '[':
		return lexBound{member: s[1:]}, true
	case s != "" && s[0] == '(':
		return lexBound{member: s[1:], open: true}, true
	}
	return lexBound{}, false
}

// below reports whether a member is in a range that begins at b.
func (b lexBound) below(member string) bool {
	if b.infinite != 0 {
		return b.infinite < 0
	}
	return member > b.member || (!b.open && member == b.member)
}

// above reports whether a member is in a range that ends at b.
func (b lexBound) above(member string) bool {
	if b.infinite != 0 {
		return b.infinite > 0
	}
	return member < b.member || (!b.open && member == b.member)
}
