package embedded

import "strings"

// class says where a command is allowed.
type class uint8

const (
	unsupported class = iota // not in the table: refused even if miniredis knows it
	reads                    // anywhere
	random                   // a read whose answer a replay would not repeat: not in a script that writes
	writes                   // only in a script
	publishes                // anywhere; in a script it counts as a write
	session                  // about the connection; not in scripts
	clock                    // TIME
	scripts                  // EVAL, EVALSHA
	readScripts              // EVAL_RO, EVALSHA_RO
)

var classes = func() map[string]class {
	m := map[string]class{}
	for c, names := range map[class]string{
		reads: `BITCOUNT BITPOS DBSIZE EXISTS EXPIRETIME GET GETBIT GETRANGE HEXISTS HGET HGETALL HKEYS HLEN HMGET HSCAN
			HSTRLEN HVALS KEYS LINDEX LLEN LPOS LRANGE MGET PEXPIRETIME PTTL SCAN SCARD SDIFF SINTER SINTERCARD SISMEMBER
			SMEMBERS SMISMEMBER SSCAN STRLEN SUNION TOUCH TTL TYPE ZCARD ZCOUNT ZLEXCOUNT ZMSCORE ZRANGE ZRANGEBYLEX
			ZRANGEBYSCORE ZRANK ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCORE`,
		random: `HRANDFIELD RANDOMKEY SRANDMEMBER`,
		// SETBIT, SUNIONSTORE, ZUNION and the like are missing until a script of chatd needs them. Commands that set a time to live (EXPIRE,
		// SETEX, GETEX) are missing because nothing here expires keys.
		writes: `APPEND DECR DECRBY DEL GETDEL GETSET HDEL HINCRBY HINCRBYFLOAT HMSET HSET HSETNX INCR INCRBY
			INCRBYFLOAT LINSERT LMOVE LPOP LPUSH LPUSHX LREM LSET LTRIM MSET MSETNX RENAME RENAMENX RPOP RPOPLPUSH RPUSH
			RPUSHX SADD SET SETNX SETRANGE SMOVE SREM UNLINK ZADD ZINCRBY ZREM ZREMRANGEBYLEX
			ZREMRANGEBYRANK ZREMRANGEBYSCORE`,
		publishes: `PUBLISH`,
		session: `AUTH CLIENT CLUSTER COMMAND DISCARD ECHO EXEC HELLO INFO MULTI PING PSUBSCRIBE PUBSUB PUNSUBSCRIBE QUIT
			SCRIPT SELECT SUBSCRIBE UNSUBSCRIBE WAIT`,
		clock:       `TIME`,
		scripts:     `EVAL EVALSHA`,
		readScripts: `EVAL_RO EVALSHA_RO`,
	} {
		for _, name := range strings.Fields(names) {
			m[name] = c
		}
	}
	return m
}()

// refused returns why a script must not call cmd with these arguments, or "".
func refused(cmd string, args []string) string {
	if cmd != "SET" || len(args) < 3 {
		return ""
	}
	for _, a := range args[2:] {
		switch strings.ToUpper(a) {
		case "NX", "XX", "GET":
		default:
			return "ERR the embedded store has no keys that expire: SET " + a
		}
	}
	return ""
}
