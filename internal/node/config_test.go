package node

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/limit"
)

const testSecret = "0123456789abcdef0123456789abcdef"

func defaults(t *testing.T) Config {
	t.Helper()
	for _, name := range variables() {
		if _, set := os.LookupEnv(name); set {
			t.Setenv(name, "") // so that the test restores it
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	c, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigRefuses(t *testing.T) {
	cases := map[string]struct {
		change func(*Config)
		want   []string // what the error has to name
	}{
		"address without port":  {func(c *Config) { c.Addr = "localhost" }, []string{"CHATD_ADDR", "host:port"}},
		"address with bad port": {func(c *Config) { c.Addr = "localhost:99999" }, []string{"CHATD_ADDR"}},
		"admin address":         {func(c *Config) { c.AdminAddr = "x" }, []string{"CHATD_ADMIN_ADDR"}},
		"URL of the store":      {func(c *Config) { c.Redis, c.JWTSecret = "http://u:canary@x", testSecret }, []string{"CHATD_REDIS", "redis://"}},
		"cluster":               {func(c *Config) { c.Redis, c.JWTSecret = "redis-cluster://x?db=1", testSecret }, []string{"CHATD_REDIS", `"db"`}},
		"Redis without keys":    {func(c *Config) { c.Redis = "redis://x" }, []string{"CHATD_JWT_SECRET", "CHATD_JWT_JWKS"}},
		"short secret":          {func(c *Config) { c.JWTSecret = "canary" }, []string{"CHATD_JWT_SECRET", "32 bytes"}},
		"no secret file":        {func(c *Config) { c.JWTSecretFile = "/nonexistent" }, []string{"CHATD_JWT_SECRET_FILE"}},
		"secret twice":          {func(c *Config) { c.JWTSecret, c.JWTSecretFile = testSecret, "/nonexistent" }, []string{"CHATD_JWT_SECRET_FILE", "either"}},
		"prefix with a brace":   {func(c *Config) { c.Prefix = "a{b}" }, []string{"CHATD_PREFIX"}},
		"user claim":            {func(c *Config) { c.JWTUserClaim = " sub" }, []string{"CHATD_JWT_USER_CLAIM", "spaces"}},
		"role claim":            {func(c *Config) { c.JWTRoleClaim = strings.Repeat("r", 257) }, []string{"CHATD_JWT_ROLE_CLAIM", "256"}},
		"admin value":           {func(c *Config) { c.JWTAdminValue = "a\nb" }, []string{"CHATD_JWT_ADMIN_VALUE"}},
		"tracing":               {func(c *Config) { c.Tracing = "on" }, []string{"CHATD_TRACING", "off, otlp"}},
		"durability":            {func(c *Config) { c.Durability = "all" }, []string{"CHATD_DURABILITY", "memory, disk, replica"}},
		"direct":                {func(c *Config) { c.Direct = "x" }, []string{"CHATD_DIRECT", "all, shared"}},
		"log":                   {func(c *Config) { c.Log = "loud" }, []string{"CHATD_LOG", "debug"}},
		"log format":            {func(c *Config) { c.LogFormat = "xml" }, []string{"CHATD_LOG_FORMAT"}},
		"origin with a path":    {func(c *Config) { c.Origins = []string{"https://a.example/"} }, []string{"CHATD_ORIGINS"}},
		"origin star":           {func(c *Config) { c.Origins = []string{"*"} }, []string{"CHATD_ORIGINS"}},
		"origin null":           {func(c *Config) { c.Origins = []string{"null"} }, []string{"CHATD_ORIGINS"}},
		"proxies":               {func(c *Config) { c.TrustedProxies = []string{"all"} }, []string{"CHATD_TRUSTED_PROXIES"}},
		"push host":             {func(c *Config) { c.PushHosts = []string{"push.example.com", "https://push.example.com"} }, []string{"CHATD_PUSH_HOSTS", "*.push.example.com"}},
		"egress":                {func(c *Config) { c.EgressAllow = []string{"10.0.0.0/33"} }, []string{"CHATD_EGRESS_ALLOW"}},
		"limit no number":       {func(c *Config) { c.MaxBody = "16k" }, []string{"CHATD_MAX_BODY", "whole number"}},
		"limit zero":            {func(c *Config) { c.MaxPage = "0" }, []string{"CHATD_MAX_PAGE"}},
		"limit negative":        {func(c *Config) { c.MaxSessions = "-1" }, []string{"CHATD_MAX_SESSIONS"}},
		"retention in weeks":    {func(c *Config) { c.RetainDays = "2w" }, []string{"CHATD_RETAIN_DAYS", "0 (for ever) to 36500", "2w"}},
		"retention too long":    {func(c *Config) { c.RetainDays = "36501" }, []string{"CHATD_RETAIN_DAYS"}},
		"limit huge":            {func(c *Config) { c.MaxInbox = "9999999999999999999" }, []string{"CHATD_MAX_INBOX"}},
		"drain delay":           {func(c *Config) { c.DrainDelay = "5" }, []string{"CHATD_DRAIN_DELAY"}},
		"notify delay":          {func(c *Config) { c.NotifyDelay = "3" }, []string{"CHATD_NOTIFY_DELAY", "3s"}},
		"notify delay negative": {func(c *Config) { c.NotifyDelay = "-1s" }, []string{"CHATD_NOTIFY_DELAY"}},
		"notify delay of days":  {func(c *Config) { c.NotifyDelay = "48h" }, []string{"CHATD_NOTIFY_DELAY", "1h"}},
		"archive":               {func(c *Config) { c.Archive = "mysql://u:canary@h/d" }, []string{"CHATD_ARCHIVE", "sqlite:PATH", "postgres://", "off"}},
		"archive without path":  {func(c *Config) { c.Archive = "sqlite:" }, []string{"CHATD_ARCHIVE", "sqlite:PATH"}},
		"files":                 {func(c *Config) { c.Files = "ftp://u:canary@h" }, []string{"CHATD_FILES", "dir:PATH", "s3://", "off"}},
		"files without path":    {func(c *Config) { c.Files = "dir:" }, []string{"CHATD_FILES", "dir:PATH"}},
		"size of a file":        {func(c *Config) { c.FileMax = "100MiB" }, []string{"CHATD_FILE_MAX", "whole number of bytes"}},
		"files of a user":       {func(c *Config) { c.FilesUser = "0" }, []string{"CHATD_FILES_USER"}},
		"files of a group":      {func(c *Config) { c.FilesGroup = "-1" }, []string{"CHATD_FILES_GROUP"}},
		"uploads of a user":     {func(c *Config) { c.UploadsUser = "off" }, []string{"CHATD_UPLOADS_USER"}},
		"accounts":              {func(c *Config) { c.Accounts = "yes" }, []string{"CHATD_ACCOUNTS", "on, off or auto"}},
		"accounts with a JWKS":  {func(c *Config) { c.Accounts, c.JWTJWKS = "on", "keys.json" }, []string{"CHATD_ACCOUNTS", "CHATD_JWT_JWKS"}},
		"accounts with Redis":   {func(c *Config) { c.Accounts, c.Redis = "on", "redis://x" }, []string{"CHATD_ACCOUNTS", "CHATD_JWT_SECRET"}},
		"registration":          {func(c *Config) { c.Registration = "some" }, []string{"CHATD_REGISTRATION", "invite, open, closed"}},
		"issuer":                {func(c *Config) { c.OIDC, c.OIDCClientID = "accounts.example.com", "id" }, []string{"CHATD_OIDC", "https://"}},
		"issuer on this host":   {func(c *Config) { c.OIDC, c.OIDCClientID = "http://127.0.0.1:1", "id" }, []string{"CHATD_OIDC", "CHATD_EGRESS_ALLOW"}},
		"issuer alone":          {func(c *Config) { c.OIDC = "https://accounts.example.com" }, []string{"CHATD_OIDC_CLIENT_ID"}},
		"client alone":          {func(c *Config) { c.OIDCClientID = "id" }, []string{"CHATD_OIDC_CLIENT_ID", "set CHATD_OIDC too"}},
		"issuer, no accounts":   {func(c *Config) { c.OIDC, c.OIDCClientID, c.Accounts = "https://accounts.example.com", "id", "off" }, []string{"CHATD_OIDC", "CHATD_ACCOUNTS"}},
		"claim of the issuer":   {func(c *Config) { c.OIDCUser = "name" }, []string{"CHATD_OIDC_USER", "sub, email, preferred_username"}},
		"rate":                  {func(c *Config) { c.RateUser = "fast" }, []string{"CHATD_RATE_USER", "100/s"}},
		"rate of sends":         {func(c *Config) { c.RateSend = "0/s" }, []string{"CHATD_RATE_SEND", "off"}},
		"rate of an address":    {func(c *Config) { c.RateIP = "1/h:1000" }, []string{"CHATD_RATE_IP", "within a day"}},
		"connections":           {func(c *Config) { c.MaxConnsIP = "0" }, []string{"CHATD_MAX_CONNS_IP", "off", "1 to"}},
		"polls":                 {func(c *Config) { c.MaxPolls = "many" }, []string{"CHATD_MAX_POLLS", "off"}},
		"calls":                 {func(c *Config) { c.MaxCalls = "-1" }, []string{"CHATD_MAX_CALLS", "off"}},
		"calls of the node":     {func(c *Config) { c.MaxCallsNode = "0" }, []string{"CHATD_MAX_CALLS_NODE", "off", "1 to"}},
		"sessions of a node":    {func(c *Config) { c.MaxSessionsNode = "off" }, []string{"CHATD_MAX_SESSIONS_NODE", "whole number"}},
		"dev word":              {func(c *Config) { c.Dev = "yes" }, []string{"CHATD_DEV", "on, off or auto"}},
		"dev on all addresses":  {func(c *Config) { c.Dev, c.Addr = "on", "0.0.0.0:8080" }, []string{"CHATD_DEV"}},
		"dev with no host":      {func(c *Config) { c.Dev, c.Addr = "on", ":8080" }, []string{"CHATD_DEV"}},
		"dev with Redis":        {func(c *Config) { c.Dev, c.Redis, c.JWTSecret = "on", "redis://x", testSecret }, []string{"CHATD_DEV"}},
		"secrets of blanks":     {func(c *Config) { c.JWTSecret = " , " }, []string{"CHATD_JWT_SECRET", "empty"}},
		"two at once":           {func(c *Config) { c.Log, c.MaxBody = "x", "x" }, []string{"CHATD_LOG", "CHATD_MAX_BODY"}},
	}
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			c := defaults(t)
			one.change(&c)
			_, err := c.check()
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, want := range one.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want it to name %s", err, want)
				}
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("error %q shows a secret", err)
			}
		})
	}
}

