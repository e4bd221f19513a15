// Package node is one running chatd: its configuration, and the wiring of store, domain, tasks and HTTP. The command
// and the end-to-end tests both use it.
package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/deliver"
	"github.com/chatd/chatd/store/conn"
	"github.com/chatd/chatd/web"
	"github.com/chatd/chatd/web/limit"
)

// Config is every setting, as flags and environment variables provide it: a row has the variable, the default, the type with its
// bounds, and what the setting does. Kong fills it; check names each invalid value and what is allowed.
type Config struct {
	Addr           string   `env:"CHATD_ADDR" default:"127.0.0.1:8080" help:"Address to listen on."`
	AdminAddr      string   `env:"CHATD_ADMIN_ADDR" help:"Separate address for /metrics and the health checks. Without it, the main address serves /metrics, to this host only."`
	Redis          string   `env:"CHATD_REDIS" help:"redis://, rediss://, redis-sentinel://, redis-cluster:// or rediss-cluster:// URL of the store. Default: the embedded store."`
	RedisFile      string   `env:"CHATD_REDIS_FILE" help:"File that contains the URL."`
	Archive        string   `env:"CHATD_ARCHIVE" help:"Database that keeps all history: sqlite:PATH, postgres://... or off. Default: SQLite in CHATD_DATA with the embedded store, off with Redis."`
	Files          string   `env:"CHATD_FILES" help:"Where the files of groups are kept: dir:PATH, s3://BUCKET?endpoint=HOST or off. Default: a folder in CHATD_DATA with the embedded store, off with Redis."`
	Data           string   `env:"CHATD_DATA" default:"chatd-data" help:"Folder of the embedded store and of the generated secret."`
	Prefix         string   `env:"CHATD_PREFIX" default:"chat" help:"Prefix of every key in the store."`
	JWTSecret      string   `name:"jwt-secret" env:"CHATD_JWT_SECRET" secret:"" help:"Secret for HS256 tokens, at least 32 bytes. Separate several with commas: the first signs, all verify."`
	JWTSecretFile  string   `name:"jwt-secret-file" env:"CHATD_JWT_SECRET_FILE" help:"File that contains the secret."`
	JWTJWKS        string   `name:"jwt-jwks" env:"CHATD_JWT_JWKS" help:"URL or file of the JWKS for tokens of an identity provider (RS256 to PS512, ES256 to ES512, EdDSA)."`
	JWTIssuer      string   `name:"jwt-issuer" env:"CHATD_JWT_ISSUER" help:"Required iss claim of tokens."`
	JWTAudience    string   `name:"jwt-audience" env:"CHATD_JWT_AUDIENCE" help:"Required value in the aud claim of tokens."`
	JWTProfile     []string `name:"jwt-profile" env:"CHATD_JWT_PROFILE" help:"Fields of profiles that are filled from the claims of these names, comma-separated: name, picture. Users cannot change them."`
	JWTUserClaim   string   `name:"jwt-user-claim" env:"CHATD_JWT_USER_CLAIM" help:"Claim of tokens that holds the user's id, by name or by path (a.b). Default: sub."`
	JWTRoleClaim   string   `name:"jwt-role-claim" env:"CHATD_JWT_ROLE_CLAIM" help:"Claim of tokens that holds the user's role or a list of roles, by name or by path (realm_access.roles). Default: role."`
	JWTAdminValue  string   `name:"jwt-admin-value" env:"CHATD_JWT_ADMIN_VALUE" default:"admin" help:"Role of operators in that claim."`
	Origins        []string `env:"CHATD_ORIGINS" help:"Other origins that may call the API, comma-separated."`
	TrustedProxies []string `env:"CHATD_TRUSTED_PROXIES" help:"Networks or addresses of proxies whose X-Forwarded-For, -Proto, -Host and Forwarded are trusted, comma-separated."`
	PushHosts      []string `env:"CHATD_PUSH_HOSTS" help:"Push services besides those of browsers, such as push.example.com, or *.push.example.com for all hosts below it, comma-separated."`
	EgressAllow    []string `env:"CHATD_EGRESS_ALLOW" help:"Private networks that webhooks, web push and a JWKS URL may reach, comma-separated. Default: public addresses only, over https."`
	Durability     choice   `env:"CHATD_DURABILITY" default:"memory" allowed:"memory, disk, replica" help:"What every send waits for: memory, disk or replica."`
	Direct         choice   `env:"CHATD_DIRECT" default:"all" allowed:"all, shared" help:"Who may receive direct messages: all, or shared (users who share a group with the sender)."`
	Directory      choice   `env:"CHATD_DIRECTORY" default:"shared" allowed:"shared, all, off" help:"Whose profiles users may look up and find: those of users who share a group or an inbox item with them (shared, off), or of everyone (all); off: nobody is found by name."`
	Previews       choice   `env:"CHATD_PREVIEWS" default:"off" allowed:"on, off" help:"Whether the server fetches what links in messages lead to, for previews: on or off."`
	Add            choice   `env:"CHATD_ADD" allowed:"all, shared, operators" help:"Whom members may add to a group: all, shared (users who share a group with them and have read or sent something in it), or operators (only operators may add anyone). Default: all, and shared where strangers may register."`
	Dev            string   `env:"CHATD_DEV" default:"auto" help:"Development sign-in under any name: on, off, or auto (on a loopback address with the embedded store and no keys of your own). It ends with the first account."`
	Accounts       string   `env:"CHATD_ACCOUNTS" default:"auto" help:"Accounts with a password: on, off, or auto (on with the embedded store and no keys of your own). With Redis they need CHATD_JWT_SECRET."`
	Registration   choice   `env:"CHATD_REGISTRATION" default:"invite" allowed:"invite, open, closed" help:"Who may register an account: invite (who has an invitation), open (everybody) or closed (nobody)."`
	OIDC           string   `name:"oidc" env:"CHATD_OIDC" help:"Issuer by which people sign in with OpenID Connect: its https URL, as it names itself. Accounts must be on."`
	OIDCClientID   string   `name:"oidc-client-id" env:"CHATD_OIDC_CLIENT_ID" help:"Id of this server at the issuer, which leads back to /v1/oidc/callback."`
	OIDCSecretFile string   `name:"oidc-secret-file" env:"CHATD_OIDC_SECRET_FILE" help:"File that contains the client's secret. Default: none, a public client."`
	OIDCUser       choice   `name:"oidc-user" env:"CHATD_OIDC_USER" default:"sub" allowed:"sub, email, preferred_username" help:"Claim that becomes the user's id: sub, email (verified, in lower case) or preferred_username."`
	DrainDelay     duration `env:"CHATD_DRAIN_DELAY" max:"5m" help:"How long to keep serving after /readyz turns to 503. Default: 0s on a loopback address, else 5s."`
	StreamLongest  duration `env:"CHATD_STREAM_LONGEST" default:"1h" max:"24h" help:"How long a message may be written piece by piece: then it ends as it stands."`
	NotifyDelay    duration `env:"CHATD_NOTIFY_DELAY" default:"3s" max:"1h" help:"How long a message stays unread before offline members get notified."`
	Compression    choice   `env:"CHATD_COMPRESSION" default:"on" allowed:"on, off" help:"Whether answers of the API from 1 KiB are compressed for clients that take gzip: on or off."`
	Log            choice   `env:"CHATD_LOG" default:"info" allowed:"debug, info, warn, error" help:"Log level: debug, info, warn or error."`
	LogFormat      choice   `env:"CHATD_LOG_FORMAT" default:"text" allowed:"text, json" help:"Log format: text or json."`
	Tracing        choice   `env:"CHATD_TRACING" default:"off" allowed:"off, otlp" help:"Whether to trace requests and the way of messages: off, or otlp (spans go by OTLP over HTTP to OTEL_EXPORTER_OTLP_ENDPOINT)."`

	MaxBody    number `env:"CHATD_MAX_BODY" default:"16384" max:"1048576" help:"Maximum bytes of a message's body, and of its data."`
	MaxRequest number `env:"CHATD_MAX_REQUEST" default:"1048576" min:"1024" max:"67108864" help:"Maximum bytes of a request."`
	MaxBatch   number `env:"CHATD_MAX_BATCH" default:"8388608" min:"1024" max:"67108864" help:"Maximum bytes of a batch of writes."`
	MaxPage    number `env:"CHATD_MAX_PAGE" default:"1000" max:"10000" help:"Maximum messages in a page."`
	MaxMembers number `env:"CHATD_MAX_MEMBERS" default:"100000" max:"1000000" help:"Maximum members of a group."`
	MaxGroups  number `env:"CHATD_MAX_GROUPS" default:"10000" max:"100000" help:"Maximum groups of a user."`
	MaxInbox   number `env:"CHATD_MAX_INBOX" default:"10000" max:"1000000" help:"Maximum unacked items in an inbox."`
	RetainDays number `env:"CHATD_RETAIN_DAYS" default:"0" min:"0" max:"36500" unit:"days" zero:"for ever" help:"Days after which messages of every group are removed, read or not; 0: never. A group may ask for fewer."`
	InboxKeep  number `env:"CHATD_INBOX_KEEP" default:"100" min:"0" max:"10000" help:"Acked items that an inbox keeps for its owner's other devices."`

	MaxWebhookBytes number `env:"CHATD_MAX_WEBHOOK_BYTES" default:"268435456" min:"65536" max:"68719476736" help:"Maximum bytes of webhook deliveries waiting in the store, shared equally among the webhooks."`

	FileMax     number `env:"CHATD_FILE_MAX" default:"104857600" max:"1099511627776" unit:"bytes" help:"Maximum bytes of a file."`
	FilesUser   number `env:"CHATD_FILES_USER" default:"10737418240" max:"1099511627776" unit:"bytes" help:"Maximum bytes of all files of a user."`
	FilesGroup  number `env:"CHATD_FILES_GROUP" default:"10737418240" max:"1099511627776" unit:"bytes" help:"Maximum bytes of all files of a group."`
	UploadsUser number `env:"CHATD_UPLOADS_USER" default:"20" max:"1000" help:"Maximum uploads of a user under way."`

	RateUser        rate   `env:"CHATD_RATE_USER" default:"100/s:2000" help:"Rate of a user's calls, weighted by cost: COUNT/[N]UNIT[:BURST], or off."`
	RateSend        rate   `env:"CHATD_RATE_SEND" default:"20/s:1000" help:"Rate of what a user sends: messages and other entries, direct messages, added members."`
	RateIP          rate   `name:"rate-ip" env:"CHATD_RATE_IP" help:"Rate of requests without a valid token from one address. Default: 50/s:1000, and off for this host itself."`
	MaxSessions     number `env:"CHATD_MAX_SESSIONS" default:"20" max:"10000" off:"" help:"Maximum live websockets of a user, or off."`
	MaxSessionsNode number `env:"CHATD_MAX_SESSIONS_NODE" default:"10000" max:"1000000" help:"Maximum live websockets of this node."`
	MaxConnsIP      number `name:"max-conns-ip" env:"CHATD_MAX_CONNS_IP" max:"1000000" off:"" help:"Maximum connections of one address, or off. Default: 2000, or half of the open files that the process may have if they are under 3000, and off for this host itself."`
	MaxPolls        number `env:"CHATD_MAX_POLLS" default:"20" max:"10000" off:"" help:"Maximum waiting polls of a user, or off."`
	MaxCalls        number `env:"CHATD_MAX_CALLS" default:"64" max:"10000" off:"" help:"Maximum calls of a user at once, or off; more wait for up to 1 s."`
	MaxFirings      number `env:"CHATD_MAX_FIRINGS" default:"100" max:"10000" off:"" help:"Maximum schedules of a user that fire within any minute, or off."`
	MaxCallsNode    number `env:"CHATD_MAX_CALLS_NODE" default:"1024" max:"100000" off:"" help:"Maximum calls that this node works on at once, or off; overload lowers it. More wait for their turn or get 503."`
}

