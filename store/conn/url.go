package conn

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
)

// The forms of a store's URL, as errors show them.
const (
	formRedis    = "redis://[user:password@]host[:port][/db]"
	formCluster  = "redis-cluster://[user:password@]host[:port],host[:port]"
	formSentinel = "redis-sentinel://[user:password@]host[:port],host[:port]/db?master_name=NAME"
)

const (
	portRedis    = "6379"
	portSentinel = "26379"
	databaseMax  = 1_000_000 // far above what any server is configured with
)

// address is where a store's URL points. Exactly one of its fields is set.
type address struct {
	redis      *redis.Options
	cluster    *redis.ClusterOptions
	partitions int // of a new store in a cluster; 0: the default
	sentinel   *redis.FailoverOptions
}

// CheckURL tells whether raw can be the URL of a store. Its error says what is wrong and what is allowed, and quotes
// nothing that could be part of a password. Nothing is connected to.
//
//go:noinline
func CheckURL(raw string) error {
	_, err := parseURL(raw)
	return err
}

// parseURL reads the URL of a store:
//
//   - redis://[user[:password]@]host[:port][/db], rediss:// for TLS. Parameters: db, skip_verify (TLS without a check of
//     the certificate).
//   - redis-sentinel://[user[:password]@]host[:port][,host[:port]...]/db?master_name=NAME. User and password are those of
//     the primary. Parameters: master_name, db, tls, skip_verify, sentinel_username, sentinel_password. /NAME and /NAME/db
//     name the primary too.
//   - redis-cluster://[user[:password]@]host[:port][,host[:port]...], rediss-cluster:// for TLS. Any nodes of the cluster will
//     do: they name the others. Parameters: partitions (of a new store; must match an existing one), skip_verify (TLS only).
//
// Other parameters are refused by name: ignoring a misspelled one would silently leave a setting off.
func parseURL(raw string) (address, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	switch {
	case ok && (scheme == "redis" || scheme == "rediss"):
		return parseRedis(scheme, rest)
	case ok && scheme == "redis-sentinel":
		return parseSentinel(rest)
	case ok && (scheme == "redis-cluster" || scheme == "rediss-cluster"):
		return parseCluster(scheme, rest)
	}
	return address{}, errors.New("want a URL that begins with redis://, rediss://, redis-sentinel://, redis-cluster:// or rediss-cluster://")
}

// urlParts is a URL in parts, before its scheme gives them a meaning.
type urlParts struct {
	hosts              []string // host:port
	username, password string
	path               []string // without empty parts
	params             map[string]string
}

// split takes a URL apart after its scheme. The hosts are cut out by hand: net/url takes a list of hosts for no host.
// Its own errors quote the URL with the password, so they are not passed on.
func split(rest, port, form string, known ...string) (urlParts, error) {
	var t urlParts
	wrong := fmt.Errorf("want %s", form)
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	hosts, rest := rest[:end], rest[end:]
	userinfo := ""
	if at := strings.LastIndex(hosts, "@"); at >= 0 {
		userinfo, hosts = hosts[:at+1], hosts[at+1:]
	}
	u, err := url.Parse("redis://" + userinfo + "host" + rest)
	if err != nil || u.Fragment != "" {
		return t, wrong
	}
	for _, h := range strings.Split(hosts, ",") {
		host, err := withPort(strings.TrimSpace(h), port)
		if err != nil {
			return t, fmt.Errorf("a host is missing or malformed; want %s", form)
		}
		t.hosts = append(t.hosts, host)
	}
	t.username = u.User.Username()
	t.password, _ = u.User.Password()
	t.path = strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	t.params, err = params(u.RawQuery, known)
	return t, err
}

// withPort adds the default port to a host that names none.
func withPort(host, port string) (string, error) {
	u, err := url.Parse("redis://" + host)
	if err != nil || u.Hostname() == "" || u.Host != host {
		return "", errors.New("no host")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", errors.New("no port")
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

func params(query string, known []string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the parameters cannot be read; want name=value&name=value")
	}
	got := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("unknown parameter %s; allowed: %s", shown(name), strings.Join(known, ", "))
		case len(values[name]) > 1:
			return nil, fmt.Errorf("parameter %q is given more than once", name)
		}
		got[name] = values[name][0]
	}
	return got, nil
}

var plainName = regexp.MustCompile(`^[a-z_]{1,32}$`)

