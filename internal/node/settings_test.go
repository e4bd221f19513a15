package node

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/chatd/chatd/web/api"
)

// TestSettingsAreDocumented: every setting that -help shows stands in a page of docs/. The tables of operations.md and limits.md
// name no others, and limits.md has the defaults of Config.
func TestSettingsAreDocumented(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	var all strings.Builder
	for _, page := range pages {
		all.WriteString(deployFile(t, filepath.Join("docs", filepath.Base(page))))
	}
	rows := map[string]reflect.StructTag{}
	for field := range reflect.TypeFor[Config]().Fields() {
		name := field.Tag.Get("env")
		rows[name] = field.Tag
		if _, hidden := field.Tag.Lookup("hidden"); !hidden && !strings.Contains(all.String(), "`"+name+"`") {
			t.Errorf("no page of docs/ names %s", name)
		}
		if _, bounded := field.Tag.Lookup("max"); !bounded && field.Type == reflect.TypeFor[number]() {
			t.Errorf("%s has no maximum", name)
		}
	}
	compared := 0
	for _, page := range []string{"docs/operations.md", "docs/limits.md"} {
		for _, line := range regexp.MustCompile("(?m)^\\| `CHATD_.*").FindAllString(deployFile(t, page), -1) {
			cells := strings.Split(line, " | ")
			for _, name := range found(t, cells[0], "`(CHATD_[A-Z_]+)[*`]") {
				row, known := rows[name]
				if !known && !strings.HasSuffix(name, "_") {
					t.Errorf("%s: %s is no setting", page, name)
				}
				documented, _, _ := strings.Cut(strings.ReplaceAll(cells[1], "`", ""), " ")
				if want := row.Get("default"); page == "docs/limits.md" && want != "" {
					compared++
					if documented != want {
						t.Errorf("%s: %s is %s by default, not %s", page, name, want, documented)
					}
				}
			}
		}
	}
	if len(rows) < 40 || compared < 10 {
		t.Errorf("%d settings were found, and %d defaults compared", len(rows), compared)
	}
}

// TestSettingsAreShown: with where they are from and what is allowed, and without a secret, in whatever setting it is.
func TestSettingsAreShown(t *testing.T) {
	const secret = "hunter2hunter2hunter2hunter2hunter2"
	file := filepath.Join(t.TempDir(), "redis")
	if err := os.WriteFile(file, []byte("redis://user:"+secret+"@store.example:6379/1"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := defaults(t)
	t.Setenv("CHATD_MAX_PAGE", "17")
	t.Setenv("CHATD_ORIGINS", "https://a.example, https://b.example")
	t.Setenv("CHATD_NOTIFY_DELAY", "9s")
	c.RedisFile, c.JWTSecret, c.Archive = file, secret, "postgres://chatd:"+secret+"@db.example/chatd?password="+secret
	c.Files, c.JWTJWKS = "s3://key:"+secret+"@bucket?endpoint=s3.example&region="+secret, "https://user:"+secret+"@issuer.example/keys?k="+secret
	c.MaxPage, c.Origins, c.NotifyDelay = "17", []string{"https://a.example", " https://b.example"}, "1s"
	c.Accounts = "off"
	set, err := c.check()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]api.Setting{}
	for _, one := range set.show() {
		shown[one.Key] = one
		if strings.Contains(fmt.Sprint(one, deref(one.Value)), secret) {
			t.Errorf("%s shows the secret: %q", one.Key, deref(one.Value))
		}
	}
	for _, want := range []string{
		"CHATD_REDIS redis://store.example:6379/1 file true", "CHATD_JWT_SECRET  flag true", "CHATD_ARCHIVE postgres://db.example/chatd flag true",
		"CHATD_FILES s3://bucket flag true", "CHATD_JWT_JWKS https://issuer.example/keys flag true", "CHATD_MAX_PAGE 17 environment true",
		"CHATD_ORIGINS https://a.example,https://b.example environment true", "CHATD_NOTIFY_DELAY 1s flag true", "CHATD_PREFIX chat default true",
		"CHATD_ADD all default true", "CHATD_OIDC  default false", "CHATD_REDIS_FILE " + file + " flag true",
	} {
		one := shown[strings.Fields(want)[0]]
		if got := fmt.Sprint(one.Key, " ", deref(one.Value), " ", one.Source, " ", one.Set); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if one := shown["CHATD_JWT_SECRET"]; one.Value != nil || !one.Secret {
		t.Errorf("got %+v, want no value", one)
	}
	for key, want := range map[string]string{
		"CHATD_MAX_PAGE": "a whole number from 1 to 10000", "CHATD_LOG": "one of debug, info, warn, error", "CHATD_NOTIFY_DELAY": "a duration from 0s to 1h0m0s, such as 3s",
		"CHATD_ADDR": "",
	} {
		if got := shown[key].Allowed; got != want {
			t.Errorf("%s: got %q allowed, want %q", key, got, want)
		}
	}
	if len(shown) != reflect.TypeFor[Config]().NumField() {
		t.Errorf("%d of %d settings are shown", len(shown), reflect.TypeFor[Config]().NumField())
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