// settings are the checked Config.
type settings struct {
	Config
	given      Config   // before defaults, files and what follows from others
	secrets    [][]byte // the first signs, all verify
	dev        bool
	accounts   bool
	oidcSecret string
	loopback   bool
	proxies    []netip.Prefix
	egress     []netip.Prefix
	durability chat.Durability
	limits     chat.Limits
	callers    limit.Options
	drainDelay time.Duration
}

// problems collects errors, so that all are reported at once.
type problems []error

func (p *problems) add(key, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
}

// check reads every setting. Its error names each invalid one and what is allowed; it never shows secrets.
func (c Config) check() (settings, error) {
	s, p := c.read()
	s.loopback = s.checkAddresses(&p)
	s.checkStore(&p)
	s.checkArchive(&p)
	s.checkFiles(&p)
	s.checkTokens(&p)
	s.checkNetworks(&p)
	s.checkTracing(&p)
	s.checkAccounts(&p)
	s.checkOpenID(&p)
	s.checkDev(&p)
	s.setLimits()
	s.setCallers()
	// Memory means that a send waits for nothing, so its answer does not mention durability.
	if s.durability = chat.Durability(s.Durability); s.durability == chat.DurabilityMemory {
		s.durability = ""
	}
	return s, errors.Join(p...)
}