// shown is a parameter's name if an error may show it. Anything else may be the rest of a password that contains a `?`.
func shown(name string) string {
	if !plainName.MatchString(name) {
		return "(not a plain name)"
	}
	return strconv.Quote(name)
}

func parseRedis(scheme, rest string) (address, error) {
	known := []string{"db"}
	if scheme == "rediss" {
		known = append(known, "skip_verify")
	}
	t, err := split(rest, portRedis, formRedis, known...)
	if err != nil {
		return address{}, err
	}
	if len(t.hosts) != 1 {
		return address{}, fmt.Errorf("only redis-sentinel:// and redis-cluster:// take several hosts; want %s", formRedis)
	}
	opt := &redis.Options{Addr: t.hosts[0], Username: t.username, Password: t.password}
	if opt.DB, err = t.database(t.path); err != nil {
		return address{}, err
	}
	if scheme == "rediss" {
		if opt.TLSConfig, err = t.tls(t.hosts[0]); err != nil {
			return address{}, err
		}
	}
	return address{redis: opt}, nil
}

func parseSentinel(rest string) (address, error) {
	t, err := split(rest, portSentinel, formSentinel, "master_name", "db", "tls", "skip_verify", "sentinel_username", "sentinel_password")
	if err != nil {
		return address{}, err
	}
	name, path := t.params["master_name"], t.path
	if name == "" && len(path) > 0 {
		name, path = path[0], path[1:]
		if _, err := strconv.Atoi(name); err == nil {
			name = "" // only a database: no primary is named by a number
		}
	}
	if name == "" {
		return address{}, fmt.Errorf("master_name is missing (the sentinels' name for the primary); want %s", formSentinel)
	}
	opt := &redis.FailoverOptions{MasterName: name, SentinelAddrs: t.hosts, Username: t.username, Password: t.password,
		SentinelUsername: t.params["sentinel_username"], SentinelPassword: t.params["sentinel_password"]}
	if opt.DB, err = t.database(path); err != nil {
		return address{}, err
	}
	encrypted, err := t.flag("tls")
	if err != nil {
		return address{}, err
	}
	if encrypted {
		// The primary is known by the address that the sentinels give, so each connection names its own host.
		if opt.TLSConfig, err = t.tls(""); err != nil {
			return address{}, err
		}
	}
	return address{sentinel: opt}, nil
}

func parseCluster(scheme, rest string) (address, error) {
	known := []string{"partitions"}
	if scheme == "rediss-cluster" {
		known = append(known, "skip_verify")
	}
	t, err := split(rest, portRedis, formCluster, known...)
	if err != nil {
		return address{}, err
	}
	if len(t.path) > 0 {
		return address{}, fmt.Errorf("a Redis Cluster has no databases; want %s", formCluster)
	}
	a := address{cluster: &redis.ClusterOptions{Addrs: t.hosts, Username: t.username, Password: t.password}}
	if text, ok := t.params["partitions"]; ok {
		if a.partitions, err = strconv.Atoi(text); err != nil || a.partitions < 1 || a.partitions > queue.PartitionsMax {
			return address{}, fmt.Errorf("partitions must be a number from 1 to %d", queue.PartitionsMax)
		}
	}
	if scheme == "rediss-cluster" {
		// No fixed server name: each connection verifies the address that the cluster gives for its node.
		if a.cluster.TLSConfig, err = t.tls(""); err != nil {
			return address{}, err
		}
	}
	return a, nil
}

// database is the number in the path or in db.
func (t urlParts) database(path []string) (int, error) {
	text := t.params["db"]
	switch {
	case len(path) > 1 || len(path) == 1 && text != "":
		return 0, errors.New("more than one database is named")
	case len(path) == 1:
		text = path[0]
	case text == "":
		return 0, nil
	}
	db, err := strconv.Atoi(text)
	if err != nil || db < 0 || db > databaseMax {
		return 0, errors.New("the database must be a number, 0 or higher")
	}
	return db, nil
}

func (t urlParts) flag(name string) (bool, error) {
	switch t.params[name] {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, fmt.Errorf("parameter %q: want true or false", name)
}

func (t urlParts) tls(addr string) (*tls.Config, error) {
	insecure, err := t.flag("skip_verify")
	host, _, _ := net.SplitHostPort(addr)
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: insecure}, err
}