// TestTracingRefuses sets the variables of OpenTelemetry wrongly: they matter with tracing on.
func TestTracingRefuses(t *testing.T) {
	c, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[string]string{
		"OTEL_TRACES_SAMPLER": "sometimes", "OTEL_TRACES_SAMPLER_ARG": "1.5", "OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_HEADERS": "secret", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": "/nowhere",
	}
	for key, value := range wrong {
		t.Setenv(key, value)
	}
	if _, err := c.check(); err != nil {
		t.Errorf("with tracing off: %v", err)
	}
	c.Tracing = "otlp"
	_, err = c.check()
	for key := range wrong {
		if err == nil || !strings.Contains(err.Error(), key+": want ") {
			t.Errorf("%s is not named: %v", key, err)
		}
	}
	if strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("the error holds a header: %v", err)
	}
}

func TestConfigTakes(t *testing.T) {
	c := defaults(t)
	s, err := c.check()
	if err != nil {
		t.Fatal(err)
	}
	if !s.dev || !s.accounts || s.drainDelay != 0 || s.NotifyDelay.value() != 3*time.Second || s.durability != "" || s.limits != chat.DefaultLimits() {
		t.Errorf("defaults: dev %v, accounts %v, drain delay %s, notify delay %s, durability %q, limits %+v", s.dev, s.accounts, s.drainDelay, s.NotifyDelay, s.durability, s.limits)
	}
	for name, change := range map[string]func(*Config){
		"a secret": func(c *Config) { c.JWTSecret = testSecret }, "a JWKS": func(c *Config) { c.JWTJWKS = "keys.json" },
		"Redis": func(c *Config) { c.Redis, c.JWTSecret = "redis://x", testSecret },
	} {
		c := defaults(t)
		change(&c)
		if s, err := c.check(); err != nil || s.accounts {
			t.Errorf("with %s: accounts %v, %v; want them off", name, s.accounts, err)
		}
	}
	for _, add := range []struct{ accounts, registration, given, want choice }{
		{"off", "open", "", "all"}, {"on", "invite", "", "all"}, {"on", "open", "", "shared"}, {"auto", "open", "", "shared"}, {"on", "open", "all", "all"},
		{"off", "open", "shared", "shared"}, {"on", "open", "operators", "operators"},
	} {
		c := defaults(t)
		c.Accounts, c.Registration, c.Add = string(add.accounts), add.registration, add.given
		if s, err := c.check(); err != nil || s.Add != add.want {
			t.Errorf("accounts %s, registration %s, whom members may add %q: got %q, %v; want %q", add.accounts, add.registration, add.given, s.Add, err, add.want)
		}
	}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(testSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Addr, c.JWTSecretFile, c.Durability, c.MaxBody, c.MaxPage = "0.0.0.0:80", file, "disk", "1000", "50"
	c.Origins, c.TrustedProxies, c.Archive = []string{"https://a.example", "http://localhost:3000"}, []string{"10.0.0.1", "fd00::/8"}, "off"
	c.RateUser, c.RateIP, c.MaxCalls, c.MaxCallsNode, c.NotifyDelay = "100/s", "off", "off", "off", "500ms"
	if s, err = c.check(); err != nil {
		t.Fatal(err)
	}
	if s.dev || len(s.secrets) != 1 || string(s.secrets[0]) != testSecret || s.drainDelay != drainDelayDefault || s.durability != chat.DurabilityDisk {
		t.Errorf("dev %v, %d secrets, drain delay %s, durability %q", s.dev, len(s.secrets), s.drainDelay, s.durability)
	}
	if s.limits.BodyBytesMax != 1000 || s.limits.PageMessagesMax != 50 || s.limits.PageMessages != 50 {
		t.Errorf("limits %+v", s.limits)
	}
	if s.NotifyDelay.value() != 500*time.Millisecond {
		t.Errorf("notify delay %s", s.NotifyDelay)
	}
	if want := (limit.Rate{Count: 100, Per: time.Second, Burst: 100}); s.callers.User != want || !s.callers.IP.Off() || s.callers.Calls != 0 || s.MaxCallsNode.value() != 0 {
		t.Errorf("limits on one caller %+v, calls at once %d", s.callers, s.MaxCallsNode.value())
	}
	for _, off := range []func(*Config){
		func(c *Config) { c.JWTSecret = testSecret }, func(c *Config) { c.JWTJWKS = "/keys.json" },
		func(c *Config) { c.Dev = "off" }, func(c *Config) { c.Addr = ":8080" },
	} {
		c := defaults(t)
		off(&c)
		if s, err := c.check(); err != nil || s.dev {
			t.Errorf("the development sign-in is %v, %v; want it off", s.dev, err)
		}
	}
}

// TestListsMayHaveBlanks: every setting that is a list may have blanks around its elements.
func TestListsMayHaveBlanks(t *testing.T) {
	c := defaults(t)
	var lists []string
	fields := reflect.TypeFor[Config]()
	for i := range fields.NumField() {
		if fields.Field(i).Type == reflect.TypeFor[[]string]() {
			lists = append(lists, fields.Field(i).Name)
			reflect.ValueOf(&c).Elem().Field(i).Set(reflect.ValueOf([]string{"10.0.0.0/8", " 127.0.0.1", "", "\t::1 "}))
		}
	}
	c.Origins, c.PushHosts = []string{"https://a.example", " http://b.example ", " "}, []string{" push.example", ""}
	c.JWTProfile = []string{" name", "", "picture "}
	c.JWTSecret = testSecret + " , " + testSecret + "2,"
	s, err := c.check()
	if err != nil || len(lists) < 3 {
		t.Fatalf("%v: %v", lists, err)
	}
	if len(s.proxies) != 3 || len(s.egress) != 3 || !slices.Equal(s.Origins, []string{"https://a.example", "http://b.example"}) ||
		!slices.Equal(s.PushHosts, []string{"push.example"}) {
		t.Errorf("got %v, %v, %q, %q", s.proxies, s.egress, s.Origins, s.PushHosts)
	}
	if len(s.secrets) != 2 || string(s.secrets[0]) != testSecret || string(s.secrets[1]) != testSecret+"2" {
		t.Errorf("got %d secrets", len(s.secrets))
	}
}

func TestEnvironment(t *testing.T) {
	fine := []string{"PATH=/bin", "CHATD_ADDR=x", "CHATD_RATE_IP=off", "CHATD_PORT=8080", "CHATD_E2E_BINARY=x", "CHATD_URL=http://x", "CHATD_TOKEN=x"}
	// What Kubernetes sets for the services chatd, chatd-redis and chatd-service-port.
	for _, service := range []string{"CHATD", "CHATD_REDIS", "CHATD_SERVICE_PORT"} {
		fine = append(fine, service+"_SERVICE_HOST=10.0.0.11", service+"_SERVICE_PORT=6379", service+"_SERVICE_PORT_HTTP_API=6379",
			service+"_PORT=tcp://10.0.0.11:6379", service+"_PORT_6379_TCP=tcp://10.0.0.11:6379", service+"_PORT_6379_TCP_PROTO=tcp",
			service+"_PORT_6379_TCP_PORT=6379", service+"_PORT_6379_TCP_ADDR=10.0.0.11", service+"_PORT_53_UDP=udp://10.0.0.11:53",
			service+"_PORT_9_SCTP_ADDR=fd00::1")
	}
	if err := CheckEnvironment(fine); err != nil {
		t.Error(err)
	}
	for _, name := range variables() {
		for _, value := range []string{"", "tcp://10.0.0.11:6379"} {
			if serviceLink.MatchString(name + "=" + value) {
				t.Errorf("a service of Kubernetes may set %s, which is a setting", name)
			}
		}
	}
	wrong := []string{"CHATD_ADRR=canary", "CHATD_ORIGIN=x", "CHATD_REDIS_PORT=6379", "CHATD_REDIS_HOST=x", "CHATD_REDIS_PORT_TCP=x", "CHATD_REDIS_SERVICE=x"}
	err := CheckEnvironment(wrong)
	if err == nil || strings.Contains(err.Error(), "canary") || !strings.HasPrefix(err.Error(),
		"CHATD_ADRR, CHATD_ORIGIN, CHATD_REDIS_HOST, CHATD_REDIS_PORT, CHATD_REDIS_PORT_TCP, CHATD_REDIS_SERVICE: unknown setting; known settings: ") ||
		!strings.Contains(err.Error(), " CHATD_ORIGINS ") {
		t.Errorf("got %v", err)
	}
}

func TestSecretIsKept(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first, made, err := keepSecret(data)
	if err != nil || !made || len(first) < secretBytesMin {
		t.Fatalf("first: %d bytes, made %v, %v", len(first), made, err)
	}
	again, made, err := keepSecret(data)
	if err != nil || made || string(again) != string(first) {
		t.Errorf("again: the same %v, made %v, %v", string(again) == string(first), made, err)
	}
	info, err := os.Stat(filepath.Join(data, secretFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if names, err := os.ReadDir(data); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	if err := os.WriteFile(filepath.Join(data, secretFile), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := keepSecret(data); err == nil {
		t.Error("a short secret was taken")
	}
}

func TestTokenRefuses(t *testing.T) {
	c := defaults(t)
	c.Data = t.TempDir()
	for _, one := range []struct {
		user, role string
		ttl        time.Duration
		want       string
	}{
		{"a~b", "", time.Hour, "-user"}, {"alice", "owner", time.Hour, "-role"}, {"alice", "", 0, "-ttl"}, {"alice", "", time.Hour, "start chatd once"},
	} {
		if _, err := c.Token(one.user, one.role, one.ttl); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%+v: got %v", one, err)
		}
	}
}

// TestComposePassesEverySetting: `docker compose` can set everything that chatd can, except for files and the folder,
// which the container does not have, the development sign-in, which needs the embedded store.
func TestComposePassesEverySetting(t *testing.T) {
	compose, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range variables() {
		without := strings.HasSuffix(name, "_FILE") || name == "CHATD_DATA" || name == "CHATD_DEV"
		if passed := strings.Contains(string(compose), "\n      "+name+": "); passed == without {
			t.Errorf("%s: passed on is %v, want %v", name, passed, !without)
		}
	}
}

func TestFilesProblem(t *testing.T) {
	for limit, fine := range map[uint64]bool{1024: false, 10_999: false, 11_000: true, 1 << 62: true} {
		if got := filesProblem(limit, 10_000); (got == "") != fine {
			t.Errorf("limit %d: got %q", limit, got)
		}
	}
}