// trimmed returns the elements of a list that are not blank, without the blanks that people write behind commas.
func trimmed(list []string) []string {
	var out []string
	for _, one := range list {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}

func (s *settings) checkAddresses(p *problems) (loopback bool) {
	for _, a := range []struct{ key, value string }{{"CHATD_ADDR", s.Addr}, {"CHATD_ADMIN_ADDR", s.AdminAddr}} {
		if a.key == "CHATD_ADMIN_ADDR" && a.value == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(a.value); err != nil || !validPort(port) {
			p.add(a.key, "want host:port, such as 127.0.0.1:8080; not %q", a.value)
		}
	}
	s.drainDelay = drainDelayDefault
	loopback = web.IsLoopback(s.Addr)
	if loopback {
		s.drainDelay = 0
	}
	if s.DrainDelay != "" {
		s.drainDelay = s.DrainDelay.value()
	}
	return loopback
}

func (s *settings) checkStore(p *problems) {
	if s.RedisFile != "" {
		s.Redis = readSetting(p, "CHATD_REDIS", s.Redis, "CHATD_REDIS_FILE", s.RedisFile)
	}
	if s.Redis != "" {
		if err := conn.CheckURL(s.Redis); err != nil {
			p.add("CHATD_REDIS", "%v", err)
		}
	}
	if s.Prefix == "" || len(s.Prefix) > 32 || !chat.ValidID(s.Prefix) {
		p.add("CHATD_PREFIX", "want 1 to 32 characters of A-Z a-z 0-9 . _ - @ +, not starting with a dot")
	}
	if s.Data == "" {
		p.add("CHATD_DATA", "want a folder")
	}
}

func (s *settings) checkTokens(p *problems) {
	if s.JWTSecretFile != "" {
		s.JWTSecret = readSetting(p, "CHATD_JWT_SECRET", s.JWTSecret, "CHATD_JWT_SECRET_FILE", s.JWTSecretFile)
	}
	s.secrets = nil
	if s.JWTSecret != "" {
		secrets := trimmed(strings.Split(s.JWTSecret, ","))
		if len(secrets) == 0 {
			p.add("CHATD_JWT_SECRET", "the list is empty")
		}
		for _, secret := range secrets {
			if len(secret) < secretBytesMin {
				p.add("CHATD_JWT_SECRET", "want at least %d bytes, such as `openssl rand -base64 32` makes; several are separated by commas", secretBytesMin)
			}
			s.secrets = append(s.secrets, []byte(secret))
		}
	}
	for _, c := range []struct{ key, value string }{
		{"CHATD_JWT_USER_CLAIM", s.JWTUserClaim}, {"CHATD_JWT_ROLE_CLAIM", s.JWTRoleClaim}, {"CHATD_JWT_ADMIN_VALUE", s.JWTAdminValue},
	} {
		if len(c.value) > claimBytesMax || strings.TrimSpace(c.value) != c.value || strings.ContainsFunc(c.value, unicode.IsControl) {
			p.add(c.key, "want at most %d bytes without control characters, and without spaces around them; not %q", claimBytesMax, c.value)
		}
	}
	for _, field := range s.JWTProfile {
		if field != "name" && field != "picture" {
			p.add("CHATD_JWT_PROFILE", "want name, picture or both, separated by a comma; not %q", field)
		}
	}
	if s.Redis != "" && len(s.secrets) == 0 && s.JWTJWKS == "" {
		p.add("CHATD_JWT_SECRET", "with CHATD_REDIS set, all nodes need the same keys for tokens: set CHATD_JWT_SECRET or CHATD_JWT_JWKS")
	}
}

// readSetting reads a setting, from a file if its _FILE variant names one.
func readSetting(p *problems, key, value, fileKey, file string) string {
	if value != "" {
		p.add(fileKey, "set either this or %s, not both", key)
		return value
	}
	b, err := os.ReadFile(file)
	if err != nil {
		p.add(fileKey, "the file cannot be read: %v", err)
		return ""
	}
	text := strings.TrimRight(strings.TrimPrefix(string(b), "\ufeff"), "\r\n") // some editors begin a file with this mark
	if text == "" {
		p.add(fileKey, "the file is empty")
	}
	return text
}

func (s *settings) checkNetworks(p *problems) {
	for _, o := range s.Origins {
		u, err := url.Parse(o)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != o {
			p.add("CHATD_ORIGINS", "want origins such as https://app.example.com, comma-separated; not %q", o)
		}
	}
	s.proxies = prefixes(p, "CHATD_TRUSTED_PROXIES", s.TrustedProxies)
	for _, host := range s.PushHosts {
		if err := deliver.CheckPushHost(host); err != nil {
			p.add("CHATD_PUSH_HOSTS", "%v; not %q", err, host)
		}
	}
	s.egress = prefixes(p, "CHATD_EGRESS_ALLOW", s.EgressAllow)
}

func prefixes(p *problems, key string, values []string) []netip.Prefix {
	var out []netip.Prefix
	for _, v := range values {
		prefix, err := netip.ParsePrefix(v)
		if err != nil {
			addr, addrErr := netip.ParseAddr(v)
			if addrErr != nil {
				p.add(key, "want networks such as 10.0.0.0/8, comma-separated; not %q", v)
				continue
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		out = append(out, prefix)
	}
	return out
}

func (s *settings) checkAccounts(p *problems) {
	switch s.Accounts {
	case "auto":
		s.accounts = s.Redis == "" && len(s.secrets) == 0 && s.JWTJWKS == ""
	case "on", "1", "true":
		s.accounts = true
		if s.JWTJWKS != "" {
			p.add("CHATD_ACCOUNTS", "people sign in either here or at the issuer of CHATD_JWT_JWKS: set one of the two")
		} else if s.Redis != "" && len(s.secrets) == 0 {
			p.add("CHATD_ACCOUNTS", "with CHATD_REDIS set, accounts need CHATD_JWT_SECRET, the same for all nodes")
		}
	case "off", "0", "false":
	default:
		p.add("CHATD_ACCOUNTS", "want on, off or auto; not %q", s.Accounts)
	}
	switch {
	case s.Add != "":
	case s.accounts && (s.Registration == "open" || s.OIDC != ""): // strangers may register
		s.Add = "shared"
	default:
		s.Add = "all"
	}
}

func (s *settings) checkDev(p *problems) {
	switch s.Dev {
	case "auto":
		s.dev = s.Redis == "" && s.loopback && len(s.secrets) == 0 && s.JWTJWKS == ""
	case "on", "1", "true":
		s.dev = true
		if s.Redis != "" || !s.loopback {
			p.add("CHATD_DEV", "the development sign-in lets anyone use any name, so it requires the embedded store and a loopback address")
		}
	case "off", "0", "false":
	default:
		p.add("CHATD_DEV", "want on, off or auto; not %q", s.Dev)
	}
}

// Default returns the configuration of a start without flags; kong reads the environment.
func Default() (Config, error) {
	var c Config
	err := kong.ApplyDefaults(&c)
	return c, err
}
