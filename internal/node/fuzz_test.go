package node

import (
	"strings"
	"testing"
)

// FuzzConfig: no setting panics, and no error reveals a secret.
func FuzzConfig(f *testing.F) {
	f.Add("127.0.0.1:8080", "redis://u:canary@h/0", "https://a.example,http://b", "10.0.0.0/8,::1", "16KiB", "5s", "auto")
	f.Add(":0", "", "null", "10.0.0.0/33", "-1", "-1s", "on")
	f.Add("[::1]:99999", "redis-cluster://x", "https://a/", "", "9223372036854775808", "1h", "x")
	f.Add("", "://", "https://%zz", "fe80::1%eth0", "1e9", "", "")
	f.Fuzz(func(t *testing.T, addr, redis, origins, networks, bound, delay, word string) {
		c, err := Default()
		if err != nil {
			t.Fatal(err)
		}
		const canary = "canary-4711"
		c.Addr, c.AdminAddr = addr, addr
		if c.Redis = redis; redis != "" {
			c.Redis += canary
		}
		c.JWTSecret = canary // too short to be valid
		c.Origins, c.TrustedProxies, c.EgressAllow, c.PushHosts = strings.Split(origins, ","), strings.Split(networks, ","), strings.Split(networks, ","), strings.Split(origins, ",")
		c.MaxBody, c.MaxRequest, c.RetainDays, c.FileMax, c.MaxSessions = number(bound), number(bound), number(bound), number(bound), number(bound)
		c.DrainDelay, c.Dev, c.Durability, c.RateIP = duration(delay), word, choice(word), rate(bound)
		_, err = c.check()
		if err == nil {
			t.Fatal("a secret of 11 bytes was taken")
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("an error tells a secret: %v", err)
		}
	})
}
